"""What a training changed that started from a model."""

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.config import Recipe, Search, Training
from dragoman.jobs.change import (
    FEW,
    FORGOTTEN,
    METRICS,
    Before,
    change_caveats,
    change_rows,
    chose_weights,
    compare_texts,
    look_before,
)


def change(text: str, pairs: int, *differences: float) -> dict[str, Any]:
    """What a card says of a text whose scores all changed so much."""
    one = {"before": {"score": 20.0}, "after": {"score": 21.0}, "difference": differences, "verdict": "better"}
    return {"name": "old-model", text: {"pairs": pairs, **dict.fromkeys(METRICS, one)}}


@pytest.mark.parametrize("text", ["new", "old"])
def test_a_handful_of_pairs_proves_nothing(text: str) -> None:
    for pairs, verdict in ((FEW - 1, "too few to tell"), (FEW, "better")):
        few = change(text, pairs, 1.0, 0.5, 1.5)
        assert {row[4] for row in change_rows(few)} == {verdict}
        told = re.findall(
            r"^(\d+) pairs of (.*) are too few: .* proves nothing\.$", "\n".join(change_caveats(few)), re.MULTILINE
        )
        assert told == ([] if pairs == FEW else [(str(pairs), "new text" if text == "new" else "old domain")])
    assert {row[4] for row in change_rows(change(text, 3, 0.0, 0.0, 0.0))} == {"no difference"}


def test_many_pairs_of_a_handful_of_sources_prove_nothing_either() -> None:
    pairs = [(f"word{n % 7}", f"other{n} here and there") for n in range(3 * FEW)]
    translations = [target for _, target in pairs]
    told = compare_texts(translations, [text[:-1] for text in translations], pairs, "en")
    assert (told["pairs"], told["sources"]) == (3 * FEW, 7)
    start = {"name": "old-model", "new": told}
    assert {row[4] for row in change_rows(start)} == {"too few to tell"}
    assert change_caveats(start)[0].startswith("90 pairs of 7 sources of new text are too few")


def test_before_and_after_is_told_with_what_it_cannot_tell() -> None:
    flattered, forgotten = change_caveats(change("new", FEW, 1.0, 0.5, 1.5))
    assert re.match(
        r"Some pairs of new text also chose .* --against the model that it began from \(old-model\)\.", flattered
    )
    assert forgotten == FORGOTTEN
    assert FORGOTTEN not in change_caveats({**change("new", FEW, 0, 0, 0), **change("old", FEW, 0, 0, 0)})


@pytest.mark.parametrize(
    ("pairs", "told"),
    [(17, "they also chose its weights"), (23, "they also chose its weights"), (24, "the first 23 of them also chose")],
)
def test_only_some_of_the_pairs_that_judge_a_model_chose_its_weights(pairs: int, told: str) -> None:
    assert chose_weights(pairs, Recipe(training=Training(score_pairs=23))).startswith(told)


def test_what_was_judged_by_fewer_is_judged_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where a training was begun by a version that judged by fewer pairs."""
    known = Before(["a", "b"], ["c"], 1.5)
    (tmp_path / "before.json").write_text(json.dumps(known._asdict()), encoding="utf-8")
    monkeypatch.setattr("dragoman.jobs.change.load_translator", lambda _: Echo())
    assert look_before(tmp_path, ["x", "y"], ["z"], Search()) == known
    again = look_before(tmp_path, ["x", "y", "w"], ["z"], Search())
    assert (again.new, again.old) == (["x", "y", "w"], ["z"])
    assert look_before(tmp_path, ["x", "y", "w"], ["z"], Search()) == again


class Echo:
    def translate(self, texts: list[str], **_: object) -> list[SimpleNamespace]:
        return [SimpleNamespace(text=text) for text in texts]


@given(st.integers(-300, 300), st.integers(0, 300), st.integers(0, 300))
def test_a_difference_that_is_sure_never_looks_as_if_it_might_be_nothing(low: int, first: int, second: int) -> None:
    bounds = [value / 100 for value in (low + first, low, low + first + second)]
    for row in change_rows(change("new", FEW, *bounds)):
        shown = [float(number) for number in row[5].split(" to ")]
        assert [(value > 0) - (value < 0) for value in shown] == [(value > 0) - (value < 0) for value in bounds[1:]]


def test_what_is_nothing_in_the_card_is_not_sure_there() -> None:
    """Whatever the draws say of more digits than are kept."""
    texts = [f"word{n} here and there {n}" for n in range(FEW)]
    for other in ([texts[0] + "!", *texts[1:]], texts, [text[:-1] for text in texts]):
        for metric in METRICS:
            told = compare_texts(texts, other, [(text, text) for text in texts], "en")[metric]
            _, low, high = told["difference"]
            assert (told["verdict"] == "unsure") or not low <= 0 <= high
