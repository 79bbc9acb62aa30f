"""What every engine promises: piece ids in, hypotheses out.

An engine knows nothing of text. Sources are lists of piece ids without the end mark, which the engine adds itself;
the ids it returns have no start or end mark either.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from dragoman.config import Search


class Hypothesis(NamedTuple):
    """One translation of one source."""

    pieces: tuple[int, ...]
    score: float
    """The sum of the log-probabilities, end mark included, divided by length ** length_penalty."""
    finished: bool
    """False if the translation was cut off at its greatest length."""
    attention: NDArray[np.float32] | None = None
    """[t s]: how much target piece t looked at source piece s, in the head that aligns best; end marks left out."""


class Engine(Protocol):
    """Something that translates pieces into pieces."""

    @property
    def max_source(self) -> int:
        """The most source pieces it takes; a longer source is a programmer's mistake (`ValueError`)."""

    def translate(
        self,
        sources: Sequence[Sequence[int]],
        search: Search,
        *,
        prefixes: Sequence[Sequence[int]] | None = None,
        attention: bool = False,
    ) -> list[list[Hypothesis]]:
        """Return for every source its `search.best` hypotheses, best first, each beginning with its forced prefix."""
