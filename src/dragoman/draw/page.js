// Draws the page's maps from the JSON it carries. Elements are built and text is set: no markup is ever parsed.
const data = JSON.parse(document.getElementById("data").textContent);
const { maps, labels, glued, steps } = data;
const darkness = matchMedia("(prefers-color-scheme: dark)");
const state = { map: 0, row: 0, column: 0, word: null, printing: false };
const at = (id) => document.getElementById(id);

// Which sentence the rows and the columns of a map belong to.
const rowSide = (map) => (map.kind.startsWith("encoder") ? "source" : "target");
const columnSide = (map) => (map.kind.startsWith("decoder") ? "target" : "source");
const percent = (weight) => (100 * weight).toFixed(1) + " %";
const signed = (number) => (number === null ? "–" : number.toFixed(3).replace("-", "−"));

function make(name, attributes = {}, ...children) {
  const drawn = ["svg", "rect", "text"].includes(name);
  const made = drawn ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function colours(hue = "blue") {
  return data.palettes[darkness.matches && !state.printing ? "dark" : "light"][hue];
}

function shade(weight, hue = "blue") {
  const palette = colours(hue);
  const share = Math.min(1, Math.max(0, weight || 0)) ** data.curve;
  return palette[Math.round(share * (palette.length - 1))];
}

function inkOn(hex) {
  const [red, green, blue] = [1, 3, 5].map((from) => {
    const channel = parseInt(hex.slice(from, from + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05) ** 2 > 0.0525 ? "#000" : "#fff";
}

// Arrow keys give steps (right, down); other keys give nothing.
function arrow(event) {
  const moves = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
  const move = event.altKey || event.ctrlKey || event.metaKey ? undefined : moves[event.key];
  if (move) event.preventDefault();
  return move;
}

// ---- the two sentences, piece by piece -----------------------------------------------------------------

function side(name) {
  for (const map of maps) {
    if (rowSide(map) === name && map.kind !== "decoder self") return map.queries;
    if (columnSide(map) === name && map.kind !== "decoder self") return map.keys;
  }
  const only = maps.find((map) => rowSide(map) === name);
  return only ? only.queries : null;
}

function drawWords() {
  const box = at("words");
  const held = box.contains(document.activeElement);
  box.replaceChildren();
  for (const name of ["source", "target"]) {
    const which = side(name);
    if (which === null) continue;
    const line = make("div", { class: "pieces", role: "group", "aria-label": name + " pieces" });
    line.append(make("span", { class: "side" }, name));
    const pieces = make("div", { class: "line", dir: "auto" });
    labels[which].forEach((piece, index) => pieces.append(pieceButton(name, piece, index, glued[which][index])));
    line.append(pieces);
    box.append(line);
  }
  const pressed = box.querySelector("[aria-pressed=true]");
  if (held && pressed) pressed.focus();
}

function pieceButton(name, piece, index, sticks) {
  const chosen = state.word !== null && state.word.side === name && state.word.index === index;
  const button = make("button", { type: "button", class: sticks ? "piece sticks" : "piece", "aria-pressed": chosen });
  button.append(make("span", { class: "word" }, piece));
  const known = name === "target" ? data.translation[index] : undefined;
  if (known && known[0] === piece) {
    const bar = make("span", { class: "chance" });
    bar.append(make("span", { class: "fill" }));
    bar.firstChild.style.width = 100 * known[1] + "%";
    button.append(bar, make("span", { class: "percent" }, Math.round(100 * known[1]) + " %"));
    button.title = "probability " + percent(known[1]);
  }
  button.addEventListener("click", () => chooseWord(name, index));
  return button;
}

function chooseWord(name, index) {
  state.word = { side: name, index };
  if (rowSide(maps[state.map]) === name && index < maps[state.map].weights.length) state.row = index;
  else if (columnSide(maps[state.map]) === name) state.column = index;
  draw();
}

// ---- every head, small ---------------------------------------------------------------------------------

function drawOverview() {
  const box = at("overview");
  const held = box.contains(document.activeElement);
  box.replaceChildren();
  for (const kind of [...new Set(maps.map((map) => map.kind))]) {
    const mine = maps.filter((map) => map.kind === kind);
    const heads = [...new Set(mine.map((map) => map.head))].sort((a, b) => a - b);
    const table = make("table", { class: "heads" }, make("caption", {}, kind));
    const top = make("tr", {}, make("td"));
    heads.forEach((head) => top.append(make("th", { scope: "col" }, "head " + head)));
    table.append(make("thead", {}, top));
    const body = make("tbody");
    for (const layer of [...new Set(mine.map((map) => map.layer))]) {
      const line = make("tr", {}, make("th", { scope: "row" }, "layer " + layer));
      for (const head of heads) {
        const map = mine.find((one) => one.layer === layer && one.head === head);
        line.append(map ? make("td", {}, thumbnail(map)) : make("td"));
      }
      body.append(line);
    }
    table.append(body);
    box.append(make("div", { class: "scroll" }, table));
  }
  if (held) box.querySelector("[aria-pressed=true]").focus();
}

function thumbnail(map) {
  const index = maps.indexOf(map);
  const chosen = index === state.map;
  const attributes = { type: "button", class: "thumb", "aria-pressed": chosen, "aria-label": map.name };
  const button = make("button", { ...attributes, tabindex: chosen ? 0 : -1, title: map.name });
  const [rows, columns] = [map.weights.length, map.weights.length ? map.weights[0].length : 0];
  const scale = Math.max(1, Math.floor(144 / Math.max(rows, columns, 1)));
  const canvas = make("canvas", { width: columns * scale, height: rows * scale, "aria-hidden": "true" });
  const pen = canvas.getContext("2d");
  const seen = (row, column) =>
    state.word === null ||
    (rowSide(map) === state.word.side && row === state.word.index) ||
    (columnSide(map) === state.word.side && column === state.word.index && map.kind === "cross");
  map.weights.forEach((weights, row) =>
    weights.forEach((weight, column) => {
      pen.fillStyle = shade(weight);
      pen.fillRect(column * scale, row * scale, scale, scale);
      if (!seen(row, column)) {
        pen.globalAlpha = 0.55;
        pen.fillStyle = colours()[0];
        pen.fillRect(column * scale, row * scale, scale, scale);
        pen.globalAlpha = 1;
      }
    }),
  );
  button.append(canvas);
  button.addEventListener("click", () => {
    chooseMap(index);
    at("map").parentElement.scrollIntoView({ block: "nearest" });
  });
  button.addEventListener("keydown", (event) => {
    const move = arrow(event);
    if (!move) return;
    const perLine = maps.filter((one) => one.kind === map.kind && one.layer === map.layer).length;
    const next = index + move[0] + move[1] * perLine;
    if (next >= 0 && next < maps.length) chooseMap(next);
  });
  return button;
}

function chooseMap(index) {
  const [before, after] = [maps[state.map], maps[index]];
  // A row means another word in another kind of attention; keep to the followed word where it has a row.
  if (before.kind !== after.kind) {
    const word = state.word;
    state.row = word !== null && rowSide(after) === word.side ? word.index : 0;
  }
  state.map = index;
  state.row = Math.min(state.row, after.weights.length - 1);
  state.column = Math.min(state.column, labels[after.keys].length - 1);
  draw();
}

// ---- heat maps with words ------------------------------------------------------------------------------

// `when` is called with (row, column) as the pointer or the keyboard comes to a cell.
function heat(rows, columns, weights, { cell = 34, when = null, chosen = null, row = null, named = "" } = {}) {
  const letter = 7.4;
  const broad = (text) => [...text].reduce((sum, one) => sum + (one.codePointAt(0) > 0x2e7f ? 1.9 : 1), 0) * letter;
  const short = (text) => ([...text].length > 18 ? [...text].slice(0, 17).join("") + "…" : text);
  const left = Math.max(20, ...rows.map((one) => broad(short(one)))) + 20;
  const top = Math.max(16, ...columns.map((one) => broad(short(one)))) * 0.72 + 22;
  const [width, height] = [left + columns.length * cell + top * 0.75, top + rows.length * cell + 4];
  const view = { viewBox: `0 0 ${width} ${height}`, width, height, class: "heat", role: "img", "aria-label": named };
  const svg = make("svg", view);
  columns.forEach((text, column) => {
    const [x, y] = [left + (column + 0.5) * cell + 4, top - 9];
    const lit = chosen && chosen[1] === column ? "label lit" : "label";
    svg.append(make("text", { x, y, transform: `rotate(-45 ${x} ${y})`, class: lit }, short(text)));
  });
  rows.forEach((text, index) => {
    const lit = chosen && chosen[0] === index ? "label lit" : "label";
    const place = { x: left - 10, y: top + (index + 0.5) * cell + 4.5, "text-anchor": "end", class: lit };
    svg.append(make("text", place, short(text)));
    weights[index].forEach((weight, column) => {
      const paint = shade(weight);
      const [x, y] = [left + column * cell, top + index * cell];
      const box = { x: x + 0.5, y: y + 0.5, width: cell - 1, height: cell - 1, rx: 2, fill: paint, class: "cell" };
      const square = make("rect", box);
      if (when) square.addEventListener("pointerenter", () => when(index, column, false));
      if (when) square.addEventListener("click", () => when(index, column, true));
      svg.append(square);
      if (cell >= 24 && weight >= 0.005) {
        const middle = { x: x + cell / 2, y: y + cell / 2 + 4, "text-anchor": "middle", fill: inkOn(paint) };
        svg.append(make("text", { ...middle, class: "number" }, (100 * weight).toFixed(0)));
      }
    });
  });
  if (row !== null && row < rows.length) {
    const line = { x: left, y: top + row * cell, width: columns.length * cell, height: cell, rx: 3, class: "chosen" };
    svg.append(make("rect", line));
  }
  if (chosen) {
    const [x, y] = [left + chosen[1] * cell, top + chosen[0] * cell];
    svg.append(make("rect", { x, y, width: cell, height: cell, rx: 3, class: "cursor" }));
  }
  return svg;
}

function drawMap() {
  const box = at("map");
  const held = box.contains(document.activeElement);
  const map = maps[state.map];
  const [rows, columns] = [labels[map.queries], labels[map.keys]];
  const said = make("p", { class: "readout", "aria-live": "polite" });
  const say = (row, column) => {
    said.replaceChildren(
      make("b", {}, rows[row]), " looks at ", make("b", {}, columns[column]), ": ",
      make("b", { class: "value" }, percent(map.weights[row][column])),
    );
  };
  const frame = make("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": map.name });
  const cell = Math.max(15, Math.min(34, Math.floor(520 / Math.max(columns.length, 1))));
  const chosen = [state.row, state.column];
  const when = (row, column, click) => {
    say(row, column);
    if (click) move(row, column);
  };
  frame.append(heat(rows, columns, map.weights, { cell, when, chosen, row: state.row, named: map.name }));
  frame.addEventListener("pointerleave", () => say(state.row, state.column));
  frame.addEventListener("keydown", (event) => {
    const step = arrow(event);
    if (step) move(state.row + step[1], state.column + step[0]);
  });
  const move = (row, column) => {
    if (row < 0 || column < 0 || row >= rows.length || column >= columns.length) return;
    [state.row, state.column] = [row, column];
    state.word = { side: rowSide(map), index: row };
    draw();
  };
  say(state.row, state.column);
  box.replaceChildren(make("h3", {}, map.name), said, frame);
  if (held) frame.focus({ preventScroll: true });
}

function drawFollow() {
  const box = at("follow");
  box.replaceChildren();
  const word = state.word;
  if (word === null) return;
  const add = (mine, columns, weights, caption) => {
    const names = mine.map((map) => map.name);
    const when = (row, column, click) => click && chooseMap(maps.indexOf(mine[row]));
    const drawn = heat(names, columns, weights, { cell: 24, when, named: caption });
    box.append(make("figure", {}, make("figcaption", {}, caption), make("div", { class: "scroll" }, drawn)));
  };
  for (const kind of [...new Set(maps.map((map) => map.kind))]) {
    const mine = maps.filter((map) => map.kind === kind);
    if (rowSide(mine[0]) === word.side && word.index < mine[0].weights.length) {
      const rows = mine.map((map) => map.weights[word.index]);
      add(mine, labels[mine[0].keys], rows, `${kind}: where “${labels[mine[0].queries][word.index]}” looks`);
    } else if (columnSide(mine[0]) === word.side) {
      const rows = mine.map((map) => map.weights.map((weights) => weights[word.index]));
      add(mine, labels[mine[0].queries], rows, `${kind}: who looks at “${labels[mine[0].keys][word.index]}”`);
    }
  }
}

function draw() {
  const scrolled = [...document.querySelectorAll(".scroll")].map((one) => one.scrollLeft);
  drawWords();
  if (maps.length === 0) return;
  drawOverview();
  drawMap();
  drawFollow();
  if (at("steps")) drawSteps();
  document.querySelectorAll(".scroll").forEach((one, index) => { one.scrollLeft = scrolled[index] || 0; });
}

if (maps.length > 0) {
  const first = maps[0];
  const start = Math.max(0, Math.min(data.follow, first.weights.length - 1));
  const sought = rowSide(first) === "source" ? start : 0;
  state.word = { side: rowSide(first), index: sought };
  state.row = sought;
  const weights = first.weights[sought] || [];
  state.column = weights.reduce((best, weight, column) => (weight > weights[best] ? column : best), 0);
}
draw();
darkness.addEventListener("change", draw);
addEventListener("beforeprint", () => { state.printing = true; draw(); });
addEventListener("afterprint", () => { state.printing = false; draw(); });
