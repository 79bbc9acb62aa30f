"""Whether what was measured is what the lectures lead one to expect."""

import statistics
from collections.abc import Sequence
from typing import Any, NamedTuple

from dragoman.evaluation.compare import Comparison
from dragoman.jobs.comparison.contest import Expected
from dragoman.jobs.comparison.measures import Measure

_SAID = {
    (">", ">"): "as the lectures say",
    (">", "="): "no difference to speak of, where the lectures say there is one",
    (">", "<"): "the contrary of what the lectures say",
    ("<=", ">"): "the contrary of what the lectures say",
    ("<=", "="): "as the lectures say",
    ("<=", "<"): "as the lectures say",
}


class Side(NamedTuple):
    """A recipe, and the number that sums up what was measured of it, for each seed that is judged."""

    label: str
    values: Sequence[float]
    low: float
    """The least and the greatest of all its seeds, also of those that the other side does not have."""
    high: float

    @property
    def value(self) -> float:
        """On average."""
        return statistics.mean(self.values)


_NOTHING = Side("", [0.0], 0.0, 0.0)


class Verdict(NamedTuple):
    """What was expected, what was found, and whether the two agree."""

    expected: Expected
    text: str
    agrees: bool

    def tree(self) -> dict[str, Any]:
        """The same for JSON."""
        return {"expected": " ".join(self.expected), "found": self.text, "agrees": self.agrees}


def judge(expected: Expected, measure: Measure, sides: list[Side], tested: Comparison | None = None) -> Verdict:
    """Judge by the difference of two recipes, or by one recipe's number.

    What may be luck is no difference: by the test, or because some seed of the one is no better than some of the other.
    """
    first, second = (*sides, _NOTHING)[:2]
    difference = first.value - second.value
    overlap = first.low <= second.high and second.low <= first.high
    is_luck = overlap or (tested is not None and tested.verdict == "unsure")
    found = "=" if is_luck or abs(difference) <= measure.margin else ">" if difference > 0 else "<"
    said = _SAID[expected.sign, found]
    told = "; ".join(f"{side.label} {short(side.value)}" for side in sides)
    basis = _basis(measure, len(first.values), tested, overlap=overlap and len(sides) > 1)
    return Verdict(expected, f"{told} ({basis}): {said}.", said.startswith("as"))


def sum_up(verdicts: Sequence[Verdict]) -> str:
    """What several verdicts come to, in a few words."""
    agree = sum(verdict.agrees for verdict in verdicts)
    if agree == len(verdicts):
        return "as the lectures say"
    return f"as the lectures say in {agree} of {len(verdicts)}" if agree else "not as the lectures say"


def short(value: float) -> str:
    """Three digits, or more where there are more before the point."""
    digits = 0 if abs(value) >= 100 or value == int(value) else 1 if abs(value) >= 10 else 2
    return f"{value:.{digits}f}"


def _basis(measure: Measure, seeds: int, tested: Comparison | None, *, overlap: bool) -> str:
    several = f"means of {seeds} seeds" + (" that overlap" if overlap else "")
    basis = "counted" if measure.counted else "one seed" if seeds == 1 else several
    return basis if tested is None else f"{basis}, p {tested.p_value:.3f}"
