"""Joined sentences: every pair once an epoch, both sides together, all lengths up to the longest."""

import re
from itertools import islice, takewhile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dragoman.checkpoint import ModelDirectory
from dragoman.config import Model, Pieces, Recipe, Training
from dragoman.data import joined as module
from dragoman.data.batches import Batch, Batches, make_batch, plan_epoch, round_lengths
from dragoman.data.grammar import generate
from dragoman.data.joined import Examples, join_pairs
from dragoman.data.store import Store, write_store
from dragoman.errors import RecipeError
from dragoman.jobs.events import Observer
from dragoman.jobs.train import train
from dragoman.recipe import override
from dragoman.text.tokenizer import normalise
from dragoman.training.events import Saved
from dragoman.training.learner import Learner
from tiny_model import TRAINING, tiny_tokenizer

LONGEST, PAIRS = 61, 127
Lengths = NDArray[np.uint16]
corpora = st.lists(st.tuples(st.integers(1, LONGEST), st.integers(1, LONGEST)), min_size=1, max_size=97).map(
    lambda lengths: np.array(lengths, np.uint16)
)
shares = st.floats(0, 1)
seeds = st.integers(0, 2**32)
words = st.text(max_size=20).filter(normalise)
some_samplings = pytest.mark.parametrize("sampling", [0.0, 0.1])


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Pairs that can be told from each other, of different lengths: their number, and a word again and again."""
    path = tmp_path_factory.mktemp("joined") / "corpus"
    pairs = ((f"a{n}{' dog' * (n % 5)}", f"b{n}{' perro' * (n % 3)}") for n in range(PAIRS))
    assert write_store(path, pairs, tiny_tokenizer(), LONGEST).pairs == PAIRS
    return Store(path)


def make(store: Store, *, joined: float = 0.5, sampling: float = 0.0, seed: int = 3, budget: int = 257) -> Batches:
    tokenizer = tiny_tokenizer()
    return Batches(store, tokenizer, budget=budget, max_length=LONGEST, sampling=sampling, seed=seed, joined=joined)


def first_epoch(batches: Batches) -> list[Batch]:
    return [batch for _, _, batch in takewhile(lambda item: item[0] == 0, batches.after(0, 0))]


def decode(side: NDArray[np.int64]) -> list[str]:
    return [tiny_tokenizer().decode(row.tolist()) for row in side]


def check_same(one: Examples, other: Examples) -> None:
    for mine, yours in zip(one, other, strict=True):
        np.testing.assert_array_equal(mine, yours)


@given(lengths=corpora, share=shares, seed=seeds, epoch=st.integers(0, 1000), block=st.sampled_from([1, 7, 1 << 16]))
def test_an_epoch_holds_every_pair_exactly_once(
    lengths: Lengths, share: float, seed: int, epoch: int, block: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BLOCK", block)
        examples = join_pairs(lengths, share, LONGEST, seed, epoch)
        check_same(examples, join_pairs(lengths.copy(), share, LONGEST, seed, epoch))
    shown = [examples.pairs_of(number) for number in range(len(examples.lengths))]
    assert all(shown)
    assert sorted(pair for pairs in shown for pair in pairs) == list(range(len(lengths)))
    assert [lengths[pairs].sum(axis=0).tolist() for pairs in shown] == examples.lengths.tolist()
    assert examples.lengths.max() <= LONGEST


def test_other_seeds_and_other_epochs_join_others() -> None:
    lengths = np.random.default_rng(1).integers(1, 20, (997, 2)).astype(np.uint16)
    orders = [
        list(map(examples.pairs_of, range(len(examples.lengths))))
        for examples in (join_pairs(lengths, 0.3, LONGEST, seed, epoch) for seed in (1, 2) for epoch in (0, 1))
    ]
    assert all(one != other for n, one in enumerate(orders) for other in orders[:n])


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 1.0])
def test_the_share_is_of_the_examples_and_all_lengths_are_alike_frequent(share: float) -> None:
    lengths = np.random.default_rng(1).integers(1, 7, (200_000, 2)).astype(np.uint16)
    examples = join_pairs(lengths, share, 128, seed=1, epoch=0)
    is_joined = np.diff(examples.borders) > 1
    assert is_joined.mean() == pytest.approx(share, abs=0.01)
    longer = examples.lengths[is_joined].max(axis=1)
    counts, _ = np.histogram(longer, bins=range(12, 124, 8))
    np.testing.assert_allclose(counts / counts.mean(), 1, atol=0.25)
    assert longer.max() == 128


def test_where_no_two_fit_none_are_joined() -> None:
    lengths = np.full((31, 2), [LONGEST // 2 + 1, 1], np.uint16)
    assert np.diff(join_pairs(lengths, 1.0, LONGEST, seed=1, epoch=0).borders).tolist() == [1] * 31


@given(lengths=corpora, seed=seeds)
def test_none_joined_is_every_pair_by_itself(lengths: Lengths, seed: int) -> None:
    examples = join_pairs(lengths, 0.0, LONGEST, seed, 0)
    assert [examples.pairs_of(number) for number in range(len(lengths))] == [[n] for n in range(len(lengths))]
    assert examples.lengths is lengths


def test_none_joined_is_the_order_of_before(store: Store) -> None:
    lengths = round_lengths(store.lengths, LONGEST)
    planned = plan_epoch(lengths, 257, 3, 0)
    found = first_epoch(make(store, joined=0.0))
    assert len(found) == len(planned)
    for batch, numbers in zip(found, planned, strict=True):
        sources, targets = zip(*map(store.pieces, numbers.tolist()), strict=True)
        widths = (lengths[numbers].max(axis=0) + 1).tolist()
        for mine, wanted in zip(batch, make_batch(sources, targets, widths=widths), strict=True):
            np.testing.assert_array_equal(mine, wanted)


@given(texts=st.lists(words, min_size=1, max_size=5))
def test_the_pieces_of_a_joined_text_are_those_of_its_parts(texts: list[str]) -> None:
    tokenizer = tiny_tokenizer()
    assert tokenizer.encode(" ".join(texts)) == [piece for text in texts for piece in tokenizer.encode(text)]


@some_samplings
@pytest.mark.parametrize("joined", [0.3, 1.0])
def test_source_and_target_stay_together(store: Store, sampling: float, joined: float) -> None:
    """Of each row the numbers of its pairs are read off both sides, and the texts made again from them."""
    seen: list[int] = []
    most = 0
    for batch in first_epoch(make(store, joined=joined, sampling=sampling)):
        assert max(batch.source.shape[1], batch.wanted.shape[1]) <= LONGEST + 1
        for source, target in zip(decode(batch.source), decode(batch.wanted), strict=True):
            pairs = [int(number) for number in re.findall(r"a(\d+)", source)]
            texts = zip(*map(store.text, pairs), strict=True)
            assert [source, target] == [" ".join(sides) for sides in texts]
            seen += pairs
            most = max(most, len(pairs))
    assert sorted(seen) == list(range(PAIRS))
    assert most > 2


@settings(max_examples=20)
@given(budget=st.integers(1, 500), joined=shares)
def test_the_budget_is_kept_and_an_epoch_costs_no_more(store: Store, budget: int, joined: float) -> None:
    """There are fewer end marks, and that is all."""
    batches = make(store, budget=budget, joined=joined)
    made = first_epoch(batches)
    assert batches.costs().tolist() == [batch.source.size + 2 * batch.wanted.size for batch in made]
    assert all(max(batch.source.size, batch.wanted.size) <= budget or len(batch.source) == 1 for batch in made)
    rows = sum(len(batch.source) for batch in made)
    assert sum(batch.pieces for batch in made) == store.lengths[:, 1].sum() + rows
    assert rows <= PAIRS


@settings(max_examples=20)
@given(sampling=st.sampled_from([0.0, 0.1]), seed=st.integers(0, 99), taken=st.integers(0, 40))
def test_going_on_is_the_tail(store: Store, sampling: float, seed: int, taken: int) -> None:
    def take(count: int, epoch: int, done: int) -> list[tuple[int, int, list[object]]]:
        items = make(store, sampling=sampling, seed=seed).after(epoch, done)
        return [(e, t, [side.tolist() for side in batch]) for e, t, batch in islice(items, count)]

    whole = take(taken + 3, 0, 0)
    epoch, done, _ = whole[taken - 1] if taken else (0, 0, [])
    assert take(3, epoch, done) == whole[taken:]


@pytest.mark.parametrize(
    "model",
    [
        Model(encoder_layers=1, decoder_layers=1, width=10, heads=2, feed_forward=7, dropout=0.1, positions="learned"),
        Model(kind="recurrent", encoder_layers=1, decoder_layers=1, width=10, dropout=0.1, look="fixed"),
    ],
    ids=["transformer", "recurrent"],
)
def test_a_network_that_knows_only_so_many_places_learns_the_longest(store: Store, model: Model) -> None:
    recipe = Recipe(model=model, pieces=Pieces(max_length=LONGEST), training=Training(processes=1))
    learner = Learner(recipe, len(tiny_tokenizer()))
    longest = max(first_epoch(make(store, joined=1.0)), key=lambda batch: batch.source.shape[1])
    assert longest.source.shape[1] > LONGEST - 10
    assert learner.update(longest, 1, 0.001) > 0


@pytest.mark.parametrize("value", ["-0.1", "1.1", "nan"])
def test_a_share_is_between_none_and_all(value: str) -> None:
    with pytest.raises(RecipeError, match=r"training\.joined must be at least 0 and at most 1"):
        override(Recipe(), [f"training.joined={value}"])


SETTINGS = [
    *TRAINING,
    "pieces.max_length=90",
    "training.scorings=2",
    "training.save_seconds=0",
    "search.max_length=40",
]


class StoppedError(Exception):
    """What ends a training in the middle."""


def test_a_training_is_taken_up_exactly(tmp_path: Path) -> None:
    corpus = tmp_path / "pairs.tsv"
    corpus.write_text("".join(f"{e.source}\t{e.target}\n" for e in generate(300, seed=7)), encoding="utf-8")
    saved: list[object] = []

    def stop(event: object) -> None:
        saved.extend([event] * isinstance(event, Saved))
        if len(saved) == 5:
            raise StoppedError

    def learn(name: str, joined: float, observe: Observer = lambda _: None) -> dict[str, NDArray[np.float32]]:
        train(
            [corpus],
            out=tmp_path / name,
            source_language="en",
            target_language="es",
            steps=12,
            settings=[*SETTINGS, f"training.joined={joined}"],
            observe=observe,
        )
        return ModelDirectory(tmp_path / name).weights()

    whole, alone = learn("whole", 0.5), learn("alone", 0.0)
    with pytest.raises(StoppedError):
        learn("stopped", 0.5, stop)
    train(out=tmp_path / "stopped", resume=True)
    taken_up = ModelDirectory(tmp_path / "stopped").weights()
    for name, array in whole.items():
        np.testing.assert_array_equal(array, taken_up[name], err_msg=name)
    assert any(not np.array_equal(array, alone[name]) for name, array in whole.items())
