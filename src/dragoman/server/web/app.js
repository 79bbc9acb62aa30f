// The page's heart: the state, what the service answered to it, and who draws it.
import { choicesOf, readAddress, writeAddress } from "./address.js";
import { faultOf, leastSure, linksOf } from "./trace.js";

// A change of these asks the model anew; a change of anything else only draws anew.
const ASKED = ["q", "source", "target", "written", "sentence"];

export const MOST_BEAM = 10; // that the service watches

// What follows from the state and the answers, of this page or of a copy of it.
const READ = {
  pair() {
    return { source: this.state.source, target: this.state.target };
  },
  model() {
    return this.models.find((one) => one.source === this.state.source && one.target === this.state.target);
  },
  sentences() {
    return this.translation?.sentences ?? [];
  },
  sentence() {
    return this.sentences()[this.state.sentence] ?? null;
  },
  step() {
    const { state, trace } = this;
    return state.step < 0 ? leastSure(trace) : Math.min(state.step, trace.writtenPieces.length - 1);
  },
  words() {
    return { q: this.sentence().source, ...this.pair(), pieces: this.trace.pieces };
  },
  // How the model searches, unless somebody has moved a slider.
  search() {
    const { beam, penalty } = this.state;
    const usual = this.model()?.search ?? { beam: 5, length_penalty: 1 };
    return {
      beam: beam > 0 ? beam : Math.min(usual.beam, MOST_BEAM),
      penalty: penalty >= 0 ? penalty : Math.round(100 * usual.length_penalty),
    };
  },
};

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
    typing: false,
    onlit: null,
    complain: null,
    ask: service.ask,
    ...READ,
    go,
    load,
  };

  function go(changes, { replace = false } = {}) {
    const before = app.state;
    app.trouble = null;
    if ("q" in changes) app.typing = false;
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
      trace = translation && (await askTraces(app, translation));
    } catch (error) {
      trouble = error; // a translation without a trace is still a translation
    }
    if (turn !== app.turn) return;
    Object.assign(app, { translation, trace, trouble, lit: null, stored: false });
    await draw(app);
  }

  addEventListener("popstate", () => {
    app.typing = false;
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

export async function askTranslation(app) {
  const { q } = app.state;
  if (!q.trim()) return null;
  const { translations } = await app.ask("v1/translate", { q, ...app.pair(), alignments: aligns(app) });
  return structuredClone(translations[0]);
}

// The trace is of the translation that is shown: of the pieces that were found, or of those that somebody chose.
export async function askTraces(app, translation) {
  const { sentence } = app.state;
  const choices = choicesOf(app.state);
  const traces = new Map();
  for (const number of new Set([...choices.keys(), sentence])) {
    const one = translation.sentences[number];
    if (!one || !/\p{L}/u.test(one.source)) continue;
    const trace = await askTrace(app, one.source, choices.get(number) ?? one.pieces);
    traces.set(number, trace);
    if (!choices.has(number)) continue;
    const alignment = aligns(app) ? linksOf(trace) : [];
    Object.assign(one, { original: one.text, text: trace.text, pieces: trace.pieces, alignment });
  }
  return traces.get(sentence) ?? null;
}

async function askTrace(app, q, pieces) {
  const trace = await app.ask("v1/trace", { q, ...app.pair(), pieces });
  const fault = faultOf(trace);
  if (fault) throw new Error(`The trace cannot be read: ${fault}`);
  return trace;
}

function aligns(app) {
  return app.model()?.alignments ?? true;
}
