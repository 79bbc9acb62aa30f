// One word in several sentences: a map of its vectors, and how alike they are from layer to layer.
import { node, sized } from "../tree.js";
import { signed } from "../words.js";

const [SIDE, EDGE] = [340, 34];

// All stages share one scale, so that what moves apart is seen to move apart.
export function mapPicture(places, most, names, chosen = 0) {
  const middle = SIDE / 2;
  const scale = (middle - EDGE) / (most || 1);
  const spots = places.map(([x, y]) => [middle + x * scale, middle - y * scale]);
  return node(
    "svg",
    {
      class: "places",
      ...sized(SIDE, SIDE),
      role: "img",
      "aria-label": "A map of the word's vectors",
    },
    node("line", { class: "axis", x1: 0, y1: middle, x2: SIDE, y2: middle }),
    node("line", { class: "axis", x1: middle, y1: 0, x2: middle, y2: SIDE }),
    spots.map(([x, y], index) =>
      node(
        "circle",
        { class: `spot hue${index % 8}${index === chosen ? " held" : ""}`, cx: x.toFixed(1), cy: y.toFixed(1), r: 9 },
        node("title", {}, names[index]),
      ),
    ),
    spots.map(([x, y], index) =>
      node(
        "text",
        { class: "number", x: x.toFixed(1), y: (y + 4).toFixed(1), "text-anchor": "middle" },
        String(index + 1),
      ),
    ),
  );
}

// For each sentence a line: its cosine with the first one at every stage.
export function cosineLines(stages, stage) {
  const [width, height, left, top] = [420, 200, 44, 14];
  const least = Math.min(0, ...stages.flatMap((one) => one.cosines[0]));
  const x = (index) => left + (index * (width - left - 30)) / Math.max(1, stages.length - 1);
  const y = (cosine) => top + ((1 - cosine) * (height - top - 34)) / (1 - least);
  const others = stages[0].cosines[0].map((_, index) => index).slice(1);
  return node(
    "svg",
    {
      class: "lines",
      ...sized(width, height),
      role: "img",
      "aria-label": "Cosine with the first sentence, stage by stage",
    },
    [1, 0.5, 0]
      .filter((mark) => mark >= least)
      .map((mark) =>
        node(
          "g",
          {},
          node("line", { class: "axis", x1: left, x2: width, y1: y(mark), y2: y(mark) }),
          node("text", { class: "number", x: left - 8, y: y(mark) + 4, "text-anchor": "end" }, String(mark)),
        ),
      ),
    stages.map((one, index) =>
      node(
        "text",
        { class: index === stage ? "number lit" : "number", x: x(index), y: height - 8, "text-anchor": "middle" },
        shortName(one.name),
      ),
    ),
    others.map((other) =>
      node("path", {
        class: `line hue${other % 8}`,
        d: stages
          .map((one, index) => `${index ? "L" : "M"}${x(index).toFixed(1)} ${y(one.cosines[0][other]).toFixed(1)}`)
          .join(""),
      }),
    ),
    others.map((other) =>
      node(
        "circle",
        { class: `spot hue${other % 8}`, cx: x(stage), cy: y(stages[stage].cosines[0][other]), r: 5 },
        node("title", {}, `sentence ${other + 1}: ${signed(stages[stage].cosines[0][other], 3)}`),
      ),
    ),
  );
}

function shortName(name) {
  return { embedding: "embed.", "with position": "+ pos.", "last norm": "norm" }[name] ?? name;
}
