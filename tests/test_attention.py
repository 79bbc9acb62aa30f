"""The laws of attention, written out and fused."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from jaxtyping import TypeCheckError
from torch import Tensor

from dragoman.nn import fused
from dragoman.nn.attention import (
    MultiHead,
    additive_scores,
    attend,
    attend_linear,
    attend_step_by_step,
    causal,
    cosine_scores,
    dot_scores,
)
from dragoman.nn.fused import attend_fast

B, H, Q, K, E = 2, 3, 5, 7, 11
seeds = st.integers(0, 2**16)


def draw(*shape: int, seed: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def draw_visible(*shape: int, seed: int) -> Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed)) < 0.5


def make_heads(width: int = H * E, heads: int = H, seed: int = 1) -> MultiHead:
    torch.manual_seed(seed)
    return MultiHead(width, heads)


@given(seed=seeds, hidden=st.integers(0, K - 1))
def test_a_hidden_value_changes_nothing(seed: int, hidden: int) -> None:
    scores, values = draw(B, Q, K, seed=seed), draw(B, K, E, seed=seed + 1)
    visible = torch.ones(B, 1, K, dtype=torch.bool)
    visible[:, :, hidden] = False
    before = attend(scores, values, visible)
    scores[:, :, hidden], values[:, hidden] = 1e3, 1e6
    after = attend(scores, values, visible)
    torch.testing.assert_close(after.context, before.context)
    assert not after.weights[:, :, hidden].any()


@given(seed=seeds)
def test_weights_are_a_distribution_over_what_is_visible(seed: int) -> None:
    visible = draw_visible(B, Q, K, seed=seed)
    visible[:, :, 0] = True
    weights = attend(10 * draw(B, Q, K, seed=seed), draw(B, K, E, seed=seed), visible).weights
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(B, Q))
    assert (weights >= 0).all()
    assert not weights[~visible].any()


@given(seed=seeds, by=st.floats(-100, 100))
def test_only_differences_of_scores_count(seed: int, by: float) -> None:
    scores, values, visible = draw(B, Q, K, seed=seed), draw(B, K, E, seed=seed), torch.ones(1, 1, K, dtype=torch.bool)
    torch.testing.assert_close(
        attend(scores + by, values, visible).context, attend(scores, values, visible).context, atol=1e-4, rtol=1e-4
    )


def test_alike_scores_give_the_mean() -> None:
    values = draw(B, K, E, seed=1)
    context = attend(torch.zeros(B, Q, K), values, torch.ones(1, 1, K, dtype=torch.bool)).context
    torch.testing.assert_close(context, values.mean(dim=1, keepdim=True).expand(B, Q, E))


def test_the_root_keeps_the_variance_of_the_scores() -> None:
    for width in (3, 47, 499):
        scores = dot_scores(draw(499, width, seed=1), draw(499, width, seed=2))
        assert scores.var().item() == pytest.approx(1, abs=0.1)


@pytest.fixture(params=["short", "long"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each way of attending fast: that of short sentences, and that of long ones, for which all count as long."""
    monkeypatch.setattr(fused, "_SHORT", {"short": 128, "long": 0}[request.param])


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("queries", [1, Q])
@pytest.mark.parametrize("heads", [1, H])
@pytest.mark.parametrize("batch", [1, B])
def test_fast_is_written_out(seed: int, queries: int, heads: int, batch: int) -> None:
    q, k, v = draw(B, H, Q, E, seed=seed), draw(B, H, K, E, seed=seed + 1), draw(B, H, K, E, seed=seed + 2)
    visible = draw_visible(batch, heads, queries, K, seed=seed)
    written = attend(dot_scores(q, k), v, visible).context
    torch.testing.assert_close(attend_fast(q, k, v, visible), written, atol=1e-5, rtol=1e-5)


@pytest.mark.usefixtures("way")
def test_the_fast_gradients_are_those_of_the_formula() -> None:
    """In float64, by differences."""
    q, k, v = (draw(2, 3, n, E, seed=n).double().requires_grad_() for n in (Q, K, K))
    visible = draw_visible(2, 1, Q, K, seed=1)
    assert torch.autograd.gradcheck(lambda q, k, v: attend_fast(q, k, v, visible), (q, k, v))


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("fast", [True, False])
def test_a_query_that_sees_nothing_stays_harmless(fast: bool) -> None:
    q, k, v = (draw(B, H, n, E, seed=n).requires_grad_() for n in (Q, K, K))
    visible = torch.zeros(B, 1, 1, K, dtype=torch.bool)
    context = attend_fast(q, k, v, visible) if fast else attend(dot_scores(q, k), v, visible).context
    torch.testing.assert_close(context, v.mean(dim=2, keepdim=True).expand(B, H, Q, E))
    torch.autograd.backward(context.sum())
    assert all(x.grad is not None and x.grad.isfinite().all() for x in (q, k, v))


@given(length=st.integers(1, 31))
def test_the_past_is_visible_and_the_future_is_not(length: int) -> None:
    visible = causal(length)
    assert visible.shape == (1, 1, length, length)
    for query in range(length):
        assert visible[0, 0, query].tolist() == [key <= query for key in range(length)]


@given(seed=seeds)
@settings(max_examples=30)
def test_one_head_is_the_formula(seed: int) -> None:
    attention = make_heads(heads=1, seed=seed)
    x, memory = draw(B, Q, H * E, seed=seed), draw(B, K, H * E, seed=seed + 1)
    visible = draw_visible(B, 1, 1, K, seed=seed)
    scores = attention.query(x) @ attention.key(memory).transpose(1, 2) / math.sqrt(H * E)
    context = attend(scores, attention.value(memory), visible[:, 0]).context
    torch.testing.assert_close(attention(x, memory, visible), attention.output(context), atol=1e-5, rtol=1e-5)


def test_heads_are_narrow_and_work_alone() -> None:
    """Each head reads and writes columns of its own: many heads are as many single heads, side by side."""
    attention = make_heads()
    x, memory = draw(B, Q, H * E, seed=3), draw(B, K, H * E, seed=5)
    visible = torch.ones(B, 1, 1, K, dtype=torch.bool)
    contexts = []
    for columns in torch.arange(H * E).chunk(H):
        query, key, value = (m(y)[..., columns] for m, y in zip(heads_of(attention), (x, memory, memory), strict=True))
        contexts.append(attend(dot_scores(query, key), value, visible[:, 0]).context)
    torch.testing.assert_close(
        attention(x, memory, visible), attention.output(torch.cat(contexts, dim=-1)), atol=1e-5, rtol=1e-5
    )


def heads_of(attention: MultiHead) -> tuple[torch.nn.Module, ...]:
    return attention.query, attention.key, attention.value


def test_attention_alone_sees_no_order() -> None:
    attention = make_heads()
    x, memory = draw(B, Q, H * E, seed=3), draw(B, K, H * E, seed=5)
    visible = draw_visible(B, 1, 1, K, seed=7)
    order = torch.tensor([3, 0, 6, 1, 5, 2, 4])
    torch.testing.assert_close(
        attention(x, memory[:, order], visible[..., order]), attention(x, memory, visible), atol=1e-5, rtol=1e-5
    )


def test_a_width_that_heads_do_not_divide_is_refused() -> None:
    with pytest.raises(ValueError, match="width 33 is not a multiple of heads 5"):
        MultiHead(33, 5)


def test_shapes_are_checked_under_pytest() -> None:
    with pytest.raises(TypeCheckError, match="parameter 'keys'"):
        dot_scores(torch.zeros(B, Q, E), torch.zeros(B, K, E + 2))
    with pytest.raises(TypeCheckError, match="parameter 'visible'"):
        attend(torch.zeros(B, Q, K), torch.zeros(B, K, E), torch.ones(B, Q, K))


@given(seed=seeds, length=st.integers(1, 17))
@settings(max_examples=20)
def test_linear_attention_all_at_once_is_the_recurrent_network(seed: int, length: int) -> None:
    queries, keys, values = (2 * draw(B, H, length, E, seed=seed + n).double() for n in range(3))
    found = attend_linear(queries, keys, values, causal(length))
    torch.testing.assert_close(found.context, attend_step_by_step(queries, keys, values))
    torch.testing.assert_close(found.weights.sum(dim=-1), torch.ones(B, H, length, dtype=torch.float64))
    assert (found.weights >= 0).all()


def test_linear_attention_that_sees_nothing_stays_harmless() -> None:
    queries, keys, values = (draw(B, H, n, E, seed=1) for n in (Q, K, K))
    found = attend_linear(queries, keys, values, torch.zeros(1, 1, 1, K, dtype=torch.bool))
    assert not found.context.any()


def test_cosine_scores_do_not_mind_lengths() -> None:
    queries, keys = draw(B, H, Q, E, seed=1), draw(B, H, K, E, seed=2)
    sharpness = torch.tensor([1.0, 2.0, 5.0])[:, None, None]
    scores = cosine_scores(queries, keys, sharpness)
    torch.testing.assert_close(cosine_scores(7 * queries, keys / 3, sharpness), scores)
    wanted = torch.cosine_similarity(queries[:, :, :, None], keys[:, :, None], dim=-1)
    torch.testing.assert_close(scores, sharpness * wanted)


def test_additive_scores_are_a_network_with_one_hidden_layer() -> None:
    queries, keys, mix = draw(B, H, Q, E, seed=1), draw(B, H, K, E, seed=2), draw(H, E, seed=3)
    scores = additive_scores(queries, keys, mix[..., None])
    for h in range(H):
        for q in range(Q):
            for k in range(K):
                wanted = mix[h] @ torch.tanh(queries[1, h, q] + keys[1, h, k])
                torch.testing.assert_close(scores[1, h, q, k], wanted)


def test_heads_compare_as_they_are_told() -> None:
    x, memory, visible = draw(B, Q, H * E, seed=1), draw(B, K, H * E, seed=2), torch.ones(1, 1, 1, K, dtype=torch.bool)
    unscaled, scaled = (MultiHead(H * E, H, scores=scores) for scores in ("dot", "scaled-dot"))
    unscaled.load_state_dict(scaled.state_dict())
    with torch.no_grad():
        assert not torch.allclose(unscaled(x, memory, visible), scaled(x, memory, visible), atol=1e-4)
        unscaled.query.weight.div_(math.sqrt(E))
        unscaled.query.bias.div_(math.sqrt(E))
    torch.testing.assert_close(unscaled(x, memory, visible), scaled(x, memory, visible))
