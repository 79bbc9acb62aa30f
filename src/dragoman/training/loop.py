"""The loop: batch, update, and from time to time a scoring and a save.

The loop knows neither text nor engines. Its caller passes `score`, which judges weights with the engine that ships,
and `observe`, which is told what happens.
"""

import math
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dragoman.data.batches import Batch, Batches
from dragoman.errors import DivergedError
from dragoman.training.events import Event, Replanned, Saved, Scored, Updated
from dragoman.training.learner import Learner
from dragoman.training.plan import Plan, margin
from dragoman.training.state import Position, save_best, save_state

_SHORTEST_LOOK_AWAY, _LONGEST_LOOK_AWAY = 1.0, 20.0
_RECENT_UPDATES = 100
_TOLERANCE = 0.05


class Judged(NamedTuple):
    """What a scoring found."""

    chrf: float
    sample: tuple[str, str, str]
    length: float = 1.0
    """Times as long as the references: a network that has learned little does not know when to end."""


class Clock:
    """Seconds since the start of the command, those of earlier sittings of the same training included."""

    def __init__(self, started: float, before: float = 0.0) -> None:
        self._started, self._before = started, before

    def elapsed(self) -> float:
        """Seconds used so far."""
        return time.monotonic() - self._started + self._before


class Loop(NamedTuple):
    """What a training works with."""

    learner: Learner
    batches: Batches
    run: Path
    clock: Clock
    score: Callable[[dict[str, NDArray[np.float32]]], Judged]
    observe: Callable[[Event], None]
    stop: Callable[[], bool]
    log_bytes: Callable[[], int]
    patience: int
    save_seconds: float
    begun: bool = False
    """Whether the first weights are a model's: then they are scored too, and kept if nothing better comes."""


def learn(loop: Loop, position: Position) -> bool:
    """Train from a position to the end of its plan; return False if asked to stop before, with everything saved."""
    pace = _Pace(position.plan.scoring)
    saved_at = time.monotonic()
    batches = _Ahead(loop.batches.after(position.epoch, position.taken))
    if loop.begun and position.update == 0:
        _score(loop, position)
    while position.update < position.plan.schedule.updates:
        begun = time.monotonic()
        position.epoch, position.taken, batch = batches.take()
        position.update += 1
        rate = position.plan.schedule.rate(position.update)
        loss = loop.learner.update(batch, position.update, rate, meanwhile=batches.fetch)
        if not math.isfinite(loss):
            raise DivergedError(
                f"the loss is not a number any more at update {position.update}",
                hint="train again into another directory with a lower rate, such as --set training.peak_rate=0.001",
            )
        seconds = time.monotonic() - begun
        pace.updates.append(seconds)
        loop.observe(Updated(position.update, position.epoch, loss, rate, batch.pieces, seconds))
        if position.plan.is_scoring(position.update):
            judged = _score(loop, position)
            pace.scored(time.monotonic() - begun - seconds, judged.length)
        _keep_promise(loop, position, pace)
        stopping = loop.stop()
        if stopping or time.monotonic() - saved_at > loop.save_seconds:
            _save(loop, position)
            saved_at = time.monotonic()
        if stopping:
            return False
    _save(loop, position)
    return True


class _Ahead:
    """The batches, of which the next is made while the helpers are still at work on this one."""

    def __init__(self, batches: Iterator[tuple[int, int, Batch]]) -> None:
        self._batches = batches
        self._next: tuple[int, int, Batch] | None = None

    def fetch(self) -> None:
        """Make the next batch."""
        self._next = self._next or next(self._batches)

    def take(self) -> tuple[int, int, Batch]:
        """Return the next batch."""
        self.fetch()
        assert self._next is not None
        taken, self._next = self._next, None
        return taken


class _Pace:
    """How long things take now."""

    def __init__(self, scoring: float) -> None:
        self.updates: deque[float] = deque(maxlen=_RECENT_UPDATES)
        self.scoring, self.length = scoring, 1.0
        self.checked = time.monotonic()

    def of_next(self, updates: int) -> float:
        """Seconds that each of the next updates may take: what as many took of late."""
        recent = list(self.updates)[-max(5, updates) :]
        return sum(recent) / len(recent)

    def scored(self, seconds: float, length: float) -> None:
        """Take note of a scoring: of the time it would have taken with translations that end where they should."""
        self.length = max(1.0, length)
        self.scoring = seconds / self.length


def _score(loop: Loop, position: Position) -> Judged:
    weights = loop.learner.averaged()
    judged = loop.score(weights)
    better = position.best is None or judged.chrf > position.best
    best = better or judged.chrf == position.best  # where the dev set cannot tell, the later has learned more
    if best:
        position.best, position.best_update = judged.chrf, position.update
        position.best_sha256 = save_best(loop.run, position.update, weights)
    position.scorings_since_best = 0 if better else position.scorings_since_best + 1
    loop.observe(Scored(position.update, judged.chrf, best, judged.sample))
    plan = position.plan
    flat = position.update < plan.schedule.decay_from
    if loop.patience and flat and position.scorings_since_best >= loop.patience:
        decay = plan.schedule.updates - plan.schedule.decay_from
        updates = position.update + round(decay * position.update / plan.schedule.decay_from)
        position.plan = plan._replace(stopping=True)
        _replan(
            loop,
            position,
            min(plan.schedule.updates, updates),
            f"no better chrF in {loop.patience} scorings: the decay begins now and the training ends early",
        )
    return judged


def _keep_promise(loop: Loop, position: Position, pace: _Pace) -> None:
    """Change the plan if at the present pace it would end after the promised time, or well before it.

    Looked at more often and more sternly as the end comes nearer: paces waver, and a plan is best left alone.
    """
    plan = position.plan
    if plan.minutes is None:
        return
    left = plan.minutes * 60 - loop.clock.elapsed()
    if time.monotonic() - pace.checked < min(_LONGEST_LOOK_AWAY, _SHORTEST_LOOK_AWAY + left / 10):
        return
    pace.checked = time.monotonic()
    updates = plan.schedule.updates - position.update
    scorings = plan.scorings * updates / plan.schedule.updates
    each = pace.of_next(updates)
    rest = updates * each
    length = _length_to_come(loop, plan, pace)
    spare = left - _finishing(plan, pace, length) - scorings * length * pace.scoring - rest
    aim, tolerance = margin(plan.minutes), _TOLERANCE * rest
    least, most = aim / 3 - tolerance, 2 * aim + tolerance
    # One more at least, for the last update of a plan is followed by a scoring.
    possible = position.update + max(1, updates + int((spare - aim) / each))
    if spare < least and possible < plan.schedule.updates:
        _replan(loop, position, possible, "it takes longer than planned")
    elif spare > most and possible > plan.schedule.updates and not plan.stopping:
        _replan(loop, position, possible, "it takes less time than planned")


def _finishing(plan: Plan, pace: _Pace, length: float) -> float:
    """Seconds that it will take to finish: longer where scorings take longer than was measured, or translations are."""
    slower = max(1.0, pace.scoring / plan.scoring) if plan.scoring else 1.0
    return slower * (plan.finishing + (length - 1) * plan.translating)


def _length_to_come(loop: Loop, plan: Plan, pace: _Pace) -> float:
    """How long translations will be from now on, beside their references.

    Those that do not end show that little has been learned yet, and will end in time, for all that is known early. By
    the time when finishing would have to begin, if they never did, they are taken to stay as they are.
    """
    assert plan.minutes is not None
    latest = plan.minutes * 60 - _finishing(plan, pace, pace.length)
    progress = min(1.0, loop.clock.elapsed() / latest) if latest > 0 else 1.0
    return 1 + (pace.length - 1) * progress


def _replan(loop: Loop, position: Position, updates: int, why: str) -> None:
    plan = position.plan
    before = plan.schedule.updates
    position.plan = plan._replace(schedule=plan.schedule.replanned(position.update, updates))
    loop.observe(Replanned(position.update, before, updates, why))


def _save(loop: Loop, position: Position) -> None:
    position.elapsed = loop.clock.elapsed()
    position.log_bytes = loop.log_bytes()
    save_state(loop.run, position, loop.learner.arrays())
    loop.observe(Saved(position.update))
