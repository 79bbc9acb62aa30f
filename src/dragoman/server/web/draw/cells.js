// Many numbers in a small place: cells of equal shade are one path, so that a thousand cells are a dozen elements.
import { node } from "../tree.js";

const LEVELS = 12;
const CURVE = 0.75; // lifts small weights: most of attention is small, and the eye should see it

export function shade(weight) {
  return weight > 0 ? Math.min(1, weight) ** CURVE : 0;
}

// Rows of numbers from -1 to 1; below zero they have another colour.
function cellPaths(rows, width = 1, height = 1) {
  const paths = new Map();
  rows.forEach((row, y) =>
    row.forEach((value, x) => {
      const level = Math.round(shade(Math.abs(value)) * LEVELS);
      if (!level) return;
      const key = `${value < 0 ? "below" : "above"} ${level}`;
      paths.set(key, (paths.get(key) ?? "") + `M${x * width} ${y * height}h${width}v${height}h${-width}z`);
    }),
  );
  return [...paths].sort().map(([key, d]) => {
    const [sign, level] = key.split(" ");
    return node("path", { class: sign, d, "fill-opacity": (level / LEVELS).toFixed(3) });
  });
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
