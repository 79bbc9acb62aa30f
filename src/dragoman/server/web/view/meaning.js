// One word in several sentences: from layer to layer its vector takes in what stands around it.
import { fill, rooms } from "../dom.js";
import { cosineLines, mapPicture } from "../draw/meanings.js";
import { sentencesToCompare } from "../sentences.js";
import { node } from "../tree.js";
import { signed } from "../words.js";
import { drawSlider } from "./slider.js";

const TOO_LITTLE = "Write two sentences at least, and a word that stands in each of them once.";

export async function showMeaning(panel, app) {
  const { sentences, word } = wanted(app);
  const here = JSON.stringify([sentences, word]);
  const [asked, slider, result] = rooms(panel, "form", "slider", "result");
  if (asked.dataset.shown !== here) fill(asked, form(app, sentences, word));
  asked.dataset.shown = here;
  if (sentences.length < 2 || !word) return (fill(slider), fill(result, node("p", { class: "note" }, TOO_LITTLE)));
  try {
    const { stages } = await askMeaning(app);
    if (app.state.view === "meaning" && asked.dataset.shown === here)
      drawStages(app, slider, result, stages, { sentences, word });
  } catch (error) {
    fill(slider);
    fill(result, node("p", { class: "card mark", role: "alert" }, error.message, error.hint ? ` (${error.hint})` : ""));
  }
}

export function askMeaning(app) {
  return app.ask("v1/trace/meaning", { ...app.pair(), ...wanted(app) });
}

// As the address says, or else sentences in the source's language with a word that they turn on.
function wanted(app) {
  const { sentences, word } = app.state;
  if (sentences.length) return { sentences, word };
  return sentencesToCompare(app) ?? { sentences: app.sentence() ? [app.sentence().source] : [], word };
}

function form(app, sentences, word) {
  const change = () => {
    const written = [...document.querySelectorAll("#sentences input")].map((one) => one.value.trim()).filter(Boolean);
    app.go({ sentences: written, word: document.getElementById("meant").value.trim(), stage: -1 });
  };
  const line = (sentence, index) =>
    node(
      "li",
      {},
      node("span", { class: `dot hue${index % 8}` }, String(index + 1)),
      node("input", {
        type: "text",
        class: "wide",
        value: sentence,
        "data-key": `sentence ${index}`,
        "aria-label": `Sentence ${index + 1}`,
        onchange: change,
      }),
    );
  return node(
    "section",
    { class: "card" },
    node("h2", {}, "One word, several sentences"),
    node(
      "p",
      { class: "hint" },
      "A word begins with the same vector everywhere. Then it looks around, layer by layer.",
    ),
    node(
      "label",
      { class: "slider" },
      node("span", {}, "The word"),
      node("input", { type: "text", id: "meant", value: word, "data-key": "meant", onchange: change }),
    ),
    node("ol", { id: "sentences", class: "sentences" }, [...sentences, ""].slice(0, 8).map(line)),
  );
}

function drawStages(app, slider, result, stages, { sentences, word }) {
  const stage = app.state.stage >= 0 && app.state.stage < stages.length ? app.state.stage : stages.length - 1;
  const told = stages[stage].name;
  const move = (to) => app.go({ stage: to }, { replace: true });
  drawSlider(slider, { text: `Stage: ${told}`, told, value: stage, most: stages.length - 1, move });
  const most = Math.max(...stages.flatMap(({ places }) => places.flat().map(Math.abs)));
  const figure = (title, ...parts) => node("figure", {}, node("figcaption", {}, title), ...parts);
  const map = mapPicture(stages[stage].places, most, sentences);
  const lines = [cosineLines(stages, stage), cosines(stages[stage], sentences)];
  fill(
    result,
    node(
      "section",
      { class: "card" },
      node("h2", {}, "“", node("em", {}, word), `” after: ${told}`),
      node(
        "div",
        { class: "pictures" },
        figure("A map of its vectors: near is alike", map),
        figure("How alike each is to sentence 1, as a cosine", ...lines),
      ),
    ),
  );
}

function cosines({ cosines: rows }, sentences) {
  return node(
    "div",
    { class: "scroll" },
    node(
      "table",
      { class: "numbers" },
      node("caption", {}, "Cosines of all pairs"),
      node(
        "thead",
        {},
        node(
          "tr",
          {},
          node("td", {}),
          sentences.map((_, index) => node("th", { scope: "col" }, String(index + 1))),
        ),
      ),
      node(
        "tbody",
        {},
        rows.map((row, index) =>
          node(
            "tr",
            {},
            node("th", { scope: "row" }, String(index + 1)),
            row.map((cosine) => node("td", {}, signed(cosine, 3))),
          ),
        ),
      ),
    ),
  );
}
