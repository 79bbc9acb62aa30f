// What is drawn, as plain values: who draws returns a tree and touches nothing; `dom.js` makes elements of it.

// The size of a picture: it grows with the page's type.
export function sized(width, height) {
  return { viewBox: `0 0 ${width} ${height}`, width: `${width / 16}rem`, height: `${height / 16}rem` };
}

export function node(name, attributes = {}, ...children) {
  return { name, attributes, children: children.flat().filter((child) => child !== null && child !== undefined) };
}
