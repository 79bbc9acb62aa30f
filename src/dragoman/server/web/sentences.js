// Sentences worth trying, in pairs that differ in one word, which decides how others are translated.

// What Spanish says with one word, leaves out, or puts elsewhere: bench or bank, she or he, to me or to you.
const SPANISH = [
  ["Él durmió en el banco del parque.", "Él durmió en el banco del pueblo."],
  ["María dijo que tenía hambre.", "Tom dijo que tenía hambre."],
  ["Él me lo dio.", "Él te lo dio."],
];

// A word of several meanings, and more sentences with it.
const MEANT = {
  en: { word: "bank", more: ["I walked along the bank of the river.", "I opened an account at the bank."] },
  es: { word: "banco", more: ["Me senté en un banco del parque.", "Abrí una cuenta en el banco."] },
};

// In the language of the source; the English ones are the lectures', which the service tells.
export function sentencesOf(app) {
  return { en: app.contents?.sentences, es: SPANISH }[app.state.source] ?? [];
}

// Sentences that have one word in common which does not mean the same in all, or null.
export function sentencesToCompare(app) {
  const { word, more } = MEANT[app.state.source] ?? { more: [] };
  const known = sentencesOf(app)
    .flat()
    .filter((sentence) => sentence.split(/\W+/).filter((one) => one === word).length === 1);
  return known.length > 1 ? { sentences: [...known, ...more], word } : null;
}
