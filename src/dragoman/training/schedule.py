"""What changes from update to update: the learning rate, and how much of a person's words the decoder still reads.

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


def teacher_share(decay: Literal["linear", "exponential", "inverse-sigmoid"], half: int, update: int) -> float:
    """Scheduled sampling's share of pieces that a person wrote (Bengio et al. 2015), a half after `half` updates.

    It depends on the update's number alone, so that a run which is resumed or lengthened goes on as it would have.
    """
    match decay:
        case "linear":
            return max(0.0, 1 - update / (2 * half))
        case "exponential":
            return math.exp(-math.log(2) * update / half)
        case "inverse-sigmoid":
            # k / (k + e^(u/k)) is a half where u = k ln k; near that place it falls over about 4 k updates.
            k = _solve(half)
            return k / (k + math.exp(min(700.0, update / k)))
        case _ as never:
            assert_never(never)


def _solve(half: int) -> float:
    """The k for which k ln k is `half`, by Newton's method."""
    k = half / max(1.0, math.log(half + 1)) + 1.0
    for _ in range(50):
        k = max(1.0001, k - (k * math.log(k) - half) / (math.log(k) + 1))
    return k
