"""What happens in a training, told to whoever looks on: the log, the terminal, a notebook."""

from typing import NamedTuple


class Updated(NamedTuple):
    """An update was made."""

    update: int
    epoch: int
    loss: float
    rate: float
    pieces: int
    seconds: float


class Scored(NamedTuple):
    """The dev set was scored."""

    update: int
    chrf: float
    best: bool
    sample: tuple[str, str, str]
    """A dev sentence, its translation now, and its reference."""


class Replanned(NamedTuple):
    """The plan was changed: another number of updates fits the time, or more would not help."""

    update: int
    before: int
    updates: int
    why: str


class Saved(NamedTuple):
    """The state was saved."""

    update: int


Event = Updated | Scored | Replanned | Saved
