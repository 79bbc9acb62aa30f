"""The chapters: their order, their scripts in every language, and how one is found and told."""

import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from dragoman.errors import RecipeError
from dragoman.tour.arithmetic import compute
from dragoman.tour.blocks import Chapter
from dragoman.tour.fill import make_blocks
from dragoman.tour.inputs import change, read_input, suggest

_LABELS = "labels"


class Heading(NamedTuple):
    """A line of the table of contents."""

    number: int
    """From 1."""
    name: str
    title: str
    summary: str


class Labels(NamedTuple):
    """The words around the chapters, which belong to a language too."""

    title: str
    chapter: str
    note: str
    attempt: str
    inputs: str
    go_on: str
    after_contents: str


def languages() -> list[str]:
    """Return the codes of the languages that the tour is told in."""
    return sorted(
        place.name for place in files("dragoman.tour").iterdir() if place.joinpath(f"{_LABELS}.toml").is_file()
    )


def read_labels(language: str) -> Labels:
    """Read the words around the chapters."""
    return Labels(**_read(language, _LABELS))


def table_of_contents(language: str) -> list[Heading]:
    """Return the chapters in their order."""
    scripts = [(name, _read(language, name)) for name in _outline()]
    return [
        Heading(number, name, script["title"], script["summary"])
        for number, (name, script) in enumerate(scripts, start=1)
    ]


def find(chapter: str) -> str:
    """Return the name of a chapter that is given by its name or number."""
    names = list(_outline())
    if chapter.isdecimal():
        if 1 <= int(chapter) <= len(names):
            return names[int(chapter) - 1]
        raise RecipeError(f"there is no chapter {chapter}", hint=f"they are numbered from 1 to {len(names)}")
    if chapter in names:
        return chapter
    raise RecipeError(
        f"there is no chapter '{chapter}'{suggest(chapter, names)}", hint=f"there are: {', '.join(names)}"
    )


def tell(chapters: Sequence[str], settings: Sequence[str], language: str) -> list[Chapter]:
    """Compute some chapters, with what `settings` (each [CHAPTER.]NAME=VALUE) change in them.

    Every setting must belong to one of these chapters; where several have an input of that name, it must say which.
    """
    changes: dict[str, list[tuple[str, str]]] = {name: [] for name in chapters}
    for setting in settings:
        chapter, name, value = _place(setting, chapters)
        changes[chapter].append((name, value))
    return [_tell(name, changes[name], language) for name in chapters]


def _tell(name: str, changes: Sequence[tuple[str, str]], language: str) -> Chapter:
    script = _read(language, name)
    inputs = [read_input(one, script["inputs"][one], raw) for one, raw in _outline()[name].items()]
    changed = change(inputs, changes, f"the chapter {name}")
    values = {one.name: one.value for one in changed}
    quantities = {**values, **compute(name, values)}
    blocks = tuple(make_blocks(script["block"], quantities, values))
    number = list(_outline()).index(name) + 1
    return Chapter(number, name, language, script["title"], script["summary"], changed, blocks)


def _place(setting: str, chapters: Sequence[str]) -> tuple[str, str, str]:
    """Say which chapter a setting is for, the name of its input, and its value."""
    path, equals, value = setting.partition("=")
    if not equals:
        raise RecipeError(f"--set {setting}: there is no value", hint="write --set name=value, such as scores=13,9,9")
    chapter, _, name = path.strip().rpartition(".")
    if chapter:
        chapter = find(chapter)
        if chapter not in chapters:
            raise RecipeError(
                f"--set {setting} is for the chapter {chapter}, which is not told now", hint="leave it out"
            )
        return chapter, name, value
    owners = [one for one in chapters if name in _outline()[one]]
    if len(owners) > 1:
        raise RecipeError(
            f"{len(owners)} chapters have something called '{name}': {', '.join(owners)}",
            hint=f"say which: --set {owners[0]}.{name}={value}",
        )
    if owners or len(chapters) == 1:
        return (owners or chapters)[0], name, value
    known = [one for chapter in chapters for one in _outline()[chapter]]
    raise RecipeError(
        f"no chapter has anything called '{name}' to change{suggest(name, known)}",
        hint="`dragoman tour CHAPTER` ends with what can be changed in it",
    )


@cache
def _outline() -> dict[str, dict[str, Any]]:
    """Read the chapters' names, in their order, and their inputs."""
    text = files("dragoman.tour").joinpath("chapters.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def _read(language: str, name: str) -> dict[str, Any]:
    if language not in languages():
        raise RecipeError(f"the tour is not told in '{language}'", hint=f"it is told in: {', '.join(languages())}")
    text = files("dragoman.tour").joinpath(language, f"{name}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
