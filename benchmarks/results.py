"""What was measured: kept as JSON, each benchmark with its date and machine, and shown as a table."""

import datetime as dt
import json
import os
import platform
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.figure import Figure

RESULTS = Path(__file__).parent / "results.json"
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

    def table(self) -> str:
        """A table in Markdown, losses and wins alike."""
        rows = ["| | measured | |", "| --- | --- | --- |"]
        for name, result in self._found.items():
            rows += [f"| {name} | {figure['text']} | {_MARKS[figure['met']]} |" for figure in result["figures"]]
        days = sorted({result["measured"] for result in self._found.values()})
        return "\n".join([*rows, "", "Measured: " + "; ".join(days) + "."])
