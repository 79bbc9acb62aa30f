"""What is to be compared: a list of recipes, and the questions that their results should answer, as TOML.

title = "…"                 what the report is called
baseline = "transformer"    the recipe that all others are set beside
minutes = 4                 what each may take, unless the command says otherwise
settings = ["…"]            for every recipe, on any text

[builtin]                   more of them on the built-in corpus; other text gets what suits it
all = ["…"]                 for every recipe
transformer = ["…"]         for those of a kind
recurrent = ["…"]

[[recipe]]
name = "last"               short: for files, curves and questions
label = "…"                 for the table
headline = true             one of those that are run again with other seeds, and on other text
seeds = [1, 2, 3]           unless the command says otherwise: [1]
settings = ["model.kind=recurrent", "model.look=last"]

[[question]]
title = "…"
lectures = "…"              what the lectures say of it
ours = "…"                  what is to be said of it besides
measure = "length"          one of `dragoman.jobs.comparison.measures.MEASURES`
recipes = ["last", "attention"]
expected = ["last > 0", "last > attention", "attention <= 0"]
                            what must hold, if the lectures are right, of the number that sums the measure up
"""

import dataclasses
import re
import tomllib
import types
import typing
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, cast

from dragoman.config import Recipe
from dragoman.errors import RecipeError
from dragoman.jobs.comparison.measures import MEASURES
from dragoman.recipe import override

_Kind = TypeVar("_Kind")
_EXPECTED = re.compile(r"(?P<first>[\w-]+) *(?P<sign>>|<=) *(?P<second>[\w-]+)")
NOTHING = "0"


class Expected(NamedTuple):
    """That one recipe is above another, or is not; instead of the other, 0 may stand."""

    first: str
    sign: Literal[">", "<="]
    second: str

    @property
    def recipes(self) -> list[str]:
        """Those of which it speaks."""
        return [name for name in (self.first, self.second) if name != NOTHING]


@dataclasses.dataclass(frozen=True)
class Entry:
    """One recipe of a comparison."""

    name: str = ""
    label: str = ""
    settings: tuple[str, ...] = ()
    headline: bool = False
    seeds: tuple[int, ...] = (1,)


@dataclasses.dataclass(frozen=True)
class Question:
    """Something that the results should answer."""

    title: str = ""
    lectures: str = ""
    ours: str = ""
    measure: str = ""
    recipes: tuple[str, ...] = ()
    expected: tuple[str, ...] = ()

    def expectations(self) -> list[Expected]:
        """What is expected."""
        found = []
        for text in self.expected:
            read = _EXPECTED.fullmatch(text)
            if read is None or read["first"] == NOTHING:
                raise ValueError(f'what is expected is written "this > that" or "this <= 0", not {text!r}')
            found.append(Expected(read["first"], cast('Literal[">", "<="]', read["sign"]), read["second"]))
        return found


@dataclasses.dataclass(frozen=True)
class Contest:
    """Recipes to be compared."""

    title: str
    baseline: str
    minutes: float
    entries: tuple[Entry, ...]
    questions: tuple[Question, ...]
    builtin: Mapping[str, Sequence[str]]
    common: Sequence[str] = ()

    def settings(self, entry: Entry, *, builtin: bool) -> list[str]:
        """All settings of a recipe, those of all first, then those of the built-in corpus."""
        if not builtin:
            return [*self.common, *entry.settings]
        kind = override(Recipe(), entry.settings).model.kind
        return [*self.common, *self.builtin.get("all", ()), *self.builtin.get(kind, ()), *entry.settings]


def read_contest(path: Path) -> Contest:
    """Read what is to be compared, and complain about what cannot be."""
    try:
        tree = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise RecipeError(
            f"{path}: cannot be read ({error})", hint="give a TOML file such as recipes/lectures.toml"
        ) from error
    except tomllib.TOMLDecodeError as error:
        raise RecipeError(f"{path}: not TOML: {error}", hint="mend the file at that line") from error
    try:
        contest = Contest(
            title=str(tree.pop("title", path.stem)),
            baseline=str(tree.pop("baseline", "")),
            minutes=float(tree.pop("minutes", 4)),
            entries=tuple(_make(Entry, one) for one in tree.pop("recipe", [])),
            questions=tuple(_make(Question, one) for one in tree.pop("question", [])),
            builtin={kind: list(map(str, some)) for kind, some in tree.pop("builtin", {}).items()},
            common=_cast(tree.pop("settings", []), tuple[str], "settings"),
        )
        if tree:
            raise ValueError(f"there is no {', '.join(tree)} in a comparison")
        _check(contest)
    except (TypeError, ValueError, AttributeError) as error:
        raise RecipeError(f"{path}: {error}", hint="recipes/lectures.toml is an example") from error
    return contest


def _make(kind: type[_Kind], tree: Any) -> _Kind:
    """A dataclass from a table, its values of the right type."""
    if not isinstance(tree, dict):
        raise TypeError(f"a {kind.__name__.lower()} is a table: [[recipe]] or [[question]], then its settings")
    hints = typing.get_type_hints(kind)
    unknown = sorted(tree.keys() - hints.keys())
    if unknown:
        raise ValueError(f"there is no {', '.join(unknown)} in a {'recipe' if kind is Entry else 'question'}")
    return kind(**{name: _cast(value, hints[name], name) for name, value in tree.items()})


def _cast(value: Any, kind: Any, name: str) -> Any:
    if isinstance(kind, types.GenericAlias):
        inner = typing.get_args(kind)[0]
        if isinstance(value, list) and all(type(one) is inner for one in value):
            return tuple(value)
        raise TypeError(f"{name} must be a list of {'numbers' if inner is int else 'texts'}, not {value!r}")
    if type(value) is not kind:
        raise TypeError(f"{name} is {value!r}, but must be {'text' if kind is str else 'true or false'}")
    return value


def _check(contest: Contest) -> None:
    names = [entry.name for entry in contest.entries]
    if not names:
        raise ValueError("there is no [[recipe]]")
    if not contest.minutes > 0:
        raise ValueError("minutes must be above 0")
    for entry in contest.entries:
        _check_entry(contest, entry)
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(f"there are two recipes with the name {twice[0]}")
    asked = [contest.baseline] if contest.baseline else []
    for question in contest.questions:
        asked += [*question.recipes, *(name for one in question.expectations() for name in one.recipes)]
        if question.measure not in MEASURES:
            raise ValueError(f"there is no measure {question.measure!r}; there are {', '.join(MEASURES)}")
    missing = [name for name in asked if name not in names]
    if missing:
        raise ValueError(f"there is no recipe with the name {missing[0]}")


def _check_entry(contest: Contest, entry: Entry) -> None:
    if not entry.name.replace("-", "").isalnum() or entry.name == NOTHING:
        raise ValueError(f"a recipe's name is made of letters, digits and hyphens, not {entry.name!r}")
    if not entry.seeds or min(entry.seeds) < 0:
        raise ValueError(f"{entry.name}: seeds must be numbers from 0 on")
    try:
        override(Recipe(), contest.settings(entry, builtin=True))
    except RecipeError as error:
        raise ValueError(f"{entry.name}: {error}") from error
