"""Multi30k English–German: trained for MINUTES (20 unless given), scored on val and on test_2016_flickr, in both ways.

The first way is BLEU of the text as people read it (cased, 13a). The second is that of the papers (lower-cased,
punctuation normalised, Moses tokens), several points above it. Without RECIPE, the sizes are chosen from the corpus;
SEED is 1 unless given. With `TEST=0` the test set is left alone, for choosing between recipes.
"""

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.corpus import multi30k
from benchmarks.figure import Figure, dragoman
from benchmarks.figure import run as run_command
from dragoman.data.corpus import read_pairs
from dragoman.evaluation.moses import tokenised_bleu

_WANTED = 36.0  # cased, after 20 minutes


def run() -> Iterator[Figure]:
    """Train and score, if the data is there."""
    data = multi30k()
    if data is None:
        yield Figure("skipped: no Multi30k (set MULTI30K)")
        return
    minutes, recipe = os.environ.get("MINUTES", "20"), os.environ.get("RECIPE", "")
    seed = os.environ.get("SEED", "1")
    with tempfile.TemporaryDirectory() as place:
        room = Path(place)
        words: list[str | Path] = [
            "--from",
            "en",
            "--to",
            "de",
            "--dev",
            data / "val",
            "--test",
            data / "test_2016_flickr",
        ]
        words += ["--minutes", minutes, "--out", room / "model", "--set", f"training.seed={seed}"]
        words += ["--recipe", recipe] if recipe else []
        ran = run_command(dragoman("train", data / "train", *words))
        yield Figure(f"{recipe or 'default recipe'}, seed {seed}, --minutes {minutes}: {ran.seconds / 60:.1f} used")
        yield from _score(room, data / "val", wanted=None)
        if os.environ.get("TEST") != "0":
            usual = minutes == "20" and not recipe
            yield from _score(room, data / "test_2016_flickr", wanted=_WANTED if usual else None)


def _score(room: Path, texts: Path, *, wanted: float | None) -> Iterator[Figure]:
    """Translate a test set with the room's model, and score it both ways."""
    found = room / f"{texts.name}.txt"
    told = run_command(dragoman("evaluate", "-m", room / "model", texts, "--out", found, "--json")).out
    cased = json.loads(told)["scores"]["bleu"]
    aim = "" if wanted is None else f", {wanted:g} wanted at least"
    met = None if wanted is None else cased["score"] >= wanted
    yield Figure(f"{texts.name}: BLEU {cased['score']:.2f} ({cased['signature']}){aim}", met)
    references = [pair.target for pair in read_pairs([texts], "en", "de")]
    papers = tokenised_bleu(found.read_text(encoding="utf-8").splitlines(), references, "de")
    yield Figure(f"{texts.name}: BLEU {papers.value:.2f} ({papers.signature})")
