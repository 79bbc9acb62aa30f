"""What a chapter is made of: a handful of blocks, each of which a terminal and a page can draw."""

import math
from typing import Any, NamedTuple

from dragoman.tour.inputs import Input, write_value


class Prose(NamedTuple):
    """A paragraph."""

    text: str


class Formula(NamedTuple):
    """Lines to be shown as they are."""

    text: str


class Table(NamedTuple):
    """Numbers in rows and columns; a vector is a table of one row."""

    title: str
    rows: tuple[str, ...]
    """The rows' names, or nothing."""
    columns: tuple[str, ...]
    """The columns' names, or nothing."""
    cells: tuple[tuple[float, ...], ...]
    digits: tuple[int | None, ...]
    """For every row, the digits after the point; None is as few as the number needs."""
    setting: str | None
    """The input that is shown, if it is one: these are the numbers that can be changed."""


class Bars(NamedTuple):
    """A bar for each number, from `low` to `high`."""

    title: str
    names: tuple[str, ...]
    values: tuple[float, ...]
    low: float
    high: float


class HeatMap(NamedTuple):
    """Weights between 0 and 1: a row looks, a column is looked at."""

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    weights: tuple[tuple[float, ...], ...]


class Note(NamedTuple):
    """What really happens, where it is often told loosely."""

    text: str


class Try(NamedTuple):
    """A change worth making, and what to look for."""

    settings: tuple[str, ...]
    """Each as it stands after `--set`."""
    text: str


Block = Prose | Formula | Table | Bars | HeatMap | Note | Try


class Chapter(NamedTuple):
    """One chapter with its numbers computed."""

    number: int
    """From 1."""
    name: str
    language: str
    title: str
    summary: str
    inputs: tuple[Input, ...]
    """What can be changed, as it is now."""
    blocks: tuple[Block, ...]


def as_json(chapter: Chapter) -> dict[str, Any]:
    """Return a chapter as values that JSON has; numbers that it has not are "inf", "-inf" and "nan"."""
    inputs = [
        {"name": one.name, "about": one.about, "value": write_value(one.value), "default": write_value(one.default)}
        for one in chapter.inputs
    ]
    blocks = [{"kind": type(block).__name__.lower(), **_plain(block._asdict())} for block in chapter.blocks]
    return {**chapter._asdict(), "inputs": inputs, "blocks": blocks}


def _plain(value: Any) -> Any:
    match value:
        case dict():
            return {name: _plain(part) for name, part in value.items()}
        case tuple():
            return [_plain(part) for part in value]
        case float() if not math.isfinite(value):
            return str(value)
        case _:
            return value


def show_number(value: float, digits: int | None = None) -> str:
    """Write a number with so many digits after the point, or with as few as it needs."""
    if not math.isfinite(value):
        return "nan" if math.isnan(value) else "∞" if value > 0 else "-∞"
    if digits is None and float(value).is_integer() and abs(value) < 1e12:
        digits = 0
    if digits is not None:
        return f"{value:z.{digits}f}"
    return f"{value:.2g}" if 0 < abs(value) < 1e-3 else f"{value:z.6g}"
