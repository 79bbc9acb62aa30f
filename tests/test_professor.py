"""Professor forcing: a critic tells a decoder that runs freely from one that is led, and the decoder learns of it."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from dragoman.config import Model, Recipe, Training
from dragoman.data.batches import make_batch
from dragoman.errors import RecipeError
from dragoman.nn.models import initialise
from dragoman.nn.professor import Critic
from dragoman.recipe import override
from dragoman.text.tokenizer import PAD
from dragoman.training.gradients import Pupil, build_pupil, find_gradients
from dragoman.training.learner import Learner

V, D = 31, 10
MODEL = Model(kind="recurrent", encoder_layers=1, decoder_layers=1, width=D, dropout=0.0)
PROFESSOR = Recipe(model=MODEL, training=Training(forcing="professor", processes=1))
BATCH = make_batch([[5, 7, 11], [13, 17]], [[6, 8, 10, 12], [14, 16]])


def make_critic(width: int = D) -> Critic:
    critic = Critic(width)
    initialise(critic, 3)
    return critic


def test_what_the_critic_may_not_see_changes_nothing() -> None:
    critic, outputs = make_critic(), torch.randn(2, 7, D, generator=torch.Generator().manual_seed(1))
    visible = torch.arange(7) < torch.tensor([[7], [4]])
    before = critic(outputs, visible)
    outputs[1, 4:] = 1e3
    torch.testing.assert_close(critic(outputs, visible), before)


def test_a_critic_learns_to_tell_two_ways_of_behaving_apart() -> None:
    """Where they differ in order alone, which a mean without its two cells could not see."""
    critic, draws = make_critic(), torch.Generator().manual_seed(1)
    optimiser = torch.optim.Adam(critic.parameters(), 0.01)
    seen = torch.ones(64, 5, dtype=torch.bool)
    for _ in range(120):
        rising = torch.randn(64, 5, D, generator=draws) + torch.linspace(-1, 1, 5)[None, :, None]
        told = torch.cat([critic(rising, seen), critic(rising.flip(1), seen)])
        truth = torch.cat([torch.ones(64), torch.zeros(64)])
        optimiser.zero_grad()
        torch.nn.functional.binary_cross_entropy_with_logits(told, truth).backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    assert ((told > 0) == (truth > 0)).float().mean() > 0.9


def gradients(pupil: Pupil, settings: Training, number: int = 10_000) -> dict[str, np.ndarray]:
    find_gradients(pupil, settings, BATCH, number, pieces=BATCH.pieces)
    return {name: p.grad.numpy().copy() for name, p in pupil.parameters().items() if p.grad is not None}


def test_the_network_learns_from_a_critic_who_is_right_and_from_no_other() -> None:
    pupil = build_pupil(PROFESSOR, V)
    assert pupil.critic is not None
    alone = gradients(Pupil(pupil.network), PROFESSOR.training)
    bias = pupil.critic.outer.bias
    with torch.no_grad():
        bias.fill_(50.0)  # says of everything that it was led, and so is right half of the time
    blind = gradients(pupil, PROFESSOR.training)
    for name, wanted in alone.items():
        np.testing.assert_allclose(blind[name], wanted, atol=1e-7)
    assert abs(blind["critic.outer.bias"]).item() > 0.4
    with torch.no_grad():
        led, free = _scores(pupil)
        assert led.min() > free.max() or led.max() < free.min()
        middle = (torch.cat([led, free]).sort().values[1:3]).mean()
        sign = 1.0 if led.min() > free.max() else -1.0
        pupil.critic.outer.weight.mul_(sign)
        bias.copy_(sign * (bias - middle))
    keen = gradients(pupil, PROFESSOR.training)
    assert any(not np.allclose(keen[name], alone[name], atol=1e-7) for name in alone)
    assert not keen["critic.outer.bias"].any()  # it is right of all, and so has nothing to learn
    first = gradients(pupil, PROFESSOR.training, number=1)
    early, late = (max(abs(found[name] - alone[name]).max() for name in alone) for found in (first, keen))
    assert 0 < early < 0.01 * late  # who cannot translate yet need not heed it


def _scores(pupil: Pupil) -> tuple[torch.Tensor, torch.Tensor]:
    assert pupil.critic is not None
    source, target, wanted = map(torch.from_numpy, BATCH)
    seen = wanted != PAD
    led = pupil.network(source, source != PAD, target)
    free = pupil.network(source, source != PAD, target, torch.zeros_like(seen))
    return pupil.critic(led, seen), pupil.critic(free, seen)


def test_the_loss_that_is_told_is_the_translators_own() -> None:
    pupil = build_pupil(PROFESSOR, V)
    own = find_gradients(Pupil(pupil.network), PROFESSOR.training, BATCH, 1, pieces=BATCH.pieces)
    assert find_gradients(pupil, PROFESSOR.training, BATCH, 1, pieces=BATCH.pieces) == pytest.approx(own)


def test_a_learner_taken_up_again_goes_on_as_it_would_have() -> None:
    recipe = replace(PROFESSOR, model=replace(MODEL, dropout=0.3))
    whole, first, second = (Learner(recipe, V) for _ in range(3))
    losses = [whole.update(BATCH, number, 0.01) for number in range(1, 7)]
    for number in range(1, 4):
        first.update(BATCH, number, 0.01)
    second.restore(first.arrays())
    assert [second.update(BATCH, number, 0.01) for number in range(4, 7)] == losses[3:]
    assert not np.array_equal(
        first.arrays()["weight/critic.outer.weight"], whole.arrays()["weight/critic.outer.weight"]
    )


def test_the_critic_is_no_part_of_the_model_that_is_kept() -> None:
    learner = Learner(PROFESSOR, V)
    assert not any(name.startswith("critic") for name in learner.averaged())
    assert any(name.startswith("weight/critic") for name in learner.arrays())


def test_a_transformer_has_no_professor() -> None:
    with pytest.raises(RecipeError, match=r'training\.forcing = "professor" is not for model\.kind = "transformer"'):
        override(Recipe(), ["training.forcing=professor"])
