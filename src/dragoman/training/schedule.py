"""The learning rate from update to update.

warm-flat-decay: up in a straight line, flat, down in a straight line to zero. The flat part makes the length of the run
a free choice: only the place where the decay begins depends on it.
inverse-root: the paper's, d^-0.5 · min(u^-0.5, u · w^-1.5), here scaled so that its peak is the peak rate.
"""

import dataclasses
import math
from dataclasses import dataclass
from typing import Literal, assert_never


@dataclass(frozen=True)
class Schedule:
    """The rate of every update, counted from 1."""

    kind: Literal["warm-flat-decay", "inverse-root"]
    peak: float
    warmup: int
    updates: int
    decay_from: int
    """Update after which the decay begins."""
    decay_height: float = 1.0
    """Share of the peak at which it begins; below 1 only if the plan was changed in the middle of the decay."""

    def rate(self, update: int) -> float:
        """The rate of an update."""
        rising = min(1.0, update / max(1, self.warmup))
        match self.kind:
            case "warm-flat-decay":
                return self.peak * min(rising, self._falling(update))
            case "inverse-root":
                return self.peak * min(rising, math.sqrt(max(1, self.warmup) / update))
            case _ as never:
                assert_never(never)

    def _falling(self, update: int) -> float:
        left = (self.updates + 1 - update) / max(1, self.updates + 1 - self.decay_from)
        return max(0.0, min(1.0, left)) * self.decay_height

    def replanned(self, now: int, updates: int) -> "Schedule":
        """The same schedule with another number of updates, seen from the update that was just made.

        The decay keeps its share of the run; one that has begun goes on from where it is, steeper or flatter.
        """
        if self.kind == "inverse-root":
            return dataclasses.replace(self, updates=updates)
        if now > self.decay_from:
            return dataclasses.replace(self, updates=updates, decay_from=now, decay_height=self._falling(now))
        share = (self.updates - self.decay_from) / self.updates
        return dataclasses.replace(self, updates=updates, decay_from=max(now, round(updates * (1 - share))))


def make_schedule(
    kind: Literal["warm-flat-decay", "inverse-root"], peak: float, warmup: int, updates: int, decay_share: float
) -> Schedule:
    """The schedule of a run of `updates` updates; a warm-up longer than a tenth of the run is shortened to that."""
    if kind == "warm-flat-decay":
        warmup = max(1, min(warmup, updates // 10))
    return Schedule(kind, peak, warmup, updates, round(updates * (1 - decay_share)))
