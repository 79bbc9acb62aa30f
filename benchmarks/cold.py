"""How long a person waits for the first answer: --help, and one sentence from a cold start."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figure import Figure, dragoman
from benchmarks.figure import run as run_command

_SENTENCE = "I arrived at the bank after crossing the river."


def run() -> Iterator[Figure]:
    """Measure best of five, on a small model trained for the purpose."""
    helps = [run_command(dragoman("--help")) for _ in range(5)]
    seconds = min(ran.seconds for ran in helps)
    yield Figure(f"dragoman --help: {seconds:.2f} s, best of five (0.3 wanted at most)", seconds <= 0.3)
    with tempfile.TemporaryDirectory() as room:
        model = small_model(Path(room))
        told = [run_command(dragoman("translate", "-m", model, _SENTENCE)) for _ in range(5)]
    seconds, megabytes = min(ran.seconds for ran in told), min(ran.megabytes for ran in told)
    yield Figure(
        f"one sentence, cold: {seconds:.2f} s and {megabytes:.0f} MB, best of five (0.4 and 120 wanted at most)",
        seconds <= 0.4 and megabytes <= 120,
    )


def small_model(room: Path) -> Path:
    """Train a model of an ordinary size for a few updates."""
    run_command(dragoman("generate", "--pairs", "20000", "--seed", "1", "--out", room / "pairs.tsv"))
    words = ("--from", "en", "--to", "es", "--steps", "20", "--out", room / "model")
    run_command(dragoman("train", room / "pairs.tsv", *words))
    return room / "model"
