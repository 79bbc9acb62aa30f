"""Several trainings to look at, at once: a row for each in a terminal, lines with their names elsewhere."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from dragoman.cli.live import Lines, Watched, clock
from dragoman.jobs.events import Finished, Noted, Observer
from dragoman.training.events import Updated

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

_DRAW_SECONDS = 0.25

Follow = Callable[[str, Path], AbstractContextManager[Observer]]
"""Begins to show a training, of which the name and the directory are given."""


@contextmanager
def follow_several(*, quiet: bool = False) -> Iterator[Follow]:
    """Show trainings on stderr while they run; several threads may tell of them at once."""
    from rich.console import Console

    console = Console(stderr=True, highlight=False)
    if quiet:
        yield lambda *_: nullcontext(lambda _: None)
    elif console.is_terminal:
        from rich.live import Live

        with Live(console=console, auto_refresh=False, transient=True) as live:
            yield _Rows(live).follow
    else:
        yield lambda name, out: nullcontext(Lines(Watched(out), name).observe)


class _Rows:
    """The trainings at work, each in its row; of one that has ended a line stays above them."""

    def __init__(self, live: "Live") -> None:
        self._live, self._lock = live, Lock()
        self._watched: dict[str, Watched] = {}
        self._drawn = 0.0

    @contextmanager
    def follow(self, name: str, out: Path) -> Iterator[Observer]:
        watched = Watched(out)
        with self._lock:
            self._watched[name] = watched

        def observe(event: Any) -> None:
            with self._lock:
                watched.see(event)
                if isinstance(event, Noted):
                    self._live.console.print(f"{name}: {event.text}", markup=False)
                if not isinstance(event, Updated) or time.monotonic() - self._drawn > _DRAW_SECONDS:
                    self._draw()

        try:
            yield observe
        finally:
            with self._lock:
                del self._watched[name]
                self._live.console.print(f"{name}: {_outcome(watched.finished)}", markup=False)
                self._draw()

    def _draw(self) -> None:
        self._drawn = time.monotonic()
        self._live.update(picture(self._watched), refresh=True)


def _outcome(finished: Finished | None) -> str:
    if finished is None:
        return "did not come to its end"
    dev = finished.card["dev"]
    return f"done in {clock(finished.elapsed)}: dev chrF {dev['chrf']['score']}, BLEU {dev['bleu']['score']}"


def picture(trainings: dict[str, Watched]) -> "RenderableType":
    """A row for each training: its name, how far it is, and how well it does."""
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    rows = Table.grid(padding=(0, 2))
    for name, watched in trainings.items():
        if watched.last is None or watched.doing != "training":
            doing = "measuring" if watched.finished else watched.doing
            rows.add_row(Text(name), Text(f"{doing} …", style="cyan"))
            continue
        score = f"dev chrF {watched.scores[-1]:.1f}" if watched.scores else ""
        rows.add_row(
            Text(name),
            ProgressBar(total=1.0, completed=watched.progress(), width=20),
            Text(f"{watched.last.update:,} of {watched.updates:,}"),
            Text(f"loss {watched.loss:.3f}", style="dim"),
            Text(watched.time_left(), style="dim"),
            Text(score, style="green"),
        )
    return rows
