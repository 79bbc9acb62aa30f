"""Whether a training ends when it was promised to."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figure import Figure, dragoman
from benchmarks.figure import run as run_command


def run() -> Iterator[Figure]:
    """Train for five minutes on the built-in corpus."""
    with tempfile.TemporaryDirectory() as room:
        corpus = Path(room) / "pairs.tsv"
        run_command(dragoman("generate", "--pairs", "30000", "--seed", "1", "--out", corpus))
        words = ("--from", "en", "--to", "es", "--minutes", "5", "--out", Path(room) / "model")
        ran = run_command(dragoman("train", corpus, *words))
    minutes, seconds = divmod(ran.seconds, 60)
    yield Figure(
        f"train --minutes 5 took {minutes:.0f}:{seconds:04.1f} (4:40 to 5:00 wanted)", 280 <= ran.seconds <= 300
    )
