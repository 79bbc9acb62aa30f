// The sentence at hand and its translation: type, point, click.
import { AFRESH, writeChoice } from "../address.js";
import { at, build, fill, listen, tell } from "../dom.js";
import { litWords } from "../draw/links.js";
import { sentencesOf } from "../sentences.js";
import { node } from "../tree.js";
import { languageName, pairName, wordsOf } from "../words.js";

const PAUSE = 280; // milliseconds without a key after which typing has stopped
const TRY = {
  "en es": "Try these, which a model of the built-in corpus knows and another may not: ",
  "es en": "Try these, in pairs that differ in one deciding word: ",
};
const MOVES = /^(Arrow|Home|End|Page)/; // keys that move within what was typed

export function drawComposer(box, app) {
  if (!box.firstChild) make(box, app);
  const typed = at("typed");
  if (typed.value !== app.state.q && !app.typing) typed.value = app.state.q;
  drawPairs(app);
  drawExamples(app);
  drawMirror(app, at("typed").value);
  drawTranslation(app);
}

function make(box, app) {
  const typed = node("textarea", {
    id: "typed",
    rows: 3,
    spellcheck: "false",
    dir: "auto",
    maxlength: 5000,
    "aria-label": "Sentence to translate",
    placeholder: "Type a sentence",
    readonly: app.service.offline,
  });
  box.append(
    build(
      node(
        "div",
        { class: "side" },
        node("div", { class: "bar" }, node("span", { id: "pairs" })),
        node("div", { class: "sheet" }, node("div", { id: "mirror", dir: "auto", "aria-hidden": "true" }), typed),
      ),
    ),
    build(
      node(
        "div",
        { class: "side" },
        node("div", { class: "bar" }, node("span", { id: "verdict", class: "faint" })),
        node("div", { id: "translation", class: "sheet", dir: "auto", "aria-live": "polite" }),
      ),
    ),
    build(node("div", { id: "examples" })),
  );
  let waiting = 0;
  at("typed").addEventListener("input", (event) => {
    clearTimeout(waiting);
    app.typing = true;
    drawMirror(app, event.target.value);
    const rest = () => app.typing && app.go({ ...AFRESH, q: event.target.value }, { replace: true });
    waiting = setTimeout(rest, PAUSE);
  });
  at("typed").addEventListener("scroll", (event) => (at("mirror").scrollTop = event.target.scrollTop));
  at("typed").addEventListener("mousemove", ({ clientX, clientY }) =>
    light(app, sourceWordAt(app, document.caretPositionFromPoint?.(clientX, clientY)?.offset)),
  );
  at("typed").addEventListener("mouseleave", () => light(app, null));
  at("typed").addEventListener("keyup", ({ key, target }) => {
    if (MOVES.test(key)) show(app, sourceWordAt(app, target.selectionStart));
  });
  at("typed").addEventListener("blur", () => light(app, null));
  listen(box, "mouseover", "[data-word]", (found) => light(app, litBy(found)));
  listen(box, "mouseout", "[data-word]", () => light(app, null));
  listen(box, "focusin", "[data-word]", (found) => show(app, litBy(found)));
  listen(box, "focusout", "[data-word]", () => light(app, null));
  listen(box, "click", "[data-from]", (found) => {
    const sentence = Number(found.dataset.sentence);
    const step = Number(found.dataset.from);
    app.go({ sentence, step, row: -1, column: -1 });
  });
}

function litBy(found) {
  return { sentence: Number(found.dataset.sentence), side: found.dataset.side, word: Number(found.dataset.word) };
}

function drawPairs(app) {
  const choose = (event) => {
    const [source, target] = event.target.value.split(" ");
    app.go({ source, target, written: [] });
  };
  const options = app.models.map((one) =>
    node(
      "option",
      {
        value: `${one.source} ${one.target}`,
        selected: one.source === app.state.source && one.target === app.state.target,
      },
      pairName(one),
    ),
  );
  fill(
    at("pairs"),
    options.length > 1
      ? node("select", { "aria-label": "Languages", "data-key": "pair", onchange: choose }, options)
      : node("span", { class: "faint" }, languageName(app.state.source)),
  );
}

function drawExamples(app) {
  const from = TRY[`${app.state.source} ${app.state.target}`];
  const known = from ? sentencesOf(app).flat() : [];
  const button = (sentence) =>
    node(
      "button",
      {
        type: "button",
        class: "chip",
        "data-key": sentence,
        "aria-pressed": String(sentence === app.state.q),
        onclick: () => app.go({ ...AFRESH, q: sentence }),
      },
      sentence,
    );
  const row = () => node("div", { class: "chips" }, known.map(button));
  fill(at("examples"), known.length ? [node("span", { class: "faint" }, from), row()] : []);
}

// The source's words stand behind what is typed, so that they can light up.
function drawMirror(app, text) {
  fill(
    at("mirror"),
    sourceParts(app, text).map((part) =>
      part.word === undefined
        ? node("span", {}, part.text)
        : node("span", { class: "source", "data-sentence": part.sentence, "data-at": part.word }, part.text),
    ),
  );
}

// The typed text in parts: words of a sentence, numbered, and whatever stands between.
function sourceParts(app, text) {
  const parts = [];
  let rest = 0;
  app.sentences().forEach((sentence, number) => {
    const start = text.indexOf(sentence.source, rest);
    if (start < 0) return;
    parts.push({ text: text.slice(rest, start), from: rest });
    let word = 0;
    for (const found of sentence.source.matchAll(/\S+|\s+/g)) {
      const blank = /^\s/.test(found[0]);
      parts.push({ text: found[0], from: start + found.index, sentence: number, word: blank ? undefined : word++ });
    }
    rest = start + sentence.source.length;
  });
  parts.push({ text: text.slice(rest), from: rest });
  return parts;
}

// The word at a place in what was typed, if there is one.
function sourceWordAt(app, offset) {
  const part = sourceParts(app, at("typed").value).find(
    (one) => one.from <= offset && offset <= one.from + one.text.length && one.word !== undefined,
  );
  return part ? { sentence: part.sentence, side: "source", word: part.word } : null;
}

function drawTranslation(app) {
  const sentences = app.sentences();
  const parts = [];
  let rest = 0;
  sentences.forEach((sentence, number) => {
    const written = sentence.original ?? sentence.text; // what stands in the whole text
    const start = app.translation.text.indexOf(written, rest);
    if (start > rest) parts.push(app.translation.text.slice(rest, start));
    else if (number) parts.push(" ");
    parts.push(...sentenceButtons(app, sentence, number));
    if (start >= 0) rest = start + written.length;
  });
  fill(at("translation"), sentences.length ? parts : node("span", { class: "faint" }, "…"));
  const one = app.sentence();
  const flags = app.translation?.flags ?? [];
  const chance = app.trace
    ? Math.exp(
        app.trace.probabilities.reduce((sum, each) => sum + Math.log(each || 1e-9), 0) / app.trace.probabilities.length,
      )
    : null;
  const told = [
    languageName(app.state.target),
    one?.original ? "your choice, and the rest translated anew" : null,
    chance ? `${Math.round(100 * chance)} % sure of a piece, on average` : null,
    ...flags.map((flag) => `flagged: ${flag}`),
  ];
  const takeBack = () => app.go({ written: writeChoice(app.state, app.state.sentence) });
  fill(
    at("verdict"),
    node("span", {}, told.filter(Boolean).join(" · ")),
    one?.original
      ? node("button", { type: "button", class: "quiet", "data-key": "back", onclick: takeBack }, "Take it back")
      : null,
  );
}

function sentenceButtons(app, sentence, number) {
  if (!sentence.pieces.length) return [sentence.text];
  const step = number === app.state.sentence && app.trace ? app.step() : -1;
  return wordsOf(sentence.pieces)
    .flatMap((word, index) => [
      index ? " " : null,
      node(
        "button",
        {
          type: "button",
          class: "target",
          "data-key": `word ${number} ${index}`,
          "data-side": "target",
          "data-sentence": number,
          "data-word": index,
          "data-from": word.from,
          "aria-pressed": String(word.from <= step && step < word.to),
          title: "What else could stand here?",
        },
        word.text,
      ),
    ])
    .filter(Boolean);
}

// Light up a word and those that it came from, or became; null puts the light out.
export function light(app, lit) {
  app.lit = lit;
  const links = lit ? (app.sentences()[lit.sentence]?.alignment ?? []) : [];
  const shining = litWords(links, lit);
  const mine = (found) => lit && Number(found.dataset.sentence) === lit.sentence;
  for (const found of at("translation").querySelectorAll("[data-word]"))
    found.classList.toggle("lit", Boolean(mine(found) && shining.target.has(Number(found.dataset.word))));
  for (const found of at("mirror").querySelectorAll("[data-at]"))
    found.classList.toggle("lit", Boolean(mine(found) && shining.source.has(Number(found.dataset.at))));
  app.onlit?.(lit && lit.sentence === app.state.sentence ? lit : null);
}

// Light up a word for whoever moves by keys, and say what lights up with it.
function show(app, lit) {
  light(app, lit);
  if (!lit) return;
  const { source, pieces, alignment } = app.sentences()[lit.sentence];
  const words = { source: source.trim().split(/\s+/), target: wordsOf(pieces).map(({ text }) => text) };
  const other = lit.side === "source" ? "target" : "source";
  const linked = [...litWords(alignment ?? [], lit)[other]].map((index) => words[other][index]);
  const told = lit.side === "source" ? "became" : "came from";
  tell(`${words[lit.side][lit.word]} ${told} ${linked.join(", ") || "nothing"}`);
}
