// A sentence above its translation, and which word became which.
import { node, sized } from "../tree.js";
import { widthOf } from "../words.js";

const [SIZE, SPACE, TOP, BOTTOM, HEIGHT] = [19, 12, 26, 140, 156];

// `links` are pairs of a source and a target word; `lit` is {side, word} or nothing. Lines are long as their words.
export function linksPicture(source, target, links, lit = null) {
  const lines = { source: place(source), target: place(target) };
  const width = Math.max(lines.source.width, lines.target.width);
  const shift = (side) => (width - lines[side].width) / 2;
  const shining = litWords(links, lit);
  const word = (side, text, index) =>
    node(
      "text",
      {
        class: ["word", shining[side].has(index) ? "lit" : "", lit?.side === side && lit.word === index ? "held" : ""]
          .join(" ")
          .trim(),
        "data-side": side,
        "data-word": index,
        x: shift(side) + lines[side].at[index],
        y: side === "source" ? TOP : BOTTOM,
        "text-anchor": "middle",
      },
      text,
    );
  return node(
    "svg",
    {
      class: lit ? "links some" : "links",
      ...sized(width, HEIGHT),
      role: "img",
      "aria-label": "Which word became which",
    },
    links.map(([from, to]) =>
      curve(
        shift("source") + lines.source.at[from],
        shift("target") + lines.target.at[to],
        shining.source.has(from) && shining.target.has(to),
      ),
    ),
    source.map((text, index) => word("source", text, index)),
    target.map((text, index) => word("target", text, index)),
  );
}

// The words that light up when one is pointed at: itself, and those that it is linked with.
export function litWords(links, lit) {
  const found = { source: new Set(), target: new Set() };
  if (!lit) return found;
  found[lit.side].add(lit.word);
  for (const [from, to] of links) {
    if (lit.side === "source" && from === lit.word) found.target.add(to);
    if (lit.side === "target" && to === lit.word) found.source.add(from);
  }
  return found;
}

function place(words) {
  let edge = SPACE;
  const middles = words.map((word) => {
    const width = widthOf(word) * SIZE;
    const middle = edge + width / 2;
    edge += width + SPACE;
    return middle;
  });
  return { at: middles, width: edge };
}

function curve(from, to, lit) {
  const [start, end] = [TOP + 8, BOTTOM - SIZE - 2];
  const middle = (start + end) / 2;
  return node("path", {
    class: lit ? "link lit" : "link",
    d: `M${from} ${start}C${from} ${middle} ${to} ${middle} ${to} ${end}`,
  });
}
