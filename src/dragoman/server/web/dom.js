// Trees become elements here, and only here: elements are made and text is set, and no markup is ever parsed.
import { node } from "./tree.js";

const SVG = "http://www.w3.org/2000/svg";
const DRAWN = new Set(["svg", "g", "path", "rect", "text", "tspan", "line", "circle", "title"]);

// An attribute that is a function listens; `value` and `checked` are set as properties; null and false are left out.
export function build(tree, inside = false) {
  if (typeof tree !== "object") return document.createTextNode(String(tree));
  const drawn = tree.name === "svg" || (inside && DRAWN.has(tree.name));
  const made = drawn ? document.createElementNS(SVG, tree.name) : document.createElement(tree.name);
  for (const [key, value] of Object.entries(tree.attributes)) set(made, key, value);
  for (const child of tree.children) made.append(build(child, drawn));
  return made;
}

function set(made, key, value) {
  if (value === null || value === undefined || value === false) return;
  if (typeof value === "function") made.addEventListener(key.slice(2), value);
  else if (key === "value" || key === "checked") made[key] = value;
  else made.setAttribute(key, value === true ? "" : value);
}

// Where people have scrolled to. To ask the browser when it is too late would have it lay out the page once more.
const scrolled = new Map();
document.addEventListener(
  "scroll",
  ({ target }) => target.dataset?.scroll && scrolled.set(target.dataset.scroll, [target.scrollLeft, target.scrollTop]),
  true,
);

// Replace what a box holds. Whoever had the focus, or whoever has its key now, has it again.
export function fill(box, ...trees) {
  const held = box.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  box.replaceChildren(
    ...trees
      .flat()
      .filter(Boolean)
      .map((tree) => build(tree)),
  );
  for (const one of box.querySelectorAll("[data-scroll]")) {
    const [left, top] = scrolled.get(one.dataset.scroll) ?? [0, 0];
    if (left || top) one.scrollTo(left, top);
  }
  if (held) box.querySelector(`[data-key="${CSS.escape(held)}"]`)?.focus({ preventScroll: true });
}

// Divide a box into rooms, each of which is filled for itself: nobody's click is lost because a neighbour was redrawn.
export function rooms(box, ...names) {
  if ([...box.children].map((one) => one.dataset.room).join() !== names.join()) {
    fill(box, ...names.map((name) => node("div", { "data-room": name })));
  }
  return [...box.children];
}

// Listen for something that happens to whatever matches, now or later.
export function listen(box, event, selector, act) {
  box.addEventListener(event, (happened) => {
    const found = happened.target instanceof Element ? happened.target.closest(selector) : null;
    if (found && box.contains(found)) act(found, happened);
  });
}

// Say something to whoever listens to the page: in one place that stays, or it would not be heard.
export function tell(text) {
  if (at("told").textContent !== text) at("told").textContent = text;
}

export function at(id) {
  return document.getElementById(id);
}
