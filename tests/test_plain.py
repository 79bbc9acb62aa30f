from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.config import Model, Search
from dragoman.engine.base import Head
from dragoman.engine.plain import PlainEngine
from dragoman.engine.plain_layers import attend
from dragoman.engine.plain_transformer import Transformer, pad
from dragoman.engine.trace import AttentionSteps, DecoderSteps, EncoderSteps, to_json
from dragoman.text.tokenizer import END, START
from random_weights import POSITIONS, SHAPES, TINY, VOCABULARY, random_weights

B, H, Q, K, E = 2, 3, 5, 7, 11
sentences = st.lists(st.integers(4, VOCABULARY - 1), min_size=1, max_size=13)
seeds = st.integers(0, 2**16)


def make_engine(model: Model = TINY, seed: int = 1, alignment: Head | None = None) -> PlainEngine:
    return PlainEngine(model, random_weights(model, seed), alignment=alignment)


def draw_attention(seed: int) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.float32]], ...]:
    rng = np.random.default_rng(seed)
    shapes = ((B, H, Q, E), (B, H, K, E), (B, H, K, E))
    return tuple(rng.standard_normal(shape).astype(np.float32) for shape in shapes)


@given(seed=seeds, hidden=st.integers(0, K - 1))
def test_a_hidden_value_changes_nothing(seed: int, hidden: int) -> None:
    queries, keys, values = draw_attention(seed)
    visible = np.ones((B, 1, 1, K), dtype=np.bool_)
    visible[..., hidden] = False
    before = attend(queries, keys, values, visible)
    values[:, :, hidden], keys[:, :, hidden] = 1e6, 1e3
    after = attend(queries, keys, values, visible)
    np.testing.assert_array_equal(after.context, before.context)
    assert not after.weights[..., hidden].any()


def test_a_query_that_sees_nothing_stays_harmless() -> None:
    queries, keys, values = draw_attention(seed=1)
    steps = attend(queries, keys, values, np.zeros((B, 1, 1, K), dtype=np.bool_))
    np.testing.assert_allclose(steps.weights, 1 / K, rtol=1e-6)
    np.testing.assert_allclose(steps.context, values.mean(axis=2, keepdims=True).repeat(Q, axis=2), atol=1e-6)


@pytest.mark.parametrize("model", SHAPES)
def test_one_piece_at_a_time_is_all_at_once(model: Model) -> None:
    network = Transformer(model, random_weights(model, seed=5))
    sources, visible = pad([[5, 7, 11, END], [13, 17, 19, 23, 29, END]])
    targets = np.array([[START, 5, 7, 11, 13], [START, 17, 19, 23, 29]])
    encoded = network.encode(sources, visible)
    whole = network.decode(targets, network.start(encoded, visible)).steps
    state = network.start(encoded, visible)
    for position in range(targets.shape[1]):
        steps, state = network.decode(targets[:, position : position + 1], state)
        np.testing.assert_allclose(steps.log_probabilities[:, 0], whole.log_probabilities[:, position], atol=1e-4)
    assert state.length == targets.shape[1]


@pytest.mark.parametrize("model", SHAPES)
def test_padding_changes_nothing(model: Model) -> None:
    network = Transformer(model, random_weights(model, seed=7))
    short, long = [5, 7, 11, END], [13, 17, 19, 23, 29, 5, END]
    alone = network.encode(*pad([short])).memory[0]
    together = network.encode(*pad([short, long])).memory[0]
    np.testing.assert_allclose(together[: len(short)], alone, atol=1e-5)


@settings(max_examples=20, deadline=None)
@given(source=sentences, target=sentences, changed=st.integers(0, 12), model=st.sampled_from(SHAPES))
def test_the_future_is_invisible(source: list[int], target: list[int], changed: int, model: Model) -> None:
    changed %= len(target)
    engine = make_engine(model)
    before = engine.trace(source, target).decoder.log_probabilities
    target[changed] = 4 + (target[changed] - 3) % (VOCABULARY - 4)
    after = engine.trace(source, target).decoder.log_probabilities
    np.testing.assert_array_equal(after[: changed + 1], before[: changed + 1])
    assert not np.array_equal(after[changed + 1], before[changed + 1])


@settings(max_examples=20, deadline=None)
@given(source=sentences, target=sentences, model=st.sampled_from(SHAPES))
def test_a_trace_adds_up(source: list[int], target: list[int], model: Model) -> None:
    trace = make_engine(model).trace(source, target)
    assert (trace.source, trace.target) == ((*source, END), (START, *target))
    assert trace.predicted == (*target, END)
    assert isinstance(trace.encoder, EncoderSteps)
    assert isinstance(trace.decoder, DecoderSteps)
    s, t, heads, width = len(source) + 1, len(target) + 1, model.heads, model.width
    assert trace.encoder.memory.shape == (s, width)
    assert trace.decoder.log_probabilities.shape == (t, VOCABULARY)
    np.testing.assert_allclose(np.exp(trace.decoder.log_probabilities).sum(axis=-1), 1, rtol=1e-4)
    assert len(trace.encoder.layers) == model.encoder_layers
    assert len(trace.decoder.layers) == model.decoder_layers
    for layer in trace.encoder.layers:
        check_attention(layer.attention.attention, (heads, s, s))
    for decoder_layer in trace.decoder.layers:
        check_attention(decoder_layer.cross_attention.attention, (heads, t, s))
        own = decoder_layer.self_attention.attention
        check_attention(own, (heads, t, t))
        assert not np.triu(own.weights, 1).any()
        for sub_layer in decoder_layer:
            way = sub_layer.residual
            np.testing.assert_allclose(way.input + way.answer, way.total)
            normed, untouched = (way.read, way.output) if model.norm == "pre" else (way.output, way.read)
            assert untouched is (way.total if model.norm == "pre" else way.input) or np.array_equal(
                untouched, way.total if model.norm == "pre" else way.input
            )
            assert normed.shape == (t, width)


def check_attention(steps: AttentionSteps, shape: tuple[int | None, ...]) -> None:
    assert steps.weights.shape == steps.scores.shape == shape
    np.testing.assert_allclose(steps.weights.sum(axis=-1), 1, rtol=1e-5)
    np.testing.assert_allclose(steps.context, steps.weights @ steps.values, atol=1e-5)
    width = steps.queries.shape[-1]
    np.testing.assert_allclose(steps.scores, steps.queries @ steps.keys.swapaxes(1, 2) / width**0.5, atol=1e-4)


def test_a_trace_becomes_json() -> None:
    tree = to_json(make_engine().trace([5, 7, 11], [13, 17]))
    assert tree["source"] == [5, 7, 11, END]
    weights = tree["decoder"]["layers"][2]["cross_attention"]["attention"]["weights"]
    assert [len(weights), len(weights[0]), len(weights[0][0])] == [TINY.heads, 3, 4]
    assert isinstance(weights[0][0][0], float)


@pytest.mark.parametrize("model", SHAPES)
def test_forcing_many_is_tracing_each(model: Model) -> None:
    engine = make_engine(model, seed=3)
    sources = [[5, 7], [11, 13, 17, 19, 23], [29], []]
    targets = [[6, 8, 10, 12], [14], [], [9, 4]]
    for source, target, forced in zip(sources, targets, engine.force(sources, targets), strict=True):
        trace = engine.trace(source, target)
        expected = np.stack(trace.decoder.crossed)[:, :, :-1, :-1]
        assert forced.attention.shape == (model.decoder_layers, model.heads, len(target), len(source))
        np.testing.assert_allclose(forced.attention, expected, atol=1e-5)
        scores = trace.decoder.log_probabilities[np.arange(len(target) + 1), trace.predicted]
        np.testing.assert_allclose(forced.log_probabilities, scores, atol=1e-4)


@pytest.mark.parametrize("beam", [1, 5])
@pytest.mark.parametrize("penalty", [0.0, 0.6, 1.0])
def test_the_score_is_what_a_forced_run_says(beam: int, penalty: float) -> None:
    engine = make_engine(replace(TINY, tied=False), seed=4)
    sources = [[5, 7, 11], [13, 17, 19, 23, 29], [6]]
    search = Search(beam=beam, best=beam, length_penalty=penalty, max_length=11)
    for source, hypotheses in zip(sources, engine.translate(sources, search, attention=True), strict=True):
        assert len(hypotheses) == beam
        assert [one.score for one in hypotheses] == sorted((one.score for one in hypotheses), reverse=True)
        for one in hypotheses:
            (forced,) = engine.force([source], [one.pieces])
            terms = forced.log_probabilities if one.finished else forced.log_probabilities[:-1]
            assert one.score == pytest.approx(terms.sum() / len(terms) ** penalty, abs=1e-4)
            assert one.attention is not None
            np.testing.assert_allclose(one.attention, forced.attention[-1].mean(axis=0), atol=1e-5)


def test_the_alignment_head_is_shown() -> None:
    engine = make_engine(alignment=Head(1, 3))
    (one,) = engine.translate([[5, 7, 11]], Search(max_length=7), attention=True)[0]
    (forced,) = engine.force([[5, 7, 11]], [one.pieces])
    assert one.attention is not None
    np.testing.assert_allclose(one.attention, forced.attention[1, 3], atol=1e-5)


def test_targets_that_do_not_fit_are_refused() -> None:
    engine = make_engine(replace(TINY, positions="learned"))
    assert len(engine.force([[5]], [[7] * (POSITIONS - 1)])[0].log_probabilities) == POSITIONS
    with pytest.raises(ValueError, match=f"target has {POSITIONS} pieces; .* at most {POSITIONS - 1}"):
        engine.trace([5], [7] * POSITIONS)
    with pytest.raises(ValueError, match="2 sources, but 1 targets"):
        engine.force([[5], [6]], [[7]])
