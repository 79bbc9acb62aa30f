"""The learning rate from update to update."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.training.schedule import Schedule, make_schedule

PEAK = 0.003
updates = st.integers(1, 1000)
warmups = st.integers(0, 1000)
shares = st.floats(0.01, 1.0)


def flat(updates: int, warmup: int = 400, share: float = 0.5, peak: float = PEAK) -> Schedule:
    return make_schedule("warm-flat-decay", peak, warmup, updates, share)


def rates(schedule: Schedule, first: int = 1) -> list[float]:
    return [schedule.rate(update) for update in range(first, schedule.updates + 1)]


def is_unimodal(values: list[float]) -> bool:
    top = values.index(max(values))
    return values[: top + 1] == sorted(values[: top + 1]) and values[top:] == sorted(values[top:], reverse=True)


@given(updates=updates, warmup=warmups, share=shares)
def test_up_flat_and_down_to_nearly_nothing(updates: int, warmup: int, share: float) -> None:
    schedule = flat(updates, warmup, share)
    found = rates(schedule)
    assert all(0 < rate <= PEAK for rate in found)
    assert is_unimodal(found)
    assert schedule.warmup <= max(1, updates // 10)
    assert schedule.rate(updates + 1) == 0
    between = range(schedule.warmup, schedule.decay_from + 1)
    assert all(schedule.rate(update) == pytest.approx(PEAK) for update in between if update)


def test_the_decay_is_a_straight_line_over_its_share() -> None:
    schedule = flat(1009, warmup=11, share=0.25)
    assert schedule.decay_from == round(1009 * 0.75)
    falling = rates(schedule, first=schedule.decay_from)
    steps = [before - after for before, after in pairwise(falling)]
    assert steps == pytest.approx([falling[-1]] * len(steps))


@given(update=st.integers(1, 20_000), warmup=st.integers(1, 4000))
def test_inverse_root_is_the_papers(update: int, warmup: int) -> None:
    width = 512
    peak = width**-0.5 * warmup**-0.5
    schedule = make_schedule("inverse-root", peak, warmup, 100_000, 0.5)
    assert schedule.rate(update) == pytest.approx(width**-0.5 * min(update**-0.5, update * warmup**-1.5))


def test_inverse_root_keeps_its_warmup_and_its_course_when_it_is_replanned() -> None:
    schedule = make_schedule("inverse-root", PEAK, 4000, 5003, 0.5)
    assert schedule.warmup == 4000
    shorter, longer = (schedule.replanned(101, updates) for updates in (4001, 6007))
    assert (shorter.updates, longer.updates) == (4001, 6007)
    assert rates(shorter) == rates(schedule)[:4001]
    assert rates(longer)[:5003] == rates(schedule)


@given(data=st.data(), updates=st.integers(2, 600), warmup=warmups, share=shares)
def test_another_plan_goes_on_smoothly_and_ends_in_a_decay(
    data: st.DataObject, updates: int, warmup: int, share: float
) -> None:
    before = flat(updates, warmup, share)
    now = data.draw(st.integers(1, updates - 1), label="now")
    other = data.draw(st.integers(now + 1, 2 * updates), label="other")
    after = before.replanned(now, other)
    assert after.updates == other
    assert after.rate(now) == pytest.approx(before.rate(now))
    pairs = list(zip(rates(after, now), rates(before, now), strict=False))
    assert all((a <= b * (1 + 1e-9)) if other <= updates else (a >= b * (1 - 1e-9)) for a, b in pairs)
    assert is_unimodal([round(rate, 12) for rate in rates(after, now)])
    assert after.rate(other) > 0
    assert after.rate(other + 1) == 0


@given(data=st.data())
def test_a_plan_may_be_changed_again_and_again(data: st.DataObject) -> None:
    """The rate rises in the warm-up, and once it has sunk it only sinks, whatever is planned."""
    schedule, now, course = flat(997), 0, list[float]()
    while now + 1 < schedule.updates:
        now = data.draw(st.integers(now + 1, schedule.updates - 1))
        schedule = schedule.replanned(now, data.draw(st.integers(now + 1, max(now + 1, 1009))))
        course.append(round(schedule.rate(now), 12))
    assert is_unimodal(course)
    assert schedule.rate(schedule.updates + 1) == 0


@pytest.mark.parametrize("updates", [1009, 4001])
def test_another_plan_in_the_warmup_lets_the_rate_rise_on(updates: int) -> None:
    assert max(rates(flat(2003, warmup=199, share=1.0).replanned(2, updates))) > 0.8 * PEAK


def test_a_peak_of_zero_stays_zero() -> None:
    schedule = flat(997, peak=0.0).replanned(601, 809)
    assert set(rates(schedule)) == {0.0}
