"""What the page shows of the plain engine: the beam's tree, heads that are changed, readings of attention."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.config import Model, Search
from dragoman.engine.beam import ROOT, best_of, grow
from dragoman.engine.flow import roll_out, roll_out_encoder, weigh_by_values
from dragoman.engine.plain import PlainEngine
from dragoman.engine.trace import AttentionSteps, DecoderSteps, EncoderSteps, Trace
from dragoman.engine.what_if import Change, Kind, change_heads, output_weights
from dragoman.errors import DataError
from dragoman.nn.models import build, initialise
from dragoman.nn.weights import to_arrays
from dragoman.text.tokenizer import END
from random_weights import SHAPES, STUDIED, TINY, VOCABULARY, random_weights

SOURCE, TARGET = [5, 7, 11, 13, 17], [19, 23, 29, 6]
LAYER, HEAD = 1, 3
sentences = st.lists(st.integers(4, VOCABULARY - 1), min_size=1, max_size=11)


@cache
def make_engine(model: Model = TINY, seed: int = 1) -> PlainEngine:
    return PlainEngine(model, random_weights(model, seed))


def attention_of(trace: Trace, kind: Kind, layer: int) -> AttentionSteps:
    assert isinstance(trace.encoder, EncoderSteps)
    assert isinstance(trace.decoder, DecoderSteps)
    if kind == "encoder self":
        return trace.encoder.layers[layer].attention.attention
    decoder = trace.decoder.layers[layer]
    return (decoder.cross_attention if kind == "cross" else decoder.self_attention).attention


@settings(max_examples=25)
@given(
    source=sentences,
    beam=st.integers(1, 6),
    penalty=st.sampled_from([0.0, 0.6, 1.0]),
    prefix=st.lists(st.integers(4, VOCABULARY - 1), max_size=2),
)
def test_the_tree_holds_what_the_search_found(source: list[int], beam: int, penalty: float, prefix: list[int]) -> None:
    engine, search = make_engine(), Search(beam=beam, length_penalty=penalty, max_length=9)
    (best,) = engine.translate([source], search, prefixes=[prefix] if prefix else None)[0]
    tree = grow(engine, source, search, prefix)
    path = [tree[number] for number in best_of(tree)]
    assert tuple(branch.piece for branch in path if branch.piece != END) == best.pieces
    assert path[-1].score == pytest.approx(best.score, abs=1e-5)
    assert [branch.depth for branch in path] == list(range(len(path)))


@settings(max_examples=25)
@given(source=sentences, beam=st.integers(1, 6))
def test_the_tree_is_one_and_no_wider_than_the_beam(source: list[int], beam: int) -> None:
    tree = grow(make_engine(), source, Search(beam=beam, max_length=9))
    for number, branch in enumerate(tree):
        if branch.parent == ROOT:
            assert branch.depth == 0
            continue
        parent = tree[branch.parent]
        assert branch.parent < number
        assert (parent.depth, parent.fate) == (branch.depth - 1, "kept")
        assert branch.total <= parent.total + 1e-5
    for depth in range(9):
        fates = [branch.fate for branch in tree if branch.depth == depth]
        assert fates.count("kept") <= beam
        assert len(fates) <= 2 * beam


def test_growing_can_be_stopped_at_any_step() -> None:
    steps = iter(range(2))

    def check() -> None:
        if next(steps, None) is None:
            raise InterruptedError("enough")

    with pytest.raises(InterruptedError, match="enough"):
        grow(make_engine(), SOURCE, Search(beam=3, max_length=9), check=check)


def test_a_search_that_is_watched_finds_the_same() -> None:
    engine, search = make_engine(), Search(beam=3, best=3, max_length=9)
    assert engine.translate([SOURCE], search, watch=lambda _: None) == engine.translate([SOURCE], search)


@pytest.mark.parametrize("model", [*SHAPES, *STUDIED])
@pytest.mark.parametrize("kind", ["encoder self", "cross", "decoder self"])
def test_a_uniform_head_looks_everywhere_alike(model: Model, kind: Kind) -> None:
    engine = make_engine(model)
    changed = change_heads(engine, [Change(kind, LAYER, HEAD, "uniform")]).trace(SOURCE, TARGET)
    steps = attention_of(changed, kind, LAYER)
    size = len(TARGET) + 1
    seen = np.tri(size) if kind == "decoder self" else np.ones(steps.weights.shape[1:])
    np.testing.assert_allclose(steps.weights[HEAD], seen / seen.sum(axis=1, keepdims=True), atol=1e-6)
    assert not np.allclose(attention_of(engine.trace(SOURCE, TARGET), kind, LAYER).weights[HEAD], steps.weights[HEAD])


@pytest.mark.parametrize("kind", ["encoder self", "cross", "decoder self"])
def test_a_head_that_is_off_adds_nothing(kind: Kind) -> None:
    """What attention adds is what the other heads add: the sum of their values, each through its part of W_O."""
    engine = make_engine()
    changed = change_heads(engine, [Change(kind, LAYER, HEAD, "off")])
    steps = attention_of(changed.trace(SOURCE, TARGET), kind, LAYER)
    name = {"encoder self": "encoder.1.attention", "cross": "decoder.1.cross_attention"}.get(
        kind, "decoder.1.self_attention"
    )
    weight, bias = engine.weights[f"{name}.output.weight"], engine.weights[f"{name}.output.bias"]
    heads, _, width = steps.context.shape
    others = [head for head in range(heads) if head != HEAD]
    expected = sum(steps.context[head] @ weight[:, head * width : (head + 1) * width].T for head in others) + bias
    trace = changed.trace(SOURCE, TARGET)
    assert isinstance(trace.encoder, EncoderSteps)
    assert isinstance(trace.decoder, DecoderSteps)
    layer = trace.encoder.layers[LAYER].attention if kind == "encoder self" else None
    decoder = trace.decoder.layers[LAYER]
    part = layer or (decoder.cross_attention if kind == "cross" else decoder.self_attention)
    np.testing.assert_allclose(part.residual.answer, expected, atol=1e-4)


def test_nothing_changed_is_nothing_else() -> None:
    engine = make_engine()
    before = engine.trace(SOURCE, TARGET).decoder.log_probabilities
    change_heads(engine, [Change("cross", 0, 0, "off"), Change("cross", 0, 1, "uniform")])
    np.testing.assert_array_equal(engine.trace(SOURCE, TARGET).decoder.log_probabilities, before)
    same = change_heads(engine, []).trace(SOURCE, TARGET)
    np.testing.assert_array_equal(same.decoder.log_probabilities, before)


@pytest.mark.parametrize(("layer", "head"), [(2, 0), (0, 5), (-1, 0)])
def test_a_head_that_is_not_there_cannot_be_changed(layer: int, head: int) -> None:
    message = f"the model has no head {head + 1} in layer {layer + 1} of kind encoder self"
    with pytest.raises(DataError, match=message):
        change_heads(make_engine(), [Change("encoder self", layer, head, "off")])


def make_recurrent() -> PlainEngine:
    model = Model(kind="recurrent", encoder_layers=1, decoder_layers=1, width=10, dropout=0.0, look="mlp")
    network = build(model, VOCABULARY, 37)
    initialise(network, seed=3)
    return PlainEngine(model, to_arrays(network))


def test_a_recurrent_model_can_look_everywhere_alike_but_not_nowhere() -> None:
    engine = make_recurrent()
    trace = change_heads(engine, [Change("cross", 0, 0, "uniform")]).trace(SOURCE, TARGET)
    np.testing.assert_allclose(trace.decoder.crossed[0], 1 / (len(SOURCE) + 1), atol=1e-6)
    with pytest.raises(DataError, match="one attention, which cannot be switched off"):
        change_heads(engine, [Change("cross", 0, 0, "off")])


def test_weights_times_the_lengths_of_what_values_add() -> None:
    """Worked out for one head of one number: lengths 3 and 1 turn weights of a half into three quarters and one."""
    shape = (1, 1, 2, 1)
    weights = np.full((1, 1, 2), 0.5, dtype=np.float32)
    values = np.array([[[-3.0], [1.0]]], dtype=np.float32)
    some = np.ones(shape[1:], dtype=np.float32)
    steps = AttentionSteps(some[:, :1], some, values, weights, weights, some[:, :1])
    found = weigh_by_values(steps, np.array([[0.6], [0.8]], dtype=np.float32))
    np.testing.assert_allclose(found, [[[0.75, 0.25]]], atol=1e-6)


@pytest.mark.parametrize("kind", ["encoder self", "cross", "decoder self"])
def test_weighted_by_values_it_is_still_shares(kind: Kind) -> None:
    engine = make_engine()
    steps = attention_of(engine.trace(SOURCE, TARGET), kind, LAYER)
    found = weigh_by_values(steps, output_weights(engine.weights, kind, LAYER))
    np.testing.assert_allclose(found.sum(axis=-1), 1, atol=1e-5)
    np.testing.assert_array_equal(found == 0, steps.weights == 0)


@settings(max_examples=25)
@given(source=sentences, target=sentences)
def test_what_is_rolled_out_comes_from_the_source_or_from_what_was_written(
    source: list[int], target: list[int]
) -> None:
    """Every layer of the decoder takes half from the source, so the share of the target halves."""
    trace = make_engine().trace(source, target)
    assert isinstance(trace.encoder, EncoderSteps)
    assert isinstance(trace.decoder, DecoderSteps)
    np.testing.assert_allclose(roll_out_encoder(trace.encoder).sum(axis=1), 1, atol=1e-5)
    found = roll_out(trace.encoder, trace.decoder)
    assert found.shape == (len(target) + 1, len(source) + 1)
    np.testing.assert_allclose(found.sum(axis=1), 1 - 0.5 ** len(trace.decoder.layers), atol=1e-5)


def test_one_layer_is_rolled_out_by_hand() -> None:
    trace = make_engine(replace(TINY, encoder_layers=1, decoder_layers=1)).trace(SOURCE, TARGET)
    assert isinstance(trace.encoder, EncoderSteps)
    assert isinstance(trace.decoder, DecoderSteps)
    encoder = attention_of(trace, "encoder self", 0).weights.mean(axis=0)
    mixed = 0.5 * encoder + 0.5 * np.eye(len(SOURCE) + 1)
    cross = attention_of(trace, "cross", 0).weights.mean(axis=0)
    np.testing.assert_allclose(roll_out(trace.encoder, trace.decoder), 0.5 * cross @ mixed, atol=1e-6)
