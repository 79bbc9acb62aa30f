"""The layers: residual paths, dropout from counted noise, and who sees whom."""

from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from dragoman.nn.attention import MultiHead, causal
from dragoman.nn.dropout import Dropout, Noise
from dragoman.nn.layers import DecoderLayer, EncoderLayer, FeedForward, Residual

B, S, T, H, F = 2, 5, 7, 3, 13
D = 3 * 11
both_norms = pytest.mark.parametrize("pre_norm", [True, False], ids=["pre", "post"])


def draw(*shape: int, seed: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def no_dropout() -> Dropout:
    return Dropout(0.0, Noise())


def paths(*, pre_norm: bool) -> Callable[[], Residual]:
    return lambda: Residual(D, no_dropout(), "pre" if pre_norm else "post")


def make_encoder(*, pre_norm: bool) -> EncoderLayer:
    torch.manual_seed(1)
    return EncoderLayer(MultiHead(D, H), FeedForward(D, F, no_dropout()), paths(pre_norm=pre_norm))


def make_decoder(*, pre_norm: bool) -> DecoderLayer:
    torch.manual_seed(1)
    parts = MultiHead(D, H), MultiHead(D, H), FeedForward(D, F, no_dropout())
    return DecoderLayer(*parts, paths(pre_norm=pre_norm))


@given(seed=st.integers(0, 2**32), update=st.integers(0, 2**32), dropped=st.integers(3, 230))
@settings(max_examples=30)
def test_noise_follows_from_seed_and_update(seed: int, update: int, dropped: int) -> None:
    noise, again, other = Noise(), Noise(), Noise()
    again.kept(torch.Size([3]), 128)  # what was drawn before does not count
    noise.restart(seed, update)
    again.restart(seed, update)
    other.restart(seed, update + 1)
    shape = torch.Size([31, 37])
    drawn = [noise.kept(shape, dropped) for _ in range(2)]
    assert all(torch.equal(one, again.kept(shape, dropped)) for one in drawn)
    assert not torch.equal(drawn[0], drawn[1])
    assert not torch.equal(drawn[0], other.kept(shape, dropped))


@given(rate=st.floats(0.01, 0.9), shape=st.sampled_from([(257, 263), (67489,), (7, 31, 311)]))
@settings(max_examples=20)
def test_dropping_keeps_the_mean(rate: float, shape: tuple[int, ...]) -> None:
    dropped = Dropout(rate, Noise())(torch.ones(shape))
    assert dropped.shape == shape
    assert (dropped == 0).float().mean().item() == pytest.approx(rate, abs=1 / 256 + 0.01)
    assert len(set(dropped.flatten().tolist())) == 2
    assert dropped.mean().item() == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("rate", [0.001, 0.999])
def test_the_most_extreme_rates_drop_not_everything(rate: float) -> None:
    dropped = Dropout(rate, Noise())(torch.ones(67489))
    assert dropped.isfinite().all()
    assert dropped.any()


@pytest.mark.parametrize("training", [True, False])
def test_dropping_together_with_its_neighbours_is_the_plain_formula(*, training: bool) -> None:
    x, y, wide = draw(B, T, D, seed=1), draw(B, T, D, seed=2), draw(B, T, F, seed=3)
    outer = torch.nn.Linear(F, D)
    plain, fused = (Dropout(0.3, Noise()).train(training) for _ in range(2))
    torch.testing.assert_close(fused.add(x, y), x + plain(y))
    torch.testing.assert_close(fused.narrow(wide.clone(), outer), outer(plain(wide.relu())))


def test_gradients_of_dropping_together_with_its_neighbours() -> None:
    x, y, wide = (draw(2, 3, d, seed=1).double().requires_grad_() for d in (D, D, F))
    outer, dropout = torch.nn.Linear(F, D).double(), Dropout(0.3, Noise())

    def both(x: torch.Tensor, y: torch.Tensor, wide: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        dropout.noise.restart(1, 1)
        return dropout.add(x, y), dropout.narrow(wide * 1, outer)

    assert torch.autograd.gradcheck(both, (x, y, wide))


def test_dropout_is_for_training_only() -> None:
    x = draw(B, T, D, seed=1)
    dropout = Dropout(0.5, Noise())
    dropped = dropout(x)
    assert 0.3 < (dropped == 0).float().mean() < 0.7
    torch.testing.assert_close(dropped[dropped != 0], 2 * x[dropped != 0])
    assert dropout.eval()(x) is x
    assert no_dropout()(x) is x


def test_dropout_keeps_the_precision() -> None:
    assert Dropout(0.5, Noise())(draw(B, T, D, seed=1).double()).dtype == torch.float64


@both_norms
def test_a_silent_sublayer_is_passed_by(pre_norm: bool) -> None:
    x = draw(B, T, D, seed=1)
    path = paths(pre_norm=pre_norm)()
    around = path(x, torch.zeros_like)
    torch.testing.assert_close(around, x if pre_norm else nn.functional.layer_norm(x, (D,)))


@both_norms
def test_the_norm_stands_before_or_after(pre_norm: bool) -> None:
    x = 5 + 3 * draw(B, T, D, seed=1)
    path = paths(pre_norm=pre_norm)()
    read: list[Tensor] = []

    def sublayer(y: Tensor) -> Tensor:
        read.append(y)
        return 2 * y

    out = path(x, sublayer)
    normed = read[0] if pre_norm else out
    torch.testing.assert_close(normed.mean(dim=-1), torch.zeros(B, T), atol=1e-5, rtol=0)
    torch.testing.assert_close(normed.var(dim=-1, correction=0), torch.ones(B, T), atol=1e-3, rtol=0)
    if pre_norm:
        torch.testing.assert_close(out, x + 2 * read[0])
    else:
        assert read[0] is x


@both_norms
def test_what_a_sublayer_says_is_dropped_and_the_path_is_not(pre_norm: bool) -> None:
    x = draw(B, T, D, seed=1)
    path = Residual(D, Dropout(0.5, Noise()), "pre" if pre_norm else "post")
    path.norm = nn.Identity()
    said = path(x, lambda y: torch.full_like(y, 3)) - x
    assert set(said.round().flatten().tolist()) == {0, 6}


def test_feed_forward_works_at_each_position_alone() -> None:
    torch.manual_seed(1)
    feed_forward = FeedForward(D, F, no_dropout())
    x = draw(B, T, D, seed=2)
    changed = x.clone()
    changed[:, 3] += 1
    before, after = feed_forward(x), feed_forward(changed)
    others = [t for t in range(T) if t != 3]
    torch.testing.assert_close(after[:, others], before[:, others])
    assert not torch.allclose(after[:, 3], before[:, 3])


def test_feed_forward_is_the_formula() -> None:
    torch.manual_seed(1)
    feed_forward = FeedForward(D, F, no_dropout())
    x = draw(B, T, D, seed=2)
    inner = (x @ feed_forward.inner.weight.T + feed_forward.inner.bias).clamp(min=0)
    wanted = inner @ feed_forward.outer.weight.T + feed_forward.outer.bias
    torch.testing.assert_close(feed_forward(x), wanted, atol=1e-5, rtol=1e-5)


@both_norms
@pytest.mark.parametrize("hidden", range(S))
def test_the_encoder_does_not_see_padding(pre_norm: bool, hidden: int) -> None:
    layer = make_encoder(pre_norm=pre_norm)
    visible = torch.ones(B, 1, 1, S, dtype=torch.bool)
    visible[..., hidden] = False
    check_independent(lambda x: layer(x, visible), draw(B, S, D, seed=1), hidden, [s for s in range(S) if s != hidden])


@both_norms
@pytest.mark.parametrize("changed", range(T))
def test_the_future_is_invisible(pre_norm: bool, changed: int) -> None:
    layer = make_decoder(pre_norm=pre_norm)
    memory, seen = draw(B, S, D, seed=2), torch.ones(B, 1, 1, S, dtype=torch.bool)
    check_independent(lambda x: layer(x, causal(T), memory, seen), draw(B, T, D, seed=1), changed, range(changed))


@both_norms
def test_the_decoder_sees_the_visible_source_and_nothing_else(pre_norm: bool) -> None:
    layer = make_decoder(pre_norm=pre_norm)
    x, memory = draw(B, T, D, seed=1), draw(B, S, D, seed=2)
    seen = torch.ones(B, 1, 1, S, dtype=torch.bool)
    seen[..., -1] = False
    before = layer(x, causal(T), memory, seen)
    memory[:, -1] = 1e3
    torch.testing.assert_close(layer(x, causal(T), memory, seen), before)
    memory[:, 0] = 1e3
    assert not torch.allclose(layer(x, causal(T), memory, seen), before)


def check_independent(layer: Callable[[Tensor], Tensor], x: Tensor, changed: int, places: list[int] | range) -> None:
    """Check that what comes out at some places does not depend on what goes in at another, which does something."""
    before = layer(x)
    x = x.clone()
    x[:, changed] += 7 * draw(D, seed=9)
    after = layer(x)
    torch.testing.assert_close(after[:, list(places)], before[:, list(places)])
    assert not torch.allclose(after[:, changed], before[:, changed])
