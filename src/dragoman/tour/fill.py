"""Turn a chapter's script, which is words with gaps, into blocks: the gaps are filled with computed numbers.

`{weights}` is a number, a vector or words; `{weights[0]:2}` its first entry with two digits after the point. A block
with `when` (or `unless`) is told only if that quantity is true (or not): no sentence outlives the numbers it is about.
"""

import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dragoman.engine.layout import Array
from dragoman.tour.blocks import Bars, Block, Formula, HeatMap, Note, Prose, Table, Try, show_number
from dragoman.tour.inputs import Words

Quantity = Array | NDArray[np.bool_] | Words | str | float | bool
Quantities = Mapping[str, Quantity]


class _Gaps(string.Formatter):
    """Python's format strings, for vectors too; what follows the colon is the number of digits."""

    def format_field(self, value: Any, format_spec: str) -> str:
        """Write what goes into a gap."""
        if isinstance(value, str):
            return value
        if isinstance(value, tuple):
            return ", ".join(value)
        if np.ndim(value):
            return f"({', '.join(self.format_field(part, format_spec) for part in value)})"
        return show_number(float(value), int(format_spec) if format_spec else None)


def fill(text: str, quantities: Mapping[str, Any]) -> str:
    """Fill the gaps of a text."""
    return _Gaps().vformat(text, (), quantities)


def make_blocks(script: Iterable[Mapping[str, Any]], quantities: Quantities, inputs: Iterable[str]) -> Iterator[Block]:
    """Make the blocks of a chapter; what is not the case is left out."""
    settable = frozenset(inputs)
    for entry in script:
        if _applies(entry, quantities):
            yield _make_block(entry, quantities, settable)


def _applies(entry: Mapping[str, Any], quantities: Quantities) -> bool:
    if "when" in entry:
        return bool(quantities[entry["when"]])
    return "unless" not in entry or not quantities[entry["unless"]]


def _make_block(entry: Mapping[str, Any], quantities: Quantities, settable: frozenset[str]) -> Block:
    match entry:
        case {"prose": text}:
            return Prose(_paragraph(text, quantities))
        case {"formula": text}:
            return Formula(fill(text.strip("\n"), quantities))
        case {"note": text}:
            return Note(_paragraph(text, quantities))
        case {"try": settings, "text": text}:
            return Try((settings,) if isinstance(settings, str) else tuple(settings), _paragraph(text, quantities))
        case {"table": names}:
            return _make_table(entry, [names] if isinstance(names, str) else names, quantities, settable)
        case {"bars": name}:
            return _make_bars(entry, np.asarray(quantities[name], dtype=float), quantities)
        case {"heatmap": name}:
            weights = np.asarray(quantities[name], dtype=float)
            rows = _labels(entry["rows"], weights.shape[:-1], quantities)
            columns = _labels(entry["columns"], weights.shape[-1:], quantities)
            return HeatMap(fill(entry["title"], quantities), rows, columns, _cells(weights))
        case _:
            raise ValueError(f"a block of an unknown kind: {entry}")


def _paragraph(text: str, quantities: Quantities) -> str:
    return " ".join(fill(text, quantities).split())


def _make_table(
    entry: Mapping[str, Any], names: Sequence[str], quantities: Quantities, settable: frozenset[str]
) -> Table:
    """Make a table of a matrix, or of several vectors one below the other."""
    parts = [np.asarray(quantities[name], dtype=float) for name in names]
    numbers = parts[0] if len(parts) == 1 and parts[0].ndim > 1 else np.stack([np.atleast_1d(part) for part in parts])
    digits = entry.get("digits")
    count = int(np.prod(numbers.shape[:-1]))
    return Table(
        fill(entry["title"], quantities),
        _labels(entry.get("rows"), numbers.shape[:-1], quantities),
        _labels(entry.get("columns"), numbers.shape[-1:], quantities),
        _cells(numbers),
        tuple(None if one < 0 else one for one in digits) if isinstance(digits, list) else (digits,) * count,
        names[0] if len(names) == 1 and names[0] in settable else None,
    )


def _make_bars(entry: Mapping[str, Any], values: NDArray[np.float64], quantities: Quantities) -> Bars:
    names = _labels(entry["names"], values.shape, quantities)
    low, high = min(0.0, float(values.min())), max(1.0, float(values.max()))
    return Bars(fill(entry["title"], quantities), names, tuple(values.tolist()), low, high)


def _cells(numbers: NDArray[np.float64]) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in numbers.reshape(-1, numbers.shape[-1]).tolist())


def _labels(template: str | list[str] | None, shape: tuple[int, ...], quantities: Quantities) -> Words:
    """Name rows or columns: by a quantity that holds words, by a list, or by counting, {n} within {group}."""
    if template is None:
        return ()
    words = quantities.get(template) if isinstance(template, str) else tuple(template)
    if isinstance(words, tuple):
        return tuple(fill(word, quantities) if isinstance(template, list) else word for word in words)
    assert isinstance(template, str)
    places = [(0, *place) if len(shape) == 1 else place for place in np.ndindex(*shape)]
    return tuple(fill(template, {**quantities, "group": place[0] + 1, "n": place[1] + 1}) for place in places)
