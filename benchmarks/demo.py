"""The demonstration's figures, as the demonstration prints them."""

import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.figure import Figure, dragoman
from benchmarks.figure import run as run_command

_WANTED: tuple[tuple[str, str, Callable[[float], bool]], ...] = (
    ("held-out combinations", r"held-out combinations, exactly right\s+([\d.]+)%", lambda found: found >= 97),
    ("contrast pairs", r"contrast pairs, right on both sides\s+([\d.]+)%", lambda found: found >= 98),
    ("alignment error rate", r"alignment error rate, layer \d+ head \d+\s+([\d.]+)", lambda found: found <= 0.2),
    ("seconds to train", r"grammar, training and export\s+(\d+) s", lambda found: found <= 150),
)


def run() -> Iterator[Figure]:
    """Run the demonstration."""
    with tempfile.TemporaryDirectory() as room:
        ran = run_command(dragoman("demo", "--out", Path(room) / "model"))
    for name, pattern, wanted in _WANTED:
        match = re.search(pattern, ran.out)
        assert match is not None, ran.out
        yield Figure(f"{name}: {match[1]}", wanted(float(match[1])))
