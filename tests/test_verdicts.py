"""What the lectures lead one to expect, against what was measured."""

import pytest

from dragoman.jobs.contest import Expected, Question
from dragoman.jobs.measures import Measure
from dragoman.jobs.verdicts import Side, judge

MEASURE = Measure("points lost", lambda _: None, margin=1.0)


def expected(text: str) -> Expected:
    (one,) = Question(expected=(text,)).expectations()
    return one


@pytest.mark.parametrize(
    ("text", "values", "said"),
    [
        ("a > b", [3.0, 1.0], "A 3, B 1 (one seed). As the lectures say."),
        ("a > b", [3.0, 2.5], "No difference to speak of"),
        ("a > b", [1.0, 3.0], "The contrary of what the lectures say"),
        ("a <= b", [1.0, 3.0], "As the lectures say"),
        ("a <= b", [3.0, 2.5], "As the lectures say"),
        ("a <= b", [3.0, 1.0], "The contrary of what the lectures say"),
        ("a > 0", [0.9], "A 0.9 (one seed). No difference to speak of"),
        ("a > 0", [1.1], "As the lectures say"),
        ("a > 0", [-1.1], "The contrary of what the lectures say"),
        ("a <= 0", [1.1], "The contrary of what the lectures say"),
        ("a <= 0", [-5.0], "As the lectures say"),
    ],
)
def test_a_difference_within_the_margin_is_none(text: str, values: list[float], said: str) -> None:
    sides = [Side(label, value, 1) for label, value in zip("AB", values, strict=False)]
    verdict = judge(expected(text), MEASURE, sides)
    assert verdict.text.startswith("Points lost: A ")
    assert said in verdict.text
    assert verdict.agrees is said.endswith(("As the lectures say", "As the lectures say."))


def test_what_may_be_luck_is_no_difference() -> None:
    sides = [Side("A", 9.0, 3), Side("B", 1.0, 2)]
    sure, unsure = (judge(expected("a > b"), MEASURE, sides, p_value) for p_value in (0.049, 0.05))
    assert sure.text == "Points lost: A 9, B 1 (means of 2 seeds, p 0.049). As the lectures say."
    assert sure.tree() == {"expected": "a > b", "found": sure.text, "agrees": True}
    assert not unsure.agrees
