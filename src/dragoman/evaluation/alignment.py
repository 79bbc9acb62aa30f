"""Which word became which, and how well the attention of a model shows it.

Where nobody has aligned the words by hand, IBM model 1 does it from the corpus alone (`dragoman.evaluation.lexicon`):
what it finds in both directions is seldom wrong, and good enough to tell which head of a model aligns best.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dragoman.engine.base import Head, Link
from dragoman.engine.links import links_from_attention
from dragoman.evaluation.lexicon import learn_lexicon

__all__ = ["BestHead", "Link", "alignment_error_rate", "best_head", "lexical_links", "links_from_attention"]

_NOTHING = 0  # the source word from which words without a partner come
_TIE = 1e-6
_ITERATIONS = 5


class BestHead(NamedTuple):
    """The head that aligns best, and its alignment error rate."""

    head: Head
    rate: float


def alignment_error_rate(
    predicted: Sequence[Collection[Link]],
    sure: Sequence[Collection[Link]],
    possible: Sequence[Collection[Link]] | None = None,
) -> float:
    """Return the share of links that are wrong or missing (Och and Ney 2003), over all sentence pairs.

    A link that is only possible does no harm if it is there and none if it is not. Sure links are always
    possible.
    """
    if len(predicted) != len(sure) or (possible is not None and len(possible) != len(sure)):
        others = "" if possible is None else f" and {len(possible)}"
        raise ValueError(f"{len(predicted)} alignments cannot be judged by {len(sure)}{others}")
    hits = total = 0
    for number, (found, right) in enumerate(zip(predicted, sure, strict=True)):
        links, gold = set(found), set(right)
        allowed = gold if possible is None else gold | set(possible[number])
        hits += len(links & gold) + len(links & allowed)
        total += len(links) + len(gold)
    return 1 - hits / total if total else 0.0


def best_head(attentions: Sequence[Sequence[NDArray[np.floating]]], references: Sequence[Collection[Link]]) -> BestHead:
    """Return the head whose strongest weights agree best with the links of reference.

    `attentions` holds for every sentence pair and decoder layer [h t s]; the links are between the same
    pieces.
    """
    if not attentions or len(attentions) != len(references):
        raise ValueError(f"{len(attentions)} attentions cannot be judged by {len(references)} alignments")
    shapes = {(len(layers), layers[0].shape[0]) for layers in attentions}
    if len(shapes) > 1:
        raise ValueError(f"attentions of different models: (layers, heads) are {sorted(shapes)}")
    hits = np.zeros(shapes.pop(), np.int64)
    total = 0
    for layers, links in zip(attentions, references, strict=True):
        _, target, source = layers[0].shape
        gold = np.zeros((target, source), bool)
        for s, t in links:
            gold[t, s] = True
        if target and source:
            looked = np.stack([layer.argmax(axis=-1) for layer in layers])  # [layers h t]
            hits += gold[np.arange(target), looked].sum(axis=-1)
            total += target + int(gold.sum())
    layer, head = np.unravel_index(int(hits.argmax()), hits.shape)
    rate = 1 - 2 * int(hits.max()) / total if total else 0.0
    return BestHead(Head(int(layer), int(head)), rate)


def count_rows(source: Sequence[int], target: Sequence[int]) -> int:
    """How many rows a pair takes in both directions together: what memory and time of `lexical_links` grow with."""
    return (len(source) + 1) * len(target) + len(source) * (len(target) + 1)


def lexical_links(pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> list[set[Link]]:
    """Align the words or pieces of sentence pairs by what IBM model 1 finds in both directions.

    Words are numbers from 0. Memory grows with source length times target length, summed over the pairs.
    """
    forward = _align([(source, target) for source, target in pairs])
    backward = _align([(target, source) for source, target in pairs])
    return [found & {(s, t) for t, s in turned} for found, turned in zip(forward, backward, strict=True)]


class _Table(NamedTuple):
    """Every source position of every pair beside every target position, one row each."""

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    source_at: NDArray[np.int64]
    """From 1; 0 is the word that is not there."""
    place: NDArray[np.int64]
    """The target position, counted through all pairs."""
    slant: NDArray[np.float64]
    """How far from the diagonal of its pair."""


def _tabulate(pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> _Table:
    columns: list[tuple[NDArray[np.int64], ...]] = []
    slants: list[NDArray[np.float64]] = []
    places = 0
    for source, target in pairs:
        words = np.array([_NOTHING, *(word + 1 for word in source)], np.int64)
        rows, wide = len(target), len(words)
        at = np.tile(np.arange(wide), rows)
        place = np.repeat(np.arange(rows), wide)
        columns.append((np.tile(words, rows), np.repeat(np.array(target, np.int64), wide), at, place + places))
        slants.append(np.abs((at - 0.5) / max(1, wide - 1) - (place + 0.5) / max(1, rows)))
        places += rows
    columns.append((np.zeros(0, np.int64),) * 4)  # so that no pairs at all are no special case
    source_words, target_words, at, place = (np.concatenate(column) for column in zip(*columns, strict=True))
    return _Table(source_words, target_words, at, place, np.concatenate([*slants, np.zeros(0)]))


def _align(pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> list[set[Link]]:
    """Learn how words translate; link every target position with its most probable source, if any."""
    table = _tabulate(pairs)
    links: list[set[Link]] = [set() for _ in pairs]
    if not len(table.place):
        return links
    lexicon, row = learn_lexicon(table.source, table.target, table.place, _ITERATIONS)
    weights = lexicon.probability[row] * (1 - _TIE * table.slant)  # equals among equals: the nearest
    # np.unique finds the first row of each place among the rows that are as probable as its best.
    starts = np.flatnonzero(np.diff(table.place, prepend=-1))
    best = np.maximum.reduceat(weights, starts)[table.place]
    chosen = np.flatnonzero(weights >= best)
    _, first = np.unique(table.place[chosen], return_index=True)
    found = table.source_at[chosen[first]] - 1
    at = 0
    for number, (_, target) in enumerate(pairs):
        for position, source in enumerate(found[at : at + len(target)]):
            if source >= 0:
                links[number].add((int(source), position))
        at += len(target)
    return links
