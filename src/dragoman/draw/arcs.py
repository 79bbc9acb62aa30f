"""Attention as links between words: from line to line, or from one word to the rest of its sentence."""

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from dragoman.draw import colour, label, svg
from dragoman.draw.attention import Numbers
from dragoman.draw.svg import Markup, element, text, text_width

_MARGIN: Final = 36.0
_SIZE: Final = 19.0
_GAP: Final = 20.0
_WIDEST_GAP: Final = 64.0
_BESIDE: Final = 7.0
"""How far the ground of a word reaches beyond it on either side."""
FAINTEST: Final = 0.02
"""Weights below this are not drawn: a link nobody can see is only weight on the page."""


class _Place(NamedTuple):
    """A word on its line."""

    word: str
    middle: float
    width: float


def svg_arcs(
    source_words: Sequence[str],
    target_words: Sequence[str],
    weights: Numbers,
    *,
    title: str = "",
    subtitle: str = "",
    emphasis: int | None = None,
) -> str:
    """Draw the source above, the target below, and a link for every weight [t s] worth seeing.

    `emphasis` is a position in the target whose links stand out while the others step back.
    """
    if weights.shape != (len(target_words), len(source_words)):
        raise ValueError(f"weights are {weights.shape}, words are {(len(target_words), len(source_words))}")
    room = max(_natural_width(source_words), _natural_width(target_words), 420.0)
    width = room + 2 * _MARGIN
    above, below = _lay_out(source_words, width, room), _lay_out(target_words, width, room)
    top = _MARGIN + (30 if title else 0) + (20 if subtitle else 0) + 24
    depth = max(130.0, min(220.0, room * 0.2))
    links = _links(weights, above, below, (top + 12, top + depth), emphasis)
    parts = [
        *_caption(title, subtitle),
        element("g", *links, fill="none", stroke_linecap="round"),
        *(text(place.word, place.middle, top, size=_SIZE, anchor="middle") for place in above),
        *(
            text(
                place.word,
                place.middle,
                top + depth + 24,
                size=_SIZE,
                anchor="middle",
                weight=600 if at == emphasis else None,
                fill=svg.MARK if at == emphasis else svg.INK,
            )
            for at, place in enumerate(below)
        ),
    ]
    return svg.drawing(
        width,
        top + depth + 24 + _MARGIN,
        *parts,
        title=title or "Attention between two sentences",
        description=" ".join(source_words) + " → " + " ".join(target_words),
    )


def svg_word_arcs(words: Sequence[str], position: int, weights: Numbers, *, title: str = "", subtitle: str = "") -> str:
    """Draw where the word at `position` looks in its own sentence, by its weights [k]."""
    if weights.shape != (len(words),):
        raise ValueError(f"weights are {weights.shape}, words are {(len(words),)}")
    if not 0 <= position < len(words):
        raise ValueError(f"position {position} is not one of {len(words)} words")
    room = max(_natural_width(words), 420.0)
    width = room + 2 * (_MARGIN + _BESIDE)
    places = _lay_out(words, width, room)
    here = places[position]
    heights = [_height_of(abs(place.middle - here.middle), room) for place in places]
    reach = max(
        (high for high, weight in zip(heights, weights, strict=True) if weight >= FAINTEST),
        default=heights[0],
    )
    base = _MARGIN + (30 if title else 0) + (20 if subtitle else 0) + reach + 8
    arcs = []
    for at in np.argsort(weights):
        weight = float(weights[at])
        if weight >= FAINTEST and at != position:
            rise = base - heights[at] * 4 / 3
            there = places[at].middle
            start, end = f"{here.middle:.1f}", f"{there:.1f}"
            path = f"M{start} {base:.1f}C{start} {rise:.1f} {end} {rise:.1f} {end} {base:.1f}"
            arcs.append(_stroke(path, weight, svg.ACCENT, "link"))
    parts = [*_caption(title, subtitle), element("g", *arcs, fill="none", stroke_linecap="round")]
    for at, (place, weight) in enumerate(zip(places, weights, strict=True)):
        parts.extend(_chip(place, float(weight), base + 8, chosen=at == position))
    return svg.drawing(
        width,
        base + 8 + 38 + 22 + _MARGIN * 0.8,
        *parts,
        title=title or f"Where “{here.word}” looks",
        description=" ".join(words),
    )


def _natural_width(words: Sequence[str]) -> float:
    shown = [label.show_piece(word) for word in words]
    return sum(text_width(word, _SIZE) for word in shown) + _GAP * max(0, len(shown) - 1)


def _lay_out(words: Sequence[str], width: float, room: float) -> list[_Place]:
    """Set words on a line across the figure, spread if they are few; from the right if they are read so."""
    shown = [label.show_piece(word) for word in words]
    widths = [text_width(word, _SIZE) for word in shown]
    gaps = max(1, len(shown) - 1)
    gap = min(_WIDEST_GAP, (room - sum(widths)) / gaps)
    x = (width - sum(widths) - gap * (len(shown) - 1)) / 2
    places = []
    backwards = label.is_right_to_left("".join(shown))
    for word, wide in zip(shown, widths, strict=True):
        middle = x + wide / 2
        places.append(_Place(word, width - middle if backwards else middle, wide))
        x += wide + gap
    return places


def _links(
    weights: Numbers,
    above: Sequence[_Place],
    below: Sequence[_Place],
    rows: tuple[float, float],
    emphasis: int | None,
) -> list[Markup]:
    """Draw the links, the strongest last and those of the emphasised word on top of all."""
    high, low = rows
    bend = (low - high) * 0.5
    order = sorted(
        ((t, s) for t in range(len(below)) for s in range(len(above)) if weights[t, s] >= FAINTEST),
        key=lambda pair: (pair[0] == emphasis, weights[pair]),
    )
    drawn = []
    for t, s in order:
        a, b = above[s].middle, below[t].middle
        path = f"M{a:.1f} {high:.1f}C{a:.1f} {high + bend:.1f} {b:.1f} {low - bend:.1f} {b:.1f} {low:.1f}"
        weight = float(weights[t, s])
        if emphasis is None:
            drawn.append(_stroke(path, weight, svg.ACCENT, "link"))
        elif t == emphasis:
            drawn.append(_stroke(path, weight, svg.MARK, "mark-link"))
        else:
            drawn.append(_stroke(path, weight, svg.FAINT, "faint-link", strength=0.45))
    return drawn


def _stroke(path: str, weight: float, paint: str, class_: str, strength: float = 1.0) -> Markup:
    return element(
        "path",
        d=path,
        stroke=paint,
        stroke_width=round(0.8 + 6.0 * weight, 2),
        stroke_opacity=round(strength * min(1.0, 0.1 + 0.85 * weight**0.8), 3),
        class_=class_,
    )


def _chip(place: _Place, weight: float, y: float, *, chosen: bool) -> list[Markup]:
    """Draw a word on a ground as dark as its weight, the percentage below; the chosen one has a border."""
    paint = colour.shade(weight)
    box = element(
        "rect",
        x=place.middle - place.width / 2 - _BESIDE,
        y=y,
        width=place.width + 2 * _BESIDE,
        height=34,
        rx=6,
        fill=paint.hex,
        stroke=svg.MARK if chosen else "none",
        stroke_width=2.0,
        class_="chip",
    )
    ink = colour.ink(paint).hex
    word = text(place.word, place.middle, y + 23, size=_SIZE, anchor="middle", fill=ink, class_="number")
    if weight < FAINTEST / 2:
        return [box, word]
    share = text(f"{weight:.0%}", place.middle, y + 54, size=13, anchor="middle", fill=svg.FAINT)
    return [box, word, share]


def _height_of(distance: float, room: float) -> float:
    """Let far words arch higher, but less and less, so that the figure stays low."""
    return 26.0 + 120.0 * math.pow(distance / room, 0.7)


def _caption(title: str, subtitle: str) -> list[Markup]:
    lines = []
    if title:
        lines.append(text(title, _MARGIN, _MARGIN + 8, size=18, weight=600))
    if subtitle:
        lines.append(text(subtitle, _MARGIN, _MARGIN + 30, size=13, fill=svg.FAINT))
    return lines
