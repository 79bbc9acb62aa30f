"""BLEU, chrF and TER by sacrebleu, each with the signature that says how it was counted.

A score without its signature cannot be compared with anyone else's; so they travel together.
"""

from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from dragoman.errors import DataError
from dragoman.text.languages import has_no_spaces, language_of

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric


class Score(NamedTuple):
    """One number, and how it was counted."""

    name: str
    value: float
    signature: str

    def __str__(self) -> str:
        return f"{self.name} {self.value:.1f} ({self.signature})"


class Scores(NamedTuple):
    """The scores of one system: BLEU and chrF rise with quality, TER counts edits and falls."""

    bleu: Score
    chrf: Score
    ter: Score


def score(hypotheses: Sequence[str], *references: Sequence[str | None], language: str = "") -> Scores:
    """Score translations against one or more references for each, given as one list per set of references.

    A later set may have none for some translations. The target language decides how words are told apart for BLEU and
    TER, where white space does not tell.
    """
    check_lengths(hypotheses, references)
    found = []
    for metric in metrics(language).values():
        value = metric.corpus_score(hypotheses, references)  # type: ignore[arg-type]
        found.append(Score(value.name, float(value.score), str(metric.get_signature())))
    return Scores(*found)


class BySource(NamedTuple):
    """Every different source of a test set once."""

    lines: list[int]
    """Where each stands first; its translation there is the one that counts."""
    references: list[tuple[str | None, ...]]
    """All that they have, in sets as `score` takes them."""


def by_source(sources: Sequence[str], references: Sequence[str]) -> BySource | None:
    """Put the references of each source together; None if no source has several."""
    check_lengths(sources, [references])
    first: dict[str, int] = {}
    known: dict[str, list[str]] = {}
    for line, (source, reference) in enumerate(zip(sources, references, strict=True)):
        first.setdefault(source, line)
        known.setdefault(source, []).append(reference)
    return BySource(list(first.values()), list(zip_longest(*known.values()))) if len(known) < len(sources) else None


def chrf(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """Return chrF alone: what a training is judged by while it runs."""
    check_lengths(hypotheses, [references])
    return float(metrics()["chrf"].corpus_score(hypotheses, [references]).score)


def bleu(hypotheses: Sequence[str], references: Sequence[str], language: str = "") -> float:
    """Return BLEU alone: what two ways of using the same weights are compared by."""
    check_lengths(hypotheses, [references])
    return float(metrics(language)["bleu"].corpus_score(hypotheses, [references]).score)


def metrics(language: str = "") -> dict[str, "Metric"]:
    """Return sacrebleu's metrics by the names of `Scores`, for this target language."""
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF
    from sacrebleu.metrics.ter import TER

    asian = has_no_spaces(language)
    words = None if not asian else "zh" if language_of(language) == "zh" else "char"
    return {"bleu": BLEU(tokenize=words), "chrf": CHRF(), "ter": TER(normalized=asian, asian_support=asian)}


def sentence_chrf(hypotheses: Sequence[str], references: Sequence[str]) -> list[float]:
    """Return the chrF of each line by itself, which tells one sentence from another, and no more."""
    check_lengths(hypotheses, [references])
    metric = metrics()["chrf"]
    return [
        float(metric.sentence_score(hypothesis, [reference]).score)
        for hypothesis, reference in zip(hypotheses, references, strict=True)
    ]


def check_lengths(hypotheses: Sequence[str], references: Sequence[Sequence[str | None]]) -> None:
    """Raise `DataError` unless there is something to score and every set of references has as many lines."""
    if isinstance(hypotheses, str) or any(isinstance(lines, str) for lines in references):
        raise TypeError("translations and references are lists of texts, not one text")
    if not references:
        raise TypeError("there is no reference to score against")
    if not hypotheses:
        raise DataError("there are no translations to score", hint="give at least one translated line")
    for lines in references:
        if len(lines) != len(hypotheses):
            raise DataError(
                f"there are {len(hypotheses)} translations, but {len(lines)} references",
                hint="line n of the one must belong to line n of the other",
            )
