"""What was measured: kept as JSON, each benchmark with its date, machine and commit, and shown as a table."""

import datetime as dt
import json
import platform
import re
import string
import subprocess
import traceback
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.figure import Figure, NotHereError
from dragoman.machine import cores

RESULTS = Path(__file__).parent / "results.json"
_WHENCE = (
    "Made by `python -m benchmarks --figures` from `benchmarks/results.json`. ✓ is a figure that was set out for and "
    "reached, ✗ one that was not."
)
_MARKS = {True: "✓", False: "✗", None: ""}
_CPUS = Path("/proc/cpuinfo")
_SIGNATURE = re.compile(r"\((\w+:[^()\s]*\|version:[^()\s]*)\)")
"""How sacrebleu says in which way a score was counted."""


def machine() -> str:
    """The day, the machine, and the commit that is measured."""
    told = _CPUS.read_text(encoding="utf-8") if _CPUS.exists() else ""
    named = re.search(r"^model name\s*: (.*)$", told, re.MULTILINE)
    kind = f"{named[1]}, {platform.machine()}" if named else platform.machine()
    whole = f"{dt.date.today()}, {cores()} cores, {kind}, Python {platform.python_version()}"
    return f"{whole}, commit {commit}" if (commit := _commit()) else whole


def _commit() -> str:
    """The commit, with a + if what is measured has changed since; nothing where there is no repository."""
    try:
        commit = _git("rev-parse", "--short", "HEAD")
        changed = _git("status", "--porcelain", "--", "src", "recipes", "benchmarks", f":!benchmarks/{RESULTS.name}")
    except (OSError, subprocess.CalledProcessError):
        return ""
    return commit + ("+" if changed else "")


def _git(*words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=RESULTS.parent.parent, capture_output=True, text=True, check=True
    ).stdout.strip()


class Results:
    """The figures of each benchmark's last run that came to its end, and those of this run, whatever became of it."""

    def __init__(self, path: Path, found: dict[str, Any]) -> None:
        self._path, self._found = path, found
        self._run: dict[str, Any] = {}

    @classmethod
    def read(cls, path: Path) -> "Results":
        """Read what was measured before, if anything was."""
        return cls(path, json.loads(path.read_text(encoding="utf-8")) if path.exists() else {})

    def collect(self, name: str, figures: Iterable[Figure]) -> Iterator[Figure]:
        """Pass a benchmark's figures on, and keep them once it has ended; if it fails, that is its last figure.

        What failed, or lacked something, is shown in this run's table and not kept: the file goes on telling what was
        measured, and when.
        """
        kept: list[dict[str, Any]] = []
        self._run[name] = {"measured": machine(), "figures": kept}
        try:
            for figure in figures:
                kept.append(figure._asdict())
                yield figure
        except (Exception, SystemExit) as error:  # noqa: BLE001 -- the other benchmarks go on
            ended = _ended_early(error)
            kept.append(ended._asdict())
            yield ended
            return
        self._found[name] = self._run[name]
        self._path.parent.mkdir(exist_ok=True)
        self._path.write_text(json.dumps(self._found, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

    def missed(self) -> bool:
        """Tell whether this run missed a figure, or failed."""
        return any(figure["met"] is False for result in self._run.values() for figure in result["figures"])

    def table(self) -> str:
        """The figures that were set out for, losses and wins alike, and others beside them, as a table in Markdown."""
        return _table(self._found, _is_shown)

    def table_of_run(self) -> str:
        """The same of this run alone."""
        return _table(self._run, _is_shown)

    def page(self) -> str:
        """All figures, as a page in Markdown."""
        return f"# Every figure of the last runs\n\n{_WHENCE}\n\n{_table(self._found, lambda _: True)}"


def _is_shown(figure: dict[str, Any]) -> bool:
    return figure["met"] is not None or figure.get("shown", False)


def _table(found: dict[str, Any], is_shown: Callable[[dict[str, Any]], bool]) -> str:
    rows = ["| | measured | |", "| --- | --- | --- |"]
    letters: dict[str, str] = {}
    for name, result in found.items():
        for figure in filter(is_shown, result["figures"]):
            text = _SIGNATURE.sub(lambda told: f"({_letter(letters, told[1])})", figure["text"])
            rows.append(f"| {name} | {_cell(text)} | {_MARKS[figure['met']]} |")
    counted = [f"({letter}) `{signature}`" for signature, letter in letters.items()]
    below = [f"How sacrebleu counted: {', '.join(counted)}.", ""] if counted else []
    return "\n".join([*rows, "", *below, f"Measured: {_when(found)}."])


def _letter(letters: dict[str, str], signature: str) -> str:
    """The letter that stands for a signature in a table: the same wherever it comes again."""
    return letters.setdefault(signature, string.ascii_lowercase[len(letters)])


def _when(found: dict[str, Any]) -> str:
    """When and on what: once if all are of one day, machine and commit, else with the names of each."""
    names: dict[str, list[str]] = {}
    for name, result in found.items():
        names.setdefault(result["measured"], []).append(name)
    if len(names) == 1:
        return next(iter(names))
    return "; ".join(f"{', '.join(some)}: {when}" for when, some in sorted(names.items()))


def _ended_early(error: BaseException) -> Figure:
    """The last figure of a benchmark that did not come to its end."""
    if isinstance(error, NotHereError):
        return Figure(f"not kept, for not all could be measured: {error}", shown=True)
    traceback.print_exception(error)
    return Figure(f"failed, and what comes after was not measured: {_first_line(error)}", met=False)


def _first_line(error: BaseException) -> str:
    told = str(error).strip() or type(error).__name__
    return told.splitlines()[0][:200]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
