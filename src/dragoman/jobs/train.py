"""Train a translator: from files of parallel text to a model directory.

`train` is what `dragoman train` calls and what a notebook calls. It joins what stays apart elsewhere: training, which
never decodes, and the engine, which never learns.
"""

import shutil
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dragoman.checkpoint import ModelDirectory
from dragoman.config import Recipe, Training
from dragoman.errors import InterruptedByUserError, TrainingError, UnfinishedError
from dragoman.jobs.change import Started, look_before
from dragoman.jobs.events import Finished, Finishing, Noted, Observer, Planned, Preparing, Ready
from dragoman.jobs.finish import finish, search_as_finished
from dragoman.jobs.journal import Journal
from dragoman.jobs.judge import Judge, time_comparing
from dragoman.jobs.languages import between_languages_of
from dragoman.jobs.prepare import DEV, Prepared, is_prepared, load_prepared, prepare
from dragoman.jobs.request import Request, Wishes, begin, keep, made, refuse, take_up, with_end
from dragoman.jobs.start import PASSES, begin_from, copy_model, open_copy
from dragoman.recipe import parse_recipe, read_recipe
from dragoman.training.forecast import count_parameters
from dragoman.training.sizes import default_processes

if TYPE_CHECKING:
    from dragoman.data.batches import Batches
    from dragoman.training.crew import Crew
    from dragoman.training.loop import Clock
    from dragoman.training.state import Position

_KEPT = frozenset({"log.jsonl", "curves.svg", "request.json", "corpus.json", DEV})

# torch is imported inside functions: this module must load where it is not installed.


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
    start: Path | str | None = None,
    mix: Sequence[Path | str] = (),
    mix_share: float | None = None,
    old_test: Sequence[Path | str] = (),
    resume: bool = False,
    observe: Observer = lambda _: None,
    started: float | None = None,
) -> Path:
    """Train a model on parallel text into the directory `out`, and return it.

    Give `minutes`, which is a promise counted from `started` (by default: now), or `steps`. `settings` are overrides
    such as "model.width=256". With `resume`, everything but `out` comes from the directory; `minutes` or `steps`, if
    given, are another end than was planned. `observe` is told what happens.

    `start` is a model to begin from: its vocabulary, network and weights are kept, and without `minutes` or `steps` the
    text is seen a few times. Its old domain can be judged by too, before and after (`old_test`). Other pairs, such as
    those of the old domain, can be mixed in (`mix`): they make up a share of every epoch (`mix_share`).
    """
    _need_torch()
    from dragoman.training.state import lock, saving_failed

    started = time.monotonic() if started is None else started
    out = Path(out)
    run = out / "run"
    wishes = Wishes(inputs, minutes, steps, dev, test, recipe, settings, start, mix, mix_share, old_test)
    refuse(out, resume=resume, given=wishes.given())
    with lock(run), made(out), stopping() as stop:
        request = take_up(run) if resume else None
        if request is None:
            request = begin(out, wishes, (source_language, target_language))
        if resume and (out / "card.json").exists():
            _clear(run)
            return out
        try:
            asked = with_end(request, minutes, steps)
            if not (run / "state.json").exists():
                keep(run, asked)
            _Training(out, asked, observe, stop, started, anew=asked != request).run()
        except OSError as error:
            raise saving_failed(run, error) from error
    return out


def _need_torch() -> None:
    try:
        import torch
    except ImportError as error:
        raise TrainingError(
            "training needs PyTorch, which is not installed",
            hint="in dragoman's directory: pip install '.[train]' (the README says how to get the small CPU build)",
        ) from error
    del torch


@contextmanager
def stopping() -> Iterator[Callable[[], bool]]:
    """Turn Ctrl-C and SIGTERM into a wish to stop, asked for between updates; a second Ctrl-C stops at once."""
    wishes: list[int] = []

    def wish(number: int, _frame: object) -> None:
        if wishes and number == signal.SIGINT:
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
        self, out: Path, request: Request, observe: Observer, stop: Callable[[], bool], started: float, *, anew: bool
    ) -> None:
        self.out, self.directory, self.request, self.anew = out, out / "run", request, anew
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
        from dragoman.training.state import load_state

        parameters = count_parameters(prepared.recipe.model, len(prepared.tokenizer), prepared.recipe.pieces.max_length)
        self.observe(Ready(prepared, parameters))
        saved = load_state(self.directory)
        judge, batches = Judge(prepared, self.directory / "score"), _batches(prepared)
        started = self._look_before(prepared)
        if saved is None:
            position, seconds = self._plan(prepared, batches, judge, crew, later=_comparing(prepared, started))
            resumed_at = 0
        learner = Learner(prepared.recipe, len(prepared.tokenizer), crew)
        if saved is not None:
            position, arrays = saved
            if self.anew:
                self._end_otherwise(prepared.recipe.training, position, arrays)
            learner.restore(arrays)
            resumed_at, seconds = position.update, None
            self.started = time.monotonic()
        elif (model := open_copy(self.directory)) is not None:
            begin_from(learner, model)
        clock = Clock(self.started, position.elapsed)
        if saved is None:
            position.begun = clock.elapsed()
        journal = Journal(self.directory, position.log_bytes, self.observe)
        plan = position.plan
        self.observe(Planned(plan.schedule.updates, plan.scorings, plan.minutes, resumed_at, seconds, clock.elapsed()))
        loop = Loop(
            learner=learner,
            batches=batches,
            run=self.directory,
            clock=clock,
            score=judge.score,
            observe=journal.observe,
            stop=self.stop,
            log_bytes=journal.size,
            patience=prepared.recipe.training.patience,
            save_seconds=prepared.recipe.training.save_seconds,
            begun=started is not None,
        )
        if not learn(loop, position):
            self._interrupted(f"saved after update {position.update:,} of {position.plan.schedule.updates:,}")
        journal.draw()
        self._finish(prepared, position, clock, started)

    def _end_otherwise(self, settings: Training, position: "Position", arrays: Mapping[str, Any]) -> None:
        """Give a training that goes on the end that is asked for now, and save that before anything else."""
        from dragoman.training.plan import end_otherwise
        from dragoman.training.state import save_state

        minutes, steps, made = self.request.minutes, self.request.steps, position.update
        learning = position.elapsed - position.begun
        updates = steps if minutes is None else position.plan.updates_in(minutes, position.elapsed, made, learning)
        if updates is None or updates <= made:
            used = f"{position.elapsed / 60:.1f} minutes and {made:,} updates"
            raise TrainingError(f"{used} have been used already", hint="give a later end, or resume without one")
        position.plan = end_otherwise(position.plan, settings, made, updates)._replace(minutes=minutes)
        save_state(self.directory, position, arrays)
        keep(self.directory, self.request)

    def _finish(self, prepared: Prepared, position: "Position", clock: "Clock", started: Started | None) -> None:
        from dragoman.training.state import load_best

        self.observe(Finishing(position.best_update))
        weights = load_best(self.directory, position)
        training = {
            "updates": position.update,
            "epochs": position.epoch,
            "best_update": position.best_update,
            "seconds": round(clock.elapsed(), 1),
            "parameters": sum(a.size for a in weights.values()),
            "minutes": self.request.minutes,
            "steps": self.request.steps,
        }
        card = finish(self.out, prepared, weights, training, started)
        _clear(self.directory)
        self.observe(Finished(card, clock.elapsed()))

    def _look_before(self, prepared: Prepared) -> Started | None:
        """What the model that the training starts from makes of the texts that will be judged."""
        model = open_copy(self.directory)
        if model is None:
            return None
        self.observe(Preparing("translating as it was before", 0))
        new, old = ([source for source, _ in pairs] for pairs in (prepared.judged, prepared.old))
        before = look_before(self.directory, new, old, search_as_finished(prepared))
        name, weights = Path(self.request.start).name, model.card["sha256"]["weights.safetensors"]
        return Started(name, weights, before, model.attribution())

    def _prepare(self) -> Prepared:
        if is_prepared(self.directory):
            return load_prepared(self.directory)
        model = self._copy_start()

        def tell(what: str, done: int) -> None:
            self._check_stop(what)
            self.observe(Preparing(what, done))

        recipe = self._recipe()
        with between_languages_of(model, recipe) if model else nullcontext():
            prepared = prepare(self.directory, self.request, recipe, model, tell)
        for name in ("swapped", "spelt"):
            if told := prepared.corpus.get(name):
                self.observe(Noted(told))
        if not (prepared.recipe.source_language and prepared.recipe.target_language):
            self.observe(Noted("which languages these are was not said (--from, --to), so the model cannot be served"))
        return prepared

    def _copy_start(self) -> ModelDirectory | None:
        """Copy the model to start from into the run directory, once."""
        if self.request.start and open_copy(self.directory) is None:
            self.observe(Preparing("copying the model to start from", 0))
            copy_model(ModelDirectory(Path(self.request.start)), self.directory)
        return open_copy(self.directory)

    def _recipe(self) -> Recipe:
        """The recipe as it was filled in, or before that as it was asked for."""
        if is_prepared(self.directory):
            return read_recipe(self.directory / "recipe.toml")
        return parse_recipe(self.request.recipe, where="the recipe")

    def _plan(
        self, prepared: Prepared, batches: "Batches", judge: Judge, crew: "Crew", *, later: float
    ) -> tuple["Position", float | None]:
        """Fix the number of updates: as asked for, or as many as fit into the time at the speed measured now.

        `later` is how many seconds something will take after the last update that only this training has to do.
        """
        from dragoman.training.measure import measure_update
        from dragoman.training.plan import Speed, plan_minutes, plan_updates
        from dragoman.training.state import Position

        settings = prepared.recipe.training
        self.observe(Preparing("measuring the machine", 0))
        budget = (self.request.minutes or 0.3) * 60
        seconds = min(12.0, 0.03 * budget)
        update = measure_update(prepared.recipe, len(prepared.tokenizer), batches, crew, seconds=seconds)
        if self.request.minutes is None:
            steps = self.request.steps or PASSES * len(batches.costs())
            return Position(plan_updates(settings, steps)), update
        scoring = judge.measure()
        elapsed = time.monotonic() - self.started + (scoring if self.request.start else 0)  # the start is scored too
        speed = Speed(update, scoring, judge.finishing() + later, judge.translating())
        if elapsed + speed.finishing + scoring + update > budget:
            raise UnfinishedError(
                f"--minutes {self.request.minutes:g} is too short: preparing took {elapsed:.0f} s "
                f"and finishing needs about {speed.finishing:.0f} s",
                hint=f"what was prepared is kept; give it more: dragoman train --resume --out {self.out} --minutes …",
            )
        return Position(plan_minutes(settings, self.request.minutes, elapsed, speed)), update

    def _check_stop(self, what: str) -> None:
        if self.stop():
            self._interrupted(f"stopped while {what}" if not is_prepared(self.directory) else what)

    def _interrupted(self, what: str) -> None:
        raise InterruptedByUserError(what, hint=f"go on with: dragoman train --resume --out {self.out}")


def _comparing(prepared: Prepared, started: Started | None) -> float:
    """Seconds that it will take to translate the old domain's text again, and to compare both with what was before."""
    if started is None:
        return 0.0
    return started.before.seconds + time_comparing([*prepared.judged, *prepared.old], prepared.recipe.target_language)


def _clear(run: Path) -> None:
    """Take away what only an unfinished training needs."""
    for path in run.iterdir():
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif path.name not in _KEPT:
            path.unlink()


def _batches(prepared: Prepared) -> "Batches":
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
        joined=recipe.training.joined,
    )
