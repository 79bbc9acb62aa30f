// Every question about the sentence at hand, worded in one place: a saved page finds its answers by their words.
import { bestHead } from "./trace.js";

export function askHead(app, { kind, layer, head }) {
  return app.ask("v1/trace/head", { ...app.words(), kind, layer, head });
}

export function askWay(app, side, at) {
  return app.ask("v1/trace/way", { ...app.words(), side, at });
}

export function askAlternatives(app, at) {
  return app.ask("v1/trace/alternatives", { ...app.words(), at });
}

export function askBeam(app) {
  return app.ask("v1/trace/beam", { q: app.sentence().source, ...app.pair(), ...app.search() });
}

export function askWhatIf(app) {
  const { off, uniform, instead } = app.state;
  return app.ask("v1/trace/what-if", { ...app.words(), instead: instead || app.sentence().source, off, uniform });
}

// Other readings of the attention that aligns best.
export function askFlows(app) {
  const { layer, head } = bestHead(app.trace);
  return app.ask("v1/trace/flows", { ...app.words(), layer, head });
}
