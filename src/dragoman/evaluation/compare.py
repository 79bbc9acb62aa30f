"""Is the one system better than the other, or was it luck? The paired bootstrap (Koehn 2004).

The test set is drawn again and again, with replacement, and both systems are scored on each draw. The
counting is sacrebleu's, and so are seed and p-value; its own test (`sacrebleu.significance`) would hold every
draw of every sentence in memory at once, and takes its seed from the environment.

Lines of one source are not independent of each other: where the sources are given, these are drawn, each with all its
lines. Where every source differs, that is the same.
"""

from collections.abc import Collection, Hashable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dragoman.evaluation.scores import check_lengths, metrics

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric, Score

_SEED = 12345
_SAMPLES = 1000
_TAIL = 0.025
_SURE = 0.05
_METRICS = ("bleu", "chrf", "ter")


class Estimate(NamedTuple):
    """A score on the test set, and over all draws its mean and the bounds of the middle 95 %."""

    score: float
    mean: float
    low: float
    high: float


class Comparison(NamedTuple):
    """Two systems by one metric."""

    name: str
    signature: str
    first: Estimate
    second: Estimate
    difference: Estimate
    """The second minus the first."""
    p_value: float
    """sacrebleu's: how often luck alone would make so great a difference, if neither were better.

    It is about half of what a two-sided test would say; whether 0 lies within the difference's bounds is the
    stricter verdict. Of few sources, luck alone may put all on one side, which draws of the same ones cannot show: with
    n of them it is never less than 2¹⁻ⁿ, as in a test by signs.
    """

    @property
    def verdict(self) -> Literal["better", "worse", "unsure"]:
        """What the second is beside the first; unsure if it may be luck, by the p-value or by the bounds."""
        if self.p_value >= _SURE or self.difference.low <= 0 <= self.difference.high:
            return "unsure"
        gain = -self.difference.score if self.name == "TER" else self.difference.score
        return "better" if gain > 0 else "worse"


class Estimated(NamedTuple):
    """One system by one metric."""

    name: str
    signature: str
    estimate: Estimate


def estimate(
    system: Sequence[str],
    *references: Sequence[str | None],
    sources: Sequence[Hashable] | None = None,
    language: str = "",
    samples: int = _SAMPLES,
    seed: int = _SEED,
    names: Collection[str] = _METRICS,
) -> tuple[Estimated, ...]:
    """Score one system by BLEU, chrF and TER, in this order, or by some of them, each with its interval.

    Lines of the same source are drawn together; without sources every line is drawn by itself.
    """
    check_lengths(system, references)
    counted = [_count(metric, system, references) for name, metric in metrics(language).items() if name in names]
    drawn = _draw([one.counts for one in counted], samples, seed, _number(sources, len(system)))
    return tuple(
        Estimated(one.exact.name, _signature(one.metric, samples, seed), _estimate(one.exact.score, one.scores(rows)))
        for one, rows in zip(counted, drawn, strict=True)
    )


def compare(
    first: Sequence[str],
    second: Sequence[str],
    *references: Sequence[str | None],
    sources: Sequence[Hashable] | None = None,
    language: str = "",
    samples: int = _SAMPLES,
    seed: int = _SEED,
    names: Collection[str] = _METRICS,
) -> tuple[Comparison, ...]:
    """Compare two systems' translations of the same lines by BLEU, chrF and TER, in this order, or by some of them.

    Lines of the same source, be it for other references or for the translations of other seeds, are drawn together;
    without sources every line is drawn by itself.
    """
    check_lengths(first, references)
    check_lengths(second, references)
    counted = [
        _count(metric, system, references)
        for name, metric in metrics(language).items()
        if name in names
        for system in (first, second)
    ]
    numbers = _number(sources, len(first))
    drawn = _draw([system.counts for system in counted], samples, seed, numbers)
    least = 2.0 ** -int(numbers.max())
    scored = [system.scores(rows) for system, rows in zip(counted, drawn, strict=True)]
    return tuple(
        _judge(counted[at], counted[at + 1], scored[at], scored[at + 1], seed, least)
        for at in range(0, len(counted), 2)
    )


class _Counted(NamedTuple):
    """One system by one metric: what sacrebleu counted, line by line."""

    metric: "Metric"
    exact: "Score"
    counts: NDArray[np.float64]
    """[lines counts]; the score of several lines is that of their sums."""

    def scores(self, drawn: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.array([self.metric._compute_score_from_stats(sums.tolist()).score for sums in drawn])  # noqa: SLF001


def _count(metric: "Metric", hypotheses: Sequence[str], references: Sequence[Sequence[str | None]]) -> _Counted:
    """Count once, so that every draw only sums.

    sacrebleu has no public way to do that, but its own tests for significance go this way too.
    """
    counts = metric._extract_corpus_statistics(hypotheses, references)  # type: ignore[arg-type]  # noqa: SLF001
    return _Counted(metric, metric._aggregate_and_compute(counts), np.array(counts, np.float64))  # noqa: SLF001


def _number(sources: Sequence[Hashable] | None, lines: int) -> NDArray[np.intp]:
    """Give every line the number of its source, in the order in which they come."""
    if sources is None:
        return np.arange(lines)
    if len(sources) != lines:
        raise ValueError(f"{len(sources)} sources of {lines} translations")
    seen: dict[Hashable, int] = {}
    return np.array([seen.setdefault(source, len(seen)) for source in sources])


def _draw(
    counts: list[NDArray[np.float64]], samples: int, seed: int, numbers: NDArray[np.intp]
) -> list[NDArray[np.float64]]:
    """Return for each system the sums over every draw; all are drawn alike, which is what pairs them."""
    rng = np.random.default_rng(seed)
    joined = np.hstack(counts)
    sources = int(numbers.max()) + 1
    everything = np.zeros((sources, joined.shape[1]))
    np.add.at(everything, numbers, joined)
    draws = (rng.choice(sources, size=sources, replace=True) for _ in range(samples))
    sums = np.stack([np.bincount(draw, minlength=sources) @ everything for draw in draws])
    return np.split(sums, np.cumsum([one.shape[1] for one in counts])[:-1], axis=1)


def _judge(
    first: _Counted,
    second: _Counted,
    drawn: NDArray[np.float64],
    other: NDArray[np.float64],
    seed: int,
    least: float,
) -> Comparison:
    difference = float(second.exact.score - first.exact.score)
    return Comparison(
        first.exact.name,
        _signature(first.metric, len(drawn), seed),
        _estimate(first.exact.score, drawn),
        _estimate(second.exact.score, other),
        _estimate(difference, other - drawn),
        max(least, _p_value(abs(difference), np.abs(other - drawn))),
    )


def _signature(metric: "Metric", samples: int, seed: int) -> str:
    signature = metric.get_signature()
    signature.update("seed", str(seed))
    signature.update("bs", samples)
    return str(signature)


def _estimate(score: float, drawn: NDArray[np.float64]) -> Estimate:
    low, high = np.quantile(drawn, [_TAIL, 1 - _TAIL])
    return Estimate(float(score), float(drawn.mean()), float(low), float(high))


def _p_value(difference: float, drawn: NDArray[np.float64]) -> float:
    """Return how often the draws differ from their own mean by more than the systems differ from each other.

    Where sacrebleu would call the difference between a system and itself significant, this does not.
    """
    if difference == 0:
        return 1.0
    greater = int(np.count_nonzero(drawn - drawn.mean() > difference))
    return (greater + 1) / (len(drawn) + 1)
