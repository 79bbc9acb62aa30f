// A bar for each number, with its name.
import { node } from "../tree.js";

// `items` are {name, share, told, held}; a share is from 0 to 1.
export function bars(items, label) {
  return node(
    "ul",
    { class: "bars", "aria-label": label },
    items.map(({ name, share, told, held }) =>
      node(
        "li",
        { class: held ? "bar held" : "bar" },
        node("span", { class: "name" }, name),
        node(
          "svg",
          { class: "track", viewBox: "0 0 100 1", preserveAspectRatio: "none", "aria-hidden": "true" },
          node("rect", { class: "paper", width: 100, height: 1 }),
          node("rect", { class: "fill", width: Math.max(0, Math.min(100, 100 * share)).toFixed(2), height: 1 }),
        ),
        node("span", { class: "told" }, told),
      ),
    ),
  );
}
