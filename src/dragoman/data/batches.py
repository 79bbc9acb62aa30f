"""Batches: pairs of like length together, within a budget of pieces, in an order that follows from the seed.

An epoch holds every pair exactly once. Which pairs share a batch, and in which order the batches come, differs from
epoch to epoch and depends on nothing but the seed and the epoch's number, so a training can be taken up at any batch.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dragoman.data.joined import Examples, Lengths, join_pairs
from dragoman.data.store import Store
from dragoman.text.tokenizer import END, PAD, START, Tokenizer

Numbers = NDArray[np.int64]

_ROWS = 8  # a large batch holds a multiple of so many pairs
_REMEMBERED = 10_000  # pairs of the store that are kept in memory at a time


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
    that is longer than the budget by itself gets a batch of its own. Numbers of pairs are rounded down, for the same
    reason as lengths are rounded up (`round_lengths`).
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
        fit = int(np.searchsorted(costs, budget, side="right"))
        end = start + max(1, fit - fit % _ROWS if fit > _ROWS and start + fit < len(order) else fit)
        batches.append(order[start:end])
        start = end
    return [batches[i] for i in rng.permutation(len(batches))]


def pad(rows: Sequence[Any], *, before: tuple[int, ...] = (), after: tuple[int, ...] = (), width: int = 0) -> Numbers:
    """Stack rows of pieces of different lengths, with marks before and after each, padded at the end.

    They are padded to a width, or as far as the longest needs.
    """
    longest = len(before) + max(map(len, rows)) + len(after)
    padded = np.full((len(rows), max(width, longest)), PAD, np.int64)
    for line, row in zip(padded, rows, strict=True):
        end = len(before) + len(row)
        line[: len(before)], line[len(before) : end], line[end : end + len(after)] = before, row, after
    return padded


def make_batch(sources: Sequence[Any], targets: Sequence[Any], *, widths: Sequence[int] = (0, 0)) -> Batch:
    """Pad pieces into a batch, with their start and end marks, to given widths or as far as they need."""
    source, target = map(int, widths)
    return Batch(
        pad(sources, after=(END,), width=source),
        pad(targets, before=(START,), width=target),
        pad(targets, after=(END,), width=target),
    )


def round_lengths(lengths: Lengths, most: int) -> Lengths:
    """Round lengths up to few different ones, an eighth more at most and never over `most`, the end mark counted in.

    Programs for products of matrices are made for their sizes, and memory is lent by size: where every batch has
    another shape, both are made anew all the time, and what lies in between cannot be used again.
    """
    marked = lengths.astype(np.int64) + 1
    steps = 2 ** np.maximum(0, np.log2(marked).astype(np.int64) - 3)
    rounded = np.minimum(-(-marked // steps) * steps, np.maximum(marked, most + 1))
    return np.asarray(rounded - 1, lengths.dtype)


class _Epoch(NamedTuple):
    """An epoch as it is planned."""

    number: int
    examples: Examples
    lengths: Lengths
    """Pieces of each example's source and target, as they are cut in this epoch, rounded up."""
    batches: list[NDArray[np.uint32]]
    """The numbers of the examples of each batch."""


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
        self._planned: _Epoch | None = None

    def costs(self) -> NDArray[np.float64]:
        """What each batch of the first epoch costs, in padded pieces; a target piece costs twice a source piece."""
        plan = self._plan(0)
        sides = [len(numbers) * (plan.lengths[numbers].max(axis=0) + 1.0) for numbers in plan.batches]
        return np.asarray(np.array(sides) @ np.array([1.0, 2.0]))

    def after(self, epoch: int, taken: int) -> Iterator[tuple[int, int, Batch]]:
        """Yield (epoch, batches taken of it, batch), going on after `taken` batches of an epoch, without end."""
        while True:
            plan = self._plan(epoch)
            for place in range(taken, len(plan.batches)):
                yield epoch, place + 1, self._make(plan, plan.batches[place])
            epoch, taken = epoch + 1, 0

    def _plan(self, epoch: int) -> _Epoch:
        """Plan an epoch; the last plan is remembered."""
        if self._planned is None or self._planned.number != epoch:
            examples = join_pairs(self._store.lengths, self._joined, self._max_length, self._seed, epoch)
            exact = self._sampled_lengths(epoch, examples) if self._sampling > 0 else examples.lengths
            lengths = round_lengths(exact, self._max_length)
            self._planned = _Epoch(epoch, examples, lengths, plan_epoch(lengths, self._budget, self._seed, epoch))
        return self._planned

    def _sampled_lengths(self, epoch: int, examples: Examples) -> Lengths:
        """How long the examples are as they will be cut: what is of like length before, may not be so after."""
        lengths = np.empty_like(examples.lengths)
        for number in range(len(lengths)):
            lengths[number] = [len(side) for side in self._cut(epoch, examples, number)]
            if number % _REMEMBERED == 0:
                self._store.forget()
        return lengths

    def _make(self, plan: _Epoch, numbers: NDArray[np.uint32]) -> Batch:
        rows = [self._cut(plan.number, plan.examples, number) for number in numbers.tolist()]
        self._store.forget()
        widths = plan.lengths[numbers].max(axis=0) + 1
        return make_batch([source for source, _ in rows], [target for _, target in rows], widths=widths.tolist())

    def _cut(self, epoch: int, examples: Examples, number: int) -> Sequence[Sequence[int] | NDArray[Any]]:
        """Both sides of an example in pieces: cut otherwise in every epoch, if cuts are sampled."""
        pairs = examples.pairs_of(number)
        if self._sampling > 0:
            seed = f"{self._seed} {epoch} {number}"
            sampled = self._tokenizer.sample_all(self._text(pairs), alpha=self._sampling, seed=seed)
            if max(map(len, sampled)) <= self._max_length:
                return sampled
        return self._pieces(pairs)

    def _text(self, pairs: list[int]) -> tuple[str, str]:
        sources, targets = zip(*map(self._store.text, pairs), strict=True)
        return " ".join(sources), " ".join(targets)

    def _pieces(self, pairs: list[int]) -> tuple[NDArray[Any], NDArray[Any]]:
        sources, targets = zip(*map(self._store.pieces, pairs), strict=True)
        return np.concatenate(sources), np.concatenate(targets)
