// Starts the page: what is stored in it first, and then what the model says.
import { AFRESH } from "./address.js";
import { firstPair, makeApp } from "./app.js";
import { at, fill } from "./dom.js";
import { makeService } from "./service.js";
import { node } from "./tree.js";
import { pairName } from "./words.js";
import { drawComposer } from "./view/composer.js";
import { showBeam } from "./view/beam.js";
import { showInside } from "./view/inside.js";
import { showMeaning } from "./view/meaning.js";
import { showTour } from "./view/tour.js";
import { showTranslate } from "./view/translate.js";
import { showWhatIf } from "./view/whatif.js";
import { drawTools } from "./view/tools.js";

const VIEWS = {
  translate: ["Translate", showTranslate],
  inside: ["Look inside", showInside],
  beam: ["Beam", showBeam],
  whatif: ["What if", showWhatIf],
  meaning: ["Meaning", showMeaning],
  tour: ["The tour", showTour],
};
const WELCOME = "Type a sentence above, and see how it is translated.";
const NOTHING = "There is nothing to show.";
const ALONE = new Set(["meaning", "tour"]); // views that need no sentence

function drawTabs(app) {
  const link = ([name, [title]]) =>
    node(
      "a",
      {
        href: `#view=${name}`,
        "data-key": `tab ${name}`,
        "aria-current": app.state.view === name ? "page" : null,
        onclick: (event) => {
          event.preventDefault();
          app.go({ view: name });
        },
      },
      title,
    );
  fill(at("tabs"), Object.entries(VIEWS).map(link));
  at("tabs").querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function drawModel(app) {
  const model = app.model();
  if (!model) return fill(at("model"), node("span", {}, "No model answers."));
  const layers = `${model.encoderLayers} + ${model.decoderLayers} layers`;
  const about =
    model.kind === "transformer" ? `Transformer of ${layers}, ${model.heads} heads` : `recurrent model of ${layers}`;
  const manner = app.service.offline ? "Saved answers of " : app.stored ? "Stored answers of " : "Answered by ";
  fill(
    at("model"),
    node("span", {}, manner),
    node("strong", {}, `${model.name}, ${pairName(model)}`),
    node("span", { class: "faint" }, ` · ${about}, width ${model.width}`),
  );
}

function drawTrouble(app) {
  const box = at("trouble");
  box.hidden = !app.trouble;
  if (app.trouble)
    fill(
      box,
      node("strong", {}, app.trouble.message),
      node("span", {}, app.trouble.hint ? ` (${app.trouble.hint})` : ""),
    );
}

async function draw(app, part) {
  const mine = ++app.drawings;
  if (part !== "panel") {
    drawTabs(app);
    drawModel(app);
    drawTools(app);
  }
  drawComposer(at("composer"), app);
  document.body.dataset.view = app.state.view;
  const panel = at("panel");
  const [title, show] = VIEWS[app.state.view] ?? VIEWS.translate;
  panel.setAttribute("aria-label", title);
  try {
    if (app.trace || ALONE.has(app.state.view)) await show(panel, app);
    else fill(panel, node("p", { class: "note" }, app.trouble ? NOTHING : WELCOME));
  } catch (error) {
    if (mine === app.drawings) app.trouble = error; // what is no longer wanted cannot fail
  }
  drawTrouble(app);
}

// The address holds the state, so a jump within the page must not change it.
function skip(event) {
  event.preventDefault();
  at("panel").focus();
}

async function start() {
  at("skip").addEventListener("click", skip);
  const stored = JSON.parse(at("answers").textContent);
  const offline = "offline" in document.documentElement.dataset;
  const service = makeService(stored.answers ?? {}, { offline });
  const app = makeApp(service, draw);
  app.complain = (error) => {
    app.trouble = error;
    drawTrouble(app);
  };
  const bare = !location.hash || location.hash === "#";
  if (stored.state && (bare || offline)) {
    if (bare) app.state = { ...app.state, ...stored.state };
    app.models = await app.ask("v1/models");
    if (offline) app.contents = await app.ask("v1/tour");
    await app.load();
    app.stored = !offline;
    drawModel(app);
  }
  if (offline) return;
  service.forget();
  await begin(app, bare ? stored.state?.q : null);
}

// Ask the service itself. The stored sentence goes to the model, if it is in the model's languages.
async function begin(app, storedSentence) {
  try {
    const settings = await app.ask("frontend/settings");
    app.keyRequired = settings.keyRequired;
    app.models = await app.ask("v1/models");
    app.contents = await app.ask("v1/tour");
  } catch (error) {
    return app.complain(error);
  }
  const pair = app.state.source && app.model() ? app.pair() : firstPair(app.models);
  const moved = pair.source !== app.state.source || pair.target !== app.state.target;
  app.state = { ...app.state, ...pair, ...(moved && app.state.q === storedSentence ? { ...AFRESH, q: "" } : {}) };
  await app.load();
}

start();
