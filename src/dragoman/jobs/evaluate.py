"""How well a model translates a test set, and whether it does so better than another."""

import errno
import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import NamedTuple

from dragoman.checkpoint import ModelDirectory, write_bytes, writing
from dragoman.config import Search
from dragoman.data.corpus import read_pairs, refuse_overwriting
from dragoman.engine.flags import Flag
from dragoman.engine.translator import Translation, Translator
from dragoman.errors import DataError
from dragoman.evaluation.compare import Comparison, Estimate, compare, estimate
from dragoman.evaluation.faults import find_faults
from dragoman.evaluation.scores import Scores, by_source, score, sentence_chrf
from dragoman.jobs.languages import between_languages_of, doubt_sides
from dragoman.text.languages import same_language


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
    faults: tuple[str, ...]
    """What sets it apart from the reference."""


class Difference(NamedTuple):
    """One sentence that two models translate differently."""

    place: str
    source: str
    reference: str
    translation: str
    other: str
    chrf: float
    other_chrf: float

    @property
    def gain(self) -> float:
        """How much more chrF this model's translation has than the other's."""
        return self.chrf - self.other_chrf


class Differences(NamedTuple):
    """The sentences on which two models differ most, the greatest difference first."""

    better: list[Difference]
    """Where this model is more like the reference."""
    worse: list[Difference]


class Evaluation(NamedTuple):
    """A model's translations of a test set, and their scores."""

    translations: list[str]
    scores: Scores
    by_source: Scores | None
    """Of every different source once, against all its references; None if none has several."""
    flags: list[frozenset[Flag]]
    """Of each translation."""
    seconds: float

    @property
    def flagged(self) -> int:
        """How many translations have a flag."""
        return sum(map(bool, self.flags))

    def count_flags(self) -> Counter[Flag]:
        """How often each flag was given."""
        return Counter(flag for flags in self.flags for flag in flags)


def read_test_set(paths: Sequence[Path], source_language: str, target_language: str) -> TestSet:
    """Read a test set, all of it: a score on a part of a test set is a score on another one."""
    pairs = list(read_pairs(paths, source_language or None, target_language or None))
    if not pairs:
        names = ", ".join(str(path) for path in paths)
        raise DataError(f"{names} holds no pairs", hint="a test set needs at least one source and its translation")
    sources, references, places = (list(side) for side in zip(*pairs, strict=True))
    return TestSet(sources, references, places)


class ReadFor(NamedTuple):
    """A test set as it was read for a model, and what speaks against its being the right way round, if anything."""

    test: TestSet
    doubt: str | None


def read_test_set_for(model: ModelDirectory, paths: Sequence[Path]) -> ReadFor:
    """Read a test set in the languages of a model."""
    spoken = model.recipe.source_language, model.recipe.target_language
    with between_languages_of(model, model.recipe):
        test = read_test_set(paths, *spoken)
    return ReadFor(test, doubt_sides(test.sources, test.references, spoken, paths))


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
    return score_translations(found, test, language=language, seconds=time.perf_counter() - begun)


def score_translations(
    found: Sequence[Translation], test: TestSet, *, language: str = "", seconds: float = 0.0
) -> Evaluation:
    """Score translations of a test set that took so long to make."""
    texts = [translation.text for translation in found]
    scores = score(texts, test.references, language=language)
    each = by_source(test.sources, test.references)
    once = each and score([texts[line] for line in each.lines], *each.references, language=language)
    return Evaluation(texts, scores, once, [translation.flags for translation in found], seconds)


class Bounds(NamedTuple):
    """The scores of an evaluation with their 95 % intervals, in the order of `Scores`."""

    scores: tuple[Estimate, ...]
    by_source: tuple[Estimate, ...]
    """Of every different source once; none if none has several references."""


def bound(evaluation: Evaluation, test: TestSet, *, language: str = "") -> Bounds:
    """Find within which bounds the scores would lie on other texts of the same kind."""
    texts, each = evaluation.translations, by_source(test.sources, test.references)
    found = estimate(texts, test.references, sources=test.sources, language=language)
    once = estimate([texts[line] for line in each.lines], *each.references, language=language) if each else ()
    return Bounds(*(tuple(one.estimate for one in ones) for ones in (found, once)))


class Against(NamedTuple):
    """Two models by every metric; the other comes first, so a difference above zero is this model's gain."""

    lines: tuple[Comparison, ...]
    """By all lines, those of a source drawn together."""
    by_source: tuple[Comparison, ...]
    """By every different source once, against all its references; none if none has several."""


def compare_with(mine: Evaluation, other: Evaluation, test: TestSet, *, language: str = "") -> Against:
    """Compare two models' translations."""
    texts, each = (other.translations, mine.translations), by_source(test.sources, test.references)
    lines = compare(*texts, test.references, sources=test.sources, language=language)
    if each is None:
        return Against(lines, ())
    once = ([some[line] for line in each.lines] for some in texts)
    return Against(lines, compare(*once, *each.references, language=language))


class _Nearest(NamedTuple):
    """The reference that a source's translation is most like, of all that the source has."""

    first: int
    """The source's first line, whose translation is meant."""
    line: int
    """Where the reference stands."""
    chrf: float


def worst(evaluation: Evaluation, test: TestSet, count: int, *, language: str = "") -> list[Judged]:
    """Return the translations least like their references, by chrF, the worst first, and none that is right.

    Of several references of one source the nearest counts: who says what another person said is not wrong.
    """
    found, references = evaluation.translations, test.references
    differing = [one for one in _nearest(evaluation, test) if found[one.first] != references[one.line]]
    return [
        Judged(
            test.places[line],
            test.sources[line],
            found[n],
            references[line],
            chrf,
            find_faults(found[n], references[line], flags=evaluation.flags[n], language=language),
        )
        for n, line, chrf in sorted(differing, key=lambda one: one.chrf)[:count]
    ]


def differ_most(mine: Evaluation, other: Evaluation, test: TestSet, count: int) -> Differences:
    """Return, each way, the sentences whose chrF differs most between two models, every source once."""
    every = []
    for ours, theirs in zip(_nearest(mine, test), _nearest(other, test), strict=True):
        line = max(ours, theirs, key=lambda one: one.chrf).line
        texts = (mine.translations[ours.first], other.translations[theirs.first])
        place, source, reference = test.places[line], test.sources[line], test.references[line]
        every.append(Difference(place, source, reference, *texts, ours.chrf, theirs.chrf))
    ranked = sorted(every, key=lambda one: one.gain, reverse=True)
    return Differences(
        [one for one in ranked if one.gain > 0][:count], [one for one in reversed(ranked) if one.gain < 0][:count]
    )


def _nearest(evaluation: Evaluation, test: TestSet) -> list[_Nearest]:
    """Find, for every different source, which of its references its translation is most like."""
    first: dict[str, int] = {}
    firsts = [first.setdefault(source, n) for n, source in enumerate(test.sources)]
    scores = sentence_chrf([evaluation.translations[n] for n in firsts], test.references)
    found: dict[int, _Nearest] = {}
    for line, (n, chrf) in enumerate(zip(firsts, scores, strict=True)):
        if n not in found or chrf > found[n].chrf:
            found[n] = _Nearest(n, line, chrf)
    return list(found.values())


def check_out(path: Path, model: ModelDirectory, files: Sequence[Path]) -> None:
    """Complain now about a file that cannot be written, or must not be, rather than when all is translated."""
    spoken = model.recipe.source_language or None, model.recipe.target_language or None
    with between_languages_of(model, model.recipe):
        refuse_overwriting(path, files, *spoken)
    with writing(path):
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if path.is_file() or not path.exists():
            TemporaryFile(dir=path.resolve().parent).close()


def write_translations(path: Path, evaluation: Evaluation) -> None:
    """Write the translations, a line each."""
    content = "".join(text + "\n" for text in evaluation.translations)
    with writing(path):
        write_bytes(path, content.encode("utf-8", "replace"))


def check_languages(model: ModelDirectory, other: ModelDirectory) -> ModelDirectory:
    """Return the other model; raise `DataError` if the two do not translate between the same languages."""
    ours, theirs = ((one.recipe.source_language, one.recipe.target_language) for one in (model, other))
    if not all(map(same_language, ours, theirs)):
        raise DataError(
            f"{model.path} translates {ours[0]} to {ours[1]}, but {other.path} {theirs[0]} to {theirs[1]}",
            hint="compare two models of the same languages",
        )
    return other
