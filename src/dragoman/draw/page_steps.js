// The arithmetic of one query, with the model's own numbers. The page joins this to page.js, whose names it uses.

// A vector as a strip: blue above zero, amber below.
function strip(vector, most) {
  const canvas = make("canvas", { width: vector.length * 6, height: 16, class: "strip", "aria-hidden": "true" });
  const pen = canvas.getContext("2d");
  vector.forEach((number, index) => {
    pen.fillStyle = shade(Math.abs(number) / (most || 1), number < 0 ? "amber" : "blue");
    pen.fillRect(index * 6, 0, 6, 16);
  });
  canvas.title = vector.map(signed).join("  ");
  return canvas;
}

function few(vector) {
  const shown = vector.slice(0, 4).map(signed).join(", ");
  return `(${shown}${vector.length > 4 ? ", …" : ""})`;
}

const amount = (number) => (number < 1e5 ? number.toFixed(3) : number.toExponential(3));
const greatest = (vectors) => Math.max(...vectors.flat().map(Math.abs), 1e-9);

function drawSteps() {
  const box = at("steps");
  const map = maps[state.map];
  const layer = steps.find((one) => one.kind === map.kind && one.layer === map.layer);
  const same = maps.filter((one) => one.kind === map.kind && one.layer === map.layer);
  const head = same.indexOf(map);
  if (!layer || head >= layer.queries.length) {
    box.replaceChildren(make("p", {}, `The steps of ${map.name} were not kept.`));
    return;
  }
  const [query, keys, values] = [layer.queries[head][state.row], layer.keys[head], layer.values[head]];
  const [scores, weights, context] = ["scores", "weights", "context"].map((name) => layer[name][head][state.row]);
  const names = labels[map.keys];
  const asking = labels[map.queries][state.row];
  const width = query.length;
  const list = make("ol", { class: "arithmetic" });
  const step = (title, ...content) => list.append(make("li", {}, make("p", {}, make("b", {}, title)), ...content));

  step(
    `“${asking}” asks with its query q, ${width} numbers`,
    make("p", { class: "vector" }, strip(query, greatest([query])), " ", make("span", {}, few(query))),
  );
  const made = layer.powers ? "softmax turns scores into weights" : "its scores, divided by their sum, are the weights";
  step(`q meets the key k of every word, and ${made}`, weightTable());
  if (layer.formula === null) {
    step(`The dot product with “${names[state.column]}”, term by term`, make("p", { class: "sum" }, dotProduct()));
  } else {
    step("A score of this model is no scaled dot product, but", make("p", { class: "sum" }, layer.formula));
  }
  step("The values v, each times its weight, add up to the context", valueTable());
  box.replaceChildren(make("h3", {}, `${map.name}, “${asking}”`), list);

  function dotProduct() {
    const key = keys[state.column];
    const terms = query.slice(0, 4).map((number, index) => `(${signed(number)} × ${signed(key[index])})`);
    const whole = query.reduce((sum, number, index) => sum + number * key[index], 0);
    const more = width > 4 ? ` + … ${width - 4} more` : "";
    return `${terms.join(" + ")}${more} = ${signed(whole)}`;
  }

  function weightTable() {
    const table = make("table", { class: "numbers" });
    const compared = layer.formula === null ? ["q · k", `÷ √${width}`] : ["score"];
    const titles = ["key", ...compared, ...(layer.powers ? ["e to that"] : []), "÷ their sum", ""];
    table.append(make("thead", {}, make("tr", {}, ...titles.map((one) => make("th", { scope: "col" }, one)))));
    const body = make("tbody");
    const powers = scores.map((score) => (score === null ? 0 : layer.powers ? Math.exp(score) : score));
    names.forEach((name, column) => {
      const hidden = scores[column] === null;
      const bar = make("span", { class: "weight" });
      bar.style.width = 140 * weights[column] + "px";
      const [score, weight] = [scores[column], percent(weights[column])];
      const told = hidden
        ? compared.map((_, place) => (place ? "" : "hidden"))
        : layer.formula === null ? [signed(score * Math.sqrt(width)), signed(score)] : [signed(score)];
      const cells = [...told, ...(layer.powers ? [hidden ? "0" : amount(powers[column])] : []), weight];
      const line = make("tr", { class: hidden ? "hidden" : column === state.column ? "lit" : "" });
      line.append(make("th", { scope: "row" }, name), ...cells.map((one) => make("td", {}, one)));
      line.append(make("td", { class: "bar" }, bar));
      line.addEventListener("click", () => { state.column = column; draw(); });
      body.append(line);
    });
    const total = powers.reduce((sum, power) => sum + power, 0);
    const empty = titles.slice(1, -3).map(() => "");
    const foot = ["sum", ...empty, amount(total), "100 %", ""].map((one) => make("td", {}, one));
    table.append(body, make("tfoot", {}, make("tr", {}, ...foot)));
    return make("div", { class: "scroll" }, table);
  }

  function valueTable() {
    const most = greatest([...values, context]);
    const table = make("table", { class: "numbers" });
    const line = (name, weight, vector, lit) => {
      const shown = make("td", { class: "vector" }, strip(vector, most));
      const row = make("tr", { class: lit }, make("th", { scope: "row" }, name), make("td", {}, weight), shown);
      row.append(make("td", { class: "first" }, few(vector)));
      return row;
    };
    const body = make("tbody");
    names.forEach((name, column) => {
      if (scores[column] === null) return;
      body.append(line(name, `${weights[column].toFixed(4)} ×`, values[column], column === state.column ? "lit" : ""));
    });
    table.append(body, make("tfoot", {}, line("context", "=", context, "")));
    return make("div", { class: "scroll" }, table);
  }
}
