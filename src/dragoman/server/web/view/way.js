// One position's way: its piece, its vector after every step, the logits, the choice.
import { bars } from "../draw/bars.js";
import { strip } from "../draw/cells.js";
import { mostSeen } from "../trace.js";
import { node } from "../tree.js";
import { percent, showPiece, signed } from "../words.js";

// Which position is followed: the piece that is being written, or the source piece that it looked at most.
export function wayPlace(app) {
  return app.state.side === "source" ? mostSeen(app.trace, app.step()) : app.step();
}

export function showWay(app, way) {
  const { trace, state } = app;
  const isSource = state.side === "source";
  const read = isSource ? trace.sourcePieces : trace.readPieces;
  const at = wayPlace(app);
  const side = (name, title) =>
    node(
      "button",
      {
        type: "button",
        class: "quiet",
        "aria-pressed": String(state.side === name),
        "data-key": `side ${name}`,
        onclick: () => app.go({ side: name }),
      },
      title,
    );
  return node(
    "section",
    { class: "card way" },
    node(
      "h2",
      {},
      "The way of ",
      node("em", {}, showPiece(read[at])),
      isSource ? " through the encoder" : ` to ${showPiece(trace.writtenPieces[at])}`,
    ),
    node(
      "p",
      { class: "hint" },
      "Each strip is a vector, one cell for each number: ",
      node("span", { class: "swatch above" }),
      " above zero, ",
      node("span", { class: "swatch below" }),
      " below. A line with + is added to the one before. ",
      side("source", "encoder"),
      side("target", "decoder"),
    ),
    node(
      "div",
      { class: "walk" },
      node(
        "ol",
        { class: "stages" },
        node("li", {}, node("span", { class: "name" }, "piece"), node("strong", {}, showPiece(read[at]))),
        way.stages.map((stage) => stageLine(stage, way)),
      ),
      isSource ? null : choice(way, trace, at),
    ),
  );
}

function stageLine({ name, vector }, way) {
  const most = Math.max(...way.stages.flatMap((stage) => stage.vector.map(Math.abs)));
  const length = Math.sqrt(vector.reduce((sum, number) => sum + number * number, 0));
  const told = `${name}: ${vector
    .slice(0, 4)
    .map((number) => signed(number, 2))
    .join(", ")}, …; length ${length.toFixed(1)}`;
  return node(
    "li",
    { class: name.includes("+") ? "added" : "total", title: told },
    node("span", { class: "name" }, name),
    strip(vector, most / 1.6, told),
    node("span", { class: "told" }, `‖${length.toFixed(1)}‖`),
  );
}

// The last vector times each piece's row is a logit; its share of all exponentials is the probability.
function choice(way, trace, at) {
  return node(
    "div",
    { class: "choice" },
    node("h3", {}, "Logits, and the choice"),
    node(
      "p",
      { class: "hint" },
      `probability = exp(logit − ${signed(way.logSum, 3)}), where ${signed(way.logSum, 3)} = `,
      "ln Σ exp(logit) over all pieces",
    ),
    bars(
      way.logits.map(([piece, logit]) => {
        const chance = Math.exp(logit - way.logSum);
        return {
          name: showPiece(piece),
          share: chance,
          told: `${signed(logit, 2)} → ${percent(chance)}`,
          held: piece === trace.writtenPieces[at],
        };
      }),
      "Logits of the likeliest pieces",
    ),
  );
}
