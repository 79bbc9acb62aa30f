"""Run the command: in this process, as the console script does, or in one of its own."""

import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from dragoman.cli import main
from dragoman.data.grammar import generate

SENTENCE = "I arrived at the bank after crossing the river."


class Said(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


Cli = Callable[..., Said]


def make_cli(monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Cli:
    """Return a function that runs the command in this process."""

    def run(*arguments: object, stdin: bytes = b"") -> Said:
        monkeypatch.setattr(sys, "argv", ["dragoman", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as left:
            main.run()
        out, err = capsysbinary.readouterr()
        assert isinstance(left.value.code, int)
        return Said(left.value.code, out.decode(), err.decode())

    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    return run


def command(*arguments: object, stdin: bytes = b"", cwd: Path | None = None, **variables: str) -> Said:
    """Run the command in a process of its own."""
    code = "from dragoman.cli.main import run; run()"
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        check=False,
        cwd=cwd,
        env={**{name: os.environ[name] for name in os.environ.keys() - {"COLUMNS", "FORCE_COLOR"}}, **variables},
    )
    return Said(done.returncode, done.stdout.decode(), done.stderr.decode())


def write_corpus(path: Path) -> Path:
    """Write 53 good pairs and two that cleaning drops."""
    lines = [f"{e.source}\t{e.target}" for e in generate(53, seed=5)]
    path.write_text("\n".join([*lines, "\tempty", "The year 1984\tEl año 1985"]) + "\n", encoding="utf-8")
    return path
