// A slider that answers while it is moved: it stays in its place, and only its words change.
import { fill } from "../dom.js";
import { node } from "../tree.js";

export function drawSlider(box, { text, told, value, most, move }) {
  const held = box.querySelector("input");
  if (held && held === document.activeElement && Number(held.max) === most) {
    box.querySelector("span").textContent = text;
    held.setAttribute("aria-valuetext", told);
    return;
  }
  const attributes = { type: "range", min: 0, max: most, value, "data-key": "slider", "aria-valuetext": told };
  const input = node("input", { ...attributes, oninput: (event) => move(Number(event.target.value)) });
  fill(box, node("label", { class: "slider" }, node("span", {}, text), input));
}
