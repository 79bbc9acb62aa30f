"""Mix other pairs into the text: a share of a much larger corpus, or of an old domain that is not to be forgotten.

The pairs are drawn once, by the seed, and are part of every epoch.
"""

from collections.abc import Container, Iterable, Iterator, Mapping
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dragoman.config import Recipe
from dragoman.data.cleaning import Report, clean
from dragoman.data.corpus import Pair, read_pairs, write_pairs
from dragoman.errors import DataError


class Mixed(NamedTuple):
    """The pairs to mix in."""

    path: Path
    """All that are left after cleaning."""
    drawn: NDArray[np.bool_]
    """Which of them are taken."""
    told: dict[str, Any]

    def pairs(self) -> Iterator[Pair]:
        """The pairs that were drawn."""
        return compress(read_pairs([self.path], None, None), self.drawn)


def mix_in(
    path: Path,
    read: Iterable[Pair],
    share: float,
    recipe: Recipe,
    *,
    beside: int,
    kept_out: Mapping[str, Container[int]],
) -> Mixed:
    """Clean the other pairs into a file, and draw as many as make up a share of an epoch.

    `beside` is how many other pairs the epoch has. Where there are fewer than it takes, all are drawn.
    """
    report = Report()
    write_pairs(path, clean(read, recipe.cleaning, report, kept_out=kept_out))
    if not report.kept:
        raise DataError(
            f"no pair of {report.read} is left to mix in", hint="give other files with --mix, or leave it out"
        )
    wanted = min(report.kept, round(beside * share / (1 - share)))
    order = np.random.default_rng([recipe.training.seed, report.kept]).permutation(report.kept)
    told = {
        "read": report.read,
        "kept": report.kept,
        "dropped": dict(report.dropped),
        "used": wanted,
        "share": round(wanted / (wanted + beside), 4),
    }
    return Mixed(path, order < wanted, told)
