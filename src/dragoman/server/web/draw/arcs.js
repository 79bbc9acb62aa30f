// One head as arcs: who looks on the left, who is looked at on the right, and the thicker the more.
import { node, sized } from "../tree.js";
import { percent, widthOf } from "../words.js";

const [LINE, SIZE, SPAN, LEAST, LEAST_FAINT] = [26, 15, 110, 0.02, 0.15];

export function arcs(rows, columns, weights, { row: chosen = -1, title = "" } = {}) {
  const left = Math.ceil(Math.max(...rows.map(widthOf)) * SIZE) + 14;
  const right = Math.ceil(Math.max(...columns.map(widthOf)) * SIZE) + 14;
  const [width, height] = [left + SPAN + right, Math.max(rows.length, columns.length) * LINE + 8];
  const y = (index) => index * LINE + LINE / 2 + 4;
  return node(
    "svg",
    { class: "arcs", ...sized(width, height), role: "img", "aria-label": title },
    order(weights, chosen).map(({ row, column, weight }) =>
      arc(left, y(row), y(column), weight, {
        faint: chosen >= 0 && row !== chosen,
        names: [rows[row], columns[column]],
      }),
    ),
    rows.map((name, row) =>
      node(
        "text",
        {
          class: row === chosen ? "word lit" : "word",
          "data-row": row,
          x: left - 8,
          y: y(row) + 5,
          "text-anchor": "end",
        },
        name,
      ),
    ),
    columns.map((name, column) =>
      node(
        "text",
        {
          class: chosen >= 0 && weights[chosen][column] >= 0.1 ? "word seen" : "word",
          "data-column": column,
          x: left + SPAN + 8,
          y: y(column) + 5,
        },
        name,
      ),
    ),
  );
}

// The chosen row is drawn last, over all others.
function order(weights, chosen) {
  const all = weights.flatMap((line, row) => line.map((weight, column) => ({ row, column, weight })));
  return all
    .filter((one) => one.weight >= (chosen >= 0 && one.row !== chosen ? LEAST_FAINT : LEAST))
    .sort((a, b) => (a.row === chosen) - (b.row === chosen) || a.weight - b.weight);
}

function arc(left, from, to, weight, { faint, names }) {
  const [start, end, middle] = [left, left + SPAN, left + SPAN / 2];
  return node(
    "path",
    {
      class: faint ? "arc faint" : "arc",
      d: `M${start} ${from}C${middle} ${from} ${middle} ${to} ${end} ${to}`,
      "stroke-width": (0.6 + 7 * weight).toFixed(2),
      "stroke-opacity": (0.15 + 0.8 * weight).toFixed(2),
    },
    node("title", {}, `${names[0]} → ${names[1]}: ${percent(weight)}`),
  );
}
