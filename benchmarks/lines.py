"""A file of many lines streams through: memory stays, and so does the speed.

A small model translates greedily LINES different lines (a million unless given), and a hundredth as many; what is
compared is the most memory that each took.
"""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.cold import small_model
from benchmarks.figure import Figure, dragoman
from benchmarks.figure import run as run_command

_MANY = 1_000_000


def run() -> Iterator[Figure]:
    """Translate few lines, and many."""
    many = int(os.environ.get("LINES", _MANY))
    with tempfile.TemporaryDirectory() as place:
        room = Path(place)
        model = small_model(room)
        found = {}
        for count in (many // 100, many):
            _write(room / "lines", count)
            words = dragoman("translate", "-m", model, "--beam", "1", "--max-length", "3", "--quiet")
            script = 'exec "$@" < lines > out'
            ran = run_command(["sh", "-c", f"cd {room} && {script}", "sh", *words])
            written = sum(1 for _ in (room / "out").open("rb"))
            if written != count:
                raise SystemExit(f"{count:,} lines in, but {written:,} out")
            found[count] = ran
    few, lot = found[many // 100], found[many]
    more = lot.megabytes - few.megabytes
    yield Figure(
        f"{many:,} lines: {lot.megabytes:.0f} MB, {more:+.0f} MB against {many // 100:,} lines (at most +100 wanted); "
        f"{many / lot.seconds:,.0f} lines/s with three pieces each",
        more <= 100 if many >= _MANY else None,
    )


def _write(path: Path, count: int) -> None:
    """Write different lines, without end the same words."""
    words = ("river", "bank", "dog", "letter", "house", "street", "boat", "teacher", "garden", "book")
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            digits = [words[int(digit)] for digit in f"{number:07d}"]
            file.write(" ".join(digits) + "\n")
