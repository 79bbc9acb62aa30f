"""One learner: it learns, its average follows, and it can be taken up to the bit."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.checkpoint import read_arrays, write_arrays
from dragoman.config import Model, Recipe, Training
from dragoman.data.batches import Batch, make_batch
from dragoman.nn.weights import to_arrays
from dragoman.training.gradients import Pupil, find_gradients
from dragoman.training.learner import Learner
from random_weights import SHAPES, TINY, VOCABULARY

RATE = 0.003
BATCH = make_batch([[5, 7, 11], [13], [17, 19]], [[23, 29], [5, 7, 11, 13], [17]])
OTHER = make_batch([[30, 29], [28, 27, 26, 25]], [[24, 23, 22], [21]])


def make(model: Model = TINY, dropout: float = 0.3, training: Training | None = None) -> Learner:
    return Learner(
        Recipe(model=replace(model, dropout=dropout), training=training or Training(initial="glorot")), VOCABULARY
    )


def learn(learner: Learner, updates: int, batch: Batch = BATCH, first: int = 1) -> list[float]:
    return [learner.update(batch, number, RATE) for number in range(first, first + updates)]


def check_same(one: Learner, other: Learner) -> None:
    left, right = one.arrays(), other.arrays()
    assert left.keys() == right.keys()
    for name, array in left.items():
        assert array.shape == right[name].shape, name
        np.testing.assert_array_equal(array, right[name], err_msg=name)


@pytest.mark.parametrize("model", SHAPES, ids=lambda m: f"{m.norm}-{m.positions}-{'tied' if m.tied else 'untied'}")
def test_going_on_after_a_restore_is_going_on(model: Model, tmp_path: Path) -> None:
    one = make(model)
    learn(one, 3)
    write_arrays(tmp_path / "state.safetensors", one.arrays())
    other = make(model, training=Training(seed=1))
    learn(other, 2, OTHER)
    other.restore(read_arrays(tmp_path / "state.safetensors"))
    check_same(one, other)
    assert learn(one, 2, OTHER, first=4) == learn(other, 2, OTHER, first=4)
    check_same(one, other)


def test_what_is_restored_is_a_copy(tmp_path: Path) -> None:
    learner = make()
    learn(learner, 1)
    write_arrays(tmp_path / "state.safetensors", learner.arrays())
    arrays = read_arrays(tmp_path / "state.safetensors")
    before = {name: array.copy() for name, array in arrays.items()}
    learner.restore(arrays)
    learn(learner, 2, first=2)
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, before[name])


def test_the_same_recipe_learns_the_same() -> None:
    one, same, other = make(), make(), make(training=Training(seed=5))
    losses = [learn(learner, 3) for learner in (one, same, other)]
    assert losses[0] == losses[1] != losses[2]
    check_same(one, same)


@pytest.mark.parametrize("dropout", [0.0, 0.1])
def test_a_tiny_batch_is_learned_by_heart(dropout: float) -> None:
    """20 copies of the same sentences, again and again: the loss falls to what the smoothed labels leave of it."""
    copies = Batch(*(np.repeat(side, 20, axis=0) for side in BATCH))
    learner = make(dropout=dropout, training=Training(label_smoothing=0.1))
    losses = learn(learner, 60, copies)
    assert losses[0] > 3
    assert losses[-1] < losses[0] / 2
    assert sorted(losses[::20], reverse=True) == losses[::20]


@given(copies=st.integers(2, 7))
@settings(max_examples=5)
def test_the_loss_is_for_each_target_piece(copies: int) -> None:
    """Without dropout, as many copies as you like have the same loss and the same gradients; padding has none."""
    network = make(dropout=0.0).network
    alone = find_gradients(Pupil(network), Training(), BATCH, 1, pieces=BATCH.pieces)
    grads = [p.grad.clone() for p in network.parameters() if p.grad is not None]
    padded = make_batch([[5, 7, 11], [13], [17, 19]], [[23, 29], [5, 7, 11, 13], [17]])
    wider = Batch(*(np.pad(np.repeat(side, copies, axis=0), ((0, 0), (0, 3))) for side in padded))
    assert find_gradients(Pupil(network), Training(), wider, 1, pieces=wider.pieces) == pytest.approx(alone, rel=1e-5)
    for before, parameter in zip(grads, network.parameters(), strict=True):
        assert parameter.grad is not None
        np.testing.assert_allclose(parameter.grad.numpy(), before.numpy(), atol=1e-5)


def test_the_average_follows() -> None:
    """The running average of the weights, by its definition: young it follows quickly, later with its own decay."""
    learner = make(training=Training(average=0.2))
    expected = learner.averaged()
    for number in range(1, 6):
        learner.update(BATCH, number, RATE)
        decay = min(0.2, number / (number + 10))
        now = to_arrays(learner.network)
        expected = {name: decay * array + (1 - decay) * now[name] for name, array in expected.items()}
        for name, array in learner.averaged().items():
            np.testing.assert_allclose(array, expected[name], atol=1e-6)


def test_without_average_the_average_is_the_network() -> None:
    learner = make(training=Training(average=0.0))
    learn(learner, 3)
    now = to_arrays(learner.network)
    for name, array in learner.averaged().items():
        np.testing.assert_allclose(array, now[name], atol=1e-7)


def test_averaged_weights_are_copies_under_their_documented_names() -> None:
    learner = make()
    taken = learner.averaged()
    before = {name: array.copy() for name, array in taken.items()}
    learn(learner, 1)
    assert taken.keys() == to_arrays(learner.network).keys()
    for name, array in taken.items():
        np.testing.assert_array_equal(array, before[name])


def test_a_rate_of_zero_changes_no_weight() -> None:
    learner = make(training=Training(weight_decay=0.5))
    before = to_arrays(learner.network)
    learner.update(BATCH, 1, 0.0)
    for name, array in to_arrays(learner.network).items():
        np.testing.assert_array_equal(array, before[name])


def test_only_matrices_decay() -> None:
    """Without gradients to speak of, matrices shrink by rate · decay and vectors stay as they are."""
    learner = make(training=Training(weight_decay=0.5, clip_norm=1e-30))
    before = to_arrays(learner.network)
    learner.update(BATCH, 1, 0.1)
    for name, array in to_arrays(learner.network).items():
        wanted = before[name] * (0.95 if array.ndim > 1 else 1)
        np.testing.assert_allclose(array, wanted, atol=1e-6, err_msg=name)


def test_gradients_are_clipped() -> None:
    learner = make(training=Training(clip_norm=0.01))
    learner.update(BATCH, 1, RATE)
    squares = sum(float((p.grad**2).sum()) for p in learner.network.parameters() if p.grad is not None)
    assert squares**0.5 == pytest.approx(0.01, rel=1e-3)
