"""Bars for a handful of named numbers, such as the cosines of a word's vectors in two sentences."""

from collections.abc import Sequence
from typing import Final

from dragoman.draw import svg
from dragoman.draw.svg import Markup, element, text, text_width

_MARGIN: Final = 28.0
_LINE: Final = 30.0
_LENGTH: Final = 440.0


def svg_bars(
    rows: Sequence[tuple[str, float]],
    *,
    title: str = "",
    subtitle: str = "",
) -> str:
    """Draw a horizontal bar for each (name, value), from zero, on a scale that holds at least 0 to 1."""
    low = min([0.0, *(value for _, value in rows)])
    high = max([1.0, *(value for _, value in rows)])
    left = _MARGIN + max((text_width(name, 13) for name, _ in rows), default=0.0) + 14
    top = _MARGIN + (28 if title else 0) + (22 if subtitle else 0)

    def x(value: float) -> float:
        return left + _LENGTH * (value - low) / ((high - low) or 1.0)

    foot = top + _LINE * len(rows)
    parts: list[Markup] = []
    if title:
        parts.append(text(title, _MARGIN, _MARGIN + 12, size=18, weight=600))
    if subtitle:
        parts.append(text(subtitle, _MARGIN, top - 12, size=13, fill=svg.FAINT))
    marks = [low + (high - low) * share for share in (0, 0.25, 0.5, 0.75, 1)]
    for mark in marks:
        parts.append(element("path", d=f"M{x(mark):.1f} {top:.1f}V{foot:.1f}", stroke=svg.RULE, class_="rule"))
        parts.append(text(f"{mark:.2f}", x(mark), foot + 18, size=11, anchor="middle", fill=svg.FAINT))
    for at, (name, value) in enumerate(rows):
        y = top + _LINE * at
        parts.append(text(name, left - 12, y + 20, anchor="end"))
        a, b = sorted((x(0.0), x(value)))
        parts.append(
            element(
                "rect",
                x=a,
                y=y + 6,
                width=max(b - a, 1.0),
                height=_LINE - 12,
                rx=3,
                fill=svg.ACCENT,
                class_="bar",
            )
        )
        parts.append(text(f"{value:.3f}", left + _LENGTH + 14, y + 20, size=13, fill=svg.INK))
    return svg.drawing(
        left + _LENGTH + 62 + _MARGIN,
        foot + 18 + _MARGIN * 0.8,
        *parts,
        title=title or "Bars",
        description="; ".join(f"{name}: {value:.3f}" for name, value in rows),
    )
