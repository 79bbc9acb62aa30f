"""What was measured: kept as JSON, each benchmark with its date and machine, and shown as a table."""

import datetime as dt
import json
import os
import platform
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.figure import Figure

RESULTS = Path(__file__).parent / "results.json"
_WHENCE = (
    "Made by `python -m benchmarks --figures` from `benchmarks/results.json`. ✓ is a figure that was set out for and "
    "reached, ✗ one that was not."
)
_MARKS = {True: "✓", False: "✗", None: ""}


def machine() -> str:
    """The day and the machine."""
    return f"{dt.date.today()}, {os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"


class Results:
    """The figures of each benchmark's last run."""

    def __init__(self, path: Path, found: dict[str, Any]) -> None:
        self._path, self._found = path, found

    @classmethod
    def read(cls, path: Path) -> "Results":
        """Read what was measured before, if anything was."""
        return cls(path, json.loads(path.read_text(encoding="utf-8")) if path.exists() else {})

    def collect(self, name: str, figures: Iterable[Figure]) -> Iterator[Figure]:
        """Pass a benchmark's figures on, and keep them once it has ended."""
        kept = []
        for figure in figures:
            kept.append(figure._asdict())
            yield figure
        self._found[name] = {"measured": machine(), "figures": kept}
        self._path.parent.mkdir(exist_ok=True)
        self._path.write_text(json.dumps(self._found, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

    def missed(self, names: Iterable[str]) -> bool:
        """Tell whether one of these benchmarks missed a figure."""
        return any(figure["met"] is False for name in names for figure in self._found.get(name, {}).get("figures", ()))

    def table(self, names: Collection[str] | None = None) -> str:
        """The figures that were set out for, losses and wins alike, as a table in Markdown; of all, or of some."""
        found = {name: result for name, result in self._found.items() if names is None or name in names}
        return _table(found, lambda figure: figure["met"] is not None)

    def page(self) -> str:
        """All figures, as a page in Markdown."""
        return f"# Every figure of the last runs\n\n{_WHENCE}\n\n{_table(self._found, lambda _: True)}"


def _table(found: dict[str, Any], is_shown: Callable[[dict[str, Any]], bool]) -> str:
    rows = ["| | measured | |", "| --- | --- | --- |"]
    for name, result in found.items():
        shown = filter(is_shown, result["figures"])
        rows += [f"| {name} | {_cell(figure['text'])} | {_MARKS[figure['met']]} |" for figure in shown]
    days = sorted({result["measured"] for result in found.values()})
    return "\n".join([*rows, "", "Measured: " + "; ".join(days) + "."])


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
