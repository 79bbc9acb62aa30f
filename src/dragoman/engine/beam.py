"""The tree of hypotheses as a beam search saw it: what was kept, what ended, what was given up."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

from dragoman.config import Search
from dragoman.engine.plain import PlainEngine
from dragoman.engine.search import BeamStep

Fate = Literal["kept", "ended", "pruned"]

ROOT = -1
"""The parent of what begins a translation."""
_NEVER = -1e9
"""Below it there is nothing but slots that were never filled."""


class Branch(NamedTuple):
    """One continuation that the search considered."""

    parent: int
    """The number of the branch that it continues, or `ROOT`."""
    depth: int
    """From 0."""
    piece: int
    total: float
    """The sum of the log-probabilities up to here."""
    score: float
    """The total divided by length ** length_penalty: what hypotheses that have ended are compared by."""
    fate: Fate


def grow(
    engine: PlainEngine,
    source: Sequence[int],
    search: Search,
    prefix: Sequence[int] = (),
    check: Callable[[], None] = lambda: None,
) -> tuple[Branch, ...]:
    """Translate one source, and return every continuation that was considered, parents before children.

    At the greatest length all hypotheses end as they are. `check` is called at every step, and may stop it by an error.
    """
    steps: list[BeamStep] = []

    def watch(step: BeamStep) -> None:
        check()
        steps.append(step)

    drawn = replace(search, top_k=1, best=1)
    engine.translate([source], drawn, prefixes=[prefix] if prefix else None, watch=watch)
    branches: list[Branch] = []
    slots = [ROOT] * search.beam
    for depth, step in enumerate(steps):
        numbers: dict[int, int] = {}
        for rank, (origin, piece, total) in enumerate(zip(step.origins, step.pieces, step.totals, strict=True)):
            if total > _NEVER:
                numbers[rank] = len(branches)
                score = float(total) / (depth + 1) ** search.length_penalty
                fate = _fate(step, rank)
                branches.append(Branch(slots[origin], depth, int(piece), float(total), score, fate))
        slots = [numbers.get(rank, ROOT) for rank in step.going]
    return tuple(branches)


def best_of(branches: Sequence[Branch]) -> list[int]:
    """Return the numbers of the branches that make the best hypothesis, first piece first."""
    ended = [number for number, branch in enumerate(branches) if branch.fate == "ended"]
    path = [max(ended, key=lambda number: branches[number].score)] if ended else []
    while path and branches[path[-1]].parent != ROOT:
        path.append(branches[path[-1]].parent)
    return path[::-1]


def _fate(step: BeamStep, rank: int) -> Fate:
    if rank in step.closing:
        return "ended"
    return "kept" if rank in step.going else "pruned"
