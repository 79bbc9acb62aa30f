// The beam as the search saw it: a column for each step, the best continuation on top, whoever was given up below.
import { node, sized } from "../tree.js";
import { showPiece, signed, widthOf } from "../words.js";

const [LINE, SIZE, GAP, TOP, LEAST] = [34, 14, 46, 30, 64];

// Where every branch stands: in the column of its step, in the row of its rank there.
export function layOut(branches) {
  const seen = new Map();
  return branches.map(({ depth }) => {
    const row = seen.get(depth) ?? 0;
    seen.set(depth, row + 1);
    return { column: depth, row };
  });
}

export function hypothesesPicture(branches, best) {
  const places = layOut(branches);
  const steps = 1 + Math.max(...places.map(({ column }) => column));
  const rows = 1 + Math.max(...places.map(({ row }) => row));
  const widths = Array.from({ length: steps }, (_, depth) =>
    Math.max(
      LEAST,
      ...branches.filter((one) => one.depth === depth).map((one) => widthOf(showPiece(one.piece)) * SIZE + 16),
    ),
  );
  const lefts = widths.map((_, depth) => 4 + widths.slice(0, depth).reduce((sum, width) => sum + width + GAP, 0));
  const chosen = new Set(best);
  const [width, height] = [lefts.at(-1) + widths.at(-1) + 4, TOP + rows * LINE];
  const box = (number) => {
    const { column, row } = places[number];
    return { x: lefts[column], y: TOP + row * LINE + LINE / 2, width: widths[column] };
  };
  const order = branches.map((_, number) => number).sort((a, b) => chosen.has(a) - chosen.has(b));
  return node(
    "svg",
    {
      class: "hypotheses",
      ...sized(width, height),
      role: "img",
      "aria-label": "The hypotheses, step by step",
    },
    widths.map((wide, depth) =>
      node(
        "text",
        { class: "number", x: lefts[depth] + wide / 2, y: 14, "text-anchor": "middle" },
        `step ${depth + 1}`,
      ),
    ),
    order
      .filter((number) => branches[number].parent >= 0)
      .map((number) =>
        drawLink(box(branches[number].parent), box(number), chosen.has(number) ? "best" : branches[number].fate),
      ),
    order.map((number) => drawBranch(branches[number], box(number), chosen.has(number))),
  );
}

function drawLink(from, to, kind) {
  const [start, end] = [from.x + from.width, to.x];
  const middle = (start + end) / 2;
  return node("path", {
    class: `branch ${kind}`,
    d: `M${start} ${from.y}C${middle} ${from.y} ${middle} ${to.y} ${end} ${to.y}`,
  });
}

function drawBranch(branch, { x, y, width }, isBest) {
  const name = showPiece(branch.piece);
  const told = branch.fate === "ended" ? `score ${signed(branch.score, 2)}` : signed(branch.total, 2);
  const fate = { kept: "goes on", ended: "ends here", pruned: "given up" }[branch.fate];
  return node(
    "g",
    { class: `hypothesis ${branch.fate}${isBest ? " best" : ""}` },
    node(
      "title",
      {},
      `${name}: ${fate}; log-probabilities add up to ${signed(branch.total, 3)}, score ${signed(branch.score, 3)}`,
    ),
    node("rect", { x, y: y - 14, width, height: 28, rx: 6 }),
    node("text", { class: "word", x: x + width / 2, y, "text-anchor": "middle" }, name),
    node("text", { class: "number", x: x + width / 2, y: y + 11, "text-anchor": "middle" }, told),
  );
}
