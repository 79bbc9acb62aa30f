"""Joined sentences: some examples of an epoch are several pairs, source with source and target with target.

A translator that has seen only short sentences falls apart on long ones. An epoch still holds every pair exactly once:
its pairs are shuffled, and a joined example takes those that follow each other there. No piece reaches from one word
into the next, so the pieces of a joined text are those of its parts, one after the other.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_BLOCK = 1 << 16  # pairs that are looked at together; none joins another block's

Lengths = NDArray[np.uint16]


class Examples(NamedTuple):
    """What an epoch shows: each example is one pair, or several joined."""

    pairs: Sequence[int] | NDArray[np.uint32]
    """Every pair once, those of an example side by side."""
    borders: Sequence[int] | NDArray[np.uint32]
    """Where among the pairs each example begins; at last, where the last one ends."""
    lengths: Lengths
    """Pieces of each example's source and target."""

    def pairs_of(self, number: int) -> list[int]:
        """The pairs that an example is made of, in their order."""
        return [int(pair) for pair in self.pairs[self.borders[number] : self.borders[number + 1]]]


def join_pairs(lengths: Lengths, share: float, longest: int, seed: int, epoch: int) -> Examples:
    """Make an epoch's examples, of which about a share are joined, of no more pieces on a side than the longest.

    Fewer are where two pairs seldom fit into one.
    """
    if share == 0:
        return Examples(range(len(lengths)), range(len(lengths) + 1), lengths)
    (rng,) = np.random.default_rng([seed, epoch]).spawn(1)  # the batches' order is drawn from its parent
    pairs = rng.permutation(np.arange(len(lengths), dtype=np.uint32))
    blocks = range(0, len(pairs), _BLOCK)
    begins = [start + _cut(lengths[pairs[start : start + _BLOCK]], share, longest, rng) for start in blocks]
    borders = np.concatenate([*begins, [len(pairs)]]).astype(np.uint32)
    return Examples(pairs, borders, np.add.reduceat(lengths[pairs], borders[:-1], axis=0, dtype=np.uint16))


def _cut(lengths: Lengths, share: float, longest: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Cut a row of pairs into examples: where each begins.

    How long a joined example may become is drawn evenly from the length of its first two pairs to the longest, so that
    every length is learned. First it is asked of every pair where an example would end that began there.
    """
    count = len(lengths)
    here = np.arange(count)
    totals = np.zeros((count + 1, 2), np.int64)
    lengths.cumsum(axis=0, out=totals[1:])
    least = (totals[np.minimum(here + 2, count)] - totals[:-1]).max(axis=1)
    is_joined = (rng.random(count) < share) & (least <= longest)
    most = rng.integers(np.minimum(least, longest), longest, endpoint=True)
    fitting = [np.searchsorted(side, side[:-1] + most, side="right") - 1 for side in totals.T]
    ends = np.where(is_joined, np.minimum(*fitting), here + 1).tolist()
    begins, place = [], 0
    while place < count:
        begins.append(place)
        place = ends[place]
    return np.array(begins, np.int64)
