// What is drawn, as plain values: who draws returns a tree and touches nothing; `dom.js` makes elements of it.

export function node(name, attributes = {}, ...children) {
  return { name, attributes, children: children.flat().filter((child) => child !== null && child !== undefined) };
}
