// The state of the page, in the address bar: whoever opens the address sees the same.

const DEFAULTS = {
  view: "translate",
  q: "",
  source: "",
  target: "",
  sentence: 0,
  written: [],
  kind: "",
  layer: 0,
  head: 0,
  row: -1,
  column: -1,
  step: -1,
  side: "target",
  beam: 0, // the model's own
  penalty: -1,
  pruned: true,
  off: [],
  uniform: [],
  instead: "",
  word: "",
  sentences: [],
  stage: -1,
  chapter: "",
  settings: [],
};

// What another sentence begins with.
export const AFRESH = { written: [], sentence: 0, step: -1, row: -1, column: -1, instead: "" };

// What was chosen for a sentence instead of its translation: the sentence's number and the pieces, which have no spaces.
export function choicesOf({ written }) {
  return new Map(written.map((one) => one.split(" ")).map(([number, ...pieces]) => [Number(number), pieces]));
}

// Choose pieces for a sentence, or none to take a choice back; what was chosen for others stays.
export function writeChoice({ written }, sentence, pieces = []) {
  const others = written.filter((one) => !one.startsWith(`${sentence} `));
  return pieces.length ? [...others, [sentence, ...pieces].join(" ")] : others;
}

// Lists are written with a bar between, which is doubled within.
export function writeAddress(state) {
  const words = new URLSearchParams();
  for (const [name, usual] of Object.entries(DEFAULTS)) {
    const value = state[name];
    if (Array.isArray(usual)) {
      if (value.length) words.set(name, value.map((one) => one.replaceAll("|", "||")).join(" | "));
    } else if (value !== usual) words.set(name, String(value));
  }
  return `#${words}`;
}

export function readAddress(hash) {
  const words = new URLSearchParams(hash.replace(/^#/, ""));
  const state = { ...DEFAULTS };
  for (const [name, usual] of Object.entries(DEFAULTS)) {
    if (!words.has(name)) continue;
    const text = words.get(name);
    if (Array.isArray(usual)) state[name] = text.split(" | ").map((one) => one.replaceAll("||", "|"));
    else if (typeof usual === "number") state[name] = Number.isFinite(Number(text)) ? Number(text) : usual;
    else if (typeof usual === "boolean") state[name] = text === "true";
    else state[name] = text;
  }
  return state;
}
