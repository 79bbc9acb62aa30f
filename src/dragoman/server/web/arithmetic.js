// The arithmetic of one query, redone from the numbers themselves; the page shows a formula only where it holds.

const NEAR = 2e-3;

function dot(a, b) {
  return a.reduce((sum, number, index) => sum + number * b[index], 0);
}

function softmax(scores) {
  const most = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - most));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return { most, powers, total, shares: powers.map((power) => power / total) };
}

// `hidden(column)` says what this query may not see. Scores are compared with those of the model, one by one.
export function rework(numbers, row, hidden) {
  const { queries, keys, values, scores, weights, context } = numbers;
  const query = queries[row];
  const width = query.length;
  const fits = keys[0].length === width;
  const near = (a, b) => Math.abs(a - b) <= NEAR * (1 + Math.abs(b));
  const products = fits ? keys.map((key) => dot(query, key)) : null;
  const holds = (divisor) =>
    products !== null && products.every((product, column) => near(product / divisor, scores[row][column]));
  const divisor = holds(Math.sqrt(width)) ? Math.sqrt(width) : holds(1) ? 1 : null;
  const shown = scores[row].map((score, column) => (hidden(column) ? -Infinity : score));
  const shared = softmax(shown);
  const isSoftmax = shared.shares.every((share, column) => near(share, weights[row][column]));
  const sum = values[0].map((_, index) =>
    weights[row].reduce((total, weight, column) => total + weight * values[column][index], 0),
  );
  const isMean = sum.every((number, index) => near(number, context[row][index]));
  return {
    query,
    width,
    products,
    divisor,
    scores: shown,
    ...shared,
    isSoftmax,
    weights: weights[row],
    sum,
    isMean,
    context: context[row],
  };
}
