"""Train a translator: from files of parallel text to a model directory.

`train` is what `dragoman train` calls and what a notebook calls. It joins what stays apart elsewhere: training, which
never decodes, and the engine, which never learns.
"""

import dataclasses
import json
import math
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dragoman.checkpoint import write_json
from dragoman.config import Recipe
from dragoman.data.corpus import languages_of
from dragoman.errors import DragomanError, InterruptedByUserError, ModelError, TrainingError
from dragoman.jobs.events import Finished, Finishing, Observer, Planned, Preparing, Ready
from dragoman.jobs.finish import finish
from dragoman.jobs.journal import Journal
from dragoman.jobs.judge import Judge
from dragoman.jobs.prepare import Inputs, Prepared, is_prepared, load_prepared, prepare
from dragoman.recipe import override, parse_recipe, read_recipe, write_recipe
from dragoman.training.plan import Effort, count_parameters, default_processes

if TYPE_CHECKING:
    from dragoman.training.crew import Crew
    from dragoman.training.state import Position

_KEPT = frozenset({"log.jsonl", "curves.svg", "request.json", "corpus.json"})

# torch is imported inside functions: this module must load where it is not installed.


@dataclasses.dataclass(frozen=True)
class Request:
    """What was asked for; kept in the run directory, so that a training can be taken up without saying it again."""

    train: list[str]
    dev: list[str]
    test: list[str]
    minutes: float | None
    steps: int | None
    recipe: str


def train(  # noqa: PLR0913 -- what a person may want to say
    inputs: Sequence[Path | str] = (),
    *,
    out: Path | str,
    source_language: str = "",
    target_language: str = "",
    minutes: float | None = None,
    steps: int | None = None,
    dev: Sequence[Path | str] = (),
    test: Sequence[Path | str] = (),
    recipe: Recipe | None = None,
    settings: Sequence[str] = (),
    resume: bool = False,
    observe: Observer = lambda _: None,
    started: float | None = None,
) -> Path:
    """Train a model on parallel text into the directory `out`, and return it.

    Give `minutes`, which is a promise counted from `started` (by default: now), or `steps`. `settings` are overrides
    such as "model.width=256". With `resume`, everything but `out` comes from the directory. `observe` is told what
    happens.
    """
    _need_torch()
    from dragoman.training.state import lock, saving_failed

    started = time.monotonic() if started is None else started
    out = Path(out)
    run = out / "run"
    given = [name for name, value in _asked(inputs, minutes, steps, dev, test, recipe, settings) if value]
    _refuse(out, resume=resume, given=given)
    with lock(run), _made(out), _stopping() as stop:
        request = _take_up(run) if resume else None
        if request is None:
            whole = _speak(override(recipe or Recipe(), settings), source_language, target_language, inputs)
            files = (_names(inputs), _names(dev), _names(test))
            request = _begin(out, Request(*files, minutes, steps, write_recipe(whole)))
        if resume and (out / "card.json").exists():
            _clear(run)
            return out
        try:
            _Training(out, request, observe, stop, started).run()
        except OSError as error:
            raise saving_failed(run, error) from error
    return out


def _speak(recipe: Recipe, source: str, target: str, inputs: Sequence[Path | str]) -> Recipe:
    """Fill the languages in: as given, as in the recipe, or as the files' names and headers tell."""
    guessed = languages_of([Path(path) for path in inputs])
    return dataclasses.replace(
        recipe,
        source_language=source or recipe.source_language or guessed[0] or "",
        target_language=target or recipe.target_language or guessed[1] or "",
    )


def _names(paths: Sequence[Path | str]) -> list[str]:
    return [str(Path(path).absolute()) for path in paths]


def _need_torch() -> None:
    try:
        import torch
    except ImportError as error:
        raise TrainingError(
            "training needs PyTorch, which is not installed",
            hint="pip install 'dragoman[train]' (the README says how to get the small CPU build)",
        ) from error
    del torch


def _take_up(run: Path) -> Request | None:
    try:
        return Request(**json.loads((run / "request.json").read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError) as error:
        raise TrainingError(
            f"{run / 'request.json'}: cannot be read ({error})", hint="delete the directory and train again"
        ) from error


def _begin(out: Path, request: Request) -> Request:
    """Check that there is an end, and write the request down."""
    if (request.minutes is None) == (request.steps is None):
        raise TrainingError(
            "say how long to train, in one way", hint="give --minutes, or --steps for a number of updates"
        )
    if not 0 < (request.minutes or request.steps or 0) < math.inf:
        raise TrainingError("there is no time to train in", hint="--minutes and --steps must be above 0, and finite")
    write_json(out / "run" / "request.json", dataclasses.asdict(request))
    return request


def _asked(*values: object) -> Iterator[tuple[str, object]]:
    return zip(("inputs", "--minutes", "--steps", "--dev", "--test", "--recipe", "--set"), values, strict=True)


def _refuse(out: Path, *, resume: bool, given: list[str]) -> None:
    """Refuse a directory that is not free, or one that holds nothing to go on with, before anything is touched."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        holds = sorted(path.name for path in out.iterdir())
    except OSError as error:
        raise ModelError(f"{out}: cannot be a model directory ({error.strerror})", hint="give another --out") from error
    ours = (out / "run" / "request.json").exists() or (out / "card.json").exists()
    if resume and ours and given:
        raise TrainingError(
            f"--resume goes on with what was asked for before; it does not take {', '.join(given)}",
            hint=f"leave that out: dragoman train --resume --out {out}",
        )
    if resume and not ours and not given:
        if not holds:
            out.rmdir()
        raise TrainingError(
            f"{out}: there is no training to go on with", hint="start one: dragoman train pairs.tsv --out …"
        )
    if ours and not resume:
        raise TrainingError(
            f"{out}: holds a model or an unfinished training already",
            hint=f"give another directory, delete this one, or go on: dragoman train --resume --out {out}",
        )
    if not ours and holds and not _only_lock(out):
        raise TrainingError(
            f"{out}: is not empty, and what it holds is no training of dragoman's ({', '.join(holds[:3])})",
            hint="give a directory of its own with --out",
        )


def _only_lock(out: Path) -> bool:
    return {path.name for path in out.rglob("*")} <= {"run", "lock"}


@contextmanager
def _made(out: Path) -> Iterator[None]:
    """Take the directory away again if the work fails before the first save.

    A person who stops the work wants to go on later, so what they asked for is kept.
    """
    fresh = _only_lock(out)
    try:
        yield
    except DragomanError as error:
        saved = (out / "run" / "state.json").exists()
        if fresh and not saved and not isinstance(error, InterruptedByUserError):
            shutil.rmtree(out, ignore_errors=True)
        raise


@contextmanager
def _stopping() -> Iterator[Callable[[], bool]]:
    """Turn Ctrl-C and SIGTERM into a wish to stop, asked for between updates; a second Ctrl-C stops at once."""
    wishes: list[int] = []

    def wish(number: int, _frame: object) -> None:
        if wishes:
            raise KeyboardInterrupt
        wishes.append(number)

    try:
        before = {number: signal.signal(number, wish) for number in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # not in the main thread, where signals cannot be caught
        yield lambda: False
        return
    try:
        yield lambda: bool(wishes)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Training:
    """One sitting of a training."""

    def __init__(
        self, out: Path, request: Request, observe: Observer, stop: Callable[[], bool], started: float
    ) -> None:
        self.out, self.directory, self.request = out, out / "run", request
        self.observe, self.stop, self.started = observe, stop, started

    def run(self) -> None:
        """Prepare, plan, learn, finish."""
        from dragoman.training.crew import Crew
        from dragoman.training.memory import keep_memory

        settings = self._recipe().training
        with closing(Crew(settings.processes or default_processes(settings.device))) as crew:
            prepared = self._prepare()
            self._check_stop("the corpus is encoded")
            keep_memory()  # not before: what preparing took is given back
            self._learn(prepared, crew)

    def _learn(self, prepared: Prepared, crew: "Crew") -> None:
        from dragoman.training.learner import Learner
        from dragoman.training.loop import Clock, Loop, learn
        from dragoman.training.state import load_best, load_state

        parameters = count_parameters(prepared.recipe.model, len(prepared.tokenizer), prepared.recipe.pieces.max_length)
        self.observe(Ready(prepared, parameters))
        saved = load_state(self.directory)
        judge = Judge(prepared, self.directory / "score")
        if saved is None:
            position, seconds = self._plan(prepared, judge, crew)
            resumed_at = 0
        learner = Learner(prepared.recipe, len(prepared.tokenizer), crew)
        if saved is not None:
            position, arrays = saved
            learner.restore(arrays)
            resumed_at, seconds = position.update, None
            self.started = time.monotonic()
        clock = Clock(self.started, position.elapsed)
        journal = Journal(self.directory, position.log_bytes, self.observe)
        plan = position.plan
        self.observe(Planned(plan.schedule.updates, plan.scorings, plan.minutes, resumed_at, seconds, clock.elapsed()))
        loop = Loop(
            learner=learner,
            batches=_batches(prepared),
            run=self.directory,
            clock=clock,
            score=judge.score,
            observe=journal.observe,
            stop=self.stop,
            log_bytes=journal.size,
            patience=prepared.recipe.training.patience,
            save_seconds=prepared.recipe.training.save_seconds,
        )
        if not learn(loop, position):
            self._interrupted(f"saved after update {position.update:,} of {position.plan.schedule.updates:,}")
        self.observe(Finishing(position.best_update))
        journal.draw()
        weights = load_best(self.directory, position)
        card = finish(
            self.out,
            prepared,
            weights,
            {
                "updates": position.update,
                "epochs": position.epoch,
                "best_update": position.best_update,
                "seconds": round(clock.elapsed(), 1),
                "parameters": sum(a.size for a in weights.values()),
                "minutes": self.request.minutes,
                "steps": self.request.steps,
            },
        )
        _clear(self.directory)
        self.observe(Finished(card, clock.elapsed()))

    def _prepare(self) -> Prepared:
        if is_prepared(self.directory):
            return load_prepared(self.directory)
        inputs = Inputs(
            *([Path(p) for p in paths] for paths in (self.request.train, self.request.dev, self.request.test))
        )

        def tell(what: str, done: int) -> None:
            self._check_stop(what)
            self.observe(Preparing(what, done))

        effort = Effort(self.request.minutes, self.request.steps)
        return prepare(self.directory, inputs, self._recipe(), effort, tell)

    def _recipe(self) -> Recipe:
        """The recipe as it was filled in, or before that as it was asked for."""
        if is_prepared(self.directory):
            return read_recipe(self.directory / "recipe.toml")
        return parse_recipe(self.request.recipe, where="the recipe")

    def _plan(self, prepared: Prepared, judge: Judge, crew: "Crew") -> tuple["Position", float | None]:
        """Fix the number of updates: as asked for, or as many as fit into the time at the speed measured now."""
        from dragoman.training.measure import measure_update
        from dragoman.training.plan import Speed, plan_minutes, plan_updates
        from dragoman.training.state import Position

        settings = prepared.recipe.training
        self.observe(Preparing("measuring the machine", 0))
        budget = (self.request.minutes or 0.3) * 60
        seconds = min(12.0, 0.03 * budget)
        update = measure_update(prepared.recipe, len(prepared.tokenizer), _batches(prepared), crew, seconds=seconds)
        if self.request.steps is not None:
            return Position(plan_updates(settings, self.request.steps)), update
        assert self.request.minutes is not None
        scoring = judge.measure()
        elapsed = time.monotonic() - self.started
        speed = Speed(update, scoring, judge.finishing())
        if elapsed + speed.finishing + scoring + update > budget:
            raise TrainingError(
                f"{self.request.minutes:g} minutes are too few: preparing took {elapsed:.0f} s "
                f"and finishing needs about {speed.finishing:.0f} s",
                hint="give more --minutes",
            )
        return Position(plan_minutes(settings, self.request.minutes, elapsed, speed)), update

    def _check_stop(self, what: str) -> None:
        if self.stop():
            self._interrupted(f"stopped while {what}" if not is_prepared(self.directory) else what)

    def _interrupted(self, what: str) -> None:
        raise InterruptedByUserError(what, hint=f"go on with: dragoman train --resume --out {self.out}")


def _clear(run: Path) -> None:
    """Take away what only an unfinished training needs."""
    for path in run.iterdir():
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif path.name not in _KEPT:
            path.unlink()


def _batches(prepared: Prepared) -> Any:
    from dragoman.data.batches import Batches

    recipe = prepared.recipe
    assert recipe.training.batch_pieces is not None
    return Batches(
        prepared.store,
        prepared.tokenizer,
        budget=recipe.training.batch_pieces,
        max_length=recipe.pieces.max_length,
        sampling=recipe.pieces.sampling or 0.0,
        seed=recipe.training.seed,
    )
