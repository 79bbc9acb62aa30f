// The trace is a contract between the service and the page: what is checked here is all that the page relies on.

import { wordsOf } from "./words.js";

const VERSION = 1;
const KINDS = ["encoder self", "decoder self", "cross"];
const NAMES = {
  "encoder self": "Encoder: source words look at each other",
  "decoder self": "Decoder: written words look back",
  cross: "Across: the word to be written looks at the source",
};

export function kindName(kind) {
  return NAMES[kind] ?? kind;
}

// Return what is wrong with a trace, or nothing.
export function faultOf(trace) {
  if (trace.version !== VERSION) return `it is of version ${trace.version}, but this page reads version ${VERSION}`;
  const size = {
    source: trace.sourcePieces?.length,
    read: trace.readPieces?.length,
    written: trace.writtenPieces?.length,
  };
  if (![size.source, size.read, size.written].every((length) => length > 0)) return "pieces are missing";
  if (size.read !== size.written || trace.pieces?.length !== size.written - 1) return "pieces do not fit together";
  if (trace.probabilities?.length !== size.written) return "there must be a probability for every piece";
  if (!trace.probabilities.every((chance) => chance >= 0 && chance <= 1)) return "a probability is not from 0 to 1";
  if (trace.likeliest?.length !== size.written) return "likeliest pieces are missing";
  const shapes = {
    "encoder self": [size.source, size.source],
    "decoder self": [size.read, size.read],
    cross: [size.written, size.source],
  };
  for (const one of trace.attention ?? [{}]) {
    const shape = shapes[one.kind];
    if (!shape) return "an attention is of an unknown kind";
    if (!(one.layer >= 1) || !one.heads?.length) return "an attention has no layer or no heads";
    for (const head of one.heads) {
      if (head.length !== shape[0] || head.some((row) => row.length !== shape[1]))
        return `a map of ${one.kind} has another shape`;
      if (head.some((row) => Math.abs(row.reduce((sum, weight) => sum + weight, 0) - 1000) > row.length))
        return "weights do not add up to 1000";
    }
  }
  return null;
}

// Every attention in the order in which it is shown: a sentence is read, then written.
export function attentions(trace) {
  return [...trace.attention].sort((a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) || a.layer - b.layer);
}

export function findAttention(trace, kind, layer) {
  return trace.attention.find((one) => one.kind === kind && one.layer === layer);
}

// The pieces that name the rows and the columns of a map.
export function sides(trace, kind) {
  if (kind === "encoder self") return [trace.sourcePieces, trace.sourcePieces];
  return kind === "cross" ? [trace.writtenPieces, trace.sourcePieces] : [trace.readPieces, trace.readPieces];
}

// The head that shows best what came from where: the one that aligns best, or the first of the last layer.
export function bestHead(trace) {
  if (trace.bestHead) return trace.bestHead;
  const layer = Math.max(...trace.attention.filter((one) => one.kind === "cross").map((one) => one.layer));
  return { kind: "cross", layer, head: 1 };
}

export function weightsOf(trace, { kind, layer, head }) {
  const found = findAttention(trace, kind, layer)?.heads[head - 1];
  return found ? found.map((row) => row.map((weight) => weight / 1000)) : null;
}

export function isHidden(kind, row, column) {
  return kind === "decoder self" && column > row;
}

// How much one written piece looked at each source word, in the best head.
export function lookedAt(trace, step) {
  const row = weightsOf(trace, bestHead(trace))[step];
  return wordsOf(trace.sourcePieces).map(({ text, from, to }) => ({
    text,
    weight: row.slice(from, to).reduce((sum, weight) => sum + weight, 0),
  }));
}

// Link every written word with the source word that its pieces looked at most.
export function linksOf(trace) {
  return wordsOf(trace.pieces).map(({ from, to }, word) => {
    const sums = [];
    for (let step = from; step < to; step++)
      lookedAt(trace, step).forEach(({ weight }, index) => (sums[index] = (sums[index] ?? 0) + weight));
    return [greatest(sums), word];
  });
}

// The step at which the model was least sure of itself: the one that is worth a look.
export function leastSure(trace) {
  const chances = trace.probabilities.slice(0, Math.max(1, trace.pieces.length));
  return chances.indexOf(Math.min(...chances));
}

export function greatest(row) {
  return row.indexOf(Math.max(...row));
}

// The source piece that one written piece looked at most, in the best head.
export function mostSeen(trace, step) {
  return greatest(weightsOf(trace, bestHead(trace))[step]);
}

// Where a source piece itself looked, in whichever head of the encoder most: other pieces, the strongest first.
export function seenBefore(trace, place) {
  const found = new Map();
  for (const { kind, layer, heads } of trace.attention.filter((one) => one.kind === "encoder self")) {
    heads.forEach((rows, index) =>
      rows[place].forEach((weight, other) => {
        if (other === place || weight <= (found.get(other)?.weight ?? 0)) return;
        found.set(other, { other, weight, kind, layer, head: index + 1 });
      }),
    );
  }
  const sorted = [...found.values()].sort((a, b) => b.weight - a.weight);
  return sorted.map((one) => ({ ...one, weight: one.weight / 1000 }));
}
