"""Multi30k English–German, trained for 20 minutes from the default recipe, scored on test_2016_flickr."""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.corpus import multi30k
from benchmarks.figure import Figure, dragoman
from benchmarks.figure import run as run_command


def run() -> Iterator[Figure]:
    """Train and score, if the data is there."""
    data = multi30k()
    if data is None:
        yield Figure("skipped: no Multi30k (set MULTI30K)")
        return
    with tempfile.TemporaryDirectory() as room:
        model = Path(room) / "model"
        languages = ("--from", "en", "--to", "de")
        sets = ("--dev", data / "val", "--test", data / "test_2016_flickr")
        ran = run_command(dragoman("train", data / "train", *languages, *sets, "--minutes", "20", "--out", model))
        scored = run_command(dragoman("evaluate", "-m", model, data / "test_2016_flickr", "--json"))
    bleu = json.loads(scored.out)["scores"]["bleu"]
    yield Figure(
        f"--minutes 20 ({ran.seconds / 60:.1f} used): BLEU {bleu['score']:.1f} on test_2016_flickr "
        f"({bleu['signature']}; 36 wanted at least)",
        bleu["score"] >= 36,
    )
