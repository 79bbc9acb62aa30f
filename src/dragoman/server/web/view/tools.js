// Light and dark, and ways to take a view along.
import { at, fill } from "../dom.js";
import { node } from "../tree.js";
import { saveOffline, savePicture } from "../share.js";

export function drawTools(app) {
  const { offline } = app.service;
  const attempt = (act) => () => act().catch(app.complain);
  const button = (key, title, onclick, more = {}) =>
    node("button", { type: "button", "data-key": key, onclick, ...more }, title);
  fill(
    at("tools"),
    app.keyRequired ? keyField(app) : null,
    button(
      "svg",
      "Save SVG",
      attempt(async () => savePicture(at("panel"), app.state.view)),
    ),
    offline
      ? null
      : button(
          "offline",
          "Save page",
          attempt(() => saveOffline(app)),
        ),
    offline ? null : node("a", { href: "docs", class: "button" }, "API"),
    button("theme", isDark() ? "Light" : "Dark", () => turn(app), { "aria-pressed": String(isDark()) }),
  );
}

function keyField(app) {
  const use = (event) => {
    app.service.useKey(event.target.value);
    app.load();
  };
  const words = { placeholder: "API key", "aria-label": "API key", autocomplete: "off", value: app.service.key() };
  return node("input", { type: "password", class: "key", "data-key": "key", ...words, onchange: use });
}

function turn(app) {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  drawTools(app);
}

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}
