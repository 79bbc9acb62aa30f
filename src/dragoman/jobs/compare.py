"""Compare recipes on equal terms: train each on the same data with the same budget, measure all in the same way.

    OUT/data/        the built-in corpus, if no other text is given
    OUT/models/      a model directory for each recipe and seed
    OUT/figures/     what was measured of each, as JSON; and of all in turn, how long they take
    OUT/report.html, report.md, report.json
    OUT/plots/       the pictures that report.md points at

What is finished is not done again: an interrupted comparison goes on where it was, inside a training too.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from dragoman.checkpoint import write_bytes, write_json
from dragoman.data.corpus import read_pairs
from dragoman.errors import RecipeError, TrainingError
from dragoman.jobs.comparison.contest import Contest, Entry
from dragoman.jobs.comparison.figures import Exam
from dragoman.jobs.comparison.findings import Budget, Report, Result, Terms, report
from dragoman.jobs.comparison.side_by_side import Beginning, make_side_by_side
from dragoman.jobs.comparison.times import time_in_turn
from dragoman.jobs.comparison.work import Data, Work, settle, train_and_measure
from dragoman.jobs.events import Observer


class Run(NamedTuple):
    """One recipe with one seed."""

    entry: Entry
    seed: int

    @property
    def name(self) -> str:
        """What its files are called."""
        return f"{self.entry.name}-{self.seed}"


Watch = Callable[[Run, int, int], AbstractContextManager[Observer]]
"""Told which run begins, its number from 1 and how many there are; inside it, someone looks on."""


def unwatched(*_: object) -> AbstractContextManager[Observer]:
    """Nobody looks on."""
    return nullcontext(lambda _: None)


def plan_runs(contest: Contest, seeds: Sequence[int] = (), *, headline: bool = False) -> list[Run]:
    """The runs in the order in which they are made: every recipe once, the headline first, then the other seeds."""
    entries = [entry for entry in contest.entries if entry.headline or not headline]
    runs = [Run(entry, seed) for entry in entries for seed in dict.fromkeys(seeds or entry.seeds)]
    return sorted(runs, key=lambda run: ((seeds or run.entry.seeds).index(run.seed), not run.entry.headline))


def compare(
    contest: Contest,
    runs: Sequence[Run],
    out: Path,
    data: Data,
    budget: Budget,
    watch: Watch = unwatched,
) -> Report:
    """Train and measure what is not done yet, and write the report anew after each run; return the last.

    Where the budget lets several share the machine, those who look on are told by several threads.
    """
    if not runs:
        raise RecipeError(
            "there is nothing to compare", hint="mark recipes with headline = true, or leave --headline out"
        )
    settled, exam = settle(out, data)
    for part in ("models", "figures"):
        (out / part).mkdir(parents=True, exist_ok=True)
    builtin, digest = bool(exam.examples), _digest(settled)
    text = "the built-in corpus" if builtin else ", ".join(path.name for path in settled.train)
    terms = Terms(budget, text, exam)
    results: dict[Run, Result] = {}
    left: list[_Left] = []
    for number, run in enumerate(runs, start=1):
        settings = [*contest.settings(run.entry, builtin=builtin), f"training.seed={run.seed}"]
        key = _key(settings, budget, digest)
        figures = _read(out, run.name, key)
        if figures is not None:
            results[run] = Result(run.entry, run.seed, figures)
            continue
        work = Work(out / "models" / run.name, settings, settled, budget)
        left.append(_Left(run, key, Beginning(work, partial(_watched, out, key, watch, run, number, len(runs)))))
    for one, found in _make(left, out, data, exam, budget.at_once):
        figures = {"key": one.key, **found}
        write_json(_figures(out, one.run.name), figures)
        results[one.run] = Result(one.run.entry, one.run.seed, figures)
        if len(results) < len(runs):
            _write(out, report(contest, [results[run] for run in runs if run in results], terms))
    written = report(contest, _with_times(out, [results[run] for run in runs]), terms)
    _write(out, written)
    return written


class _Left(NamedTuple):
    """A run that is still to be made, and what its figures will depend on."""

    run: Run
    key: str
    beginning: Beginning


def _make(
    left: Sequence[_Left], out: Path, data: Data, exam: Exam, at_once: int
) -> Iterator[tuple[_Left, Mapping[str, Any]]]:
    """Make what is left, one after the other in this process or several at once in others."""
    if at_once > 1:
        for number, found in make_side_by_side([one.beginning for one in left], out, data, at_once):
            yield left[number], found
        return
    for one in left:
        with one.beginning.watch() as observe:
            found = train_and_measure(one.beginning.work, exam, observe)
        yield one, found


@contextmanager
def _watched(out: Path, key: str, watch: Watch, run: Run, number: int, count: int) -> Iterator[Observer]:
    """Note that a run is begun, and let someone look on."""
    with watch(run, number, count) as observe:
        _begin(out, run.name, key)
        yield observe


def _write(out: Path, written: Report) -> None:
    write_bytes(out / "report.html", written.html.encode())
    write_bytes(out / "report.md", written.markdown.encode())
    write_json(out / "report.json", written.tree)
    for name, svg in written.plots.items():
        (out / name).parent.mkdir(exist_ok=True)
        write_bytes(out / name, svg.encode())


def _with_times(out: Path, results: Sequence[Result]) -> list[Result]:
    """Time the first run of every recipe, all in turn, unless these were timed before."""
    first: dict[str, Result] = {}
    for one in results:
        if "failed" not in one.figures:
            first.setdefault(one.entry.name, one)
    key = _hashed([(name, one.figures["key"]) for name, one in first.items()])
    kept = _figures(out, "times")
    times = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    if times.get("key") != key:
        paths = {name: out / "models" / Run(one.entry, one.seed).name for name, one in first.items()}
        times = {"key": key, "times": time_in_turn(paths)}
        write_json(kept, times)
    return [
        one._replace(figures={**one.figures, "times": times["times"][one.entry.name]})
        if first.get(one.entry.name) is one
        else one
        for one in results
    ]


def _digest(data: Data) -> list[str]:
    """What stands in the files, in short."""
    digests = []
    for paths in data[:3]:
        digest = hashlib.sha256()
        for pair in read_pairs(paths, data.source_language or None, data.target_language or None) if paths else ():
            digest.update(f"{pair.source}\t{pair.target}\n".encode("utf-8", "replace"))
        digests.append(digest.hexdigest())
    return digests


def _key(settings: Sequence[str], budget: Budget, digest: Sequence[str]) -> str:
    """What a result depends on, in short: a result of something else is not to be taken for this one's."""
    return _hashed([settings, budget if budget.at_once > 1 else budget[:2], digest])


def _hashed(told: Any) -> str:
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]


def _figures(out: Path, name: str) -> Path:
    return out / "figures" / f"{name}.json"


def _read(out: Path, name: str, key: str) -> dict[str, Any] | None:
    """What was measured before, if it was."""
    path = _figures(out, name)
    try:
        figures: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise TrainingError(
            f"{path}: is damaged ({error})", hint="delete it, and what it tells is measured again"
        ) from error
    if figures.get("key") != key:
        raise _other_terms(out, name, path)
    return figures


def _begin(out: Path, name: str, key: str) -> None:
    """Note what a training is begun with; one that was begun with something else cannot go on as this one."""
    note = out / "models" / f"{name}.key"
    if note.exists() and note.read_text(encoding="utf-8") != key:
        raise _other_terms(out, name, note)
    write_bytes(note, key.encode())


def _other_terms(out: Path, name: str, path: Path) -> TrainingError:
    return TrainingError(
        f"{path}: was made with other settings, another budget or other text",
        hint=f"give another --out, or delete it and {out / 'models' / name}",
    )
