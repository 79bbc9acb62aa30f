// The tree of hypotheses, and what a wider beam or another length penalty would have changed.
import { MOST_BEAM } from "../app.js";
import { fill } from "../dom.js";
import { hypothesesPicture } from "../draw/hypotheses.js";
import { askBeam } from "../questions.js";
import { node } from "../tree.js";
import { showPiece, signed } from "../words.js";

export async function showBeam(panel, app) {
  const { beam, penalty } = app.search();
  const turn = app.turn;
  const moved = () => app.search().beam !== beam || app.search().penalty !== penalty;
  if (!panel.querySelector(".beam"))
    fill(panel, node("section", { class: "card beam" }, node("p", { class: "faint" }, "…")));
  const tree = await askBeam(app);
  if (turn !== app.turn || app.state.view !== "beam" || moved()) return;
  const shown = app.state.pruned ? tree : withoutPruned(tree);
  fill(
    panel,
    node(
      "section",
      { class: "card beam" },
      node("h2", {}, "The beam: what the search kept, and what it gave up"),
      node(
        "p",
        { class: "hint" },
        `At every step each of ${beam} ${beam === 1 ? "hypothesis" : "hypotheses"} is continued, and the best `,
        `${beam} of all continuations go on. Under each piece stands the sum of log-probabilities so far.`,
      ),
      controls(app),
      node(
        "p",
        { class: "found" },
        "Found: ",
        node("strong", { id: "found" }, tree.text),
        tree.text === app.trace.text ? "" : node("span", { class: "mark" }, " (not what is shown above)"),
      ),
      node(
        "div",
        { class: "scroll tall", "data-scroll": "beam", tabindex: 0 },
        hypothesesPicture(shown.branches, shown.best),
      ),
      node(
        "p",
        { class: "legend" },
        node("span", { class: "swatch best" }),
        " the best ",
        node("span", { class: "swatch ended" }),
        " ended ",
        node("span", { class: "swatch kept" }),
        " kept ",
        node("span", { class: "swatch pruned" }),
        " given up",
      ),
      ended(tree),
    ),
  );
}

function controls(app) {
  const slider = (name, title, value, range) =>
    node(
      "label",
      { class: "slider" },
      node("span", {}, title),
      node("input", {
        type: "range",
        ...range,
        value,
        "data-key": name,
        onchange: (event) => app.go({ [name]: Number(event.target.value) }, { replace: true }),
      }),
    );
  const { beam, penalty } = app.search();
  return node(
    "div",
    { class: "controls" },
    slider("beam", `Beam width ${beam}`, beam, { min: 1, max: MOST_BEAM }),
    slider("penalty", `Length penalty ${(penalty / 100).toFixed(2)}`, penalty, { min: 0, max: 200, step: 5 }),
    node(
      "label",
      {},
      node("input", {
        type: "checkbox",
        checked: app.state.pruned,
        "data-key": "pruned",
        onchange: (event) => app.go({ pruned: event.target.checked }, { replace: true }),
      }),
      " show what was given up",
    ),
  );
}

// Leave out what was given up, and what was kept but led nowhere stays.
export function withoutPruned(tree) {
  const kept = tree.branches
    .map((branch, number) => ({ branch, number }))
    .filter(({ branch }) => branch.fate !== "pruned");
  const places = new Map(kept.map(({ number }, place) => [number, place]));
  return {
    best: tree.best.map((number) => places.get(number)),
    branches: kept.map(({ branch }) => ({ ...branch, parent: branch.parent < 0 ? -1 : places.get(branch.parent) })),
  };
}

// The hypotheses that ended, best first: their totals, lengths and scores.
function ended(tree) {
  const lines = tree.branches
    .map((branch, number) => ({ branch, number }))
    .filter(({ branch }) => branch.fate === "ended")
    .sort((a, b) => b.branch.score - a.branch.score);
  const text = (number) => {
    const pieces = [];
    for (let one = number; one >= 0; one = tree.branches[one].parent) pieces.unshift(tree.branches[one].piece);
    return pieces
      .filter((piece) => piece !== "</s>")
      .map((piece) => (piece.startsWith("▁") ? " " : "") + showPiece(piece))
      .join("")
      .trim();
  };
  return node(
    "div",
    { class: "scroll" },
    node(
      "table",
      { class: "numbers ended" },
      node("caption", {}, `score = total ÷ length to the power of ${(tree.penalty / 100).toFixed(2)}`),
      node(
        "thead",
        {},
        node(
          "tr",
          {},
          ["hypothesis", "total", "length", "score"].map((name) => node("th", { scope: "col" }, name)),
        ),
      ),
      node(
        "tbody",
        {},
        lines.map(({ branch, number }) =>
          node(
            "tr",
            { class: number === tree.best.at(-1) ? "held" : null },
            node("th", { scope: "row" }, text(number)),
            node("td", {}, signed(branch.total, 3)),
            node("td", {}, String(branch.depth + 1)),
            node("td", {}, signed(branch.score, 4)),
          ),
        ),
      ),
    ),
  );
}
