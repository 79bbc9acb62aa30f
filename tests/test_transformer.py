"""The whole network: what it sees, what it may not see, and how it is built."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from dragoman.config import Model
from dragoman.nn.models import Network, build, initialise, silence
from dragoman.nn.sequence import Embedding
from dragoman.text.tokenizer import PAD
from random_weights import SHAPES, STUDIED, TINY, VOCABULARY

B, S, T, LONGEST = 2, 5, 7, 13
seeds = st.integers(0, 2**16)
every_shape = pytest.mark.parametrize(
    "model", [*SHAPES, *STUDIED], ids=lambda m: f"{m.norm}-{m.positions}-{m.scores}-{'tied' if m.tied else 'untied'}"
)


def make(model: Model = TINY, seed: int = 1) -> Network:
    network = build(model, VOCABULARY, LONGEST)
    initialise(network, seed)
    return network.eval()


def draw_pieces(*shape: int, seed: int) -> Tensor:
    return torch.randint(4, VOCABULARY, shape, generator=torch.Generator().manual_seed(seed))


def run(network: Network, source: Tensor, target: Tensor) -> Tensor:
    with torch.no_grad():
        scores: Tensor = network.score(network(source, source != PAD, target))
    return scores


@every_shape
def test_scores_are_for_every_piece_at_every_place(model: Model) -> None:
    scores = run(make(model), draw_pieces(B, S, seed=1), draw_pieces(B, T, seed=2))
    assert scores.shape == (B, T, VOCABULARY)
    assert scores.isfinite().all()


@every_shape
@given(seed=seeds, changed=st.integers(0, T - 1))
@settings(max_examples=10)
def test_the_future_is_invisible(model: Model, seed: int, changed: int) -> None:
    network = make(model)
    source, target = draw_pieces(B, S, seed=seed), draw_pieces(B, T, seed=seed + 1)
    before = run(network, source, target)
    target[:, changed] = 4 + (target[:, changed] - 3) % (VOCABULARY - 4)
    after = run(network, source, target)
    torch.testing.assert_close(after[:, :changed], before[:, :changed])
    assert not torch.equal(after[:, changed], before[:, changed])  # without residual paths little comes through


@every_shape
def test_padding_changes_nothing(model: Model) -> None:
    network = make(model)
    source, target = draw_pieces(B, S, seed=3), draw_pieces(B, T, seed=5)
    padding = torch.full((B, 3), PAD)
    longer = run(network, torch.cat([source, padding], dim=1), torch.cat([target, padding], dim=1))
    torch.testing.assert_close(longer[:, :T], run(network, source, target), atol=1e-5, rtol=1e-4)


@every_shape
def test_sentences_of_a_batch_do_not_meet(model: Model) -> None:
    network = make(model)
    source, target = draw_pieces(B, S, seed=3), draw_pieces(B, T, seed=5)
    together = run(network, source, target)
    for row in range(B):
        alone = run(network, source[row : row + 1], target[row : row + 1])
        torch.testing.assert_close(together[row : row + 1], alone, atol=1e-5, rtol=1e-4)


@every_shape
def test_order_counts(model: Model) -> None:
    network = make(model)
    source, target = torch.tensor([[5, 7, 11, 13, 17]]), draw_pieces(1, T, seed=5)
    found, turned = run(network, source, target), run(network, source.flip(1), target)
    assert torch.allclose(found, turned, atol=1e-4) == (model.positions == "none")


@given(seed=seeds)
@settings(max_examples=10)
def test_without_positions_the_encoder_carries_any_order_along(seed: int) -> None:
    """Permutation equivariance: each word's vector is the same wherever the word stands."""
    source = draw_pieces(B, S, seed=seed)
    order = torch.randperm(S, generator=torch.Generator().manual_seed(seed))
    visible = torch.ones(B, 1, 1, S, dtype=torch.bool)
    for model, alike in ((replace(TINY, positions="none"), True), (TINY, False)):
        encoder = make(model).encoder
        with torch.no_grad():
            found, moved = encoder(source, visible), encoder(source[:, order], visible)
        assert torch.allclose(moved, found[:, order], atol=1e-5) == (alike or torch.equal(order, torch.arange(S)))


@every_shape
def test_every_weight_learns(model: Model) -> None:
    """Each parameter's gradient is there and not zero everywhere, but for what the softmax cannot see."""
    network = make(replace(model, dropout=0.0)).train()
    source, target = draw_pieces(B, LONGEST, seed=3), draw_pieces(B, LONGEST, seed=5)
    scores = network.score(network(source, source != PAD, target))
    torch.autograd.backward(scores.logsumexp(dim=-1).sum())
    for name, parameter in network.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        if not name.endswith("key.bias"):  # the same for all scores of a query: it cancels
            assert parameter.grad.any(), name


@every_shape
def test_training_mode_without_dropout_is_the_same(model: Model) -> None:
    network = make(model)
    source, target = draw_pieces(B, S, seed=3), draw_pieces(B, T, seed=5)
    quiet = run(network, source, target)
    torch.testing.assert_close(run(network.train(), source, target), quiet)


def test_dropout_is_the_noise_of_the_update() -> None:
    network = make(replace(TINY, dropout=0.3)).train()
    source, target = draw_pieces(B, S, seed=3), draw_pieces(B, T, seed=5)
    found = []
    for update in (7, 7, 11):
        network.noise.restart(1, update)
        found.append(run(network, source, target))
    assert torch.equal(found[0], found[1])
    assert not torch.allclose(found[0], found[2])


def test_embeddings_are_scaled_to_variance_one() -> None:
    embedding = Embedding(997, 101)
    nn.init.normal_(embedding.weight, std=101**-0.5, generator=torch.Generator().manual_seed(1))
    embedded = embedding(torch.arange(997)[None])
    assert embedded.var().item() == pytest.approx(1, abs=0.03)
    torch.testing.assert_close(embedded[0, 5], embedding.weight[5] * 101**0.5)


@pytest.mark.parametrize("tied", [True, False])
def test_tied_is_one_table_and_untied_three(tied: bool) -> None:
    network = build(replace(TINY, tied=tied), VOCABULARY, LONGEST)
    tables = {id(module) for module in (network.encoder.embedding, network.decoder.embedding, network.output)}
    assert len(tables) == (1 if tied else 3)


def test_learned_positions_have_room_for_a_mark() -> None:
    network = make(replace(TINY, positions="learned"))
    run(network, draw_pieces(1, LONGEST + 1, seed=1), draw_pieces(1, LONGEST + 1, seed=1))
    with pytest.raises(ValueError, match=f"{LONGEST + 2} places, but only {LONGEST + 1} were learned"):
        run(network, draw_pieces(1, LONGEST + 2, seed=1), draw_pieces(1, 1, seed=1))


@every_shape
def test_the_same_seed_makes_the_same_weights(model: Model) -> None:
    one, same, other = (dict(make(model, seed).named_parameters()) for seed in (3, 3, 5))
    assert all(torch.equal(one[name], same[name]) for name in one)
    drawn = [name for name in one if one[name].ndim > 1]
    assert drawn
    assert not any(torch.equal(one[name], other[name]) for name in drawn)


@every_shape
def test_silent_layers_hear_nothing_of_the_source_and_can_learn_to(model: Model) -> None:
    network = make(model)
    silence(network)
    target = draw_pieces(B, T, seed=3)
    heard = [run(network, draw_pieces(B, S, seed=seed), target) for seed in (1, 2)]
    assert torch.equal(*heard) is model.residual
    source = draw_pieces(B, S, seed=1)
    network(source, source != PAD, target)[..., 0].sum().backward()
    *_, across = (p.grad for name, p in network.named_parameters() if name.endswith("cross_attention.output.weight"))
    assert across is not None
    assert across.any()


def test_without_a_way_around_no_layer_is_silent() -> None:
    network, same = (make(replace(TINY, residual=False)) for _ in range(2))
    silence(network)
    assert all(torch.equal(one, other) for one, other in zip(network.parameters(), same.parameters(), strict=True))


def test_fresh_weights_are_glorots() -> None:
    network = build(replace(TINY, positions="learned", feed_forward=499, width=505), 997, 991)
    initialise(network, 1)
    for module in network.modules():
        match module:
            case nn.Linear():
                rows, columns = module.weight.shape
                assert module.weight.std().item() == pytest.approx((2 / (rows + columns)) ** 0.5, rel=0.02)
                assert not module.bias.any()
            case nn.LayerNorm():
                assert (module.weight == 1).all()
                assert not module.bias.any()
            case Embedding():
                assert module.weight.std().item() == pytest.approx(505**-0.5, rel=0.02)
    assert not network.bias.any()


@pytest.mark.parametrize(
    "model",
    [
        replace(TINY, width=None),
        replace(TINY, heads=None),
        replace(TINY, feed_forward=None),
        replace(TINY, encoder_layers=None),
        replace(TINY, decoder_layers=None),
    ],
)
def test_open_sizes_are_refused(model: Model) -> None:
    with pytest.raises(
        ValueError, match=r"a size is still open: fill the recipe in with dragoman\.training\.sizes first"
    ):
        build(model, VOCABULARY, LONGEST)
