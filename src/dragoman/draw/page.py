"""One self-contained page: every head of a sentence and the arithmetic of each, to be read without a network.

The numbers travel as JSON inside the page and are drawn by `page.js`, which builds elements and sets text and
never parses markup.
"""

import re
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from dragoman.draw import colour, label
from dragoman.draw.attention import AttentionMap, HeadSteps, Numbers, check_map, check_steps, group_by_layer
from dragoman.draw.bars import svg_bars
from dragoman.draw.document import html_document
from dragoman.draw.svg import Markup, element, escape

DIGITS: Final = 4
"""Decimals kept in the page: more than a reader wants, few enough to keep the file small."""

_HIDDEN: Final = -1e30
"""A score below this was put there to hide a key, not computed."""


def html_page(
    title: str,
    sentence: str,
    translation: Sequence[tuple[str, float]],
    maps: Sequence[AttentionMap],
    *,
    steps: Sequence[HeadSteps] = (),
    follow: int = 0,
) -> str:
    """Write the page of one translated sentence.

    `translation` is its pieces and their probabilities. `steps` are the layers whose arithmetic can be read;
    `follow` is the source piece that is followed through the heads when the page opens.
    """
    for attention in maps:
        check_map(attention)
    for one in steps:
        check_steps(one)
    ordered = [attention for _, _, heads in group_by_layer(maps) for attention in heads]
    parts = [
        _header(title, sentence, translation),
        element(
            "div",
            _section("overview", "Every layer and head", "Choose one to see it large. Arrow keys move among them."),
            _section("map", "One head", "A row is a word that looks. Point at a cell, or move with arrow keys."),
            class_="pair",
        ),
        _section("follow", "One word through all heads", "Choose a word at the top, or a row of the head."),
    ]
    if steps:
        parts.append(
            _section("steps", "The arithmetic of one query", "The numbers of the head and the row chosen above.")
        )
    data = page_data(ordered, steps)
    data["follow"] = follow
    data["translation"] = [[label.show_piece(piece), _rounded(probability)] for piece, probability in translation]
    return html_document(title, parts, "page.css", ("page_steps.js", "page.js"), data)


def html_compare(title: str, sentences: tuple[str, str], word: str, cosines: Sequence[tuple[str, float]]) -> str:
    """Write the page that compares one word's vectors in two sentences, layer by layer."""
    chart = svg_bars(
        cosines,
        title=f"How alike is “{word}” in the two?",
        subtitle="the cosine of its two vectors after each layer; 1 is the same direction",
    )
    said = [element("p", *_with_word(sentence, word), class_="sentence", dir="auto") for sentence in sentences]
    parts = [
        element("header", element("h1", escape(title)), *said),
        element("section", element("figure", Markup(chart)), class_="compare"),
    ]
    return html_document(title, parts, "page.css")


def page_data(maps: Sequence[AttentionMap], steps: Sequence[HeadSteps] = ()) -> dict[str, Any]:
    """Return what the page embeds: labels stored once, arrays rounded, palettes for light and dark."""
    labels: list[list[str]] = []
    joined: list[list[bool]] = []

    def name_of(pieces: tuple[str, ...]) -> int:
        shown = [label.show_piece(piece) for piece in pieces]
        if shown not in labels:
            labels.append(shown)
            joined.append(label.glued(pieces))
        return labels.index(shown)

    return {
        "curve": colour.CURVE,
        "palettes": {
            name: {hue: [paint.hex for paint in colour.palette(dark=name == "dark", hue=angle)] for hue, angle in hues}
            for name in ("light", "dark")
            for hues in [(("blue", colour.BLUE), ("amber", colour.AMBER))]
        },
        "maps": [
            {
                "name": label.clean(one.name),
                "kind": label.clean(one.kind),
                "layer": one.layer,
                "head": one.head,
                "queries": name_of(one.queries),
                "keys": name_of(one.keys),
                "weights": _listed(one.weights),
            }
            for one in maps
        ],
        "labels": labels,
        "glued": joined,
        "steps": [_steps_data(one) for one in steps],
    }


def _steps_data(steps: HeadSteps) -> dict[str, Any]:
    hidden = (steps.weights == 0) | (steps.scores < _HIDDEN) | ~np.isfinite(steps.scores)
    return {
        "kind": label.clean(steps.kind),
        "layer": steps.layer,
        "queries": _listed(steps.queries),
        "keys": _listed(steps.keys),
        "values": _listed(steps.values),
        "scores": _listed(np.where(hidden, np.nan, steps.scores)),
        "weights": _listed(steps.weights),
        "context": _listed(steps.context),
        "formula": None if steps.formula is None else label.clean(steps.formula),
        "powers": steps.powers,
    }


def _listed(array: Numbers) -> list[Any]:
    """Turn an array into lists of rounded numbers; what is not finite becomes null."""
    # Adding zero turns -0.0 into 0.0, and objects keep None beside numbers.
    rounded = np.round(array.astype(np.float64), DIGITS) + 0.0
    return list(np.where(np.isfinite(rounded), rounded, np.array(None, dtype=object)).tolist())


def _rounded(number: float) -> float:
    return round(float(number), DIGITS)


def _header(title: str, sentence: str, translation: Sequence[tuple[str, float]]) -> Markup:
    pieces = [piece for piece, _ in translation]
    joined = "".join(
        ("" if at == 0 or sticks else " ") + label.show_piece(piece)
        for at, (piece, sticks) in enumerate(zip(pieces, label.glued(pieces), strict=True))
        if piece not in label.ENDS
    )
    return element(
        "header",
        element("h1", escape(title)),
        element("p", escape(sentence), class_="sentence", dir="auto"),
        element("p", escape(joined), class_="sentence translation", dir="auto"),
        element("div", escape(""), id="words"),
    )


def _section(name: str, heading: str, hint: str) -> Markup:
    return element(
        "section",
        element("h2", escape(heading)),
        element("p", escape(hint), class_="hint"),
        element("div", escape(""), id=name),
    )


def _with_word(sentence: str, word: str) -> list[Markup]:
    """Mark the word where it stands in the sentence; in scripts without spaces, where its letters are."""
    exact = re.escape(word)
    parts = [sentence]
    if word:
        parts = re.split(rf"(?<!\w)({exact})(?!\w)", sentence)
        parts = parts if len(parts) > 1 else re.split(f"({exact})", sentence)
    return [element("mark", escape(part)) if at % 2 else escape(part) for at, part in enumerate(parts)]
