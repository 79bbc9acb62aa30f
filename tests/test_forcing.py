"""What the decoder reads while it learns: a person's pieces, or its own guesses."""

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dragoman.config import Model, Recipe, Training
from dragoman.data.batches import make_batch
from dragoman.nn.models import Network, build, initialise
from dragoman.text.tokenizer import END, PAD, START
from dragoman.training.learner import Learner
from dragoman.training.schedule import teacher_share

V, LONGEST = 31, 13
TRANSFORMER = Model(encoder_layers=1, decoder_layers=2, width=10, heads=2, feed_forward=7, dropout=0.0)
RECURRENT = Model(kind="recurrent", encoder_layers=1, decoder_layers=2, width=10, dropout=0.0)
both_families = pytest.mark.parametrize("model", [TRANSFORMER, RECURRENT], ids=["transformer", "recurrent"])
DECAYS: Any = ("linear", "exponential", "inverse-sigmoid")
every_decay = pytest.mark.parametrize("decay", DECAYS)
SOURCE = torch.tensor([[5, 7, 11, END], [13, 17, END, PAD]])
TARGET = torch.tensor([[START, 6, 8, 10, 12], [START, 14, 16, 18, 20]])


def make(model: Model) -> Network:
    network = build(model, V, LONGEST)
    initialise(network, 3)
    return network


def run(network: Network, target: torch.Tensor, given: torch.Tensor | None) -> torch.Tensor:
    with torch.no_grad():
        decoded: torch.Tensor = network(SOURCE, SOURCE != PAD, target, given)
    return decoded


@both_families
def test_all_given_is_teacher_forcing(model: Model) -> None:
    network = make(model)
    torch.testing.assert_close(run(network, TARGET, torch.ones_like(TARGET) > 0), run(network, TARGET, None))


def test_a_recurrent_decoder_with_nothing_given_runs_freely() -> None:
    """Its outputs are those of reading, teacher-forced, what it writes itself; the target does not matter."""
    network = make(RECURRENT)
    nothing = torch.zeros_like(TARGET) > 0
    free = run(network, TARGET, nothing)
    written = network.score(free).argmax(dim=-1)
    read = torch.cat([TARGET[:, :1], written[:, :-1]], dim=1)
    torch.testing.assert_close(run(network, read, None), free)
    torch.testing.assert_close(
        run(network, torch.full_like(TARGET, 9).index_fill(1, torch.tensor(0), START), nothing), free
    )


def test_a_transformer_reads_the_guesses_of_its_first_pass() -> None:
    network = make(TRANSFORMER)
    guessed = network.score(run(network, TARGET, None)).argmax(dim=-1)
    some = torch.tensor([[True, True, False, True, False], [True, False, False, True, True]])
    mixed = torch.where(some, TARGET, torch.cat([TARGET[:, :1], guessed[:, :-1]], dim=1))
    assert not torch.equal(mixed, TARGET)
    torch.testing.assert_close(run(network, TARGET, some), run(network, mixed, None))


@every_decay
@given(half=st.integers(1, 10**6), updates=st.lists(st.integers(0, 10**7), min_size=2, max_size=2))
def test_the_share_sinks_from_nearly_all_through_a_half(decay: Any, half: int, updates: list[int]) -> None:
    sooner, later = (teacher_share(decay, half, update) for update in sorted(updates))
    assert 1 >= sooner >= later >= 0
    assert teacher_share(decay, half, half) == pytest.approx(0.5, abs=0.01)
    assert teacher_share(decay, half, 0) >= 0.5
    assert teacher_share(decay, half, 100 * half) < 0.02


def test_the_decays_differ() -> None:
    """By hand: a straight line, a half to the power of update / half, and k / (k + exp(u / k)) where k is 29.5."""
    shares = {decay: [teacher_share(decay, 100, update) for update in (50, 150, 200)] for decay in DECAYS}
    assert shares["linear"] == pytest.approx([0.75, 0.25, 0.0])
    assert shares["exponential"] == pytest.approx([0.5**0.5, 0.5**1.5, 0.25])
    assert shares["inverse-sigmoid"] == pytest.approx([0.844, 0.155, 0.033], abs=0.005)


@both_families
def test_guesses_change_what_is_learned_and_the_same_seed_does_not(model: Model) -> None:
    batch = make_batch([[5, 7, 11], [13, 17]], [[6, 8, 10, 12], [14, 16]])
    losses: dict[str, list[float]] = {}
    for forcing in ("teacher", "scheduled", "scheduled"):
        settings = Training(forcing=forcing, forcing_updates=1, processes=1)
        learner = Learner(Recipe(model=model, training=settings), V)
        found = [learner.update(batch, number, 0.01) for number in range(1, 6)]
        assert losses.setdefault(forcing, found) == found
    assert losses["teacher"] != losses["scheduled"]
