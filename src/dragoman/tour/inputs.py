"""What a person can change in a chapter: numbers, vectors, matrices and words, and how they are written after `--set`.

A vector is written 1,0,1,0 and a matrix 1,0;0,1 with a semicolon between rows. The axes of an input have letters; where
two inputs of a chapter share a letter, they must have the same size there.
"""

import difflib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dragoman.engine.layout import Array
from dragoman.errors import RecipeError

Words = tuple[str, ...]
Value = int | float | Array | Words
"""A whole number, a number, a vector or matrix, or words."""

MOST = 10_000
"""The largest number that may be set: beyond it, there is nothing more to see."""
LONGEST = 8
"""The most rows, columns, numbers or words: all is meant to be read."""
_LONGEST_WORD = 16


class Input(NamedTuple):
    """Something that can be changed."""

    name: str
    about: str
    value: Value
    default: Value
    axes: tuple[str, ...] = ()
    least: float = -MOST
    most: float = MOST


def read_input(name: str, about: str, raw: Mapping[str, Any]) -> Input:
    """Read an input from `chapters.toml`."""
    value, axes = raw["value"], tuple(raw.get("axes", "").split())
    if axes:
        value = tuple(value) if isinstance(value[0], str) else np.array(value, dtype=np.float32)
    return Input(name, about, value, value, axes, raw.get("least", -MOST), raw.get("most", MOST))


def change(inputs: Sequence[Input], settings: Iterable[tuple[str, str]], where: str) -> tuple[Input, ...]:
    """Give some inputs new values; afterwards all of them must fit together."""
    changed = {one.name: one for one in inputs}
    for name, text in settings:
        if name not in changed:
            raise RecipeError(
                f"{where} has nothing called '{name}' to change{suggest(name, changed)}",
                hint=f"it has: {', '.join(changed)}",
            )
        changed[name] = changed[name]._replace(value=_parse(changed[name], text))
    _check_axes(changed.values())
    return tuple(changed.values())


def suggest(name: str, known: Iterable[str]) -> str:
    """End a complaint about an unknown name with the nearest one that is known, if there is one."""
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f"; did you mean '{near[0]}'?" if near else ""


def write_value(value: Value) -> str:
    """Write a value as it is written after `--set`."""
    match value:
        case np.ndarray():
            return ";".join(",".join(f"{number:.6g}" for number in row) for row in np.atleast_2d(value).tolist())
        case tuple():
            return " ".join(value)
        case _:
            return f"{value:.6g}"


def _parse(one: Input, text: str) -> Value:
    match one.value:
        case tuple():
            return _parse_words(one.name, text)
        case np.ndarray() if one.value.ndim == 1:
            return np.array(_parse_row(one, text), dtype=np.float32)
        case np.ndarray():
            rows = [_parse_row(one, row) for row in text.strip().strip(";").split(";")]
            _check_size(one.name, len(rows), "rows")
            lengths = [len(row) for row in rows]
            if len(set(lengths)) > 1:
                raise RecipeError(
                    f"{one.name} has rows of {', '.join(map(str, lengths))} numbers",
                    hint="give every row as many numbers; a semicolon ends a row",
                )
            return np.array(rows, dtype=np.float32)
        case int():
            number = _parse_number(one, text)
            if not number.is_integer():
                raise RecipeError(f"{one.name} is {text.strip()}, not a whole number", hint=_hint(one))
            return int(number)
        case _:
            return _parse_number(one, text)


def _parse_words(name: str, text: str) -> Words:
    words = tuple(re.findall(r"[^\s,;]+", text))
    if not words:
        raise RecipeError(f"{name} has no words", hint=f'write --set {name}="I am a robot"')
    _check_size(name, len(words), "words")
    for word in words:
        if len(word) > _LONGEST_WORD:
            raise RecipeError(
                f"{name}: '{word}' is too long to be shown", hint=f"at most {_LONGEST_WORD} letters a word"
            )
    return words


def _parse_row(one: Input, text: str) -> list[float]:
    numbers = [_parse_number(one, number) for number in re.split(r"\s*,\s*|\s+", text.strip())]
    _check_size(one.name, len(numbers), "numbers" if len(one.axes) == 1 else "columns")
    return numbers


def _parse_number(one: Input, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise RecipeError(f"{one.name}: '{text.strip()}' is not a number", hint=_hint(one)) from None
    if not math.isfinite(number):
        raise RecipeError(f"{one.name}: {number} is no number to compute with", hint=_hint(one))
    if not one.least <= number <= one.most:
        raise RecipeError(f"{one.name}: {number:g} is not from {one.least:g} to {one.most:g}", hint=_hint(one))
    return number


def _check_size(name: str, size: int, what: str) -> None:
    if size > LONGEST:
        raise RecipeError(f"{name} has {size} {what}, more than can be shown", hint=f"give at most {LONGEST}")


def _hint(one: Input) -> str:
    value = write_value(one.default)
    return (
        f'write --set {one.name}="{value}", for example'
        if ";" in value
        else f"write --set {one.name}={value}, for example"
    )


def _check_axes(inputs: Iterable[Input]) -> None:
    """Compare the sizes of axes that have the same letter."""
    seen: dict[str, tuple[int, str, str]] = {}
    for one in inputs:
        shape = (len(one.value),) if isinstance(one.value, tuple) else np.shape(one.value)
        names = _axis_names(one)
        for axis, size, what in zip(one.axes, shape, names, strict=True):
            first, other, other_what = seen.setdefault(axis, (size, one.name, what))
            if size != first:
                raise RecipeError(
                    f"{one.name} has {size} {what}, but {other} has {first} {other_what}",
                    hint="they must agree: change both, each with a --set of its own",
                )


def _axis_names(one: Input) -> tuple[str, ...]:
    match one.value:
        case tuple():
            return ("words",)
        case np.ndarray() if one.value.ndim == 2:
            return ("rows", "columns")
        case _:
            return ("numbers",) * len(one.axes)
