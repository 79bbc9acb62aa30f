// A view to take along: pictures as SVG, the whole page as one file that needs no service.
import { askAlternatives, askBeam, askFlows, askHead, askWay, askWhatIf } from "./questions.js";
import { attentions } from "./trace.js";
import { askMeaning } from "./view/meaning.js";

const MOST_LAYERS = 18; // of attentions whose numbers are saved, so that the file stays small enough to be sent
const COLOURS = "paper card ink faint rule accent below mark wash good over".split(" ").map((name) => `--${name}`);

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
  const template = await (await fetch("page/offline.html")).text();
  await gather(app);
  save(offlinePage(template, app.state, app.service.answers()), "text/html", "dragoman.html");
}

// Ask for what a reader of the saved page may want to see: every head's numbers, every step, the beam, the tour.
async function gather(app) {
  const { chapters } = await app.ask("v1/tour");
  for (const { name } of chapters) await app.ask(`v1/tour/${name}`, { settings: [] });
  if (!app.trace) return;
  for (const { kind, layer, heads } of attentions(app.trace).slice(0, MOST_LAYERS)) {
    for (let head = 1; head <= heads.length; head++) await askHead(app, { kind, layer, head });
  }
  for (let step = 0; step < app.trace.writtenPieces.length; step++) {
    await askWay(app, "target", step);
    await askAlternatives(app, step);
  }
  for (const ask of [askBeam, askWhatIf, askFlows]) await ask(app);
  await askMeaning(app).catch(() => null); // the sentences may not have the word
}

export function savePicture(panel, name) {
  const pictures = [...panel.querySelectorAll("svg:not(.track):not(.strip)")];
  if (!pictures.length) throw new Error("There is no picture in this view.");
  save(joinPictures(pictures), "image/svg+xml", `dragoman-${name}.svg`);
}

// All pictures of a view, one below the other, with the colours that they have on the page.
function joinPictures(pictures) {
  const look = getComputedStyle(document.documentElement);
  const colours = COLOURS.map((name) => `${name}:${look.getPropertyValue(name)}`).join(";");
  const rules = [...document.styleSheets]
    .flatMap((sheet) => [...sheet.cssRules])
    .map((rule) => rule.cssText)
    .filter((text) => /^(\.|svg|text)/.test(text));
  let [top, width] = [10, 0];
  const placed = pictures.map((picture) => {
    const box = picture.getBoundingClientRect();
    const copy = picture.cloneNode(true);
    for (const [key, value] of Object.entries({ x: 10, y: top, width: box.width, height: box.height }))
      copy.setAttribute(key, value);
    [top, width] = [top + box.height + 16, Math.max(width, box.width)];
    return new XMLSerializer().serializeToString(copy);
  });
  const drawn = rules.join("").replace(/[<>&]/g, "");
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width + 20}" height="${top}">`,
    `<style>svg{${colours};font-family:system-ui,sans-serif}${drawn}.sheet{fill:var(--card)}</style>`,
    `<rect class="sheet" width="100%" height="100%"/>${placed.join("")}</svg>`,
  ].join("");
}

function save(text, type, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
