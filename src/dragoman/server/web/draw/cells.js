// Many numbers in a small place: cells of equal shade are one path, so that a thousand cells are a dozen elements.
import { node } from "../tree.js";

const LEVELS = 12;
const CURVE = 0.75; // lifts small weights: most of attention is small, and the eye should see it

const FAINTEST = (0.5 / LEVELS) ** (1 / CURVE); // what would be rounded to no shade at all

export function shade(weight) {
  return weight > 0 ? Math.min(1, weight) ** CURVE : 0;
}

// Rows of numbers from -1 to 1; below zero they have another colour. Most are too faint to be seen.
function cellPaths(rows) {
  const paths = { above: new Array(LEVELS + 1).fill(""), below: new Array(LEVELS + 1).fill("") };
  rows.forEach((row, y) =>
    row.forEach((value, x) => {
      const size = Math.abs(value);
      if (size < FAINTEST) return;
      paths[value < 0 ? "below" : "above"][Math.round(shade(size) * LEVELS)] += `M${x} ${y}h1v1h-1z`;
    }),
  );
  return Object.entries(paths).flatMap(([sign, levels]) =>
    levels.map((d, level) => (d ? node("path", { class: sign, d, "fill-opacity": (level / LEVELS).toFixed(3) }) : null)),
  );
}

// A map without labels.
export function smallMap(weights, title) {
  const [rows, columns] = [weights.length, weights[0].length];
  return node(
    "svg",
    {
      class: "small",
      viewBox: `0 0 ${columns} ${rows}`,
      preserveAspectRatio: "none",
      "shape-rendering": "crispEdges",
      role: "img",
      "aria-label": title,
    },
    node("rect", { class: "paper", width: columns, height: rows }),
    cellPaths(weights),
  );
}

// A vector as a strip; shades are relative to `most`.
export function strip(vector, most, title) {
  const largest = most || 1;
  return node(
    "svg",
    {
      class: "strip",
      viewBox: `0 0 ${vector.length} 1`,
      preserveAspectRatio: "none",
      "shape-rendering": "crispEdges",
      role: "img",
      "aria-label": title,
    },
    node("rect", { class: "paper", width: vector.length, height: 1 }),
    cellPaths([vector.map((value) => value / largest)]),
  );
}
