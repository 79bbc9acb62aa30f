// A view to take along: as one picture, or the whole page as one file that needs no service.
import { writeChoice } from "./address.js";
import { askTraces, askTranslation } from "./app.js";
import { pictureOf } from "./picture.js";
import { askAlternatives, askBeam, askFlows, askHead, askWay, askWhatIf } from "./questions.js";
import { keyOf } from "./service.js";
import { attentions, mostSeen } from "./trace.js";
import { askMeaning } from "./view/meaning.js";

const MOST_LAYERS = 18; // of attentions whose numbers are saved, so that the file stays small enough to be sent

// JSON that may stand inside a script element: no character of it can end the element.
function embedJson(data) {
  return JSON.stringify(data).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

// Put answers into the page that the service offers for a disk.
export function offlinePage(template, state, answers) {
  const mark = '<script type="application/json" id="answers">{}</' + "script>";
  if (template.split(mark).length !== 2) throw new Error("The page for a disk has no place for answers");
  return template.replace(mark, () => mark.replace("{}", () => embedJson({ state, answers })));
}

export async function saveOffline(app) {
  const { state } = app;
  const answers = await gather(app);
  const template = await (await fetch("page/offline.html")).text();
  save(offlinePage(template, state, answers), "text/html", "dragoman.html");
}

// Ask for all that a reader of the saved page may want to see of the sentence at hand, and for nothing else.
export async function gather(app) {
  const answers = {};
  const ask = async (path, body) => (answers[keyOf(path, body)] = await app.ask(path, body));
  const still = { ...app, ask }; // whatever happens to the page meanwhile
  await ask("v1/models");
  await gatherTour(still);
  await gatherSentence(still);
  const { state } = still;
  const written = writeChoice(state, state.sentence);
  if (written.length < state.written.length) await gatherSentence({ ...still, state: { ...state, written } });
  await askMeaning(still).catch(() => null); // the sentences may not have the word
  return answers;
}

async function gatherTour({ ask, state: { chapter, settings } }) {
  const { chapters } = await ask("v1/tour");
  for (const { name } of chapters) await ask(`v1/tour/${name}`, { settings: [] });
  if (settings.length) await ask(`v1/tour/${chapter || chapters[0].name}`, { settings }).catch(() => null);
}

// Every head's numbers, every step, the beam, and what if.
async function gatherSentence(still) {
  const translation = await askTranslation(still);
  const trace = translation && still.trace && (await askTraces(still, translation));
  if (!trace) return; // there is no sentence, or one that is too long to look into
  const app = { ...still, translation, trace };
  for (const { kind, layer, heads } of attentions(trace).slice(0, MOST_LAYERS)) {
    for (let head = 1; head <= heads.length; head++) await askHead(app, { kind, layer, head });
  }
  for (let step = 0; step < trace.writtenPieces.length; step++) {
    await askWay(app, "target", step);
    await askWay(app, "source", mostSeen(trace, step));
    await askAlternatives(app, step);
  }
  await askBeam(app);
  await askFlows(app);
  await askWhatIf({ ...app, state: { ...app.state, off: [], uniform: [], instead: "" } });
  await askWhatIf(app).catch(() => null); // it may be of something that cannot be translated
}

export function savePicture(panel, name) {
  save(pictureOf(panel), "image/svg+xml", `dragoman-${name}.svg`);
}

function save(text, type, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
