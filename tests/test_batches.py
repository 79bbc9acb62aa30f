"""Batches: every pair once an epoch, within the budget, in an order that follows from the seed."""

from itertools import accumulate, islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dragoman.data.batches import Batch, Batches, make_batch, pad, plan_epoch, round_lengths
from dragoman.data.grammar import generate
from dragoman.data.store import Store, write_store
from dragoman.text.tokenizer import END, PAD, START
from tiny_model import tiny_tokenizer

LONGEST = 61
corpora = st.lists(st.tuples(st.integers(1, LONGEST), st.integers(1, LONGEST)), min_size=1, max_size=97).map(
    lambda lengths: np.array(lengths, np.uint16)
)
budgets = st.integers(1, 500)
seeds = st.integers(0, 2**32)
rows = st.lists(st.lists(st.integers(4, 30), min_size=1, max_size=7), min_size=1, max_size=5)
Lengths = NDArray[np.uint16]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    path = tmp_path_factory.mktemp("batches") / "corpus"
    write_store(path, ((e.source, e.target) for e in generate(89, seed=7)), tiny_tokenizer(), LONGEST)
    return Store(path)


def make(store: Store, *, sampling: float = 0.0, seed: int = 3, budget: int = 257, longest: int = LONGEST) -> Batches:
    return Batches(store, tiny_tokenizer(), budget=budget, max_length=longest, sampling=sampling, seed=seed)


def take(batches: Batches, count: int, epoch: int = 0, taken: int = 0) -> list[tuple[int, int, list[object]]]:
    return [(e, t, [side.tolist() for side in b]) for e, t, b in islice(batches.after(epoch, taken), count)]


def texts_of(batch: Batch) -> list[tuple[str, str]]:
    tokenizer = tiny_tokenizer()
    return [
        (tokenizer.decode(a.tolist()), tokenizer.decode(b.tolist()))
        for a, b in zip(batch.source, batch.wanted, strict=True)
    ]


@given(lengths=corpora, budget=budgets, seed=seeds, epoch=st.integers(0, 1000))
def test_an_epoch_holds_every_pair_exactly_once(lengths: Lengths, budget: int, seed: int, epoch: int) -> None:
    numbers = np.concatenate(plan_epoch(lengths, budget, seed, epoch))
    assert sorted(numbers.tolist()) == list(range(len(lengths)))


@given(lengths=corpora, budget=budgets, seed=seeds)
def test_the_budget_is_kept_and_used(lengths: Lengths, budget: int, seed: int) -> None:
    """No batch of several is over the budget, and none could have held the next by length: eight, or one of few."""
    batches = plan_epoch(lengths, budget, seed, 0)
    costs = [len(batch) * (int(lengths[batch].max()) + 1) for batch in batches]
    assert all(cost <= budget or len(batch) == 1 for cost, batch in zip(costs, batches, strict=True))
    longer = [sorted(lengths[batch].max(axis=1).tolist()) for batch in batches]
    longer.sort(key=lambda batch: (batch[0], batch[-1], -len(batch)))
    every = [length for batch in longer for length in batch]
    assert every == sorted(every)
    for start, one in zip([0, *accumulate(map(len, longer))], longer, strict=False):
        more = every[start : start + len(one) + (8 if len(one) >= 8 else 1)]
        assert len(more) == len(one) or len(more) * (more[-1] + 1) > budget


def test_pairs_of_like_shape_share_a_batch() -> None:
    """Both sides, and of a corpus whose sides differ in length: little of a batch is padding."""
    rng = np.random.default_rng(1)
    sources = rng.integers(4, 40, 20_000)
    lengths = np.stack([sources, np.maximum(1, sources + rng.integers(-6, 7, len(sources)))], axis=1).astype(np.uint16)
    batches = plan_epoch(lengths, 4096, 1, 0)
    padded = sum(len(batch) * lengths[batch].max(axis=0).astype(int) for batch in batches)
    assert (lengths.sum(axis=0) / padded > 0.92).all()


@given(lengths=corpora, budget=budgets, seed=seeds, epoch=st.integers(0, 1000))
def test_the_order_follows_from_seed_and_epoch(lengths: Lengths, budget: int, seed: int, epoch: int) -> None:
    one, same = (plan_epoch(lengths.copy(), budget, seed, epoch) for _ in range(2))
    assert [batch.tolist() for batch in one] == [batch.tolist() for batch in same]


def test_other_seeds_and_other_epochs_have_other_orders() -> None:
    lengths = np.random.default_rng(1).integers(1, LONGEST, (997, 2)).astype(np.uint16)
    orders = [
        [batch.tolist() for batch in plan_epoch(lengths, 499, seed, epoch)] for seed in (1, 2) for epoch in (0, 1)
    ]
    assert all(one != other for n, one in enumerate(orders) for other in orders[:n])


@given(lengths=corpora, budget=budgets, seed=seeds)
def test_every_epoch_has_as_many_batches(lengths: Lengths, budget: int, seed: int) -> None:
    assert len({len(plan_epoch(lengths, budget, seed, epoch)) for epoch in range(5)}) == 1


@given(rows=rows, before=st.sampled_from([(), (START,)]), after=st.sampled_from([(), (END,)]))
def test_padding_stands_at_the_end(rows: list[list[int]], before: tuple[int, ...], after: tuple[int, ...]) -> None:
    padded = pad(rows, before=before, after=after)
    whole = [[*before, *row, *after] for row in rows]
    assert padded.shape == (len(rows), max(map(len, whole)))
    for line, row in zip(padded.tolist(), whole, strict=True):
        assert line == row + [PAD] * (len(line) - len(row))


@given(sources=rows, targets=rows)
def test_what_is_wanted_is_what_is_read_one_place_later(sources: list[list[int]], targets: list[list[int]]) -> None:
    count = min(len(sources), len(targets))
    batch = make_batch(sources[:count], targets[:count])
    assert batch.pieces == sum(len(target) + 1 for target in targets[:count])
    assert batch.target.shape == batch.wanted.shape
    assert (batch.target[:, 0] == START).all()
    for read, wanted, target in zip(batch.target.tolist(), batch.wanted.tolist(), targets, strict=False):
        assert wanted[: len(target) + 1] == [*target, END]
        assert read[1 : len(target) + 1] == target
    assert ((batch.source == END).sum(axis=1) == 1).all()


@settings(max_examples=20)
@given(sampling=st.sampled_from([0.0, 0.1, 0.5]), seed=st.integers(0, 99), taken=st.integers(0, 40))
def test_going_on_is_the_tail(store: Store, sampling: float, seed: int, taken: int) -> None:
    """After k batches, wherever they end, in this epoch or a later one."""
    whole = take(make(store, sampling=sampling, seed=seed), taken + 3)
    epoch, done, _ = whole[taken - 1] if taken else (0, 0, [])
    assert take(make(store, sampling=sampling, seed=seed), 3, epoch, done) == whole[taken:]


@pytest.mark.parametrize("sampling", [0.0, 0.1])
def test_every_epoch_is_the_whole_corpus(store: Store, sampling: float) -> None:
    """Sampled cuts are other cuts of the same text."""
    wanted = sorted(store.texts())
    found: dict[int, list[tuple[str, str]]] = {0: [], 1: []}
    pieces = []
    for epoch, _, batch in make(store, sampling=sampling).after(0, 0):
        if epoch > 1:
            break
        found[epoch] += texts_of(batch)
        pieces.append(batch.pieces)
    assert [sorted(texts) for texts in found.values()] == [wanted, wanted]
    best = sum(int(length) + 1 for length in store.lengths[:, 1])
    assert (sum(pieces) > 2 * best) if sampling else (sum(pieces) == 2 * best)


@pytest.mark.parametrize("longest", [19, 29, LONGEST])
def test_sampled_cuts_are_never_too_long(tmp_path: Path, longest: int) -> None:
    """A cut that came out too long gives way to the best one, which is known to fit."""
    write_store(tmp_path / "corpus", ((e.source, e.target) for e in generate(89, seed=7)), tiny_tokenizer(), longest)
    store = Store(tmp_path / "corpus")
    sampled = make(store, sampling=0.05, longest=longest)
    for _, _, batch in islice(sampled.after(0, 0), 2 * len(sampled.costs())):
        assert max(batch.source.shape[1], batch.wanted.shape[1]) <= longest + 1


@given(lengths=corpora, most=st.integers(LONGEST, 200))
def test_rounded_lengths_are_few_and_little_longer(lengths: Lengths, most: int) -> None:
    rounded = round_lengths(lengths, most).astype(int)
    assert (rounded >= lengths).all()
    assert (rounded + 1 <= np.maximum(lengths + 1, (lengths + 1) * 9 / 8)).all()
    assert rounded.max() <= max(most, int(lengths.max()))
    assert (round_lengths(rounded.astype(np.uint16), most) == rounded).all()


def test_each_power_of_two_has_eight_lengths() -> None:
    every = np.arange(1, 512, dtype=np.uint16)[:, None]
    assert len(np.unique(round_lengths(every, 512))) == 8 * 6 + 7


def test_batches_have_few_shapes(tmp_path: Path) -> None:
    write_store(tmp_path / "corpus", ((e.source, e.target) for e in generate(2000, seed=7)), tiny_tokenizer(), LONGEST)
    batches = make(Store(tmp_path / "corpus"), budget=1000)
    made = [batch for epoch, _, batch in islice(batches.after(0, 0), len(batches.costs())) if epoch == 0]
    assert len({batch.source.shape for batch in made}) < len(made) / 3
    assert sum(len(batch.source) % 8 == 0 for batch in made) > 0.9 * len(made)


@pytest.mark.parametrize("epoch", [0, 1])
def test_the_budget_is_that_of_the_sampled_cuts(store: Store, epoch: int) -> None:
    """Pairs that are of one length before need not be so after: batched by the lengths before, they go beyond it."""
    budget = 400
    made = [b for e, _, b in islice(make(store, sampling=0.1, budget=budget).after(epoch, 0), 30) if e == epoch]
    assert len(made) > 5
    assert max(side.size for batch in made for side in (batch.source, batch.wanted)) <= budget


@given(budget=st.integers(50, 700), sampling=st.sampled_from([0.0, 0.1]))
@settings(max_examples=20)
def test_costs_are_those_of_the_first_epochs_batches(store: Store, budget: int, sampling: float) -> None:
    batches = make(store, budget=budget, sampling=sampling)
    costs = batches.costs()
    assert (costs > 0).all()
    made = [batch for epoch, _, batch in islice(batches.after(0, 0), len(costs)) if epoch == 0]
    assert len(made) == len(costs)
    assert costs.tolist() == [batch.source.size + 2 * batch.wanted.size for batch in made]


def test_asking_for_costs_does_not_disturb_the_sequence(store: Store) -> None:
    batches = make(store)
    count = len(batches.costs())
    going, wanted = batches.after(0, 0), take(make(store), count + 3)
    found = []
    for _ in range(count + 3):
        epoch, taken, batch = next(going)
        found.append((epoch, taken, [side.tolist() for side in batch]))
        batches.costs()
    assert found == wanted
