// One head, as arcs and as a matrix.
import { arcs } from "../draw/arcs.js";
import { matrix } from "../draw/matrix.js";
import { isHidden, sides, weightsOf } from "../trace.js";
import { node } from "../tree.js";
import { labels, percent } from "../words.js";

export function showHead(app, head, cell) {
  const weights = weightsOf(app.trace, head);
  const [rows, columns] = sides(app.trace, head.kind).map(labels);
  const name = `${head.kind}, layer ${head.layer}, head ${head.head}`;
  const told = isHidden(head.kind, cell.row, cell.column)
    ? "may not see"
    : `gives ${percent(weights[cell.row][cell.column])} of its attention to`;
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
    node(
      "p",
      { class: "readout", role: "status" },
      node("strong", {}, rows[cell.row]),
      ` ${told} `,
      node("strong", {}, columns[cell.column]),
    ),
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
