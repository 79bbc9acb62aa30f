// Pieces as a reader wants to see them, and the words that they make.

const SPACE = "▁";
const BYTE = /^<0x([0-9A-F]{2})>$/;
const MARKS = { "<s>": "(start)", "</s>": "(end)", "<pad>": "(nothing)", "<unk>": "(unknown)" };

export function showPiece(piece) {
  if (piece in MARKS) return MARKS[piece];
  const text = piece.startsWith(SPACE) ? piece.slice(1) : piece;
  return text.replaceAll(SPACE, " ") || "␣";
}

// Says of a piece that it goes on with the word before it.
export function isGlued(pieces, index) {
  const piece = pieces[index];
  return index > 0 && !piece.startsWith(SPACE) && !(piece in MARKS) && !(pieces[index - 1] in MARKS);
}

// Put pieces together as text; bytes that spell a character become that character.
function textOf(pieces) {
  const spelt = [];
  let text = "";
  const flush = () => {
    if (spelt.length) text += new TextDecoder().decode(new Uint8Array(spelt.splice(0)));
  };
  for (const piece of pieces) {
    const byte = BYTE.exec(piece);
    if (byte) spelt.push(parseInt(byte[1], 16));
    else {
      flush();
      text += piece.replaceAll(SPACE, text ? " " : "");
    }
  }
  flush();
  return text || "␣";
}

// Words as white space parts them, each with its first piece and the one after its last.
export function wordsOf(pieces) {
  const words = [];
  pieces.forEach((piece, index) => {
    if (piece in MARKS) return;
    if (isGlued(pieces, index) && words.length) words.at(-1).to = index + 1;
    else words.push({ from: index, to: index + 1 });
  });
  return words.map(({ from, to }) => ({ text: textOf(pieces.slice(from, to)), from, to }));
}

// A piece's label beside others: letters that go on with a word begin with a dot.
export function labels(pieces) {
  return pieces.map(
    (piece, index) => (isGlued(pieces, index) && /^[\p{L}\p{N}]/u.test(piece) ? "·" : "") + showPiece(piece),
  );
}

// About how wide a text is in the page's type, in units of its size.
export function widthOf(text) {
  let width = 0;
  for (const character of text) {
    if (/[iljtfrI.,:;'!|()·¡]/.test(character)) width += 0.36;
    else if (/[mwMW—…]/.test(character)) width += 0.88;
    else if (/[A-ZÁÉÍÓÚÑ¿]/.test(character)) width += 0.7;
    else if (character.codePointAt(0) > 0x2e7f) width += 1.05;
    else width += 0.63;
  }
  return width;
}

const LANGUAGES = new Intl.DisplayNames("en", { type: "language" });

// A language as it is called in English, or its code where it has no name.
export function languageName(code) {
  try {
    return LANGUAGES.of(code);
  } catch {
    return code; // it is no code at all
  }
}

export function pairName({ source, target }) {
  return `${languageName(source)} → ${languageName(target)}`;
}

export function percent(share) {
  return share >= 0.0995 ? `${Math.round(100 * share)} %` : `${(100 * share).toFixed(share < 0.001 ? 2 : 1)} %`;
}

export function signed(number, digits = 4) {
  const written = number.toFixed(digits);
  return /^-0\.?0*$/.test(written) ? written.slice(1) : written.replace("-", "−");
}
