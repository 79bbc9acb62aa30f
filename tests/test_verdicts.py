"""What the lectures lead one to expect, against what was measured."""

import pytest

from dragoman.evaluation.compare import Comparison, Estimate
from dragoman.jobs.comparison.contest import Expected, Question
from dragoman.jobs.comparison.measures import Measure
from dragoman.jobs.comparison.verdicts import Side, Verdict, judge, sum_up

MEASURE = Measure("points lost", lambda _: None, margin=1.0)


def expected(text: str) -> Expected:
    (one,) = Question(expected=(text,)).expectations()
    return one


def outcome(p_value: float, low: float) -> Comparison:
    score = Estimate(8.0, 8.0, low, 9.0)
    return Comparison("BLEU", "", score, score, score, p_value)


@pytest.mark.parametrize(
    ("text", "values", "said"),
    [
        ("a > b", [3.0, 1.0], "A 3; B 1 (one seed): as the lectures say."),
        ("a > b", [3.0, 2.5], "no difference to speak of"),
        ("a > b", [1.0, 3.0], "the contrary of what the lectures say"),
        ("a <= b", [1.0, 3.0], "as the lectures say"),
        ("a <= b", [3.0, 2.5], "as the lectures say"),
        ("a <= b", [3.0, 1.0], "the contrary of what the lectures say"),
        ("a > 0", [0.9], "A 0.90 (one seed): no difference to speak of"),
        ("a > 0", [1.1], "as the lectures say"),
        ("a > 0", [-1.1], "the contrary of what the lectures say"),
        ("a <= 0", [1.1], "the contrary of what the lectures say"),
        ("a <= 0", [-5.0], "as the lectures say"),
    ],
)
def test_a_difference_within_the_margin_is_none(text: str, values: list[float], said: str) -> None:
    sides = [Side(label, [value], value, value) for label, value in zip("AB", values, strict=False)]
    verdict = judge(expected(text), MEASURE, sides)
    assert verdict.text.startswith("A ")
    assert said in verdict.text
    assert verdict.agrees is said.endswith(("as the lectures say", "as the lectures say."))


def test_what_may_be_luck_is_no_difference() -> None:
    sides = [Side("A", [8.0, 10.0], 7.0, 10.0), Side("B", [0.0, 2.0], 0.0, 2.0)]
    sure, unsure, crossing = (
        judge(expected("a > b"), MEASURE, sides, outcome(p_value, low))
        for p_value, low in ((0.049, 0.1), (0.05, 0.1), (0.03, -0.1))
    )
    assert sure.text == "A 9; B 1 (means of 2 seeds, p 0.049): as the lectures say."
    assert sure.tree() == {"expected": "a > b", "found": sure.text, "agrees": True}
    assert not unsure.agrees
    assert not crossing.agrees


def test_where_seeds_overlap_there_is_no_difference() -> None:
    other = Side("B", [3.0], 1.0, 4.0)
    apart, overlapping = (judge(expected("a > b"), MEASURE, [Side("A", [9.0], low, 9.0), other]) for low in (5.0, 4.0))
    assert apart.agrees
    assert "no difference to speak of" in overlapping.text
    crossing = judge(expected("a > 0"), MEASURE, [Side("A", [5.0], -0.1, 9.0)])
    assert "no difference to speak of" in crossing.text


def test_seeds_that_overlap_are_said_to_where_the_test_is_sure() -> None:
    sides = [Side("A", [99.1, 99.7], 99.1, 99.7), Side("B", [96.5, 99.3], 96.5, 99.3)]
    verdict = judge(expected("a > b"), MEASURE, sides, outcome(0.001, 0.1))
    assert verdict.text.startswith("A 99.4; B 97.9 (means of 2 seeds that overlap, p 0.001): no difference to speak of")


def test_what_is_counted_has_no_seeds() -> None:
    verdict = judge(expected("a > 0"), MEASURE._replace(counted=True), [Side("A", [2.0, 2.0], 2.0, 2.0)])
    assert verdict.text == "A 2 (counted): as the lectures say."


@pytest.mark.parametrize(
    ("agree", "said"),
    [
        ([True, True], "as the lectures say"),
        ([True, False, True], "as the lectures say in 2 of 3"),
        ([False], "not as the lectures say"),
    ],
)
def test_several_verdicts_are_summed_up(agree: list[bool], said: str) -> None:
    assert sum_up([Verdict(expected("a > b"), "", one) for one in agree]) == said
