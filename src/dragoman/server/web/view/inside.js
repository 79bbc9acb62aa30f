// The whole way of a sentence through the model: every head small, one head large, one cell as arithmetic.
import { fill, listen, rooms, tell } from "../dom.js";
import { smallMap } from "../draw/cells.js";
import { askHead, askWay } from "../questions.js";
import { attentions, bestHead, findAttention, greatest, kindName, mostSeen, weightsOf } from "../trace.js";
import { node } from "../tree.js";
import { isGlued, showPiece } from "../words.js";
import { showCell } from "./cell.js";
import { cellTold, showHead } from "./head.js";
import { drawSlider } from "./slider.js";
import { showWay, wayPlace } from "./way.js";

// The head and the cell that are shown: as the address says, or else the head that aligns best, at this step.
function chosenHead(app) {
  const { kind, layer, head } = app.state;
  const known = findAttention(app.trace, kind, layer);
  return known && head >= 1 && head <= known.heads.length ? { kind, layer, head } : bestHead(app.trace);
}

function chosenCell(app, head) {
  const { row, column } = app.state;
  const weights = weightsOf(app.trace, head);
  const usual = head.kind === "encoder self" ? mostSeen(app.trace, app.step()) : app.step();
  const y = row >= 0 && row < weights.length ? row : Math.min(usual, weights.length - 1);
  const best = greatest(weights[y]);
  return { row: y, column: column >= 0 && column < weights[y].length ? column : best };
}

export async function showInside(panel, app) {
  const [turn, head] = [app.turn, chosenHead(app)];
  const cell = chosenCell(app, head);
  const where = () => JSON.stringify([chosenHead(app), chosenCell(app, chosenHead(app)), app.step(), app.state.side]);
  const here = where();
  const answers = Promise.all([askWay(app, app.state.side, wayPlace(app)), askHead(app, head)]);
  const [slider, pieces, way, zooms, working] = rooms(panel, "slider", "pieces", "way", "zooms", "working");
  drawSteps(app, slider, pieces);
  fill(zooms, overview(app, head), showHead(app, head, cell));
  tell(cellTold(app, head, cell).join(" "));
  act(panel, app);
  const [told, numbers] = await answers;
  if (turn !== app.turn || app.state.view !== "inside" || where() !== here) return;
  fill(way, showWay(app, told));
  fill(working, showCell(app, head, cell, numbers));
}

function act(panel, app) {
  if (panel.dataset.acts) return;
  panel.dataset.acts = "yes";
  listen(panel, "click", "[data-map]", (found) => {
    const [kind, layer, head] = found.dataset.map.split("/");
    app.go({ kind, layer: Number(layer), head: Number(head), row: -1, column: -1 });
  });
  listen(panel, "click", ".head .matrix [data-row]", (found) =>
    choose(app, Number(found.dataset.row), Number(found.dataset.column)),
  );
  listen(panel, "click", ".arcs [data-row]", (found) => choose(app, Number(found.dataset.row), -1));
  listen(panel, "click", ".arcs [data-column]", (found) => app.go({ column: Number(found.dataset.column) }));
  listen(panel, "keydown", ".grid", (_found, event) => move(app, event));
}

function choose(app, row, column) {
  const isSource = chosenHead(app).kind === "encoder self";
  app.go({ row, column, ...(isSource ? {} : { step: row }) });
}

// Arrow keys move the chosen cell.
function move(app, event) {
  const moves = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
  const by = event.altKey || event.ctrlKey || event.metaKey ? undefined : moves[event.key];
  if (!by) return;
  event.preventDefault();
  const head = chosenHead(app);
  const weights = weightsOf(app.trace, head);
  const { row, column } = chosenCell(app, head);
  choose(
    app,
    Math.max(0, Math.min(weights.length - 1, row + by[0])),
    Math.max(0, Math.min(weights[0].length - 1, column + by[1])),
  );
}

// The decoding step, as a slider and as the pieces themselves.
function drawSteps(app, slider, pieces) {
  const { writtenPieces } = app.trace;
  const [step, most] = [app.step(), writtenPieces.length - 1];
  const move = (to) => app.go({ step: to, row: -1, column: -1, side: "target" }, { replace: true });
  const told = `writes ${showPiece(writtenPieces[step])}`;
  drawSlider(slider, { text: `Step ${step + 1} of ${most + 1}`, told, value: step, most, move });
  const button = (piece, index) => {
    const kind = isGlued(writtenPieces, index) ? "piece glued" : "piece";
    const attributes = {
      type: "button",
      class: kind,
      "aria-pressed": String(index === step),
      "data-key": `piece ${index}`,
    };
    return node("button", { ...attributes, onclick: () => move(index) }, showPiece(piece));
  };
  fill(pieces, node("div", { class: "pieces" }, writtenPieces.map(button)));
}

// Every layer and head, small.
function overview(app, chosen) {
  const kinds = [...new Set(attentions(app.trace).map((one) => one.kind))];
  return node(
    "section",
    { class: "card overview" },
    node("h2", {}, "Every layer, every head"),
    node("p", { class: "hint" }, "A row looks, a column is looked at; the darker, the more. Choose one."),
    kinds.map((kind) =>
      node(
        "div",
        { class: "kind" },
        node("h3", {}, kindName(kind)),
        attentions(app.trace)
          .filter((one) => one.kind === kind)
          .map((one) => layerLine(app, one, chosen)),
      ),
    ),
  );
}

function layerLine(app, { kind, layer, heads }, chosen) {
  return node(
    "div",
    { class: "layer" },
    node("span", { class: "faint" }, `layer ${layer}`),
    node(
      "div",
      { class: "heads" },
      heads.map((_, index) => {
        const head = { kind, layer, head: index + 1 };
        const held = kind === chosen.kind && layer === chosen.layer && head.head === chosen.head;
        const name = `${kind}, layer ${layer}, head ${index + 1}`;
        return node(
          "button",
          {
            type: "button",
            class: "thumb",
            "data-map": `${kind}/${layer}/${index + 1}`,
            "data-key": name,
            "aria-pressed": String(held),
            "aria-label": name,
            title: name,
          },
          smallMap(weightsOf(app.trace, head), name),
        );
      }),
    ),
  );
}
