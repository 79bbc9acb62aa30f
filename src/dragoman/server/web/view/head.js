// One head, as arcs and as a matrix.
import { arcs } from "../draw/arcs.js";
import { matrix } from "../draw/matrix.js";
import { isHidden, sides, weightsOf } from "../trace.js";
import { node } from "../tree.js";
import { labels, percent } from "../words.js";

// What a cell says: who looks, how much, and at whom.
export function cellTold(app, { kind, layer, head }, { row, column }) {
  const [rows, columns] = sides(app.trace, kind).map(labels);
  const weight = weightsOf(app.trace, { kind, layer, head })[row][column];
  const told = isHidden(kind, row, column) ? "may not see" : `gives ${percent(weight)} of its attention to`;
  return [rows[row], told, columns[column]];
}

export function showHead(app, head, cell) {
  const weights = weightsOf(app.trace, head);
  const [rows, columns] = sides(app.trace, head.kind).map(labels);
  const name = `${head.kind}, layer ${head.layer}, head ${head.head}`;
  const told = cellTold(app, head, cell);
  const best = app.trace.bestHead;
  const isBest = best && best.kind === head.kind && best.layer === head.layer && best.head === head.head;
  return node(
    "section",
    { class: "card head" },
    node("h2", {}, "One head: ", node("em", {}, name)),
    node(
      "p",
      { class: "hint" },
      isBest ? "Of all heads, this one aligns words best. " : "",
      "Choose a word on the left, or a cell; arrow keys move in the matrix.",
    ),
    node("p", { class: "readout" }, node("strong", {}, told[0]), ` ${told[1]} `, node("strong", {}, told[2])),
    node(
      "div",
      { class: "pictures" },
      node(
        "div",
        { class: "scroll", "data-scroll": "arcs" },
        arcs(rows, columns, weights, { row: cell.row, title: `${name}, as arcs` }),
      ),
      node(
        "div",
        {
          class: "scroll grid",
          tabindex: 0,
          "data-key": "matrix",
          "data-scroll": "matrix",
          role: "group",
          "aria-label": `${name}: matrix, arrow keys move`,
        },
        matrix(rows, columns, weights, {
          chosen: cell,
          hidden: (row, column) => isHidden(head.kind, row, column),
          title: `${name}, as a matrix`,
        }),
      ),
    ),
  );
}
