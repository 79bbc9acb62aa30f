"""Training as curves: panels one above the other over the same updates, each line named where it ends."""

import math
from collections.abc import Sequence
from itertools import chain
from typing import Final, Literal, NamedTuple

from dragoman.draw import svg
from dragoman.draw.svg import Markup, element, text

_LEFT: Final = 76.0
_RIGHT: Final = 128.0
_WIDE: Final = 640.0
_HIGH: Final = 140.0
_BETWEEN: Final = 46.0
_PAINTS: Final = ("#2f62b5", "#b4560f", "#5b6472", "#1b7f79")
_DASHES: Final = (None, "7 4", "2 3")
"""How lines are drawn once every colour is taken: two of one colour differ."""


class Series(NamedTuple):
    """One line of a panel; a value that is not finite leaves a gap."""

    panel: str
    name: str
    updates: Sequence[float]
    values: Sequence[float]
    mark: Literal["highest", "lowest"] | None = None
    """Whether to point out the best value."""
    bounds: Sequence[tuple[float, float]] = ()
    """Between which each value may lie, if that is known."""


class _Frame(NamedTuple):
    """The two scales of a panel, and where it stands."""

    top: float
    first: float
    last: float
    low: float
    high: float

    def x(self, update: float) -> float:
        return _LEFT + _WIDE * (update - self.first) / ((self.last - self.first) or 1.0)

    def y(self, value: float) -> float:
        return self.top + _HIGH * (1 - (value - self.low) / ((self.high - self.low) or 1.0))


def svg_curves(series: Sequence[Series], *, title: str = "", across: str = "updates") -> str:
    """Draw series over updates, those of one panel together, panels in the order they first appear."""
    for one in series:
        if len(one.updates) != len(one.values):
            raise ValueError(f"{one.name}: {len(one.updates)} updates, {len(one.values)} values")
    panels: dict[str, list[Series]] = {}
    for one in series:
        panels.setdefault(one.panel, []).append(one)
    seen = [update for one in series for update in one.updates]
    first, last = _padded(seen)
    marks = ticks(first, last, 6)
    top = 34.0 + (30 if title else 0) + 22
    parts = [text(title, 28, 42, size=18, weight=600)] if title else []
    bottom = top
    for name, members in panels.items():
        values = [value for one in members for value in (*one.values, *chain(*one.bounds)) if math.isfinite(value)]
        levels = ticks(*_padded(values), 4)
        frame = _Frame(top, first, last, levels[0], levels[-1])
        parts.append(text(name, 28, top - 14, size=13, weight=600))
        parts.extend(_axes(frame, marks, levels, named=name == list(panels)[-1]))
        parts.extend(_lines(frame, members))
        bottom = top + _HIGH
        top = bottom + _BETWEEN
    parts.append(text(across, _LEFT + _WIDE, bottom + 40, size=12, anchor="end", fill=svg.FAINT))
    return svg.drawing(
        _LEFT + _WIDE + _RIGHT,
        bottom + 62,
        *parts,
        title=title or "Training curves",
        description=", ".join(panels) + f" over {across}",
    )


def ticks(low: float, high: float, about: int) -> list[float]:
    """Return round numbers, evenly spaced, the first at or below `low` and the last at or above `high`."""
    span = high - low
    if not span > 0:
        span = abs(low) or 1.0
        low, high = low - span / 2, high + span / 2
    rough = span / max(1, about)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(size * power for size in (1, 2, 2.5, 5, 10) if size * power >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [at * step for at in range(first, last + 1)]


def short_number(value: float, largest: float | None = None) -> str:
    """Write a number as an axis does: 12k, 0.0005, 35; all marks of an axis in the unit of its largest."""
    size = abs(value if largest is None else largest)
    if abs(value) < 1e-12:
        return "0"
    for limit, unit, letter in ((1e9, 1e9, "G"), (1e6, 1e6, "M"), (1e4, 1e3, "k")):
        if size >= limit:
            return f"{value / unit:.4g}{letter}"
    return f"{value:.1e}".replace("e-0", "e-").replace(".0e", "e") if size < 1e-4 else f"{value:.4g}"


def _padded(values: Sequence[float]) -> tuple[float, float]:
    if not values:
        return 0.0, 1.0
    low, high = min(values), max(values)
    # A scale that nearly reaches zero may as well show it.
    return (0.0 if 0 < low < 0.2 * high else low), high


def _axes(frame: _Frame, marks: Sequence[float], levels: Sequence[float], *, named: bool) -> list[Markup]:
    """Draw the grid, the values at the left, and, under the last panel, the updates."""
    drawn = []
    for level in levels:
        y = frame.y(level)
        drawn.append(element("path", d=f"M{_LEFT:.1f} {y:.1f}h{_WIDE:.1f}", stroke=svg.RULE, class_="rule"))
        drawn.append(text(short_number(level), _LEFT - 10, y + 4, size=11, anchor="end", fill=svg.FAINT))
    for mark in marks:
        if frame.first - 1e-9 <= mark <= frame.last + 1e-9:
            x, foot = frame.x(mark), frame.top + _HIGH
            drawn.append(element("path", d=f"M{x:.1f} {foot:.1f}v5", stroke=svg.FAINT, class_="tick"))
            if named:
                drawn.append(
                    text(short_number(mark, marks[-1]), x, foot + 20, size=11, anchor="middle", fill=svg.FAINT)
                )
    return drawn


def _lines(frame: _Frame, members: Sequence[Series]) -> list[Markup]:
    """Draw a panel's lines and their names at the right, pushed apart where they would touch."""
    drawn: list[Markup] = []
    ends: list[tuple[float, str, int]] = []
    for at, one in enumerate(members):
        kind = at % len(_PAINTS)
        paint = _PAINTS[kind]
        points = [
            (frame.x(update), frame.y(value), value) for update, value in zip(one.updates, one.values, strict=True)
        ]
        path = _path(_thinned(points))
        finite = [point for point in points if math.isfinite(point[2])]
        drawn.append(
            element(
                "path",
                d=path or "M0 0",
                fill="none",
                stroke=paint,
                stroke_width=1.8,
                stroke_linejoin="round",
                class_=f"line line-{kind}",
                stroke_dasharray=_DASHES[at // len(_PAINTS) % len(_DASHES)],
            )
        )
        for (x, y, _), (low, high) in zip(points if one.bounds else [], one.bounds, strict=True):
            bar = f"M{x:.1f} {frame.y(low):.1f}V{frame.y(high):.1f}"
            drawn.append(element("path", d=bar, stroke=paint, stroke_opacity=0.7, class_=f"line-{kind}"))
            drawn.append(element("circle", cx=x, cy=y, r=3, fill=paint, class_=f"name-{kind}"))
        if len(finite) == 1:
            drawn.append(element("circle", cx=finite[0][0], cy=finite[0][1], r=3, fill=paint))
        if finite:
            ends.append((finite[-1][1], one.name, kind))
            drawn.extend(_best(one, finite, paint))
    y = -math.inf
    for wanted, name, kind in sorted(ends):
        y = max(wanted, y + 15)
        drawn.append(text(name, _LEFT + _WIDE + 10, y + 4, size=12, fill=_PAINTS[kind], class_=f"name name-{kind}"))
    return drawn


def _best(one: Series, points: Sequence[tuple[float, float, float]], paint: str) -> list[Markup]:
    if one.mark is None:
        return []
    best = (max if one.mark == "highest" else min)(points, key=lambda point: point[2])
    above = one.mark == "lowest" or best[1] > points[0][1] - 24
    return [
        element("circle", cx=best[0], cy=best[1], r=3.5, fill=paint, stroke=svg.PAPER, stroke_width=1.5),
        text(
            f"{best[2]:.4g}",
            best[0] - 4,
            best[1] - 9 if above else best[1] + 19,
            size=12,
            weight=600,
            anchor="end",
            fill=paint,
            class_="name",
        ),
    ]


def _thinned(points: list[tuple[float, float, float]]) -> list[tuple[float, float, float]]:
    """Keep the lowest and the highest of what falls on one pixel: a long run is not a heavy file."""
    if len(points) <= 2 * _WIDE:
        return points
    kept = []
    per_pixel = math.ceil(len(points) / _WIDE)
    for start in range(0, len(points), per_pixel):
        few = points[start : start + per_pixel]
        low, high = (choose(few, key=lambda point: point[1]) for choose in (min, max))
        kept.extend(sorted({low, high}))
    return kept


def _path(points: Sequence[tuple[float, float, float]]) -> str:
    written, pen_down = [], False
    for x, y, value in points:
        if not math.isfinite(value):
            pen_down = False
            continue
        written.append(f"{'L' if pen_down else 'M'}{x:.1f} {y:.1f}")
        pen_down = True
    return "".join(written)
