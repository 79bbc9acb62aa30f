"""A model's scores on named test sets, for its card: measured with the weights that lie beside it."""

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from dragoman.checkpoint import ModelDirectory
from dragoman.engine.load import load_translator
from dragoman.errors import DataError
from dragoman.evaluation.scores import Scores
from dragoman.jobs.change import METRICS
from dragoman.jobs.evaluate import TestSet, evaluate, read_test_set_for

_EVERY_SOURCE: Final = "every source once"


class NamedTest(NamedTuple):
    """A test set, and what people call it."""

    name: str
    test: TestSet


def read_tests(asked: Sequence[str], model: ModelDirectory) -> list[NamedTest]:
    """Read test sets, each given as a file's name, or with a name of its own before it: `Tatoeba test=test.tsv`."""
    named = [_name(one) for one in asked]
    for name in (names := [name for name, _ in named]):
        if names.count(name) > 1:
            raise DataError(
                f"{names.count(name)} test sets are called {name}",
                hint="give each a name of its own: --test NAME=FILE",
            )
    return [NamedTest(name, _read(file, model)) for name, file in named]


def _read(file: Path, model: ModelDirectory) -> TestSet:
    """Read a test set that will be told of for as long as the model is: one the wrong way round is refused."""
    test, doubt = read_test_set_for(model, [file])
    if doubt:
        raise DataError(f"{file}: {doubt}", hint="give the test set the other way round, or leave it out")
    return test


def _name(asked: str) -> tuple[str, Path]:
    """Take the name off, unless the whole is a file's name or the sign stands in a directory's."""
    name, equals, file = asked.partition("=")
    if not equals or "/" in name or Path(asked).exists():
        return Path(asked).name, Path(asked)
    if not name.strip() or not file:
        raise DataError(f"--test {asked} lacks a name or a file", hint="give both, NAME=FILE, or the file alone")
    return name.strip(), Path(file)


def measure(
    model: ModelDirectory, tests: Sequence[NamedTest], tell: Callable[[int], None] | None = None
) -> list[dict[str, Any]]:
    """Translate test sets as the model does by itself, and score them, as a card tells it.

    `tell` is called with how many lines are translated so far, of all test sets together.
    """
    translator, told, done = load_translator(model), [], 0

    def count(lines: int) -> None:
        if tell is not None:
            tell(done + lines)

    for name, test in tests:
        found = evaluate(translator, test, language=model.recipe.target_language, tell=count)
        done += len(test.sources)
        date = dt.datetime.now(dt.UTC).date().isoformat()
        one = {"name": name, "pairs": len(test.sources), "date": date, **_as_dict(found.scores)}
        if found.by_source is not None:
            one["by_source"] = {"pairs": len(set(test.sources)), **_as_dict(found.by_source)}
        told.append(one)
    return told


def _as_dict(scores: Scores) -> dict[str, Any]:
    return {name: {"score": round(one.value, 2), "signature": one.signature} for name, one in scores._asdict().items()}


def measured_in_words(tests: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """What a card says of test sets, a fact each."""
    return [("test set", _in_words(one)) for one in tests]


def _in_words(one: Mapping[str, Any]) -> str:
    told = f"{one['name']}: {_scores_in_words(one)}; {one['pairs']:,} pairs, measured {one['date']}"
    if every := one.get("by_source"):
        told += f"; {_EVERY_SOURCE} ({every['pairs']:,}), against all its references: {_scores_in_words(every)}"
    return told


def _scores_in_words(scores: Mapping[str, Any]) -> str:
    return ", ".join(f"{title} {scores[name]['score']:.1f}" for name, title in METRICS.items())


def signatures_in_words(card: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """How all the scores of a card were counted; where not all alike, which of them how."""
    measured = [("dev", card["dev"])]
    for one in card.get("tests", ()):
        measured.append((one["name"], one))
        if "by_source" in one:
            measured.append((f"{one['name']}, {_EVERY_SOURCE}", one["by_source"]))
    for metric, title in METRICS.items():
        counted: dict[str, list[str]] = {}
        for name, scores in measured:
            counted.setdefault(scores[metric]["signature"], []).append(name)
        for signature, names in counted.items():
            yield title, signature if len(counted) == 1 else f"{signature} ({'; '.join(names)})"
