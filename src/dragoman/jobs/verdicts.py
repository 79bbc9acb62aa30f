"""Whether what was measured is what the lectures lead one to expect."""

from typing import Any, NamedTuple

from dragoman.jobs.contest import Expected
from dragoman.jobs.measures import Measure

_SURE = 0.05
_SAID = {
    (">", ">"): "As the lectures say.",
    (">", "="): "No difference to speak of, where the lectures say there is one.",
    (">", "<"): "The contrary of what the lectures say.",
    ("<=", ">"): "The contrary of what the lectures say.",
    ("<=", "="): "As the lectures say.",
    ("<=", "<"): "As the lectures say.",
}


class Side(NamedTuple):
    """A recipe, and the number that sums up what was measured of it, on average over its seeds."""

    label: str
    value: float
    seeds: int


class Verdict(NamedTuple):
    """What was expected, what was found, and whether the two agree."""

    expected: Expected
    text: str
    agrees: bool

    def tree(self) -> dict[str, Any]:
        """The same for JSON."""
        return {"expected": " ".join(self.expected), "found": self.text, "agrees": self.agrees}


def judge(expected: Expected, measure: Measure, sides: list[Side], p_value: float | None = None) -> Verdict:
    """Judge by the difference of two recipes, or by one recipe's number; what may be luck is no difference."""
    difference = sides[0].value - (sides[1].value if len(sides) > 1 else 0.0)
    is_luck = p_value is not None and p_value >= _SURE
    found = "=" if is_luck or abs(difference) <= measure.margin else ">" if difference > 0 else "<"
    said = _SAID[expected.sign, found]
    told = f"{measure.sums_up}: {', '.join(f'{side.label} {side.value:.4g}' for side in sides)}"
    text = f"{told[0].upper()}{told[1:]} ({_basis(sides, p_value)}). {said}"
    return Verdict(expected, text, said.startswith("As"))


def _basis(sides: list[Side], p_value: float | None) -> str:
    seeds = min(side.seeds for side in sides)
    basis = "one seed" if seeds == 1 else f"means of {seeds} seeds"
    return basis if p_value is None else f"{basis}, p {p_value:.3f}"
