// One cell as arithmetic: query times key, divided by the root, softmax, and the values that are averaged.
import { rework } from "../arithmetic.js";
import { isHidden, sides } from "../trace.js";
import { node } from "../tree.js";
import { labels, signed } from "../words.js";

export function showCell(app, head, { row, column }, numbers) {
  const [rows, columns] = sides(app.trace, head.kind).map(labels);
  const title = node(
    "h2",
    {},
    "The arithmetic: ",
    node("em", {}, rows[row]),
    " → ",
    node("em", {}, columns[column]),
    node("small", {}, ` ${head.kind}, layer ${head.layer}, head ${head.head}`),
  );
  const done = rework(numbers, row, (one) => isHidden(head.kind, row, one));
  return node(
    "section",
    { class: "card working" },
    title,
    node(
      "p",
      { class: "hint" },
      "All numbers are the model’s own, rounded: redo them with pencil and paper. ",
      "Choose another cell to see another key.",
    ),
    node(
      "ol",
      { class: "arithmetic" },
      node("li", {}, scoreStep(done, numbers, row, column, rows[row], columns[column])),
      node("li", {}, weightStep(done, columns, column)),
      node("li", {}, contextStep(done, numbers, columns, column)),
    ),
  );
}

function scoreStep(done, numbers, row, column, query, key) {
  const name = node("h3", {}, "A score: how well the query fits the key");
  const score = numbers.scores[row][column];
  if (done.divisor === null)
    return [
      name,
      node(
        "p",
        {},
        `This model compares “${query}” with “${key}” in a way of its own, not by a dot product. The score is `,
        figure(score, "score"),
        ".",
      ),
    ];
  const [q, k, product] = [done.query, numbers.keys[column], done.products[column]];
  const root = done.divisor === 1 ? null : `√${done.width}`;
  const line = (title, cells, kind) =>
    node(
      "tr",
      { class: kind },
      node("th", { scope: "row" }, title),
      cells.map((cell) => node("td", {}, signed(cell))),
    );
  return [
    name,
    node(
      "div",
      { class: "scroll", "data-scroll": "score", tabindex: 0 },
      node(
        "table",
        { class: "numbers" },
        node(
          "tbody",
          {},
          line(`q of ${query}`, q, "q"),
          line(`k of ${key}`, k, "k"),
          line(
            "q · k, one by one",
            q.map((number, index) => number * k[index]),
            "products",
          ),
        ),
      ),
    ),
    node(
      "p",
      { class: "sum" },
      "Σ = ",
      figure(product, "product"),
      root
        ? [", divided by ", node("span", {}, root), " = ", figure(Math.sqrt(done.width), "root"), ", is the score "]
        : ", not divided by anything, is the score ",
      figure(score, "score"),
      Number.isFinite(done.scores[column]) ? "" : [", but it is hidden: ", node("strong", {}, "−∞")],
    ),
  ];
}

function weightStep(done, columns, column) {
  const line = (name, index) =>
    node(
      "tr",
      { class: index === column ? "held" : null },
      node("th", { scope: "row" }, name),
      [
        Number.isFinite(done.scores[index]) ? signed(done.scores[index]) : "−∞",
        done.isSoftmax ? signed(done.powers[index], 5) : null,
        signed(done.weights[index], 5),
      ]
        .filter((one) => one !== null)
        .map((cell, place, all) =>
          node("td", { class: place === all.length - 1 ? "weight" : place === 0 ? "score" : "power" }, cell),
        ),
    );
  return [
    node("h3", {}, "A weight: the score among all scores"),
    node(
      "p",
      { class: "hint" },
      done.isSoftmax
        ? `softmax: exp(score − ${signed(done.most)}), divided by their sum ${signed(done.total, 5)}`
        : "This model shares attention out in proportion to its scores, without exponentials.",
    ),
    node(
      "div",
      { class: "scroll", "data-scroll": "weights" },
      node(
        "table",
        { class: "numbers tall" },
        node(
          "thead",
          {},
          node(
            "tr",
            {},
            node("th", {}, "key"),
            node("th", {}, "score"),
            done.isSoftmax ? node("th", {}, "exp") : null,
            node("th", {}, "weight"),
          ),
        ),
        node("tbody", {}, columns.map(line)),
        node(
          "tfoot",
          {},
          node(
            "tr",
            {},
            node("th", { scope: "row" }, "sum"),
            node("td", {}),
            done.isSoftmax ? node("td", { class: "total" }, signed(done.total, 5)) : null,
            node(
              "td",
              {},
              signed(
                done.weights.reduce((sum, weight) => sum + weight, 0),
                3,
              ),
            ),
          ),
        ),
      ),
    ),
  ];
}

const HEARD = 5e-6; // keys with less weight are written as 0.00000, and nothing of their values is seen

function contextStep(done, numbers, columns, column) {
  const order = columns.map((_, index) => index).sort((a, b) => done.weights[b] - done.weights[a]);
  const heard = order.filter((index) => done.weights[index] >= HEARD || index === column);
  const rest = order.length - heard.length;
  const row = (kind, name, weight, cells) =>
    node(
      "tr",
      { class: kind },
      node("th", { scope: "row" }, name),
      node("td", { class: "weight" }, weight),
      cells.map((cell) => node("td", {}, signed(cell))),
    );
  const value = (kind, index) =>
    row(kind, `v of ${columns[index]}`, signed(done.weights[index], 5), numbers.values[index]);
  const times = numbers.values[column].map((number) => done.weights[column] * number);
  const chosen = [value("held v", column), row("held times", `weight × v of ${columns[column]}`, "", times)];
  return [
    node("h3", {}, "What was seen: the values, weighted and added"),
    node(
      "p",
      { class: "hint" },
      done.isMean
        ? "Each row is a value, with its weight before it; the last row is the sum of all weights times values, "
        : "Each row is a value, with its weight before it; this model makes the last row of them in a way of its own, ",
      "which goes on to the next step.",
      rest ? ` The ${rest} other keys have less weight than could be written here.` : "",
    ),
    node(
      "div",
      { class: "scroll", "data-scroll": "values", tabindex: 0 },
      node(
        "table",
        { class: "numbers values" },
        node("thead", {}, node("tr", {}, node("th", {}, "value"), node("th", {}, "weight"))),
        node(
          "tbody",
          {},
          heard.flatMap((index) => (index === column ? chosen : value("v", index))),
        ),
        node("tfoot", {}, row("context", done.isMean ? "Σ weight × v" : "what was seen", "", done.context)),
      ),
    ),
  ];
}

function figure(number, name) {
  return node("b", { class: "figure", "data-figure": name }, signed(number));
}
