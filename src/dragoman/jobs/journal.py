"""The log of a training: a JSON line for what happened, and curves drawn from them."""

import json
import os
import time
from pathlib import Path
from typing import Any

from dragoman.checkpoint import write_bytes
from dragoman.draw.curves import Series, svg_curves
from dragoman.jobs.events import Observer
from dragoman.training.events import Event, Replanned, Saved, Scored, Updated

_UPDATES_A_LINE = 10


class Journal:
    """Writes run/log.jsonl and run/curves.svg, and passes every event on.

    A resumed training cuts the log to what had happened at its save, so the log never tells anything twice.
    """

    def __init__(self, run: Path, size: int, observe: Observer) -> None:
        self._path, self._curves = run / "log.jsonl", run / "curves.svg"
        self._pass_on = observe
        known = self._path.read_bytes()[:size] if self._path.exists() else b""
        with self._path.open("ab") as file:
            file.truncate(known.rfind(b"\n") + 1)  # whole lines only, whatever became of the file
        self._losses: list[float] = []

    def size(self) -> int:
        """Bytes of the log so far, all of them on disk: a save that counts them outlives a power cut."""
        with self._path.open("ab") as file:
            os.fsync(file.fileno())
            return file.tell()

    def observe(self, event: Event) -> None:
        """Write an event down and pass it on; of updates the mean of every few."""
        match event:
            case Updated():
                self._losses.append(event.loss)
                if event.update % _UPDATES_A_LINE == 0:
                    loss = sum(self._losses) / len(self._losses)
                    self._losses.clear()
                    self._write("update", {**event._asdict(), "loss": round(loss, 5)})
            case Scored() | Replanned():
                self._write(type(event).__name__.lower(), event._asdict())
            case Saved():
                self.draw()
        self._pass_on(event)

    def draw(self) -> None:
        """Draw the curves anew."""
        events = read_log(self._path)
        updates = [e for e in events if e["event"] == "update"]
        scored = [e for e in events if e["event"] == "scored"]
        series = [
            Series("loss a piece", "training", [e["update"] for e in updates], [e["loss"] for e in updates]),
            Series("dev chrF", "chrF", [e["update"] for e in scored], [e["chrf"] for e in scored], "highest"),
            Series("learning rate", "rate", [e["update"] for e in updates], [e["rate"] for e in updates]),
        ]
        drawn = [one for one in series if one.values]
        if drawn:
            write_bytes(self._curves, svg_curves(drawn, title="Training").encode())

    def _write(self, name: str, tree: dict[str, Any]) -> None:
        line = {"event": name, "time": round(time.time(), 1), **tree}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def read_log(path: Path) -> list[dict[str, Any]]:
    """Read what a journal wrote."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
