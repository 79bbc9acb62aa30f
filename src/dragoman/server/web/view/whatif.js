// What if a head were silent, or looked everywhere alike, or a word were another? The original stands beside it.
import { fill, rooms } from "../dom.js";
import { matrix } from "../draw/matrix.js";
import { smallMap } from "../draw/cells.js";
import { askFlows, askWhatIf } from "../questions.js";
import { sentencesOf } from "../sentences.js";
import { attentions, bestHead, weightsOf } from "../trace.js";
import { node } from "../tree.js";
import { labels, percent, showPiece } from "../words.js";

const WAYS = { "": "as it is", off: "switched off", uniform: "uniform" };

export async function showWhatIf(panel, app) {
  const turn = app.turn;
  const place = () => {
    const { off, uniform, instead, view } = app.state;
    return JSON.stringify([off, uniform, instead, view]);
  };
  const here = place();
  const [words, changes, result, others] = rooms(panel, "source", "heads", "outcome", "readings");
  fill(words, source(app));
  fill(changes, heads(app));
  const [told, flows] = await Promise.all([askWhatIf(app), askFlows(app)]);
  if (turn !== app.turn || place() !== here) return;
  fill(result, outcome(told));
  fill(others, readings(app, flows));
}

// The source, word by word: click one to drop it, or write another sentence.
function source(app) {
  const words = (app.state.instead || app.sentence().source).split(/\s+/);
  const drop = (index) => app.go({ instead: words.filter((_, place) => place !== index).join(" ") });
  return node(
    "section",
    { class: "card" },
    node("h2", {}, "Another sentence"),
    node("p", { class: "hint" }, "Click a word to drop it, or write something else."),
    node(
      "div",
      { class: "pieces" },
      words.map((word, index) =>
        node(
          "button",
          {
            type: "button",
            class: "piece",
            "data-key": `drop ${index}`,
            title: `drop “${word}”`,
            onclick: () => drop(index),
          },
          word,
        ),
      ),
    ),
    node(
      "div",
      { class: "controls" },
      node("input", {
        type: "text",
        class: "wide",
        "data-key": "instead",
        "aria-label": "Another sentence",
        value: words.join(" "),
        onchange: (event) => app.go({ instead: event.target.value }),
      }),
      swap(app, words),
      app.state.instead
        ? node(
            "button",
            { type: "button", class: "quiet", "data-key": "whole", onclick: () => app.go({ instead: "" }) },
            "As it was",
          )
        : null,
    ),
  );
}

// Offer the other sentence, if this is one of a pair.
function swap(app, words) {
  const sentence = words.join(" ");
  const other = sentencesOf(app)
    .find((pair) => pair.includes(sentence))
    ?.find((one) => one !== sentence);
  if (!other) return null;
  const place = other.split(" ").findIndex((word, index) => word !== words[index]);
  const [from, to] = [words[place], other.split(" ")[place]].map((word) => word.replace(/[.,]$/, ""));
  const attributes = { type: "button", "data-key": "swap", onclick: () => app.go({ instead: other }) };
  return node("button", attributes, `${from} → ${to}`);
}

function heads(app) {
  const { off, uniform } = app.state;
  const single = app.model()?.kind === "recurrent"; // its one attention cannot be switched off
  const wayOf = (name) => (off.includes(name) ? "off" : uniform.includes(name) ? "uniform" : "");
  const turn = (name) => {
    const next = { "": single ? "uniform" : "off", off: "uniform", uniform: "" }[wayOf(name)];
    const without = (list) => list.filter((one) => one !== name);
    app.go({
      off: next === "off" ? [...without(off), name] : without(off),
      uniform: next === "uniform" ? [...without(uniform), name] : without(uniform),
    });
  };
  return node(
    "section",
    { class: "card whatif" },
    node("h2", {}, "Other heads"),
    node(
      "p",
      { class: "hint" },
      single
        ? "Click the attention to make it look everywhere alike; again, and it is as it was."
        : "Click a head to switch it off; again, and it looks everywhere alike; again, and it is as it was.",
    ),
    attentions(app.trace).map(({ kind, layer, heads }) =>
      node(
        "div",
        { class: "layer" },
        node("span", { class: "faint" }, `${kind}, layer ${layer}`),
        node(
          "div",
          { class: "heads" },
          heads.map((_, index) => {
            const name = `${kind} ${layer} ${index + 1}`;
            const way = wayOf(name);
            return node(
              "button",
              {
                type: "button",
                class: `thumb ${way}`,
                "data-key": name,
                "aria-label": `${kind}, layer ${layer}, head ${index + 1}: ${WAYS[way]}`,
                title: WAYS[way],
                onclick: () => turn(name),
              },
              smallMap(weightsOf(app.trace, { kind, layer, head: index + 1 }), name),
              node("span", { class: "way" }, way),
            );
          }),
        ),
      ),
    ),
    off.length + uniform.length
      ? node(
          "button",
          { type: "button", class: "quiet", "data-key": "all back", onclick: () => app.go({ off: [], uniform: [] }) },
          "All as they were",
        )
      : null,
  );
}

function outcome(told) {
  const { original, changed, forced } = told;
  const same = original.text === changed.text;
  const line = (piece, index) => {
    const [was, is] = [original.probabilities[index], forced.probabilities[index]];
    const rather = forced.likeliest[index];
    return node(
      "tr",
      { class: is < was / 2 ? "held" : null },
      node("th", { scope: "row" }, showPiece(piece)),
      node("td", {}, percent(was)),
      node("td", {}, percent(is)),
      node("td", { class: "rather" }, rather === piece ? "" : showPiece(rather)),
    );
  };
  return node(
    "section",
    { class: "card outcome" },
    node("h2", {}, "What comes of it"),
    node(
      "dl",
      { class: "beside" },
      node("dt", {}, "original"),
      node("dd", { id: "original" }, original.text),
      node("dt", {}, "changed"),
      node("dd", { id: "changed", class: same ? "same" : "mark" }, changed.text),
    ),
    node(
      "div",
      { class: "scroll" },
      node(
        "table",
        { class: "numbers" },
        node("caption", {}, "How likely the original’s pieces were, and are now"),
        node(
          "thead",
          {},
          node(
            "tr",
            {},
            ["piece", "original", "changed", "rather now"].map((name) => node("th", { scope: "col" }, name)),
          ),
        ),
        node("tbody", {}, original.pieces.map(line)),
      ),
    ),
  );
}

// Three readings of where a word came from: nobody should take a weight for an explanation too easily.
function readings(app, flows) {
  const rows = labels(app.trace.writtenPieces);
  const columns = labels(app.trace.sourcePieces);
  const { kind, layer, head } = bestHead(app.trace);
  const known = flows.readings.some(({ errorRate }) => errorRate !== null);
  return node(
    "section",
    { class: "card readings" },
    node("h2", {}, "Is a weight an explanation?"),
    node(
      "p",
      { class: "hint" },
      "A large weight on a small value moves little, and what a position holds came from others before. ",
      flows.readings.length > 1
        ? `So here are the same words, read in three ways: raw and weighted by values in ${kind}, layer ${layer}, ` +
            `head ${head}; rolled out over all layers, with all heads of a layer taken together as their mean. `
        : "",
      known
        ? "For this sentence the right alignment is known: the error rate says how far each reading is from it."
        : "The right alignment is known for the lectures’ sentences only, as long as they are translated as there.",
    ),
    node(
      "div",
      { class: "pictures" },
      flows.readings.map(({ name, weights, errorRate }) =>
        node(
          "figure",
          {},
          node(
            "figcaption",
            {},
            name,
            errorRate === null ? "" : node("strong", {}, ` · alignment error rate ${percent(errorRate)}`),
          ),
          node("div", { class: "scroll" }, matrix(rows, columns, weights, { title: name, size: 25 })),
        ),
      ),
    ),
  );
}
