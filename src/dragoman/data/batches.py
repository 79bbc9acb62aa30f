"""Batches: pairs of like length together, within a budget of pieces, in an order that follows from the seed.

An epoch holds every pair exactly once. Which pairs share a batch, and in which order the batches come, differs from
epoch to epoch and depends on nothing but the seed and the epoch's number, so a training can be taken up at any batch.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dragoman.data.joined import Examples, join_pairs
from dragoman.data.store import Store
from dragoman.text.tokenizer import END, PAD, START, Tokenizer

Numbers = NDArray[np.int64]


class Batch(NamedTuple):
    """Some pairs, padded; `target` is what the decoder reads and `wanted` what it should say."""

    source: Numbers
    target: Numbers
    wanted: Numbers

    @property
    def pieces(self) -> int:
        """Target pieces without the padding."""
        return int(np.count_nonzero(self.wanted))


def plan_epoch(lengths: NDArray[np.uint16], budget: int, seed: int, epoch: int) -> list[NDArray[np.uint32]]:
    """Cut an epoch into batches: the numbers of each batch's pairs, or of what was joined from them.

    The longer side's greatest length, its end mark included, times the number of pairs stays within the budget; a pair
    that is longer than the budget by itself gets a batch of its own.
    """
    rng = np.random.default_rng([seed, epoch])
    # By the longer side, and by the other up and down in turn, so that what follows is of like shape on both sides.
    # Sorted in place as one number each, place in the shuffle last: a large corpus has millions, and what is sorted
    # here is the most memory that training takes for each of its pairs.
    shuffled = rng.permutation(np.arange(len(lengths), dtype=np.uint32))
    keys = np.arange(len(lengths), dtype=np.uint64)
    longer = lengths[shuffled].max(axis=1)
    slant = longer + lengths[shuffled, 0] - lengths[shuffled, 1]
    keys |= np.where(longer % 2, 2 * longer - slant, slant).astype(np.uint64) << np.uint64(32)
    keys |= longer.astype(np.uint64) << np.uint64(48)
    keys.sort()
    order = shuffled[keys.astype(np.uint32)]
    del shuffled, keys
    longest = lengths[order].max(axis=1).astype(np.int64) + 1
    batches = []
    start = 0
    while start < len(order):
        costs = np.maximum.accumulate(longest[start : start + budget]) * np.arange(
            1, min(budget, len(order) - start) + 1
        )
        end = start + max(1, int(np.searchsorted(costs, budget, side="right")))
        batches.append(order[start:end])
        start = end
    return [batches[i] for i in rng.permutation(len(batches))]


def pad(rows: Sequence[Any], *, before: tuple[int, ...] = (), after: tuple[int, ...] = ()) -> Numbers:
    """Stack rows of pieces of different lengths, with marks before and after each, padded at the end."""
    padded = np.full((len(rows), len(before) + max(map(len, rows)) + len(after)), PAD, np.int64)
    for line, row in zip(padded, rows, strict=True):
        end = len(before) + len(row)
        line[: len(before)], line[len(before) : end], line[end : end + len(after)] = before, row, after
    return padded


def make_batch(sources: Sequence[Any], targets: Sequence[Any]) -> Batch:
    """Pad pieces into a batch, with their start and end marks."""
    return Batch(pad(sources, after=(END,)), pad(targets, before=(START,)), pad(targets, after=(END,)))


class Batches:
    """The endless sequence of batches of a training, by number."""

    def __init__(
        self,
        store: Store,
        tokenizer: Tokenizer,
        *,
        budget: int,
        max_length: int,
        sampling: float,
        seed: int,
        joined: float = 0.0,
    ) -> None:
        self._store, self._tokenizer = store, tokenizer
        self._budget, self._max_length = budget, max_length
        self._sampling, self._joined, self._seed = sampling, joined, seed

    def costs(self) -> NDArray[np.float64]:
        """What each batch of the first epoch costs, in padded pieces; a target piece costs twice a source piece."""
        examples, planned = self._plan(0)
        sides = [len(numbers) * (examples.lengths[numbers].max(axis=0) + 1.0) for numbers in planned]
        return np.asarray(np.array(sides) @ np.array([1.0, 2.0]))

    def after(self, epoch: int, taken: int) -> Iterator[tuple[int, int, Batch]]:
        """Yield (epoch, batches taken of it, batch), going on after `taken` batches of an epoch, without end."""
        while True:
            examples, planned = self._plan(epoch)
            for place in range(taken, len(planned)):
                yield epoch, place + 1, self._make(epoch, place, [examples.pairs_of(n) for n in planned[place]])
            epoch, taken = epoch + 1, 0

    def _plan(self, epoch: int) -> tuple[Examples, list[NDArray[np.uint32]]]:
        examples = join_pairs(self._store.lengths, self._joined, self._max_length, self._seed, epoch)
        return examples, plan_epoch(examples.lengths, self._budget, self._seed, epoch)

    def _make(self, epoch: int, place: int, examples: list[list[int]]) -> Batch:
        if self._sampling > 0:
            seed = int(np.random.default_rng([self._seed, epoch, place]).integers(2**31))
            texts = [side for pairs in examples for side in self._text(pairs)]
            pieces = self._tokenizer.sample_all(texts, alpha=self._sampling, seed=seed)
            rows = [
                (a, b) if max(len(a), len(b)) <= self._max_length else self._pieces(pairs)
                for pairs, a, b in zip(examples, pieces[::2], pieces[1::2], strict=True)
            ]
        else:
            rows = [self._pieces(pairs) for pairs in examples]
        self._store.forget()
        return make_batch([a for a, _ in rows], [b for _, b in rows])

    def _text(self, pairs: list[int]) -> tuple[str, str]:
        sources, targets = zip(*map(self._store.text, pairs), strict=True)
        return " ".join(sources), " ".join(targets)

    def _pieces(self, pairs: list[int]) -> tuple[NDArray[Any], NDArray[Any]]:
        sources, targets = zip(*map(self._store.pieces, pairs), strict=True)
        return np.concatenate(sources), np.concatenate(targets)
