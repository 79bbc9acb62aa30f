"""A training to look at: a live display in a terminal, plain lines elsewhere."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from dragoman.cli import show
from dragoman.jobs.describe import in_words
from dragoman.jobs.events import Finished, Finishing, Noted, Observer, Planned, Preparing, Ready
from dragoman.text import languages
from dragoman.training.events import Event, Replanned, Saved, Scored, Updated

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live

_BARS = "▁▂▃▄▅▆▇█"
_LINE_SECONDS = 10.0
_DRAW_SECONDS = 0.25

_Event = Preparing | Noted | Ready | Planned | Finishing | Finished | Event


@contextmanager
def follow(out: Path, *, quiet: bool = False) -> Iterator[Observer]:
    """Show a training on stderr while it runs."""
    from rich.console import Console

    console = Console(stderr=True, highlight=False)
    if quiet:
        yield lambda _: None
    elif console.is_terminal:
        from rich.live import Live

        watched = Watched(out)
        with Live(console=console, auto_refresh=False, transient=False) as live:
            yield lambda event: _show(live, watched, event)
    else:
        yield Lines(Watched(out)).observe


class Watched:
    """What is known of a training so far, and how it is put into words."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.doing = "starting"
        self.facts: list[tuple[str, str]] = []
        self.plan: Planned | None = None
        self.updates = 0
        self.last: Updated | None = None
        self.loss = self.speed = 0.0
        self._seen = 0
        self.scores: list[float] = []
        self.sample: tuple[str, str, str] | None = None
        self.notes: list[str] = []
        self.begun = time.monotonic()
        self.finished: Finished | None = None

    def see(self, event: _Event) -> None:
        """Take an event in."""
        match event:
            case Preparing():
                self.doing = event.what + (f", {event.done:,} pairs" if event.done else "")
            case Noted():
                self.notes.append(event.text)
            case Ready():
                self.facts = describe(event)
            case Planned():
                self._begin(event)
            case Updated():
                self._update(event)
            case Scored():
                self.scores.append(event.chrf)
                self.sample = event.sample
            case Replanned():
                self.updates = event.updates
                self.notes.append(f"plan changed from {event.before:,} to {event.updates:,} updates: {event.why}")
            case Finishing():
                self.doing = "exporting and checking the model"
            case Finished():
                self.finished, self.doing = event, "done"
            case _:
                assert isinstance(event, Saved)

    def _begin(self, event: Planned) -> None:
        self.plan, self.updates, self.doing = event, event.updates, "training"
        self.begun = time.monotonic() - event.elapsed
        if event.resumed_at:
            self.notes.append(f"taken up again after update {event.resumed_at:,}")

    def _update(self, event: Updated) -> None:
        self.last = event
        speed = event.pieces / event.seconds
        self._seen += 1
        fresh = 1 / min(50, self._seen)
        self.loss += (event.loss - self.loss) * fresh
        self.speed += (speed - self.speed) * fresh

    def progress(self) -> float:
        """Share of the updates made."""
        return self.last.update / self.updates if self.last and self.updates else 0.0

    def time_left(self) -> str:
        """Time left, by the promise or by the pace."""
        if self.plan is None or self.last is None:
            return ""
        used = time.monotonic() - self.begun
        if self.plan.minutes is not None:
            return f"{clock(max(0.0, self.plan.minutes * 60 - used))} left of {clock(self.plan.minutes * 60)}"
        made = self.last.update - self.plan.resumed_at
        each = (used - self.plan.elapsed) / max(1, made)
        return f"{clock(each * (self.updates - self.last.update))} left"


def clock(seconds: float) -> str:
    """Seconds as 1:02:03 or 2:03."""
    minutes, left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


def describe(ready: Ready) -> list[tuple[str, str]]:
    """What will be trained, on what."""
    prepared = ready.prepared
    recipe, corpus = prepared.recipe, prepared.corpus
    training = recipe.training
    sizes = f"{len(prepared.tokenizer):,} pieces, {ready.parameters:,} parameters"
    dropped = corpus["read"] - corpus["kept"] + corpus["too_many_pieces"]
    source, target = recipe.source_language or "source", recipe.target_language or "target"
    pair = f"{languages.name(source)} → {languages.name(target)}"
    return [
        (
            "corpus",
            f"{pair}: {len(prepared.store):,} pairs to learn from, {len(prepared.dev):,} held out, {dropped:,} dropped",
        ),
        ("model", in_words(recipe.model)),
        ("sizes", f"{sizes}, batches of {training.batch_pieces:,}"),
    ]


def sparkline(values: list[float]) -> str:
    """A row of bars, lowest to highest."""
    if not values:
        return ""
    low, high = min(values), max(values)
    span = (high - low) or 1.0
    return "".join(_BARS[min(7, int((v - low) / span * 7.999))] for v in values[-40:])


class Lines:
    """Plain lines, for logs and pipes; each begins with a name where several trainings write them."""

    def __init__(self, watched: Watched, name: str = "") -> None:
        self._watched, self._name = watched, f"{name}: " if name else ""
        self._last = 0.0

    def observe(self, event: _Event) -> None:
        """Write of an event what is worth a line; of those that come often, one now and then."""
        watched = self._watched
        watched.see(event)
        match event:
            case Ready():
                for name, text in watched.facts:
                    self._say(f"{name}: {text}")
            case Planned():
                self._say(_plan_line(event))
            case Scored():
                self._say(f"update {event.update:,}: dev chrF {event.chrf:.2f}{' (best)' if event.best else ''}")
            case Replanned() | Noted():
                self._say(watched.notes[-1])
            case Finished():
                self._say(closing(watched))
            case Preparing() | Finishing():
                self._every(watched.doing)
            case Updated():
                self._every(
                    f"update {event.update:,} of {watched.updates:,}: loss {watched.loss:.3f}, "
                    f"{watched.speed:,.0f} pieces/s, {watched.time_left()}"
                )
            case _:
                pass

    def _every(self, text: str) -> None:
        if time.monotonic() - self._last > _LINE_SECONDS:
            self._last = time.monotonic()
            self._say(text)

    def _say(self, text: str) -> None:
        with suppress(OSError):  # who reads no more has no need to know, and the training goes on
            sys.stderr.write(f"{self._name}{text}\n")  # in one go: others may write at the same time
            sys.stderr.flush()


def _plan_line(plan: Planned) -> str:
    promise = f", to end within {clock(plan.minutes * 60)} of the start" if plan.minutes is not None else ""
    start = f", from update {plan.resumed_at:,}" if plan.resumed_at else ""
    if plan.minutes is None and plan.seconds_an_update is not None:
        promise = f", which may take about {clock(plan.updates * plan.seconds_an_update)}"
    made, scored = show.count(plan.updates, "update"), show.count(plan.scorings, "scoring")
    return f"plan: {made}, {scored}{promise}{start}"


def closing(watched: Watched) -> str:
    """The last words of a training."""
    assert watched.finished is not None
    card, elapsed = watched.finished
    fast = card["fast"]
    if fast["use"]:
        engine = f"{fast['use']} (chrF float32 {fast['float32']['chrf']}, int8 {fast['int8']['chrf']})"
    else:
        engine = f"plain ({fast['why']})"
    return (
        f"done in {clock(elapsed)}: dev chrF {card['dev']['chrf']['score']}, BLEU {card['dev']['bleu']['score']}; "
        f'engine {engine}; report: {watched.out / "report.html"}; try: dragoman translate -m {watched.out} "…"'
    )


def _show(live: "Live", watched: Watched, event: _Event) -> None:
    watched.see(event)
    drawn = getattr(live, "drawn_at", 0.0)
    if isinstance(event, Updated) and time.monotonic() - drawn < _DRAW_SECONDS:
        return
    live.drawn_at = time.monotonic()  # type: ignore[attr-defined]
    live.update(picture(watched, live.console), refresh=True)


def picture(watched: Watched, console: "Console") -> "RenderableType":
    """The live display."""
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="dim")
    facts.add_column(overflow="fold")
    for name, text in watched.facts:
        facts.add_row(name, text)
    parts: list[RenderableType] = [facts]
    if watched.last is not None:
        bar = Table.grid(padding=(0, 2))
        bar.add_row(
            f"update {watched.last.update:,} of {watched.updates:,}",
            ProgressBar(total=1.0, completed=watched.progress(), width=max(10, min(40, console.width - 60))),
            watched.time_left(),
        )
        parts += [Text(), bar, _numbers(watched)]
    else:
        parts.append(Text(f"{watched.doing} …", style="cyan"))
    if watched.sample is not None:
        parts += [Text(), _sample(watched.sample)]
    parts += [Text(note, style="yellow") for note in watched.notes]
    if watched.finished is not None:
        parts += [Text(), Text(closing(watched), style="green")]
    elif watched.doing not in ("training", "starting") and watched.last is not None:
        parts.append(Text(f"{watched.doing} …", style="cyan"))
    return Group(*parts)


def _numbers(watched: Watched) -> "RenderableType":
    from rich.text import Text

    assert watched.last is not None
    line = Text()
    for name, value in (
        ("loss", f"{watched.loss:.3f}"),
        ("rate", f"{watched.last.rate:.5f}"),
        ("speed", f"{watched.speed:,.0f} pieces/s"),
        ("epoch", f"{watched.last.epoch + 1}"),
    ):
        line.append(f"{name} ", style="dim").append(f"{value}   ")
    if watched.scores:
        line.append("dev chrF ", style="dim").append(f"{watched.scores[-1]:.1f} ", style="bold")
        line.append(sparkline(watched.scores), style="green")
    return line


def _sample(sample: tuple[str, str, str]) -> "RenderableType":
    from rich.table import Table

    rows = Table.grid(padding=(0, 2))
    rows.add_column(style="dim")
    rows.add_column(overflow="fold", max_width=110)
    for name, text, style in zip(("source", "now", "wanted"), sample, ("", "bold", "dim"), strict=True):
        rows.add_row(name, f"[{style}]{_plain(text)}[/]" if style else _plain(text))
    return rows


def _plain(text: str) -> str:
    from rich.markup import escape

    return escape(text)
