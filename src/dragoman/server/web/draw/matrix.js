// One head as a matrix: a row looks, a column is looked at.
import { node, sized } from "../tree.js";
import { percent, widthOf } from "../words.js";
import { shade } from "./cells.js";

const [SIZE, GAP] = [13, 8];

// `chosen` is {row, column}; `hidden(row, column)` says what may not be seen.
export function matrix(
  rows,
  columns,
  weights,
  { chosen = {}, hidden = () => false, title = "", size: cell = 30, inPercent = false } = {},
) {
  const left = Math.ceil(Math.max(...rows.map(widthOf)) * SIZE) + GAP + 4;
  const longest = Math.max(...columns.map(widthOf)) * SIZE;
  const top = Math.ceil(longest * 0.72) + 22;
  const width = left + columns.length * cell + Math.ceil(longest * 0.72);
  const height = top + rows.length * cell + 4;
  const x = (column) => left + column * cell;
  const y = (row) => top + row * cell;
  const put = (weight, row, column) =>
    drawCell({
      weight,
      row,
      column,
      inPercent,
      size: cell,
      x: x(column),
      y: y(row),
      hidden: hidden(row, column),
      names: [rows[row], columns[column]],
    });
  return node(
    "svg",
    { class: "matrix", ...sized(width, height), role: "img", "aria-label": title },
    columns.map((name, column) =>
      node(
        "text",
        {
          class: column === chosen.column ? "label lit" : "label",
          transform: `translate(${x(column) + cell / 2 + 4} ${top - GAP}) rotate(-46)`,
        },
        name,
      ),
    ),
    rows.map((name, row) =>
      node(
        "text",
        {
          class: row === chosen.row ? "label lit" : "label",
          x: left - GAP,
          y: y(row) + cell / 2 + 4.5,
          "text-anchor": "end",
        },
        name,
      ),
    ),
    node("path", { class: "paper", d: grid(weights, x, y, cell) }),
    weights.flatMap((row, number) => row.flatMap((weight, column) => put(weight, number, column))),
    chosen.row >= 0
      ? node("rect", { class: "outline", x: x(0), y: y(chosen.row), width: columns.length * cell, height: cell })
      : null,
    chosen.column >= 0
      ? node("rect", { class: "cursor", x: x(chosen.column), y: y(chosen.row), width: cell, height: cell })
      : null,
  );
}

// The paper of all cells is one element, and each has one more: there may be hundreds.
function grid(weights, x, y, cell) {
  const square = `h${cell - 1}v${cell - 1}h${1 - cell}z`;
  const places = weights.flatMap((row, number) => row.map((_, column) => `M${x(column) + 0.5} ${y(number) + 0.5}`));
  return places.map((place) => place + square).join("");
}

function drawCell({ weight, row, column, inPercent, size: cell, x, y, hidden, names }) {
  const strong = hidden ? 0 : shade(weight);
  const number = hidden ? "−∞" : weight >= 0.005 ? writeWeight(weight, inPercent) : "";
  const told = hidden ? `${names[0]} may not see ${names[1]}` : `${names[0]} looks at ${names[1]}: ${percent(weight)}`;
  const square = { x: x + 0.5, y: y + 0.5, width: cell - 1, height: cell - 1, "fill-opacity": strong.toFixed(3) };
  const middle = { x: x + cell / 2, y: y + cell / 2 + 4, "text-anchor": "middle" };
  const kind = hidden ? "number faint" : strong > 0.55 ? "number over" : "number";
  return [
    node("rect", { class: "cell above", "data-row": row, "data-column": column, ...square }, node("title", {}, told)),
    number ? node("text", { class: kind, ...middle }, number) : null,
  ];
}

function writeWeight(weight, inPercent) {
  return inPercent ? String(Math.round(100 * weight)) : weight.toFixed(2).replace(/^0/, "");
}
