// Which word became which, why one was chosen, and what else could stand in its place.
import { writeChoice } from "../address.js";
import { at, fill, listen, rooms } from "../dom.js";
import { bars } from "../draw/bars.js";
import { linksPicture } from "../draw/links.js";
import { askAlternatives } from "../questions.js";
import { bestHead, lookedAt, mostSeen, seenBefore } from "../trace.js";
import { node } from "../tree.js";
import { percent, showPiece, wordsOf } from "../words.js";
import { light } from "./composer.js";

export async function showTranslate(panel, app) {
  const [turn, step] = [app.turn, app.step()];
  const { source, alignment } = app.sentence();
  const target = wordsOf(app.trace.pieces);
  const word = target.findIndex(({ from, to }) => from <= step && step < to);
  const [above, below] = [source.trim().split(/\s+/), target.map(({ text }) => text)];
  const picture = (lit) =>
    linksPicture(above, below, alignment ?? [], lit ?? (word < 0 ? null : { side: "target", word }));
  const [links, reasons] = rooms(panel, "links", "reasons");
  fill(links, card(picture(null)));
  fill(reasons, why(app, target));
  showWord(panel.querySelector(".links .held"));
  app.onlit = (lit) => at("links") && fill(at("links"), picture(lit));
  follow(panel, app);
  const others = await askAlternatives(app, step);
  if (turn !== app.turn || app.state.view !== "translate" || step !== app.step()) return;
  fill(
    at("others"),
    node(
      "ul",
      { class: "others" },
      others.map((other) => choice(app, other, step)),
    ),
  );
}

function card(picture) {
  const hint = "Point at a word, above or here. Click a word of the translation to see why it was chosen.";
  return node(
    "section",
    { class: "card" },
    node("h2", {}, "Which word became which"),
    node("p", { class: "hint" }, hint),
    node("div", { class: "scroll", id: "links" }, picture),
  );
}

// Scroll the picture, and nothing else, until a word is in sight.
function showWord(word) {
  const box = word?.closest(".scroll");
  if (box) box.scrollLeft += word.getBoundingClientRect().x - box.getBoundingClientRect().x - box.clientWidth / 2;
}

function follow(panel, app) {
  if (panel.dataset.follows) return;
  panel.dataset.follows = "yes";
  const lit = (found) => ({ sentence: app.state.sentence, side: found.dataset.side, word: Number(found.dataset.word) });
  listen(panel, "mouseover", ".links [data-word]", (found) =>
    app.lit?.word === Number(found.dataset.word) && app.lit.side === found.dataset.side ? null : light(app, lit(found)),
  );
  panel.addEventListener("mouseleave", () => light(app, null));
  listen(panel, "click", ".links [data-side=target]", (found) =>
    app.go({ step: wordsOf(app.trace.pieces)[Number(found.dataset.word)].from, row: -1, column: -1 }),
  );
}

// Why a word was chosen: what was likely, where the model looked, what would have come of another choice.
function why(app, target) {
  const step = app.step();
  const { writtenPieces } = app.trace;
  const word = target.find(({ from, to }) => from <= step && step < to)?.text ?? showPiece(writtenPieces[step]);
  const before = target.filter(({ to }) => to <= step).map(({ text }) => text);
  return node(
    "section",
    { class: "card why" },
    node("h2", {}, "Why “", node("em", {}, word), "”?"),
    node(
      "div",
      { class: "columns" },
      likely(app, step, before.join(" ")),
      app.model()?.alignments === false ? null : looked(app, step),
      node(
        "div",
        {},
        node("h3", {}, "What else could stand here"),
        node("p", { class: "hint" }, "Take one, and the rest is translated anew:"),
        node("div", { id: "others" }, node("p", { class: "faint waiting" }, "…")),
      ),
    ),
  );
}

function likely({ trace }, step, before) {
  const items = trace.likeliest[step].map(([piece, chance]) => ({
    name: showPiece(piece),
    share: chance,
    told: percent(chance),
    held: piece === trace.writtenPieces[step],
  }));
  const hint = before ? `After “${before}”, the next piece was:` : "At the start, the first piece was:";
  const title = "What was likely here";
  return node("div", {}, node("h3", {}, title), node("p", { class: "hint" }, hint), bars(items, title));
}

// Where the word looked in the source, and where that word had looked before: so the river comes into the bank.
function looked(app, step) {
  const { trace } = app;
  const best = bestHead(trace);
  const items = strongest(lookedAt(trace, step).sort((a, b) => b.weight - a.weight));
  const inside = (head, row) => app.go({ view: "inside", ...head, row, column: -1, step });
  const button = (title, onclick) =>
    node("button", { type: "button", class: "primary", "data-key": title, onclick }, title);
  const place = mostSeen(trace, step);
  const earlier = strongest(seenBefore(trace, place));
  return node(
    "div",
    {},
    node("h3", {}, "Where it looked"),
    node("p", { class: "hint" }, `In layer ${best.layer}, head ${best.head}, of the attention to the source:`),
    bars(
      items.map(({ text, weight }) => ({ name: text, share: weight, told: percent(weight) })),
      "Where it looked",
    ),
    button("See the arithmetic", () => inside({ kind: best.kind, layer: best.layer, head: best.head }, step)),
    earlier.length
      ? [
          node(
            "h3",
            { class: "next" },
            "What “",
            node("em", {}, showPiece(trace.sourcePieces[place])),
            "” had seen before",
          ),
          node("p", { class: "hint" }, "In the encoder, in the head that looked most, as layer.head:"),
          bars(
            earlier.map(({ other, weight, layer, head }) => ({
              name: showPiece(trace.sourcePieces[other]),
              share: weight,
              told: `${percent(weight)} in ${layer}.${head}`,
            })),
            "What it had seen before",
          ),
          button("See this head", () =>
            inside({ kind: "encoder self", layer: earlier[0].layer, head: earlier[0].head }, place),
          ),
          button("What if it could not?", () =>
            app.go({
              view: "whatif",
              off: [`encoder self ${earlier[0].layer} ${earlier[0].head}`],
              uniform: [],
              instead: "",
            }),
          ),
        ]
      : null,
  );
}

// The first few, as long as they are worth a bar.
function strongest(items) {
  return items.filter(({ weight }, rank) => !rank || (rank < 4 && weight >= 0.02));
}

function choice(app, other, step) {
  const taken = other.piece === app.trace.writtenPieces[step];
  const word = wordsOf(other.pieces).find(({ from, to }) => from <= step && step < to)?.text ?? "(end)";
  return node(
    "li",
    {},
    node(
      "button",
      {
        type: "button",
        class: "other",
        "data-key": `other ${other.piece}`,
        "aria-pressed": String(taken),
        disabled: !other.pieces.length,
        onclick: () => taken || app.go({ written: writeChoice(app.state, app.state.sentence, other.pieces), step }),
      },
      node("span", { class: "word" }, word),
      node("span", { class: "told" }, percent(other.probability)),
      node("span", { class: "rest" }, other.text || "(nothing)"),
    ),
  );
}
