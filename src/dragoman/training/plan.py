"""The plan of a run: how many updates it makes, from the time there is, and when it is scored. Needs no torch."""

from typing import NamedTuple

from dragoman.config import Training
from dragoman.training.schedule import Schedule, make_schedule


class Speed(NamedTuple):
    """What was measured before planning, in seconds."""

    update: float
    scoring: float
    finishing: float
    translating: float = 0.0
    """What of finishing is translating."""


class Plan(NamedTuple):
    """The run as it was fixed before its first update."""

    schedule: Schedule
    scorings: int
    minutes: float | None
    """The promise; None if the number of updates was given."""
    scoring: float = 0.0
    """Seconds that a scoring was measured to take."""
    finishing: float = 0.0
    """Seconds kept for what comes after the last update."""
    translating: float = 0.0
    """Seconds of these that go into translating, if translations are as long as they should be."""
    stopping: bool = False
    """More updates would not help: the plan was cut and is not lengthened again."""

    def is_scoring(self, update: int) -> bool:
        """Tell whether the dev set is scored after this update."""
        updates = self.schedule.updates
        return update * self.scorings // updates > (update - 1) * self.scorings // updates

    def updates_in(self, minutes: float, elapsed: float, made: int, learning: float) -> int:
        """Return about how many updates there will be in all, at the pace of those made in seconds of `learning`."""
        left = minutes * 60 - margin(minutes) - self.finishing - elapsed
        return made + int(left * made / learning)


def end_otherwise(plan: Plan, settings: Training, made: int, updates: int) -> Plan:
    """Return the plan of a run that has made some updates and is to end after another number than was planned.

    A later end brings the flat part of the schedule back, if the decay had begun, and scorings for which there were too
    few updates.
    """
    schedule, scorings = plan.schedule.replanned(made, updates), plan.scorings
    if updates > plan.schedule.updates:
        schedule = _schedule(settings, updates)
        if plan.minutes is None:
            scorings = min(settings.scorings, updates)
    return plan._replace(schedule=schedule, scorings=scorings, stopping=False)


def plan_updates(settings: Training, updates: int) -> Plan:
    """Plan a run of a given number of updates."""
    return Plan(_schedule(settings, updates), min(settings.scorings, updates), None)


def plan_minutes(settings: Training, minutes: float, elapsed: float, speed: Speed) -> Plan:
    """Plan a run that ends just before the promised time.

    Scoring may take a sixteenth of what is left; where that is not enough for all scorings, there are fewer.
    """
    left = minutes * 60 - margin(minutes) - elapsed - speed.finishing
    scorings = max(1, min(settings.scorings, int(left / 16 / speed.scoring)))
    updates = max(1, int((left - scorings * speed.scoring) / speed.update))
    return Plan(_schedule(settings, updates), min(scorings, updates), minutes, *speed[1:])


def margin(minutes: float) -> float:
    """Seconds by which a plan aims to end before the promised time."""
    return min(0.025 * 60 * minutes, 20.0)


def _schedule(settings: Training, updates: int) -> Schedule:
    assert settings.peak_rate is not None
    assert settings.warmup_updates is not None
    return make_schedule(settings.schedule, settings.peak_rate, settings.warmup_updates, updates, settings.decay_share)
