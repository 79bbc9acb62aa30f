"""Multi30k English–German with nothing but a promise: MINUTES (20 unless given), sizes and all else from the corpus.

Scored on val and on test_2016_flickr, in two ways: BLEU of the text as people read it (cased, 13a), and of text as
papers count it (lower case, punctuation normalised, Moses' words), which is another number. SEED is 1 unless given.
"""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.corpus import multi30k_words, need_multi30k
from benchmarks.figure import Figure, dragoman
from benchmarks.figure import run as run_command
from benchmarks.trained import score_both_ways

_WANTED = 36.0  # cased, after 20 minutes


def run() -> Iterator[Figure]:
    """Train and score."""
    data = need_multi30k()
    minutes, seed = os.environ.get("MINUTES", "20"), os.environ.get("SEED", "1")
    with tempfile.TemporaryDirectory() as room:
        model = Path(room) / "model"
        words = [*multi30k_words(data), "--minutes", minutes, "--set", f"training.seed={seed}"]
        ran = run_command(dragoman("train", *words, "--out", model))
        yield Figure(f"default recipe, seed {seed}, --minutes {minutes}: {ran.seconds / 60:.1f} used")
        yield from _score(model, data / "val", wanted=None)
        yield from _score(model, data / "test_2016_flickr", wanted=_WANTED if minutes == "20" else None)


def _score(model: Path, texts: Path, *, wanted: float | None) -> Iterator[Figure]:
    """Score a model's translations of a test set in both ways."""
    scores = score_both_ways(model, texts)
    aim = "" if wanted is None else f", {wanted:g} wanted at least"
    met = None if wanted is None else scores.read.value >= wanted
    read, counted = scores.told
    yield Figure(f"{texts.name}, {read}{aim}", met)
    yield Figure(f"{texts.name}, {counted}")
