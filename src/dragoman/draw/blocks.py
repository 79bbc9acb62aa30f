"""Attention in a terminal: blocks in 24-bit colour, or shades of ASCII where there is no colour.

Everything returned is lines of text no wider than asked, counted in terminal columns: a Chinese character
takes two, a combining accent none. The names of columns stand above the map on as many lines as they need,
each with a thread down to its column, so that they can be read without turning one's head.
"""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from dragoman.draw import colour as colours
from dragoman.draw import label
from dragoman.draw.attention import AttentionMap, Numbers, check_map, group_by_layer

ASCII_SHADES: Final = " .:-=+*#%@"
"""From nothing to everything."""

_RESET: Final = "\x1b[0m"
_LONGEST_LABEL: Final = 16
_WIDEST_CELL: Final = 5
_LARGEST_THUMBNAIL: Final = 24


def text_heatmap(attention: AttentionMap, *, colour: bool = True, width: int = 100, dark: bool = True) -> str:
    """Draw one head: a line for every query, under the names of the keys.

    Where there are more keys than columns, the map goes on below itself. `dark` says what the terminal is.
    """
    check_map(attention)
    mark = "…" if colour else "~"
    room = min(_LONGEST_LABEL, max(4, width // 4))
    rows = [label.clip(label.show_piece(piece), room, mark) for piece in attention.queries]
    columns = [label.clip(label.show_piece(piece), room, mark) for piece in attention.keys]
    gutter = max((label.cells(row) for row in rows), default=0) + 1
    cell = _cell_width(columns, width - gutter)
    each = max(1, (width - gutter) // cell)
    lines = [label.clip(label.clean(attention.name), width, mark)]
    for start in range(0, max(1, len(columns)), each):
        names = columns[start : start + each]
        if start:
            lines.append("")
        lines += [" " * gutter + line for line in _headings(names, cell, width - gutter, colour=colour)]
        for row, weights in zip(rows, attention.weights[:, start : start + each], strict=True):
            lines.append(label.pad(row, gutter - 1, right=True) + " " + _cells(weights, cell, colour, dark))
    return "\n".join(lines)


def text_overview(maps: Sequence[AttentionMap], *, colour: bool = True, width: int = 100, dark: bool = True) -> str:
    """Draw every head as a thumbnail, the heads of a layer side by side.

    A map too large for a thumbnail is shrunk by keeping the greatest weight of each patch.
    """
    lines: list[str] = []
    for kind, layer, heads in group_by_layer(maps):
        for one in heads:
            check_map(one)
        title = label.clip(label.clean(f"{kind} · layer {layer}" if colour else f"{kind}, layer {layer}"), width)
        lines.append(title if not lines else "\n" + title)
        small = [_shrink(one.weights, min(_LARGEST_THUMBNAIL, max(1, width))) for one in heads]
        names = [f"head {one.head}" for one in heads]
        sizes = [max(label.cells(name), one.shape[1]) for name, one in zip(names, small, strict=True)]
        each = _evenly(len(heads), max(1, (width + 2) // (max(sizes) + 2)))
        for start in range(0, len(heads), each):
            few = slice(start, start + each)
            if start:
                lines.append("")
            lines += _side_by_side(names[few], small[few], max(sizes), width, colour=colour, dark=dark)
    return "\n".join(lines)


def text_bars(
    rows: Sequence[tuple[str, float]],
    *,
    colour: bool = True,
    width: int = 80,
    low: float = 0.0,
    high: float = 1.0,
    dark: bool = True,
) -> str:
    """Draw one bar for each (name, value), from low to high, and its value; what lies outside is cut off."""
    mark = "…" if colour else "~"
    names = [label.clip(label.clean(name), max(4, width // 3), mark) for name, _ in rows]
    values = [f"{value:.3f}" for _, value in rows]
    gutter = max(map(label.cells, names), default=0)
    digits = max(map(len, values), default=0)
    length = max(1, width - gutter - digits - 2)
    lines = []
    for name, value, (_, number) in zip(names, values, rows, strict=True):
        share = min(1.0, max(0.0, (number - low) / ((high - low) or 1.0)))
        bar = _bar(share, length, colour=colour, dark=dark)
        lines.append(f"{label.pad(name, gutter)} {bar} {value:>{digits}}")
    return "\n".join(lines)


def text_scale(*, colour: bool = True, dark: bool = True) -> str:
    """Draw the legend of the maps: the shades of a few weights, named."""
    weights = (0.0, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0)
    return "  ".join(f"{_cells(np.array([weight]), 2, colour, dark)} {weight:.0%}" for weight in weights)


def _cell_width(columns: Sequence[str], room: int) -> int:
    """Choose the widest cell at which every column, and the name of the last, still has room."""
    for cell in range(_WIDEST_CELL, 1, -1):
        if all(at * cell + max(cell, label.cells(name)) <= room for at, name in enumerate(columns)):
            return cell
    return 2 if len(columns) * 2 <= room else 1


def _headings(names: Sequence[str], cell: int, room: int, *, colour: bool) -> list[str]:
    """Set the names over their columns, each as low as it can stand without crossing the thread of another.

    From the right: a name must stand one line above every thread it passes over.
    """
    thread, mark = ("│", "…") if colour else ("|", "~")
    shown = [label.clip(name, max(1, room - at * cell), mark) for at, name in enumerate(names)]
    lines_up = [0] * len(names)
    for at in range(len(names) - 1, -1, -1):
        # One column of air after the name, or two names read as one.
        passed = range(at + 1, min(len(names), at + 1 + (label.cells(shown[at])) // cell))
        lines_up[at] = max((lines_up[other] + 1 for other in passed), default=0)
    lines = []
    for level in range(max(lines_up, default=0), -1, -1):
        line, used = "", 0
        for at, name in enumerate(shown):
            if lines_up[at] < level:
                continue
            line += " " * (at * cell - used)
            mine = label.pad(name, 0) if lines_up[at] == level else thread
            line, used = line + mine, at * cell + (label.cells(name) if lines_up[at] == level else 1)
        lines.append(line)
    return lines


def _cells(weights: Numbers, cell: int, colour: bool, dark: bool) -> str:
    """Draw one line of a map; where a cell is wide enough it says its percentage."""
    if not colour:
        return "".join(_ascii_cell(float(weight), cell) for weight in weights).rstrip()
    drawn = []
    for weight in weights:
        paint = colours.shade(float(weight), dark=dark)
        number = f"{100 * weight:2.0f}" if weight >= 0.01 and cell >= 3 else ""
        drawn.append(f"{_paint(colours.ink(paint), paint)}{number:^{cell}}")
    return "".join(drawn) + _RESET


def _ascii_cell(weight: float, cell: int) -> str:
    share = min(1.0, max(0.0, weight)) ** colours.CURVE if weight > 0 else 0.0
    character = ASCII_SHADES[round(share * (len(ASCII_SHADES) - 1))]
    return character * cell if cell < 3 else character * (cell - 1) + " "


def _paint(ink: colours.Rgb, ground: colours.Rgb | None = None) -> str:
    front = f"\x1b[38;2;{ink.red};{ink.green};{ink.blue}"
    return f"{front}m" if ground is None else f"{front};48;2;{ground.red};{ground.green};{ground.blue}m"


def _evenly(count: int, most: int) -> int:
    """Return how many to set on a line so that the lines are alike: eight by seven are four and four."""
    return math.ceil(count / math.ceil(count / most))


def _side_by_side(
    names: Sequence[str],
    small: Sequence[Numbers],
    size: int,
    width: int,
    *,
    colour: bool,
    dark: bool,
) -> list[str]:
    """Draw thumbnails next to each other under their names."""
    pictures = [_thumbnail(one, dark=dark) if colour else _ascii_thumbnail(one) for one in small]
    height = max(map(len, pictures), default=0)
    lines = ["  ".join(label.pad(label.clip(name, size), size) for name in names)[:width].rstrip()]
    for at in range(height):
        parts = []
        for picture, one in zip(pictures, small, strict=True):
            drawn = picture[at] if at < len(picture) else " " * one.shape[1]
            parts.append(drawn + " " * (size - one.shape[1]))
        lines.append("  ".join(parts).rstrip())
    return lines


def _thumbnail(weights: Numbers, *, dark: bool) -> list[str]:
    """Draw two rows of a map on one line: the upper half of a character has its own colour."""
    lines = []
    for top in range(0, len(weights), 2):
        line, before = "", ""
        for column in range(weights.shape[1]):
            upper = colours.shade(float(weights[top, column]), dark=dark)
            lower = colours.shade(float(weights[top + 1, column]), dark=dark) if top + 1 < len(weights) else None
            paint = _paint(upper, lower)
            line += (paint if paint != before else "") + "▀"
            before = paint
        lines.append(line + _RESET)
    return lines


def _ascii_thumbnail(weights: Numbers) -> list[str]:
    return ["".join(_ascii_cell(float(weight), 1) for weight in row) for row in weights]


def _shrink(weights: Numbers, most: int) -> Numbers:
    """Keep the greatest of each patch until no side is longer than `most`."""
    rows, columns = weights.shape
    if not rows or not columns:
        return weights
    starts = [np.unique(np.linspace(0, size, min(size, most), endpoint=False).astype(int)) for size in (rows, columns)]
    tall: Numbers = np.maximum.reduceat(weights, starts[0], axis=0)
    return np.asarray(np.maximum.reduceat(tall, starts[1], axis=1))


def _bar(share: float, length: int, *, colour: bool, dark: bool) -> str:
    """Draw a bar on its track, to half a column in colour, to a whole one in ASCII."""
    if not colour:
        full = round(share * length)
        return "#" * full + "." * (length - full)
    full, half = divmod(round(share * length * 2), 2)
    drawn = "━" * full + "╸" * half
    shades = colours.palette(dark=dark)
    bar, track = _paint(shades[colours.LEVELS * 5 // 8]), _paint(shades[colours.LEVELS // 8])
    return f"{bar}{drawn}{track}{'━' * (length - len(drawn))}{_RESET}"
