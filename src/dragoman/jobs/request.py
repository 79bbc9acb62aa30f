"""What a training was asked to do, and the directory that it was asked to do it in."""

import dataclasses
import json
import math
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from dragoman.checkpoint import ModelDirectory, find_model, write_json
from dragoman.config import Recipe
from dragoman.data.corpus import complete_languages
from dragoman.errors import DragomanError, InterruptedByUserError, ModelError, TrainingError, UnfinishedError
from dragoman.jobs.start import MIX_SHARE, PASSES, start_recipe
from dragoman.recipe import override, write_recipe
from dragoman.training.forecast import Effort

_ENDS = ("--minutes", "--steps")


class Wishes(NamedTuple):
    """What a person said."""

    inputs: Sequence[Path | str]
    minutes: float | None
    steps: int | None
    dev: Sequence[Path | str]
    test: Sequence[Path | str]
    recipe: Recipe | None
    settings: Sequence[str]
    start: Path | str | None
    mix: Sequence[Path | str]
    mix_share: float | None
    old_test: Sequence[Path | str]

    def given(self) -> list[str]:
        """The names of what was said at all, as the command has them."""
        names = {"inputs": "inputs", "settings": "--set"}
        return [names.get(n, f"--{n.replace('_', '-')}") for n, value in self._asdict().items() if value]

    def whole_recipe(self, spoken: tuple[str, str]) -> Recipe:
        """The recipe with all that was said of it, languages included."""
        if self.start is not None:
            return start_recipe(ModelDirectory(Path(self.start)), self.recipe, self.settings, spoken)
        return speak(override(self.recipe or Recipe(), self.settings), spoken, self.inputs)


@dataclasses.dataclass(frozen=True)
class Request:
    """What is asked for; kept in the run directory, so that a training can be taken up without saying it again."""

    train: list[str]
    dev: list[str]
    test: list[str]
    """Read only to keep its sources out of training."""
    minutes: float | None
    steps: int | None
    recipe: str
    start: str = ""
    """The model to start from."""
    old_test: list[str] = dataclasses.field(default_factory=list)
    """Not asked for without a model to start from."""
    mix: list[str] = dataclasses.field(default_factory=list)
    """Other pairs to mix in, such as those of the old domain."""
    mix_share: float = MIX_SHARE

    def effort(self) -> Effort:
        """How much is asked for."""
        said = self.minutes is not None or self.steps is not None
        return Effort(self.minutes, self.steps, None if said else PASSES)


def take_up(run: Path) -> Request | None:
    """Read what was asked for in a run directory, if anything was."""
    try:
        return Request(**json.loads((run / "request.json").read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError) as error:
        raise TrainingError(
            f"{run / 'request.json'}: cannot be read ({error})", hint="delete the directory and train again"
        ) from error


def begin(out: Path, wishes: Wishes, spoken: tuple[str, str]) -> Request:
    """Turn wishes into a request, and write it down; `spoken` are the languages, as far as they were said."""
    if wishes.mix_share is not None and not wishes.mix:
        raise TrainingError(
            "--mix-share can only be given together with --mix", hint="name the pairs to mix in with --mix"
        )
    request = Request(
        train=_names(wishes.inputs),
        dev=_names(wishes.dev),
        test=_names(wishes.test),
        minutes=wishes.minutes,
        steps=wishes.steps,
        recipe=write_recipe(wishes.whole_recipe(spoken)),
        start=str(find_model(wishes.start).absolute()) if wishes.start is not None else "",
        old_test=_names(wishes.old_test),
        mix=_names(wishes.mix),
        mix_share=MIX_SHARE if wishes.mix_share is None else wishes.mix_share,
    )
    _check(request)
    keep(out / "run", request)
    return request


def keep(run: Path, request: Request) -> None:
    """Write down what is asked for."""
    write_json(run / "request.json", dataclasses.asdict(request))


def with_end(request: Request, minutes: float | None, steps: int | None) -> Request:
    """Ask for another end of a training that goes on, if there is one to ask for."""
    if minutes is None and steps is None:
        return request
    if minutes is not None and request.minutes is None:
        raise TrainingError(
            "this training was planned in updates, not in minutes", hint="change its end with --steps instead"
        )
    changed = dataclasses.replace(request, minutes=minutes, steps=steps)
    _check(changed)
    return changed


def speak(recipe: Recipe, spoken: tuple[str | None, str | None], inputs: Sequence[Path | str]) -> Recipe:
    """Fill the languages in: as given, as in the recipe, or as the files' names and headers tell."""
    said = spoken[0] or recipe.source_language, spoken[1] or recipe.target_language
    source, target = complete_languages(*said, [Path(path) for path in inputs])
    return dataclasses.replace(recipe, source_language=source, target_language=target)


def _names(paths: Sequence[Path | str]) -> list[str]:
    return [str(Path(path).absolute()) for path in paths]


def _check(request: Request) -> None:
    """Check that there is an end, and that the parts go together."""
    if (request.minutes is None) == (request.steps is None) and (request.steps is not None or not request.start):
        raise TrainingError(
            "say how long to train, in one way", hint="give --minutes, or --steps for a number of updates"
        )
    ends = [limit for limit in (request.minutes, request.steps) if limit is not None]
    if not all(0 < limit < math.inf for limit in ends):
        raise TrainingError("there is no time to train in", hint="--minutes and --steps must be above 0, and finite")
    if request.old_test and not request.start:
        raise TrainingError(
            "--old-test can only be given together with --start",
            hint="name the model to start from with --start, or give the file as --test",
        )
    if not 0 < request.mix_share < 1:
        raise TrainingError(
            f"--mix-share is {request.mix_share:g}, but must be above 0 and below 1",
            hint="0.3 makes three tenths of every epoch pairs of --mix",
        )


def refuse(out: Path, *, resume: bool, given: list[str]) -> None:
    """Refuse a directory that is not free, or one that holds nothing to go on with, before anything is touched."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        holds = sorted(path.name for path in out.iterdir())
    except OSError as error:
        raise ModelError(f"{out}: cannot be a model directory ({error.strerror})", hint="give another --out") from error
    finished = (out / "card.json").exists()
    ours = finished or (out / "run" / "request.json").exists()
    needless = given if finished else [name for name in given if name not in _ENDS]
    if resume and ours and needless:
        raise TrainingError(
            f"--resume goes on with what was asked for before; it does not take {', '.join(needless)}",
            hint=f"go on from what it learned, with --start {out} and another --out"
            if finished
            else f"leave that out: dragoman train --resume --out {out}",
        )
    if resume and not ours and not needless:
        if not holds:
            out.rmdir()
        raise TrainingError(
            f"{out}: there is no training to go on with",
            hint="start one: dragoman train pairs.tsv --from en --to es --out …",
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
    """Tell whether nothing came of a training here but its lock, and a request that was never written to its end."""
    return {path.name for path in out.rglob("*")} <= {"run", "lock", ".request.json.part"}


@contextmanager
def made(out: Path) -> Iterator[None]:
    """Take the directory away again if the work fails before the first save.

    A person who stops the work wants to go on later, and so does one whose training can be taken up again; what they
    asked for is kept.
    """
    fresh = _only_lock(out)
    try:
        yield
    except DragomanError as error:
        saved = (out / "run" / "state.json").exists()
        if fresh and not saved and not isinstance(error, InterruptedByUserError | UnfinishedError):
            shutil.rmtree(out, ignore_errors=True)
        raise
