"""R-Drop: two passes with different values dropped learn to agree."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode

from dragoman.config import Model, Recipe, Training
from dragoman.data.batches import make_batch
from dragoman.errors import RecipeError
from dragoman.recipe import override
from dragoman.text.tokenizer import PAD
from dragoman.training import forecast
from dragoman.training import loss as module
from dragoman.training.crew import Crew
from dragoman.training.forecast import Effort
from dragoman.training.gradients import build_pupil, find_gradients
from dragoman.training.learner import Learner
from dragoman.training.loss import agreed_loss, smoothed_loss
from dragoman.training.sizes import CorpusSize, fill

N, D, V = 7, 5, 11
VOCABULARY = 31
TRANSFORMER = Model(encoder_layers=1, decoder_layers=2, width=10, heads=2, feed_forward=7, dropout=0.3)
RECURRENT = Model(kind="recurrent", encoder_layers=1, decoder_layers=2, width=10, dropout=0.3)
both_families = pytest.mark.parametrize("model", [TRANSFORMER, RECURRENT], ids=["transformer", "recurrent"])
BATCH = make_batch([[5, 7, 11], [13], [17, 19], [23], [29, 30]], [[23, 29], [5, 7, 11, 13], [17], [19], [8, 9]])
RATE = 0.003
Inputs = tuple[Tensor, Tensor, Tensor, Tensor]


def draw(n: int, seed: int, dtype: torch.dtype = torch.float64) -> Inputs:
    rng = torch.Generator().manual_seed(seed)
    decoded, weight, bias = (
        torch.randn(shape, generator=rng, dtype=dtype, requires_grad=True) for shape in ((2, n, D), (V, D), (V,))
    )
    return decoded, weight, bias, torch.randint(0, V, (n,), generator=rng)


def gradients(loss: Tensor, inputs: Inputs) -> tuple[Tensor, ...]:
    return torch.autograd.grad(loss, inputs[:3])


def by_the_paper(inputs: Inputs, smoothing: float, agreement: float) -> tuple[Tensor, Tensor]:
    """The paper's formula as it stands there, all scores in memory."""
    decoded, weight, bias, wanted = inputs
    first, second = (decoded @ weight.T + bias).log_softmax(dim=-1)
    cross_entropy = sum(
        functional.nll_loss(logs, wanted, reduction="sum") * (1 - smoothing) - smoothing * logs.mean(dim=-1).sum()
        for logs in (first, second)
    )
    both_ways = (
        functional.kl_div(a, b, reduction="sum", log_target=True) for a, b in ((first, second), (second, first))
    )
    return cross_entropy + agreement * sum(both_ways) / 2, torch.as_tensor(cross_entropy)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("chunk", [1, 3, N + 1])
def test_the_gradients_are_those_of_the_loss(smoothing: float, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_CHUNK", chunk)
    decoded, weight, bias, wanted = draw(N, seed=1)

    def loss(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
        return agreed_loss(a, b, c, wanted, smoothing, 3.0).total

    assert torch.autograd.gradcheck(loss, (decoded, weight, bias))


@given(
    seed=st.integers(0, 2**16),
    smoothing=st.floats(0, 0.99),
    agreement=st.floats(0, 20),
    n=st.integers(1, 31),
    chunk=st.integers(1, 32),
)
def test_it_is_the_papers_formula(seed: int, smoothing: float, agreement: float, n: int, chunk: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_CHUNK", chunk)
        inputs = draw(n, seed)
        found = agreed_loss(*inputs, smoothing, agreement)
    total, cross_entropy = by_the_paper(inputs, smoothing, agreement)
    torch.testing.assert_close(found.total, total)
    torch.testing.assert_close(found.cross_entropy, cross_entropy.detach())
    assert found.total >= found.cross_entropy - 1e-9
    for own, other in zip(gradients(3 * found.total, inputs), gradients(3 * total, inputs), strict=True):
        torch.testing.assert_close(own, other)


@given(seed=st.integers(0, 2**16), agreement=st.floats(0, 20))
def test_equal_passes_cost_what_one_costs_twice(seed: int, agreement: float) -> None:
    decoded, weight, bias, wanted = draw(N, seed)
    once = decoded[0].detach().requires_grad_()
    twice = torch.stack([once, once])
    found = agreed_loss(twice, weight, bias, wanted, 0.1, agreement)
    plain = smoothed_loss(once, weight, bias, wanted, 0.1)
    torch.testing.assert_close(found.total, 2 * plain)
    for own, other in zip(
        gradients(found.total, (once, weight, bias, wanted)),
        gradients(2 * plain, (once, weight, bias, wanted)),
        strict=True,
    ):
        torch.testing.assert_close(own, other)


@given(seed=st.integers(0, 2**16))
def test_neither_pass_is_the_first(seed: int) -> None:
    decoded, weight, bias, wanted = draw(N, seed)
    losses = [agreed_loss(x, weight, bias, wanted, 0.1, 5.0).total for x in (decoded, decoded.flip(0))]
    torch.testing.assert_close(*losses)
    torch.testing.assert_close(*(torch.autograd.grad(loss, decoded)[0] for loss in losses))


def test_great_scores_do_not_overflow() -> None:
    inputs = draw(N, seed=1, dtype=torch.float32)
    found = agreed_loss(inputs[0] * 1e4, *inputs[1:], 0.1, 5.0)
    assert found.total.isfinite()
    assert all(gradient.isfinite().all() for gradient in gradients(found.total, inputs))


class Largest(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes the size of the largest array that is made."""

    size = 0

    def __torch_dispatch__(self, func: Any, _types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        if isinstance(made, Tensor):
            self.size = max(self.size, made.numel())
        return made


def test_the_scores_are_never_all_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_CHUNK", 13)
    monkeypatch.setattr(module, "_ROWS", 1)
    inputs = draw(101, seed=1)
    with Largest() as largest:  # type: ignore[no-untyped-call]
        gradients(agreed_loss(*inputs, 0.1, 5.0).total, inputs)
    assert largest.size == 2 * 101 * D
    assert largest.size < 2 * 101 * V


def make(model: Model, agreement: float, crew: Crew | None = None) -> Learner:
    return Learner(Recipe(model=model, training=Training(initial="glorot", agreement=agreement)), VOCABULARY, crew)


def learn(learner: Learner, updates: Sequence[int]) -> list[float]:
    return [learner.update(BATCH, number, RATE) for number in updates]


def found_by(model: Model, settings: Training) -> tuple[float, dict[str, Tensor]]:
    """What a fresh network is told of a batch, and its gradients."""
    pupil = build_pupil(Recipe(model=model, training=settings), VOCABULARY)
    told = find_gradients(pupil, settings, BATCH, 1, pieces=BATCH.pieces)
    return told, {name: p.grad for name, p in pupil.parameters().items() if p.grad is not None}


@both_families
def test_where_nothing_is_dropped_it_is_the_ordinary_loss(model: Model) -> None:
    still = replace(model, dropout=0.0)
    (plain, wanted), (told, found) = (
        found_by(still, Training(initial="glorot", agreement=alpha)) for alpha in (0.0, 5.0)
    )
    assert told == pytest.approx(plain, rel=1e-6)
    for name, gradient in wanted.items():
        torch.testing.assert_close(found[name], gradient, rtol=1e-4, atol=1e-6)


@both_families
def test_what_is_learned_is_half_the_papers_loss_of_two_passes(model: Model) -> None:
    """The network passes over the doubled batch again with the same noise, and PyTorch finds the gradients."""
    settings = Training(initial="glorot", agreement=5.0)
    told, found = found_by(model, settings)
    pupil = build_pupil(Recipe(model=model, training=settings), VOCABULARY)
    network = pupil.network
    network.noise.restart(settings.seed, 1)
    source, target, wanted = (torch.from_numpy(side).repeat(2, 1) for side in BATCH)
    outputs = network(source, source != PAD, target)
    counts = wanted != PAD
    decoded = outputs[counts].view(2, BATCH.pieces, -1)
    assert not torch.allclose(decoded[0], decoded[1])
    total, cross_entropy = by_the_paper(
        (decoded, network.output.weight, network.bias, wanted[counts][: BATCH.pieces]), settings.label_smoothing, 5.0
    )
    torch.autograd.backward(total / (2 * BATCH.pieces))
    assert told == pytest.approx(cross_entropy.item() / (2 * BATCH.pieces), rel=1e-5)
    for name, parameter in pupil.parameters().items():
        torch.testing.assert_close(found[name], parameter.grad, rtol=1e-4, atol=1e-6)


def test_the_loss_that_is_told_is_cross_entropy_alone() -> None:
    """However dear disagreeing is; what is learned is another thing."""
    (told, gradient), (same, other) = (
        found_by(TRANSFORMER, Training(initial="glorot", agreement=alpha)) for alpha in (0.1, 50.0)
    )
    assert told == same
    assert not torch.allclose(gradient["output.bias"], other["output.bias"])


def test_those_who_are_to_agree_agree_more() -> None:
    def apart(learner: Learner) -> float:
        """The divergence of two passes, both ways, a target piece."""
        network = learner.network
        network.noise.restart(1, 1000)
        source, target, wanted = (torch.from_numpy(side).repeat(2, 1) for side in BATCH)
        with torch.no_grad():
            scores = network.score(network(source, source != PAD, target))
        first, second = scores[wanted != PAD].log_softmax(dim=-1).view(2, BATCH.pieces, -1)
        return float(((first.exp() - second.exp()) * (first - second)).sum() / BATCH.pieces)

    alone, agreeing = make(TRANSFORMER, 0.0), make(TRANSFORMER, 5.0)
    for learner in (alone, agreeing):
        losses = learn(learner, range(1, 61))
        assert losses[-1] < losses[0] - 0.5
    assert apart(agreeing) < 0.5 * apart(alone)


@both_families
def test_a_learner_taken_up_again_goes_on_as_it_would_have(model: Model) -> None:
    whole, first, second = (make(model, 5.0) for _ in range(3))
    losses = learn(whole, range(1, 7))
    learn(first, range(1, 4))
    second.restore(first.arrays())
    assert learn(second, range(4, 7)) == losses[3:]
    for name, array in whole.arrays().items():
        np.testing.assert_array_equal(second.arrays()[name], array, err_msg=name)


@pytest.fixture(scope="module")
def crew() -> Iterator[Crew]:
    with closing(Crew(2)) as crew:
        yield crew


def test_two_processes_learn_what_one_does(crew: Crew) -> None:
    still = replace(TRANSFORMER, dropout=0.0)
    alone, together = make(still, 5.0), make(still, 5.0, crew)
    np.testing.assert_allclose(learn(together, range(1, 5)), learn(alone, range(1, 5)), rtol=1e-5)
    for name, array in alone.averaged().items():
        if not name.endswith("key.bias"):  # which has no gradient but rounding errors
            np.testing.assert_allclose(together.averaged()[name], array, atol=2e-5, err_msg=name)


def test_two_processes_taken_up_again_go_on_as_they_would_have(crew: Crew) -> None:
    """One learner after another, since they share the crew."""
    whole = make(TRANSFORMER, 5.0, crew)
    losses = learn(whole, range(1, 7))
    wanted = {name: array.copy() for name, array in whole.arrays().items()}
    first = make(TRANSFORMER, 5.0, crew)
    learn(first, range(1, 4))
    saved = {name: array.copy() for name, array in first.arrays().items()}
    second = make(TRANSFORMER, 5.0, crew)
    second.restore(saved)
    assert learn(second, range(4, 7)) == losses[3:]
    for name, array in second.arrays().items():
        np.testing.assert_array_equal(array, wanted[name], err_msg=name)


def test_in_the_same_time_half_as_many_epochs_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forecast, "forecast_speed", lambda *_: 1000.0)
    once, twice = (
        Effort(minutes=3).epochs(
            fill(Recipe(training=Training(initial="glorot", agreement=alpha)), CorpusSize(29_000, 20_000)), 6000, 1e4
        )
        for alpha in (0.0, 5.0)
    )
    assert once == 2 * twice


@pytest.mark.parametrize("forcing", ["scheduled", "professor"])
def test_only_those_whom_a_teacher_leads_can_agree(forcing: str) -> None:
    with pytest.raises(RecipeError, match=r'training\.agreement is only for training\.forcing = "teacher"'):
        override(Recipe(), ["model.kind=recurrent", "training.agreement=5", f"training.forcing={forcing}"])


@pytest.mark.parametrize("value", ["-1", "100", "inf", "nan"])
def test_agreement_has_its_bounds(value: str) -> None:
    with pytest.raises(RecipeError, match=r"training\.agreement must be at least 0 and below 100"):
        override(Recipe(), [f"training.agreement={value}"])
