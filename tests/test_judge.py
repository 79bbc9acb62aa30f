"""How long finishing will take, of which much is scoring: known before anything is learned."""

from types import SimpleNamespace
from typing import Any

import pytest

from dragoman.jobs import judge
from dragoman.jobs.judge import time_comparing, time_scores


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let scoring take a second for the square of a thousand words, and nothing else take any time."""
    now = [0.0]

    def score(translations: list[str], references: list[str], *, language: str) -> None:
        assert language == "es"
        assert len(translations) == len(references)
        now[0] += sum(len(reference.split()) ** 2 for reference in references) / 1e6

    monkeypatch.setattr(judge, "score", score)
    monkeypatch.setattr(judge, "time", SimpleNamespace(monotonic=lambda: now[0]))


def pairs(count: int, words: int) -> list[tuple[str, str]]:
    return [("a", " ".join(f"w{n}" for n in range(words)))] * count


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize(("count", "words"), [(1, 3), (7, 1), (19, 13), (20, 5), (101, 11), (1000, 40)])
def test_scoring_is_foretold_for_all_from_some(count: int, words: int) -> None:
    assert time_scores(pairs(count, words), "es") == pytest.approx(count * words**2 / 1e6)


@pytest.mark.usefixtures("clock")
def test_a_comparison_takes_longer() -> None:
    assert time_comparing(pairs(41, 23), "es") > 2 * time_scores(pairs(41, 23), "es")


def test_what_is_scored_to_foretell_is_like_a_translation(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(judge, "score", lambda *given, **_: seen.append(given))
    assert time_scores([("a", "one two three four five six seven"), ("b", ""), ("c", "uno")], "es") >= 0
    (like, references) = seen[-1]
    assert references == ["one two three four five six seven", "", "uno"]
    assert like == ["one two five four five one seven", "", "uno"]
