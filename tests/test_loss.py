"""The loss: computed in chunks with its gradients, against PyTorch's own and against the definition."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional

from dragoman.training import loss as module
from dragoman.training.loss import smoothed_loss

N, D, V = 7, 5, 11
smoothings = st.floats(0, 0.99)
Inputs = tuple[Tensor, Tensor, Tensor, Tensor]


def draw(n: int, seed: int, dtype: torch.dtype = torch.float64) -> Inputs:
    rng = torch.Generator().manual_seed(seed)
    decoded, weight, bias = (
        torch.randn(shape, generator=rng, dtype=dtype, requires_grad=True) for shape in ((n, D), (V, D), (V,))
    )
    return decoded, weight, bias, torch.randint(0, V, (n,), generator=rng)


def gradients(loss: Tensor, inputs: Inputs) -> tuple[Tensor, ...]:
    return torch.autograd.grad(loss, inputs[:3])


def theirs(inputs: Inputs, smoothing: float) -> Tensor:
    decoded, weight, bias, wanted = inputs
    return functional.cross_entropy(decoded @ weight.T + bias, wanted, reduction="sum", label_smoothing=smoothing)


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.7])
@pytest.mark.parametrize("chunk", [1, 3, N, N + 1])
def test_the_gradients_are_those_of_the_loss(smoothing: float, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_CHUNK", chunk)
    decoded, weight, bias, wanted = draw(N, seed=1)

    def loss(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
        return smoothed_loss(a, b, c, wanted, smoothing)

    assert torch.autograd.gradcheck(loss, (decoded, weight, bias))


@given(seed=st.integers(0, 2**16), smoothing=smoothings, n=st.integers(1, 31), chunk=st.integers(1, 32))
def test_it_is_pytorchs_own(seed: int, smoothing: float, n: int, chunk: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_CHUNK", chunk)
        inputs = draw(n, seed)
        ours = smoothed_loss(*inputs, smoothing)
    torch.testing.assert_close(ours, theirs(inputs, smoothing))
    for own, other in zip(gradients(3 * ours, inputs), gradients(3 * theirs(inputs, smoothing), inputs), strict=True):
        torch.testing.assert_close(own, other)


@pytest.mark.parametrize("n", [module._CHUNK - 1, module._CHUNK, module._CHUNK + 1, 2 * module._CHUNK])
def test_borders_between_real_chunks_are_not_seen(n: int) -> None:
    inputs = draw(n, seed=3, dtype=torch.float32)
    ours = smoothed_loss(*inputs, 0.1)
    torch.testing.assert_close(ours, theirs(inputs, 0.1), rtol=1e-5, atol=1e-3)
    for own, other in zip(gradients(ours, inputs), gradients(theirs(inputs, 0.1), inputs), strict=True):
        torch.testing.assert_close(own, other, rtol=1e-4, atol=1e-4)


def test_nothing_wanted_costs_nothing() -> None:
    inputs = draw(0, seed=1)
    loss = smoothed_loss(*inputs, 0.1)
    assert loss.item() == 0
    assert not any(gradient.any() for gradient in gradients(loss, inputs))


@given(seed=st.integers(0, 2**16), smoothing=smoothings)
@settings(max_examples=30)
def test_no_prediction_beats_the_smoothed_label_itself(seed: int, smoothing: float) -> None:
    """The least loss is the label's own entropy (Gibbs), met where the prediction is the smoothed label."""
    decoded, weight, bias, wanted = draw(N, seed)
    label = torch.full((V,), smoothing / V, dtype=torch.float64)
    label[wanted[0]] += 1 - smoothing
    entropy = -(label * label.clamp(min=1e-300).log()).sum()
    exact = smoothed_loss(
        torch.zeros(1, D, dtype=torch.float64), weight, label.clamp(min=1e-300).log(), wanted[:1], smoothing
    )
    torch.testing.assert_close(exact, entropy)
    assert smoothed_loss(decoded[:1], weight, bias, wanted[:1], smoothing) >= entropy - 1e-9


def test_great_scores_do_not_overflow() -> None:
    inputs = draw(N, seed=1, dtype=torch.float32)
    loss = smoothed_loss(inputs[0] * 1e4, *inputs[1:], 0.1)
    assert loss.isfinite()
    assert all(gradient.isfinite().all() for gradient in gradients(loss, inputs))


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_rough_products_find_about_the_same(smoothing: float) -> None:
    inputs = draw(101, seed=2, dtype=torch.float32)
    exact, rough = (smoothed_loss(*inputs, smoothing, kind) for kind in (None, torch.bfloat16))
    torch.testing.assert_close(rough, exact, rtol=0.01, atol=0.0)
    assert rough != exact
    for found, wanted in zip(gradients(rough, inputs), gradients(exact, inputs), strict=True):
        assert found.dtype == torch.float32
        assert torch.cosine_similarity(found.ravel(), wanted.ravel(), dim=0) > 0.999
