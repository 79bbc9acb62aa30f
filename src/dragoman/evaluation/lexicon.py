"""How words translate, learned from sentence pairs alone: IBM model 1 (Brown et al. 1993).

Every word of a target sentence comes from one word of the source, each as probable as the last estimate says; so the
pairs are counted, the estimate improves, and they are counted again.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Words = Sequence[int] | NDArray[Any]


class Lexicon(NamedTuple):
    """Words that were seen together, in the order of the source words."""

    source: Numbers
    target: Numbers
    probability: NDArray[np.float64]
    """Of the target word, given the source word."""


def learn_lexicon(
    source: Numbers, target: Numbers, place: Numbers, iterations: int
) -> tuple[Lexicon, NDArray[np.intp]]:
    """Learn from rows of a source word, a target word that may come from it, and the place of the target word.

    Return the lexicon, and which of its entries each row is.
    """
    width = int(target.max()) + 1
    keys, row = np.unique(source * width + target, return_inverse=True)
    first = keys // width
    probability = np.ones(len(keys))
    for _ in range(iterations):
        weights = probability[row]
        weights /= np.bincount(place, weights)[place]
        counts = np.bincount(row, weights, minlength=len(keys))
        probability = counts / np.bincount(first, counts)[first]
    return Lexicon(first, keys % width, probability), row


def likely_targets(
    pairs: Iterable[tuple[Words, Words]], *, most: int, rows: int, iterations: int = 4
) -> dict[int, Numbers]:
    """Return for every source word up to `most` of its translations, the most probable first.

    Pairs are taken until they have this many `rows`: source length times target length, summed.
    """
    columns: list[tuple[Numbers, Numbers, Numbers]] = []
    places = taken = 0
    for source, target in pairs:
        words = np.unique(np.asarray(source, np.int64))
        if not len(words) or not len(target):
            continue
        place = np.arange(places, places + len(target))
        columns.append((np.repeat(words, len(target)), np.tile(np.asarray(target, np.int64), len(words)), place))
        places += len(target)
        taken += len(words) * len(target)
        if taken >= rows:
            break
    if not columns:
        return {}
    sources, targets = (np.concatenate([column[side] for column in columns]) for side in (0, 1))
    where = np.concatenate([np.tile(place, len(some) // len(place)) for some, _, place in columns])
    lexicon, _ = learn_lexicon(sources, targets, where, iterations)
    order = np.lexsort((-lexicon.probability, lexicon.source))
    words, starts = np.unique(lexicon.source, return_index=True)
    ends = np.append(starts[1:], len(order))
    return {
        int(word): lexicon.target[order[start : min(end, start + most)]]
        for word, start, end in zip(words, starts, ends, strict=True)
    }
