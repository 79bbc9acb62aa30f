// A view as one SVG that every drawing program reads: what the browser has laid out, with the colours that it found.

const SVG = "http://www.w3.org/2000/svg";
const EDGE = 10;
const SHAPE = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "opacity"];
const TYPE = ["fill", "font-family", "font-size", "font-weight", "text-anchor"];
const CLEAR = "rgba(0, 0, 0, 0)";
const pen = new OffscreenCanvas(1, 1).getContext("2d"); // that measures letters

// What scrolls on the page is drawn whole, so a copy of the view is laid out, which nobody sees.
export function pictureOf(panel) {
  const copy = panel.cloneNode(true);
  copy.classList.add("whole");
  panel.after(copy);
  try {
    const { width, height, left, top } = copy.getBoundingClientRect();
    const [wide, high] = [Math.ceil(width + 2 * EDGE), Math.ceil(height + 2 * EDGE)];
    const drawn = make("svg", { width: wide, height: high, viewBox: `0 0 ${wide} ${high}` });
    drawn.append(make("rect", { width: wide, height: high, fill: getComputedStyle(document.body).backgroundColor }));
    draw(copy, drawn, { left: left - EDGE, top: top - EDGE });
    return new XMLSerializer().serializeToString(drawn);
  } finally {
    copy.remove();
  }
}

function make(name, attributes, text = "") {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  return made;
}

// Draw a box and what is in it. `origin` is where the picture's corner is on the page.
function draw(box, drawn, origin) {
  const { left, top, width, height } = box.getBoundingClientRect();
  if (!width || !height || !box.checkVisibility()) return;
  const place = { x: left - origin.left, y: top - origin.top, width, height };
  const look = getComputedStyle(box);
  if (box.matches("input:not([type=text])")) return;
  drawPaper(look, place, drawn);
  if (box instanceof SVGSVGElement) return drawn.append(coloured(box, place));
  if (box.matches("input")) {
    const x = place.x + parseFloat(look.borderLeftWidth) + parseFloat(look.paddingLeft);
    return drawn.append(line(box.value, look, { ...place, x }));
  }
  for (const child of box.childNodes) {
    if (child instanceof Element) draw(child, drawn, origin);
    else if (child instanceof Text) drawText(child, look, drawn, origin);
  }
}

// A picture of its own, with every colour written where it is used.
function coloured(picture, place) {
  const copy = picture.cloneNode(true);
  const copies = [copy, ...copy.querySelectorAll("*")];
  [picture, ...picture.querySelectorAll("*")].forEach((one, index) => {
    const look = getComputedStyle(one);
    const names = one === picture ? ["opacity"] : one.localName === "text" ? TYPE : SHAPE;
    for (const name of names) copies[index].setAttribute(name, look.getPropertyValue(name));
    copies[index].removeAttribute("class");
  });
  for (const [key, value] of Object.entries(place)) copy.setAttribute(key, value);
  return copy;
}

// The ground and the borders of a box. A border on some sides only is drawn as lines.
function drawPaper(look, { x, y, width, height }, drawn) {
  const [top, right, bottom, left] = ["top", "right", "bottom", "left"].map((side) => {
    const [thick, stroke] = ["width", "color"].map((name) => look.getPropertyValue(`border-${side}-${name}`));
    return { "stroke-width": stroke === CLEAR ? 0 : parseFloat(thick), stroke };
  });
  const isFrame = [top, right, bottom, left].every((side) => side["stroke-width"]);
  const fill = look.backgroundColor === CLEAR ? "none" : look.backgroundColor;
  const rx = Math.min(parseFloat(look.borderRadius), height / 2);
  if (fill !== "none" || isFrame)
    drawn.append(make("rect", { x, y, width, height, rx, fill, ...(isFrame ? top : {}) }));
  if (isFrame) return;
  const half = (side) => side["stroke-width"] / 2;
  const edges = [
    [top, `M${x} ${y + half(top)}h${width}`],
    [bottom, `M${x} ${y + height - half(bottom)}h${width}`],
    [left, `M${x + half(left)} ${y}v${height}`],
  ];
  for (const [side, d] of edges) if (side["stroke-width"]) drawn.append(make("path", { d, ...side }));
}

// A text may run over several lines: words that stand at one height are one line.
function drawText(text, look, drawn, origin) {
  const lines = [];
  for (const { 0: word, index } of text.data.matchAll(/\S+/g)) {
    const range = document.createRange();
    range.setStart(text, index);
    range.setEnd(text, index + word.length);
    const { left: x, top: y, height } = range.getBoundingClientRect();
    if (!height) continue;
    const last = lines.at(-1);
    if (last && Math.abs(last.y - y) < 2) last.to = index + word.length;
    else lines.push({ x, y, height, from: index, to: index + word.length });
  }
  const keeps = look.whiteSpace.startsWith("pre");
  for (const { x, y, height, from, to } of lines) {
    const words = text.data.slice(from, to);
    const place = { x: x - origin.left, y: y - origin.top, height };
    drawn.append(line(keeps ? words.replaceAll(" ", "\u00a0") : words.replace(/\s+/g, " "), look, place));
  }
}

function line(words, look, { x, y, height }) {
  const font = { "font-family": look.fontFamily, "font-size": look.fontSize, "font-weight": look.fontWeight };
  pen.font = `${look.fontWeight} ${look.fontSize} ${look.fontFamily}`;
  const { fontBoundingBoxAscent: above, fontBoundingBoxDescent: below } = pen.measureText("x");
  const baseline = y + (height - above - below) / 2 + above;
  return make("text", { x, y: baseline, fill: look.color, ...font }, words);
}
