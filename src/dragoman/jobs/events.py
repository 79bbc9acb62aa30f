"""What happens around a training, besides what `dragoman.training.events` tells of the training itself."""

from collections.abc import Callable
from typing import Any, NamedTuple

from dragoman.jobs.prepare import Prepared
from dragoman.training.events import Event


class Preparing(NamedTuple):
    """Something before the first update is under way."""

    what: str
    done: int


class Noted(NamedTuple):
    """Something that a person should know."""

    text: str


class Ready(NamedTuple):
    """The corpus is encoded and the sizes are chosen."""

    prepared: Prepared
    parameters: int


class Planned(NamedTuple):
    """The run is planned, or taken up again."""

    updates: int
    scorings: int
    minutes: float | None
    resumed_at: int
    seconds_an_update: float | None
    elapsed: float


class Finishing(NamedTuple):
    """The last update is made; the model is being exported and checked."""

    best_update: int


class Finished(NamedTuple):
    """The model is whole."""

    card: dict[str, Any]
    elapsed: float


Observer = Callable[[Preparing | Noted | Ready | Planned | Finishing | Finished | Event], None]
