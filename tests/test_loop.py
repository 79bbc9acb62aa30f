"""The loop keeps its promise of time, and stops when more does not help: with a clock that the test turns."""

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dragoman.data.batches import make_batch
from dragoman.training.events import Replanned, Scored, Updated
from dragoman.training.loop import Clock, Judged, Loop, learn
from dragoman.training.plan import Plan
from dragoman.training.schedule import make_schedule
from dragoman.training.state import Position

MINUTES = 5.0
FINISHING, TRANSLATING = 11.0, 4.0
BATCH = make_batch([[5]], [[7]])


class World:
    """A machine whose updates take as long as the test says."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, seconds: Callable[[int], float]) -> None:
        self.now = 1000.0
        self.seconds = seconds
        self.scoring = 1.0
        self.length: Callable[[int], float] = lambda _: 1.0
        self.made = 0
        self.events: list[Any] = []
        self.scores = iter([1.0])
        monkeypatch.setattr("dragoman.training.loop.time.monotonic", lambda: self.now)

    def update(self, _batch: object, number: int, _rate: float, *, meanwhile: Callable[[], None]) -> float:
        meanwhile()
        self.now += self.seconds(number)
        self.made = number
        return 1.0

    def score(self, _weights: object) -> Judged:
        length = self.length(self.made)
        self.now += self.scoring * length
        return Judged(next(self.scores, 0.0), ("a", "b", "c"), length)

    def after(self, epoch: int, taken: int) -> Iterator[tuple[int, int, Any]]:
        while True:
            taken += 1
            yield epoch, taken, BATCH

    def learn(self, run: Path, plan: Plan, patience: int = 0) -> float:
        learner: Any = SimpleNamespace(update=self.update, averaged=lambda: {"w": np.ones(3, np.float32)}, arrays=dict)
        batches: Any = SimpleNamespace(after=self.after)
        clock = Clock(1000.0)
        told = Loop(
            learner, batches, run, clock, self.score, self.events.append, lambda: False, lambda: 0, patience, 1e9
        )
        assert learn(told, Position(plan))
        return clock.elapsed() + self.scoring * (FINISHING + (self.length(self.made) - 1) * TRANSLATING)

    def seen(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


def plan(updates: int, minutes: float | None = MINUTES) -> Plan:
    return Plan(make_schedule("warm-flat-decay", 0.01, 10, updates, 0.5), 6, minutes, 1.0, FINISHING, TRANSLATING)


def test_a_steady_machine_keeps_its_plan(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    world = World(monkeypatch, lambda _: 0.5)
    end = world.learn(tmp_path, plan(550))
    assert world.seen(Replanned) == []
    assert len(world.seen(Updated)) == 550
    assert 280 <= end <= 300


@pytest.mark.parametrize("factor", [1.5, 3.0, 0.6, 0.3])
@pytest.mark.parametrize("change", [1, 200, 400, 520])
def test_whatever_the_machine_does_the_run_ends_in_time(
    factor: float, change: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    world = World(monkeypatch, lambda number: 0.5 * (factor if number >= change else 1.0))
    end = world.learn(tmp_path, plan(550))
    assert 278 <= end <= 300


def test_where_scorings_take_longer_than_measured_so_does_finishing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A model that has learned little writes more than the measurement saw."""
    world = World(monkeypatch, lambda _: 0.5)
    world.scoring = 4.0
    assert 270 <= world.learn(tmp_path, plan(550)) <= 300


def test_translations_that_do_not_end_yet_do_not_end_the_training(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Scorings that take fifteen times as long at first, when the network has learned nothing: no slow machine."""
    world = World(monkeypatch, lambda _: 0.5)
    world.length = lambda made: 15.0 if made < 200 else 1.0
    assert 278 <= world.learn(tmp_path, plan(550)) <= 300
    assert 450 <= len(world.seen(Updated)) <= 550


def test_translations_that_never_end_are_waited_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    world = World(monkeypatch, lambda _: 0.5)
    world.length = lambda _: 6.0
    assert 240 <= world.learn(tmp_path, plan(550)) <= 300


def test_the_last_update_is_scored_and_the_rate_has_sunk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    world = World(monkeypatch, lambda number: 0.5 if number < 300 else 2.0)
    world.learn(tmp_path, plan(550))
    assert world.seen(Replanned)
    last = world.seen(Updated)[-1]
    assert world.seen(Scored)[-1].update == last.update
    assert last.rate < 0.05 * 0.01


def test_steps_know_no_clock(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    world = World(monkeypatch, lambda _: 100.0)
    world.learn(tmp_path, plan(60, minutes=None))
    assert len(world.seen(Updated)) == 60


def test_when_nothing_gets_better_the_decay_begins_early(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    world = World(monkeypatch, lambda _: 0.5)
    end = world.learn(tmp_path, plan(550)._replace(scorings=20), patience=3)
    (replanned,) = world.seen(Replanned)
    assert "no better chrF in 3 scorings" in replanned.why
    assert replanned.updates < 550
    assert len(world.seen(Updated)) == replanned.updates
    assert end < 280


def test_of_equal_scores_the_later_is_kept_and_patience_ends(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    world = World(monkeypatch, lambda _: 0.1)
    world.scores = iter([1.0, 2.0, 2.0, 2.0, 1.0, 0.5])
    world.learn(tmp_path, plan(550)._replace(scorings=20), patience=3)
    assert [event.best for event in world.seen(Scored)[:5]] == [True, True, True, True, False]
    assert [path.name for path in tmp_path.glob("best-*")] == [f"best-{world.seen(Scored)[3].update}.safetensors"]
    assert world.seen(Replanned)[0].update == world.seen(Scored)[4].update
