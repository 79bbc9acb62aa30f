"""How well a model translates a test set, and whether it does so better than another."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from dragoman.checkpoint import ModelDirectory, write_bytes
from dragoman.config import Search
from dragoman.data.corpus import read_pairs
from dragoman.engine.flags import Flag
from dragoman.engine.translator import Translator
from dragoman.errors import DataError
from dragoman.evaluation.compare import Comparison, compare
from dragoman.evaluation.scores import Scores, metrics, score


class TestSet(NamedTuple):
    """Sources and their reference translations, in order."""

    sources: list[str]
    references: list[str]
    places: list[str]
    """Where each pair was read: `test.tsv:17`."""


class Judged(NamedTuple):
    """One sentence, and how like the reference its translation is."""

    place: str
    source: str
    translation: str
    reference: str
    chrf: float


class Evaluation(NamedTuple):
    """A model's translations of a test set, and their scores."""

    translations: list[str]
    scores: Scores
    flags: Counter[Flag]
    flagged: int
    """How many translations have a flag."""
    seconds: float


def read_test_set(paths: Sequence[Path], source_language: str, target_language: str) -> TestSet:
    """Read a test set, all of it: a score on a part of a test set is a score on another one."""
    pairs = list(read_pairs(paths, source_language or None, target_language or None))
    if not pairs:
        names = ", ".join(str(path) for path in paths)
        raise DataError(f"{names} holds no pairs", hint="a test set needs at least one source and its translation")
    sources, references, places = (list(side) for side in zip(*pairs, strict=True))
    return TestSet(sources, references, places)


def evaluate(
    translator: Translator,
    test: TestSet,
    *,
    language: str = "",
    search: Search | None = None,
    tell: Callable[[int], None] | None = None,
) -> Evaluation:
    """Translate a test set and score it; `language` is the target's, which decides what a word is."""
    begun = time.perf_counter()
    found = []
    for translation in translator.stream(test.sources, search=search):
        found.append(translation)
        if tell is not None:
            tell(len(found))
    seconds = time.perf_counter() - begun
    texts = [translation.text for translation in found]
    return Evaluation(
        texts,
        score(texts, test.references, language=language),
        Counter(flag for translation in found for flag in translation.flags),
        sum(bool(translation.flags) for translation in found),
        seconds,
    )


def compare_with(mine: Evaluation, other: Evaluation, test: TestSet, *, language: str = "") -> tuple[Comparison, ...]:
    """Compare two models' translations; the other comes first, so a difference above zero is this model's gain."""
    return compare(other.translations, mine.translations, test.references, language=language)


def worst(evaluation: Evaluation, test: TestSet, count: int) -> list[Judged]:
    """Return the translations least like their references, by chrF, the worst first."""
    metric = metrics()["chrf"]
    rows = zip(test.places, test.sources, evaluation.translations, test.references, strict=True)
    judged = [
        Judged(place, source, text, reference, float(metric.sentence_score(text, [reference]).score))
        for place, source, text, reference in rows
    ]
    return sorted(judged, key=lambda one: one.chrf)[:count]


def write_translations(path: Path, evaluation: Evaluation) -> None:
    """Write the translations, a line each."""
    content = "".join(text + "\n" for text in evaluation.translations)
    try:
        write_bytes(path, content.encode("utf-8", "replace"))
    except OSError as error:
        raise DataError(
            f"{path} cannot be written ({error.strerror})",
            hint="check the directory, its permissions and the free space",
        ) from None


def check_languages(model: ModelDirectory, other: ModelDirectory) -> None:
    """Raise `DataError` if two models do not translate between the same languages."""
    ours, theirs = ((one.recipe.source_language, one.recipe.target_language) for one in (model, other))
    if ours != theirs:
        raise DataError(
            f"{model.path} translates {ours[0]} to {ours[1]}, but {other.path} {theirs[0]} to {theirs[1]}",
            hint="compare two models of the same languages",
        )
