"""The demonstration learns the grammar, from a seed of its own."""

from pathlib import Path

import pytest

from dragoman.engine.load import load_translator
from dragoman.jobs.demo import STEPS, judge, learn


def test_the_judge_counts_what_a_young_model_gets_wrong(tmp_path: Path) -> None:
    learn(tmp_path / "pairs.tsv", tmp_path / "model", 20, lambda _: None, pairs=300)
    verdict = judge(tmp_path / "model", load_translator(tmp_path / "model"), sentences=11, pairs=6)
    assert 0 <= verdict.held_out < 0.5
    assert len(verdict.wrong) == round(11 * (1 - verdict.held_out))
    assert [count for _, count in verdict.contrasts.values()] == [2, 2, 2]
    assert verdict.distractors[1] == 3
    assert 0 < verdict.alignment <= 1


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_the_demonstration_reaches_its_figures(tmp_path: Path) -> None:
    learn(tmp_path / "pairs.tsv", tmp_path / "model", STEPS, lambda _: None)
    verdict = judge(tmp_path / "model", load_translator(tmp_path / "model"))
    assert verdict.held_out >= 0.97
    assert verdict.contrast_share >= 0.98
    assert verdict.alignment <= 0.20
