"""The state of a training on disk, from which it goes on as if it had never stopped.

    run/state.json              where the training stands, the plan, and the hash of the arrays below; written last
    run/state-N.safetensors     weights, averages and the optimiser's memory after update N
    run/best-N.safetensors      the averaged weights that scored best so far

Nothing random needs saving: every random number follows from the seed and a counter. A save first writes new files
beside the old ones and then points `state.json` at them, so a kill or a full disk at any instant leaves a good state.
"""

import dataclasses
import errno
import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dragoman.checkpoint import hash_file, read_arrays, write_arrays, write_json
from dragoman.errors import TrainingError
from dragoman.training.plan import Plan
from dragoman.training.schedule import Schedule


@dataclass
class Position:
    """Where a training stands."""

    plan: Plan
    update: int = 0
    epoch: int = 0
    taken: int = 0
    """Batches taken of this epoch."""
    elapsed: float = 0.0
    """Seconds of the promise that are used up."""
    begun: float = 0.0
    """How many of them were used before the first update."""
    best: float | None = None
    best_update: int = 0
    best_sha256: str = ""
    scorings_since_best: int = 0
    log_bytes: int = 0
    """How long the log was; what was logged after this save did not happen."""


def save_state(run: Path, position: Position, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Save a training; the previous save stays until this one is whole."""
    file = run / f"state-{position.update}.safetensors"
    try:
        write_arrays(file, arrays)
        write_json(
            run / "state.json",
            {**dataclasses.asdict(position), "plan": _plan_tree(position.plan), "sha256": hash_file(file)},
        )
    except OSError as error:
        raise saving_failed(run, error) from error
    keep = {file.name, f"best-{position.best_update}.safetensors"}
    for old in [*run.glob("state-*.safetensors"), *run.glob("best-*.safetensors")]:
        if old.name not in keep:
            old.unlink(missing_ok=True)


def load_state(run: Path) -> tuple[Position, dict[str, NDArray[Any]]] | None:
    """Load the last save, or None if there was none yet."""
    if not (run / "state.json").exists():
        return None
    try:
        tree = json.loads((run / "state.json").read_text(encoding="utf-8"))
        expected = tree.pop("sha256")
        schedule = Schedule(**tree["plan"].pop("schedule"))
        position = Position(**{**tree, "plan": Plan(schedule=schedule, **tree["plan"])})
        file = run / f"state-{position.update}.safetensors"
        if hash_file(file) != expected:
            raise ValueError(f"{file.name} is not the file that was saved")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise TrainingError(
            f"{run}: the saved state is damaged ({error})",
            hint="delete the run/ directory and train again",
        ) from error
    return position, read_arrays(file)


def save_best(run: Path, update: int, averaged: Mapping[str, NDArray[np.float32]]) -> str:
    """Keep the averaged weights that scored best, and return their hash; the save that names them comes after."""
    file = run / f"best-{update}.safetensors"
    try:
        write_arrays(file, averaged)
        return hash_file(file)
    except OSError as error:
        raise saving_failed(run, error) from error


def load_best(run: Path, position: Position) -> dict[str, NDArray[np.float32]]:
    """The averaged weights that scored best."""
    file = run / f"best-{position.best_update}.safetensors"
    if not file.exists() or hash_file(file) != position.best_sha256:
        raise TrainingError(
            f"{file}: the best weights are missing or damaged", hint="delete the directory and train again"
        )
    return read_arrays(file)


def saving_failed(run: Path, error: OSError) -> TrainingError:
    """The error of something that could not be written, of which nothing is left but the save before it."""
    what = "the disk is full" if error.errno == errno.ENOSPC else error.strerror or str(error)
    saved = (run / "state.json").exists()
    return TrainingError(
        f"{run}: the training could not be saved ({what})",
        hint=f"make room and go on from the last good save: dragoman train --resume --out {run.parent}"
        if saved
        else "make room and train again",
    )


@contextmanager
def lock(run: Path) -> Iterator[None]:
    """Hold a training's directory; the lock dies with the process that holds it."""
    run.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(run / "lock", os.O_CREAT | os.O_RDWR, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise TrainingError(
                f"{run.parent}: another training is at work in this directory",
                hint="wait for it to end, stop it, or give another directory with --out",
            ) from error
        yield
    finally:
        os.close(descriptor)


def _plan_tree(plan: Plan) -> dict[str, Any]:
    return {**plan._asdict(), "schedule": dataclasses.asdict(plan.schedule)}
