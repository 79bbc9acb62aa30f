"""Attention as a heat map: one head, with its words and numbers."""

from typing import Final

from dragoman.draw import colour, label, svg
from dragoman.draw.attention import AttentionMap, check_map
from dragoman.draw.svg import Markup, element, text, text_width

_MARGIN: Final = 28.0
_LABEL_SIZE: Final = 14.0
_LONGEST_LABEL: Final = 18


def svg_heatmap(attention: AttentionMap) -> str:
    """Draw one head: a row for every query, a column for every key, the percentage where there is room."""
    check_map(attention)
    rows = [label.clip(label.show_piece(piece), _LONGEST_LABEL) for piece in attention.queries]
    columns = [label.clip(label.show_piece(piece), _LONGEST_LABEL) for piece in attention.keys]
    cell = min(40.0, max(14.0, 640 / max(1, len(columns), len(rows))))
    left = _MARGIN + max((text_width(row, _LABEL_SIZE) for row in rows), default=0.0) + 12
    slant = max((text_width(column, _LABEL_SIZE) for column in columns), default=0.0) * 0.71
    top = _MARGIN + 44 + slant + 18
    right, bottom = left + cell * len(columns), top + cell * len(rows)
    width = max(right + slant * 0.6, left + 300) + _MARGIN
    parts = [
        text(attention.name, _MARGIN, _MARGIN + 14, size=18, weight=600),
        text(
            "each row is a word that looks; each column, a word looked at; weights in %",
            _MARGIN,
            _MARGIN + 34,
            size=12,
            fill=svg.FAINT,
        ),
        *(
            text(row, left - 10, top + cell * (at + 0.5) + 5, size=_LABEL_SIZE, anchor="end")
            for at, row in enumerate(rows)
        ),
        *(
            text(column, left + cell * (at + 0.5) + 4, top - 8, size=_LABEL_SIZE, turn=-45)
            for at, column in enumerate(columns)
        ),
        *_cells(attention, left, top, cell),
        _legend(left, bottom + 22),
    ]
    return svg.drawing(
        max(width, _MARGIN * 2 + 440),
        bottom + 22 + 34 + _MARGIN * 0.6,
        *parts,
        title=attention.name,
        description=f"A heat map of attention weights: {len(rows)} queries by {len(columns)} keys.",
    )


def _cells(attention: AttentionMap, left: float, top: float, side: float) -> list[Markup]:
    """Draw every weight as a square that says, when pointed at, who looks at whom and how much."""
    drawn = []
    queries = [label.show_piece(piece) for piece in attention.queries]
    keys = [label.show_piece(piece) for piece in attention.keys]
    for row, query in enumerate(queries):
        for column, key in enumerate(keys):
            weight = float(attention.weights[row, column])
            paint = colour.shade(weight)
            x, y = left + column * side, top + row * side
            said = element("title", svg.escape(f"{query} → {key}: {weight:.1%}"))
            box = element(
                "rect",
                said,
                x=x + 0.5,
                y=y + 0.5,
                width=side - 1,
                height=side - 1,
                rx=2,
                fill=paint.hex,
                class_="cell",
            )
            drawn.append(box)
            if side >= 24 and weight >= 0.005:
                number = text(
                    f"{100 * weight:.0f}",
                    x + side / 2,
                    y + side / 2 + 4,
                    size=11,
                    anchor="middle",
                    fill=colour.ink(paint).hex,
                    class_="number",
                )
                drawn.append(number)
    return drawn


def _legend(x: float, y: float, length: float = 240.0) -> Markup:
    """Draw the scale with its marks; the marks crowd to the left because small weights are lifted."""
    step = length / colour.LEVELS
    blocks = [
        element("rect", x=x + at * step, y=y, width=step + 0.5, height=9, fill=paint.hex)
        for at, paint in enumerate(colour.palette())
    ]
    marks = [
        text(
            f"{weight:.0%}",
            x + length * weight**colour.CURVE,
            y + 25,
            size=11,
            anchor="middle",
            fill=svg.FAINT,
        )
        for weight in (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)
    ]
    return element("g", element("g", *blocks), *marks, class_="legend")
