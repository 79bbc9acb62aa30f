"""Several runs of a comparison at once, each in a process of its own that has a share of the cores to itself.

A small network cannot keep many cores busy, and preparing and measuring use one: several runs at once take less time
than one after the other. All have as many cores and as many neighbours, so the terms stay equal.

What passes between the processes is described in `dragoman.jobs.comparison.alone`.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Lock
from typing import Any, NamedTuple

from dragoman import errors
from dragoman.errors import InterruptedByUserError, RecipeError, TrainingError
from dragoman.jobs import events as around
from dragoman.jobs.comparison.work import Data, Work
from dragoman.jobs.events import Observer
from dragoman.jobs.train import stopping
from dragoman.machine import cores, environment_of_programs
from dragoman.training import events as inside

_LISTEN_SECONDS = 0.5


class Beginning(NamedTuple):
    """A run that is to be made, and who looks on."""

    work: Work
    watch: Callable[[], AbstractContextManager[Observer]]


def share_cores(at_once: int) -> list[list[int]]:
    """As many shares of the cores, all equally large."""
    if at_once > cores():
        raise RecipeError(
            f"{at_once} trainings at once need {at_once} cores, but there are {cores()}",
            hint=f"give --at-once {cores()}, or less",
        )
    if not hasattr(os, "sched_setaffinity"):
        raise RecipeError(
            "on this system a training cannot be given cores of its own",
            hint="leave --at-once out, and one comes after the other",
        )
    every, size = sorted(os.sched_getaffinity(0)), cores() // at_once
    return [every[n * size : (n + 1) * size] for n in range(at_once)]


def threads_on_shares(count: int) -> ThreadPoolExecutor:
    """So many threads, each living on its share of the cores, which every process that it starts inherits."""
    shares: SimpleQueue[list[int]] = SimpleQueue()
    for share in share_cores(count):
        shares.put(share)
    return ThreadPoolExecutor(count, initializer=lambda: os.sched_setaffinity(0, shares.get()))


def make_side_by_side(
    runs: Sequence[Beginning], out: Path, data: Data, at_once: int
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Make all runs; yield the number of each that has ended, and its figures.

    When one fails, or a person wants to stop, the others are asked to save, and what they still found is yielded first.
    """
    if not runs:
        return
    children, failed = _Children(out, data), []
    with stopping() as stop, threads_on_shares(at_once) as threads:
        try:
            numbers = {threads.submit(children.make, run): number for number, run in enumerate(runs)}
            waiting = set(numbers)
            while waiting:
                done, waiting = wait(waiting, _LISTEN_SECONDS, FIRST_COMPLETED)
                failed += [error for one in done if (error := one.exception()) is not None]
                if failed or stop():
                    children.end()
                for one in done:
                    if one.exception() is None:
                        yield numbers[one], one.result()
        except KeyboardInterrupt:  # the second
            children.kill()
            raise
        finally:
            children.end()
    if failed:
        raise min(failed, key=lambda error: isinstance(error, InterruptedByUserError))


class _Children:
    """The processes at work, each started by a thread that lives on its share of the cores."""

    def __init__(self, out: Path, data: Data) -> None:
        self._asked = {
            "out": str(out),
            "data": [*([str(path) for path in paths] for paths in data[:3]), *data[3:]],
        }
        self._lock = Lock()
        self._alive: set[subprocess.Popen[str]] = set()
        self._ending = False

    def end(self) -> None:
        """Ask all that are alive, once, to save and end; start no other."""
        with self._lock:
            if not self._ending:
                self._ending = True
                for child in self._alive:
                    child.terminate()

    def kill(self) -> None:
        """End all at once, whatever was saved."""
        with self._lock:
            self._ending = True
            for child in self._alive:
                child.kill()

    def make(self, run: Beginning) -> dict[str, Any]:
        """Make a run, and tell whoever looks on what happens; threads do so at the same time."""
        self._refuse_more()
        with run.watch() as observe:
            child = self._start()
            try:
                self._ask(child, run.work)
                return _follow(child, run.work, observe)
            finally:
                child.terminate()  # does nothing to one that has ended
                child.wait()
                with self._lock:
                    self._alive.remove(child)

    def _start(self) -> subprocess.Popen[str]:
        """Start a process that Ctrl-C does not reach: it is told by `end`, and only once, to save."""
        with self._lock:
            self._refuse_more()
            child = subprocess.Popen(
                [sys.executable, "-m", "dragoman.jobs.comparison.alone"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                start_new_session=True,
                env=environment_of_programs(),
            )
            self._alive.add(child)
        return child

    def _refuse_more(self) -> None:
        if self._ending:
            raise InterruptedByUserError("stopped, and what was begun is saved", hint="go on")

    def _ask(self, child: subprocess.Popen[str], work: Work) -> None:
        asked = {**self._asked, "model": str(work.model), "settings": list(work.settings), "budget": list(work.budget)}
        assert child.stdin is not None
        with suppress(BrokenPipeError), child.stdin:  # of one that is gone, `_follow` tells
            child.stdin.write(json.dumps(asked) + "\n")


def _follow(child: subprocess.Popen[str], work: Work, observe: Observer) -> dict[str, Any]:
    """Pass on what a process tells until it tells its figures."""
    assert child.stdout is not None
    with child.stdout:
        for line in child.stdout:
            match json.loads(line):
                case {"event": name, "fields": fields}:
                    observe(_EVENTS[name](*fields))
                case {"figures": figures}:
                    return dict(figures)
                case {"error": [kind, message, hint]}:
                    raise getattr(errors, kind)(message, hint=hint)
                case {"broken": trace}:
                    raise RuntimeError(f"{work.model.name}: {trace}")
    raise TrainingError(
        f"{work.model.name}: its process ended with {child.wait()} and without a word",
        hint="give the same command again, and it goes on where it was saved",
    )


_EVENTS: dict[str, Callable[..., Any]] = {
    kind.__name__: kind
    for kind in (
        *(around.Preparing, around.Noted, around.Planned, around.Finishing, around.Finished),
        *(inside.Updated, inside.Scored, inside.Replanned, inside.Saved),
    )
}
