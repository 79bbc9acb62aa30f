// The page's heart: the state, what the service answered to it, and who draws it.
import { readAddress, writeAddress } from "./address.js";
import { faultOf, leastSure, linksOf } from "./trace.js";

// A change of these asks the model anew; a change of anything else only draws anew.
const ASKED = ["q", "source", "target", "written", "sentence"];

// `draw(app, part)` draws everything, or the "panel" alone.
export function makeApp(service, draw) {
  const app = {
    service,
    state: readAddress(location.hash),
    models: [],
    contents: null,
    translation: null,
    trace: null,
    lit: null,
    trouble: null,
    stored: false,
    turn: 0,
    drawings: 0,
    keyRequired: false,
    onlit: null,
    complain: null,
    ask: (path, body) => service.ask(path, body),
    pair: () => ({ source: app.state.source, target: app.state.target }),
    model: () => app.models.find((one) => one.source === app.state.source && one.target === app.state.target),
    sentences: () => app.translation?.sentences ?? [],
    sentence: () => app.sentences()[app.state.sentence] ?? null,
    step: () =>
      app.state.step < 0 ? leastSure(app.trace) : Math.min(app.state.step, app.trace.writtenPieces.length - 1),
    words: () => ({ q: app.sentence().source, ...app.pair(), pieces: app.trace.pieces }),
    go,
    load,
  };

  function go(changes, { replace = false } = {}) {
    const before = app.state;
    app.trouble = null;
    app.state = { ...before, ...changes };
    const address = writeAddress(app.state);
    if (address !== location.hash && !(address === "#" && location.hash === "")) {
      history[replace ? "replaceState" : "pushState"](null, "", address);
    }
    const asked = ASKED.some((name) => name in changes && String(before[name]) !== String(changes[name]));
    return asked ? load() : draw(app, "view" in changes && changes.view !== before.view ? undefined : "panel");
  }

  // Ask for the translation and its trace. What comes too late, because something else was asked meanwhile, is dropped.
  async function load() {
    const turn = ++app.turn;
    let [translation, trace, trouble] = [null, null, null];
    try {
      translation = await askTranslation(app);
      trace = translation && (await askTrace(app, translation));
    } catch (error) {
      trouble = error; // a translation without a trace is still a translation
    }
    if (turn !== app.turn) return;
    Object.assign(app, { translation, trace, trouble, lit: null, stored: false });
    await draw(app);
  }

  addEventListener("popstate", () => {
    app.state = readAddress(location.hash);
    if (!app.state.source) Object.assign(app.state, firstPair(app.models));
    load();
  });
  return app;
}

// The languages to begin with: those of the lectures, if a model has them.
export function firstPair(models) {
  const first = models.find((one) => one.source === "en" && one.target === "es") ?? models[0];
  return first ? { source: first.source, target: first.target } : {};
}

async function askTranslation(app) {
  const { q } = app.state;
  if (!q.trim()) return null;
  const { translations } = await app.ask("v1/translate", { q, ...app.pair(), alignments: aligns(app) });
  return structuredClone(translations[0]);
}

// The trace is of the translation that is shown: of the pieces that were chosen, or of those that somebody forced.
async function askTrace(app, translation) {
  const { written, sentence } = app.state;
  const one = translation.sentences[sentence];
  if (!one || !/\p{L}/u.test(one.source)) return null;
  const pieces = written.length ? written : one.pieces;
  const trace = await app.ask("v1/trace", { q: one.source, ...app.pair(), pieces });
  const fault = faultOf(trace);
  if (fault) throw new Error(`The trace cannot be read: ${fault}`);
  if (written.length) {
    const alignment = aligns(app) ? linksOf(trace) : [];
    Object.assign(one, { original: one.text, text: trace.text, pieces: trace.pieces, alignment });
  }
  return trace;
}

function aligns(app) {
  return app.model()?.alignments ?? true;
}
