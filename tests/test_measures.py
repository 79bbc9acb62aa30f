"""The one number that sums up what was measured of a model, and what the tables show: by hand, for every measure."""

from typing import Any

import pytest

from dragoman.jobs.comparison.measures import MEASURES
from dragoman.jobs.comparison.times import LENGTHS


def bins(*values: float) -> list[dict[str, Any]]:
    return [{"name": f"bin {n}", "middle": float(n), "value": value, "cases": 7} for n, value in enumerate(values)]


FIGURES: dict[str, Any] = {
    "scores": {"bleu": {"score": 37.5}},
    "exact": 0.25,
    "same_words": 0.375,
    "contrasts": 0.5,
    "alignment": 0.125,
    "in_order": 0.96,
    "length": bins(40.0, 35.0, 28.0),
    "distance": bins(90.0, 99.0, 70.0),
    "place": bins(0.30, 0.10, 0.25, 0.10, 0.06),
    "leading": {"loss": 0.75, "led": 0.95, "free": 0.85},
    "steps": [{"length": n, "reading": 3 * n, "writing": 5 * n} for n in LENGTHS],
    "times": [{"length": n, "reading": n / 4, "writing": n * n / 64} for n in LENGTHS],
    "gradients": {
        "fresh": {"encoder.0": 0.5, "encoder.1": 9.0, "decoder.0": 9.0, "decoder.1": 2.0},
        "trained": {"encoder.0": 0.1, "encoder.1": 9.0, "decoder.0": 9.0, "decoder.1": 0.4},
    },
}


SUMS = {
    "length": 40 - 28,  # from the shortest to the longest
    "distance": 90 - 70,
    "place": 30 - 6,  # the first fifth against the last
    "middle": 25 - (30 + 6) / 2,  # the middle fifth against both ends
    "steps": LENGTHS[-1] / LENGTHS[0],
    "times": 512 / 128,
    "pace": 0.25,
    "quality": 37.5,
    "order": 4.0,
    "gap": 95 - 85,  # above zero where a model that is led does better
    "gradients": 0.5 / 2.0,
}


@pytest.mark.parametrize("name", MEASURES)
def test_what_a_measure_comes_to(name: str) -> None:
    assert MEASURES[name].summary(FIGURES) == pytest.approx(SUMS[name])


def test_what_the_tables_show() -> None:
    shown = {
        name: {column: found(FIGURES) for column, found in MEASURES[name].columns.items()}
        for name in ("quality", "order", "gap", "gradients", "pace")
    }
    assert shown["quality"] == {"BLEU": 37.5, "exact %": 25.0, "contrasts %": 50.0, "alignment error %": 12.5}
    assert shown["order"] == pytest.approx(
        {
            "BLEU": 37.5,
            "sentences exact %": 25.0,
            "sentences with the right words %": 37.5,
            "in a wrong order %": 4.0,
        }
    )
    assert shown["gap"] == pytest.approx(
        {"loss when led": 0.75, "right when led %": 95.0, "right when free %": 85.0, "gap": 10.0, "BLEU": 37.5}
    )
    assert list(shown["gradients"].values()) == pytest.approx([0.5, 2.0, 0.25, 0.1, 0.4, 37.5])
    assert shown["pace"]["given pair, 512 pieces: ms a piece"] == pytest.approx(0.25)
    assert shown["pace"]["translating, 512 pieces: ms a piece"] == pytest.approx(8.0)


def test_curves_have_a_point_for_every_bin() -> None:
    (curve,) = MEASURES["place"].curves
    points = curve.points(FIGURES)
    assert [point[:2] for point in points[:2]] == [("bin 0 (7)", 0.0), ("bin 1 (7)", 1.0)]
    assert [value for _, _, value in points] == pytest.approx([30, 10, 25, 10, 6])
    reading, writing = MEASURES["steps"].curves
    assert (reading.points(FIGURES)[0], writing.points(FIGURES)[0]) == (("8", 8.0, 24.0), ("8", 8.0, 40.0))


@pytest.mark.parametrize("name", ["distance", "place", "middle", "order", "gap", "gradients", "times", "pace"])
def test_what_was_not_measured_is_not_reckoned(name: str) -> None:
    """Other text than the grammar's has no contrasts; some models have no layers, or too few places."""
    nothing = {**FIGURES, "leading": None, "gradients": None}
    for gone in ("distance", "place", "in_order", "times"):
        nothing.pop(gone)
    assert MEASURES[name].summary(nothing) is None
