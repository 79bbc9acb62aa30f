// The tour: chapters with the lectures' numbers, each of which can be changed and is computed anew by the service.
import { fill } from "../dom.js";
import { bars } from "../draw/bars.js";
import { matrix } from "../draw/matrix.js";
import { node } from "../tree.js";
import { signed } from "../words.js";

export async function showTour(panel, app) {
  const turn = app.turn;
  const place = () => JSON.stringify([app.state.view, app.state.chapter, app.state.settings]);
  const here = place();
  const contents = await app.ask("v1/tour");
  const names = contents.chapters.map(({ name }) => name);
  const name = names.includes(app.state.chapter) ? app.state.chapter : names[0];
  const { settings } = app.state;
  if (!panel.querySelector(".tour")) fill(panel, node("div", { class: "tour" }));
  let [chapter, trouble] = [null, null];
  try {
    chapter = await app.ask(`v1/tour/${name}`, { settings });
  } catch (error) {
    trouble = error;
    chapter = await app.ask(`v1/tour/${name}`, { settings: [] });
  }
  if (turn !== app.turn || place() !== here) return;
  fill(panel, node("div", { class: "tour" }, list(app, contents, name), told(app, chapter, names, trouble)));
}

function list(app, contents, current) {
  return node(
    "nav",
    { class: "card chapters", "aria-label": "Chapters" },
    node(
      "ol",
      {},
      contents.chapters.map(({ name, title }) =>
        node(
          "li",
          {},
          node(
            "a",
            {
              href: `#view=tour&chapter=${name}`,
              "data-key": `chapter ${name}`,
              "aria-current": name === current ? "page" : null,
              onclick: (event) => {
                event.preventDefault();
                app.go({ chapter: name, settings: [] });
              },
            },
            title,
          ),
        ),
      ),
    ),
  );
}

function told(app, chapter, names, trouble) {
  const place = names.indexOf(chapter.name);
  const step = (to, title) =>
    names[to]
      ? node(
          "button",
          { type: "button", "data-key": title, onclick: () => app.go({ chapter: names[to], settings: [] }) },
          title,
        )
      : null;
  return node(
    "article",
    { class: "card chapter" },
    node(
      "p",
      { class: "faint" },
      `Chapter ${chapter.number} of ${names.length} · computed by the plain engine, no model needed`,
    ),
    node("h2", {}, chapter.title),
    node("p", { class: "summary" }, chapter.summary),
    trouble ? node("p", { class: "mark", role: "alert" }, trouble.message) : null,
    rows(chapter.blocks).map((row) =>
      row.length > 1
        ? node(
            "div",
            { class: "pictures" },
            row.map((block) => drawBlock(app, chapter, block)),
          )
        : drawBlock(app, chapter, row[0]),
    ),
    inputs(app, chapter),
    node(
      "p",
      { class: "turn" },
      step(place - 1, "← Back"),
      app.state.settings.length
        ? node(
            "button",
            { type: "button", class: "quiet", "data-key": "lectures", onclick: () => app.go({ settings: [] }) },
            "The lectures’ numbers",
          )
        : null,
      step(place + 1, "Go on →"),
    ),
  );
}

// Tables that follow each other stand side by side, if there is room.
function rows(blocks) {
  const found = [];
  for (const block of blocks) {
    if (block.kind === "table" && found.at(-1)?.[0].kind === "table") found.at(-1).push(block);
    else found.push([block]);
  }
  return found;
}

// Change one input; what was changed before stays.
function change(app, chapter, name, value) {
  const others = app.state.settings.filter((one) => !one.startsWith(`${name}=`));
  const usual = chapter.inputs.find((one) => one.name === name)?.default;
  app.go({ settings: value === usual ? others : [...others, `${name}=${value}`] });
}

function drawBlock(app, chapter, block) {
  switch (block.kind) {
    case "prose":
      return node("p", { class: "prose" }, block.text);
    case "formula":
      return node("pre", { class: "formula", tabindex: 0 }, block.text);
    case "note":
      return node("p", { class: "aside" }, block.text);
    case "try":
      return node(
        "p",
        { class: "attempt" },
        node(
          "button",
          {
            type: "button",
            "data-key": `try ${block.settings.join()}`,
            onclick: () => app.go({ settings: block.settings.map((one) => one.replace(/^[a-z-]+\./, "")) }),
          },
          `Try ${block.settings.join(", ")}`,
        ),
        ` ${block.text}`,
      );
    case "bars":
      return node(
        "figure",
        {},
        node("figcaption", {}, block.title),
        bars(
          block.values.map((value, index) => ({
            name: block.names[index],
            share: (value - block.low) / (block.high - block.low || 1),
            told: write(value, 3),
          })),
          block.title,
        ),
      );
    case "heatmap":
      return node(
        "figure",
        {},
        node("figcaption", {}, block.title),
        node(
          "div",
          { class: "scroll" },
          matrix(block.rows, block.columns, block.weights, { title: block.title, inPercent: true }),
        ),
      );
    case "table":
      return table(app, chapter, block);
    default:
      return node("p", { class: "mark" }, `a block of an unknown kind: ${block.kind}`);
  }
}

function table(app, chapter, block) {
  const input = block.setting && chapter.inputs.find((one) => one.name === block.setting);
  const current = input?.value.split(";").map((row) => row.split(","));
  const set = (row, column) => (event) => {
    current[row][column] = event.target.value.trim();
    change(app, chapter, block.setting, current.map((one) => one.join(",")).join(";"));
  };
  const cell = (value, row, column) =>
    input
      ? node(
          "td",
          {},
          node("input", {
            type: "text",
            inputmode: "decimal",
            size: 5,
            value: current[row]?.[column] ?? write(value),
            "data-key": `${block.setting} ${row} ${column}`,
            "aria-label": `${block.title}, row ${row + 1}, column ${column + 1}`,
            onchange: set(row, column),
          }),
        )
      : node("td", {}, write(value, block.digits[row]));
  return node(
    "div",
    { class: "scroll" },
    node(
      "table",
      { class: input ? "numbers changeable" : "numbers" },
      node("caption", {}, block.title),
      block.columns.length
        ? node(
            "thead",
            {},
            node(
              "tr",
              {},
              block.rows.length ? node("td", {}) : null,
              block.columns.map((name) => node("th", { scope: "col" }, name)),
            ),
          )
        : null,
      node(
        "tbody",
        {},
        block.cells.map((row, number) =>
          node(
            "tr",
            {},
            block.rows.length ? node("th", { scope: "row" }, block.rows[number]) : null,
            row.map((value, column) => cell(value, number, column)),
          ),
        ),
      ),
    ),
  );
}

function inputs(app, chapter) {
  if (!chapter.inputs.length) return null;
  return node(
    "details",
    { class: "inputs", open: app.state.settings.length > 0 },
    node("summary", {}, "All that can be changed here"),
    chapter.inputs.map(({ name, about, value }) =>
      node(
        "label",
        { class: "slider" },
        node("span", {}, `${name}: ${about}`),
        node("input", {
          type: "text",
          class: "wide",
          value,
          "data-key": `input ${name}`,
          onchange: (event) => change(app, chapter, name, event.target.value.trim()),
        }),
      ),
    ),
  );
}

// A number as the tour writes it: so many digits, or as few as it needs.
function write(value, digits = null) {
  if (typeof value === "string") return { inf: "∞", "-inf": "−∞" }[value] ?? value;
  if (digits !== null) return signed(value, digits);
  return Number.isInteger(value) ? signed(value, 0) : String(Number(value.toPrecision(6))).replace("-", "−");
}
