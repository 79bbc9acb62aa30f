"""A measured figure, and running a command to measure it."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

_CHILD = (
    "import os, resource, subprocess, sys;"
    "code = subprocess.call(sys.argv[2:]);"
    "open(sys.argv[1], 'w').write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss));"
    "sys.exit(code)"
)


class Figure(NamedTuple):
    """What was measured, and whether it is what was wanted; None where nothing was wanted."""

    text: str
    met: bool | None = None
    shown: bool = False
    """Whether it belongs into the README's table though nothing was wanted."""

    def __str__(self) -> str:
        mark = {True: "  ✓", False: "  ✗ missed", None: ""}[self.met]
        return self.text + mark


class NotHereError(Exception):
    """Something that a benchmark needs is not on this machine, so that it is not measured, or not all of it."""


class Ran(NamedTuple):
    """A command that has run: wall-clock seconds, peak megabytes of its largest process, what it wrote."""

    seconds: float
    megabytes: float
    out: str
    err: str


def dragoman(*words: str | Path) -> list[str]:
    """The command line of a dragoman verb, in this environment."""
    return [sys.executable, "-m", "dragoman", *map(str, words)]


def run(words: Sequence[str]) -> Ran:
    """Run a command to its end; it must succeed."""
    with tempfile.NamedTemporaryFile() as peak:
        begun = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-c", _CHILD, peak.name, *words],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "NO_COLOR": "1"},
        )
        seconds = time.monotonic() - begun
        if done.returncode:
            raise SystemExit(f"{' '.join(words)} failed:\n{done.stderr}")
        return Ran(seconds, int(Path(peak.name).read_text(encoding="utf-8")) / 1024, done.stdout, done.stderr)
