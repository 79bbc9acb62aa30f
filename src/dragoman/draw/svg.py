"""SVG from plain values: elements, escaping, and the paper every figure brings with it.

Escaping is checked by types. An element takes `Markup`; text becomes `Markup` only through `escape`, so a
label that was not escaped does not pass mypy. Colours are attributes, not style sheets: a page with a strict
content policy can hold the figure unchanged, and its style sheet can still recolour it by the classes.
"""

import unicodedata
from html import escape as escape_html
from typing import Final, NewType

from dragoman.draw import label

Markup = NewType("Markup", str)

FONT: Final = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif"
PAPER: Final = "#fcfcfa"
INK: Final = "#1f2430"
FAINT: Final = "#69707f"
RULE: Final = "#dcdee3"
MARK: Final = "#b4560f"
ACCENT: Final = "#2f62b5"

_NARROW: Final = frozenset("fijlrtI.,:;'!|()[]/\\ ·")
_BROAD: Final = frozenset("mwMWQGOD%@—…")


def escape(text: str) -> Markup:
    """Make text safe as content and as an attribute, and legal in XML."""
    return Markup(escape_html(label.clean(text), quote=True))


def element(name: str, *children: Markup, **attributes: str | float | None) -> Markup:
    """Write one element. `class_` is class and `font_size` is font-size; None leaves an attribute out."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_number(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{written}>{''.join(children)}</{name}>" if children else f"<{name}{written}/>")


def text(
    content: str,
    x: float,
    y: float,
    *,
    size: float = 13,
    anchor: str = "start",
    fill: str = INK,
    weight: int | None = None,
    turn: float | None = None,
    class_: str | None = None,
) -> Markup:
    """Write one line of text with its baseline at y; `turn` rotates it about its anchor, in degrees."""
    if class_ is None:
        class_ = {INK: "ink", FAINT: "faint", MARK: "mark"}.get(fill)
    return element(
        "text",
        escape(content),
        x=x,
        y=y,
        font_size=size,
        text_anchor=None if anchor == "start" else anchor,
        fill=fill,
        font_weight=weight,
        transform=None if turn is None else f"rotate({_number(turn)} {_number(x)} {_number(y)})",
        class_=class_,
    )


def drawing(width: float, height: float, *children: Markup, title: str, description: str = "") -> str:
    """Write a whole figure on its own paper, so that it reads the same on a white and on a black page."""
    # Paper the size of the whole figure would lose half its border to the edge.
    paper = element(
        "rect",
        x=0.5,
        y=0.5,
        width=width - 1,
        height=height - 1,
        rx=10,
        fill=PAPER,
        stroke=RULE,
        class_="paper",
    )
    said = [element("title", escape(title))]
    if description:
        said.append(element("desc", escape(description)))
    return element(
        "svg",
        *said,
        paper,
        *children,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_number(width)} {_number(height)}",
        width=width,
        height=height,
        role="img",
        font_family=FONT,
    )


def text_width(content: str, size: float) -> float:
    """Estimate how wide a text is. No font is at hand, so this errs on the wide side."""
    return size * sum(map(_share_of_em, content))


def _share_of_em(character: str) -> float:
    if label.cells(character) == 0:
        return 0.0
    if unicodedata.east_asian_width(character) in ("W", "F"):
        return 1.0
    if character in _NARROW:
        return 0.36
    if character in _BROAD:
        return 0.92
    return 0.7 if character.isupper() else 0.6


def _number(value: str | float) -> str:
    if isinstance(value, str):
        return value
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
