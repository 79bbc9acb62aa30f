import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from torch import Tensor

from dragoman.config import Model, Recipe, Search
from dragoman.data.batches import make_batch
from dragoman.engine.plain import PlainEngine
from dragoman.engine.trace import CellSteps, LSTMSteps, RecurrentDecoderSteps, RecurrentEncoderSteps, to_json
from dragoman.errors import RecipeError
from dragoman.nn.models import build, initialise
from dragoman.nn.recurrent import GRU, LSTM, Look, Memory, Recurrent, run
from dragoman.nn.weights import to_arrays
from dragoman.recipe import check, override
from dragoman.text.tokenizer import END, PAD, START
from dragoman.training.forecast import count_parameters

V, LONGEST, B, S, D, W = 31, 13, 2, 5, 6, 7
TINY = Model(kind="recurrent", encoder_layers=2, decoder_layers=2, width=10, dropout=0.0)
LOOKS: tuple[Any, ...] = ("last", "mean", "fixed", "dot", "bilinear", "mlp", "cosine")
SHAPES = (
    *(replace(TINY, look=look, attend=attend) for look in LOOKS for attend in ("before", "after")),
    replace(TINY, cell="gru"),
    replace(TINY, cell="gru", two_way=False, tied=False, encoder_layers=1, decoder_layers=1),
    replace(TINY, two_way=False, look="last"),
    replace(TINY, input_feeding=True),
    replace(TINY, input_feeding=True, attend="after", look="bilinear", decoder_width=7),
    replace(TINY, decoder_width=13),
)


def name_of(model: Model) -> str:
    ways = ["one-way", "two-way"][model.two_way]
    fed = "-fed" if model.input_feeding else ""
    return f"{model.cell}-{ways}-{model.look}-{model.attend}{fed}-{model.decoder_width}"


every_shape = pytest.mark.parametrize("model", SHAPES, ids=name_of)


def make(model: Model = TINY, seed: int = 1) -> Recurrent:
    network = build(model, V, LONGEST)
    initialise(network, seed)
    with torch.no_grad():
        for parameter in network.parameters():  # biases and places begin at zero, where mistakes are not seen
            parameter.add_(torch.randn(parameter.shape, generator=torch.Generator().manual_seed(seed)), alpha=0.3)
    assert isinstance(network, Recurrent)
    return network.eval()


def log_probabilities(network: Recurrent, source: Tensor, target: Tensor) -> Tensor:
    with torch.no_grad():
        found: Tensor = network.score(network(source, source != PAD, target)).log_softmax(dim=-1)
    return found


def draw(*shape: int, seed: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(("ours", "theirs"), [(LSTM, torch.nn.LSTM), (GRU, torch.nn.GRU)])
@pytest.mark.parametrize("backwards", [False, True])
def test_a_cell_is_pytorchs(ours: Any, theirs: Any, *, backwards: bool) -> None:
    cell, other = ours(D, W), theirs(D, W, batch_first=True)
    gates = {LSTM: (0, 1, 3, 2), GRU: (0, 1, 2)}[ours]  # where PyTorch has write, keep, show, new; reset, stay, new
    with torch.no_grad():
        other.weight_ih_l0.copy_(torch.cat([cell.input.weight.chunk(len(gates))[g] for g in gates]))
        other.weight_hh_l0.copy_(torch.cat([cell.state.weight.chunk(len(gates))[g] for g in gates]))
        other.bias_ih_l0.copy_(torch.cat([cell.input.bias.chunk(len(gates))[g] for g in gates]))
        other.bias_hh_l0.zero_()
        if ours is GRU:
            other.bias_hh_l0.copy_(cell.state.bias)
    x = draw(B, S, D, seed=1)
    wanted = other(x.flip(1) if backwards else x)[0]
    found = run(cell, x, torch.ones(B, S, dtype=torch.bool), backwards=backwards)
    torch.testing.assert_close(found, wanted.flip(1) if backwards else wanted)


@pytest.mark.parametrize("backwards", [False, True])
def test_a_cell_passes_over_padding(*, backwards: bool) -> None:
    cell, x = LSTM(D, W), draw(1, S, D, seed=2)
    visible = torch.tensor([[True, True, True, False, False]])
    found = run(cell, x, visible, backwards=backwards)
    wanted = run(cell, x[:, :3], visible[:, :3], backwards=backwards)
    torch.testing.assert_close(found[:, :3], wanted)
    if not backwards:
        torch.testing.assert_close(found[:, 4], wanted[:, -1])


def look_at(kind: Any, queries: Tensor, memory: Memory) -> tuple[Look, Tensor, Tensor]:
    torch.manual_seed(3)
    look = Look(kind, queries.shape[-1], memory.states.shape[-1], LONGEST)
    with torch.no_grad():
        for parameter in look.parameters():
            parameter.normal_()
        weights, context = look(queries, look.keys(memory), memory)
    return look, weights, context


def a_memory(width: int) -> Memory:
    visible = torch.ones(B, S, dtype=torch.bool)
    visible[1, 3:] = False
    states = draw(B, S, width, seed=4)
    return Memory(states, draw(B, width, seed=5), visible)


@pytest.mark.parametrize("kind", LOOKS)
def test_kinds_of_score_are_their_formulas(kind: str) -> None:
    memory, queries = a_memory(W), draw(B, 3, W, seed=6)
    look, weights, context = look_at(kind, queries, memory)
    for b in range(B):
        for q in range(3):
            h, states = queries[b, q], memory.states[b, memory.visible[b]]
            match kind:
                case "last":
                    torch.testing.assert_close(context[b, q], memory.last[b])
                    assert weights[b, q].argmax() == len(states) - 1
                    continue
                case "mean":
                    scores = torch.zeros(len(states))
                case "fixed":
                    scores = look.places[: len(states)]
                case "dot":
                    scores = states @ h
                case "bilinear":
                    scores = torch.stack([h @ look.key.weight @ s for s in states])
                case "mlp":
                    both = torch.cat([look.query.weight, look.key.weight], dim=1)  # W₁ [h; s], its bias beside
                    inner = [torch.tanh(both @ torch.cat([h, s]) + look.key.bias) for s in states]
                    scores = torch.stack([look.score.weight[0] @ one for one in inner])
                case _:
                    scores = look.sharpness * torch.cosine_similarity(states, h[None], dim=-1)
            wanted = scores.softmax(dim=0)
            torch.testing.assert_close(weights[b, q, : len(states)], wanted)
            torch.testing.assert_close(context[b, q], wanted @ states)


@pytest.mark.parametrize("kind", ["dot", "cosine"])
def test_some_scores_need_states_of_one_width(kind: Any) -> None:
    with pytest.raises(ValueError, match=f"{kind} scores need states of one width, not 7 and 6"):
        Look(kind, W, D, LONGEST)


def test_places_that_were_not_learned_are_refused() -> None:
    memory = a_memory(W)
    look = Look("fixed", W, W, S - 1)
    with pytest.raises(ValueError, match="a source of 5 places, but only 4 were learned"):
        look(draw(B, 1, W, seed=1), look.keys(memory), memory)


@every_shape
def test_the_future_is_invisible_and_padding_changes_nothing(model: Model) -> None:
    network = make(model)
    source, target = torch.tensor([[5, 7, 11, END]]), torch.tensor([[START, 6, 8, 9]])
    before = log_probabilities(network, source, target)
    padded = torch.tensor([[5, 7, 11, END, PAD, PAD]])
    torch.testing.assert_close(log_probabilities(network, padded, target), before)
    other = target.clone()
    other[0, 3] = 20
    torch.testing.assert_close(log_probabilities(network, source, other)[:, :3], before[:, :3])
    assert not torch.allclose(log_probabilities(network, source, other)[:, 3], before[:, 3])


sentences = st.lists(st.integers(4, V - 1), min_size=1, max_size=LONGEST - 1)


@every_shape
@given(pairs=st.lists(st.tuples(sentences, sentences), min_size=1, max_size=4), seed=st.integers(0, 2**16))
@settings(max_examples=3)
def test_training_and_plain_engine_agree(model: Model, pairs: list[tuple[list[int], list[int]]], seed: int) -> None:
    network = make(model, seed)
    engine = PlainEngine(model, to_arrays(network))
    sources, targets = [source for source, _ in pairs], [target for _, target in pairs]
    batch = make_batch(sources, targets)
    found = log_probabilities(network, torch.from_numpy(batch.source), torch.from_numpy(batch.target)).numpy()
    forced = engine.force(sources, targets)
    for row, (source, target) in enumerate(pairs):
        length = len(target) + 1
        trace = engine.trace(source, target)
        np.testing.assert_allclose(found[row, :length], trace.decoder.log_probabilities, atol=1e-4, rtol=1e-4)
        wanted = found[row, np.arange(length), batch.wanted[row, :length]]
        np.testing.assert_allclose(forced[row].log_probabilities, wanted, atol=1e-4, rtol=1e-4)


@every_shape
def test_a_search_says_what_the_network_finds_likeliest(model: Model) -> None:
    network = make(model, seed=4)
    engine = PlainEngine(model, to_arrays(network))
    sources = [[5, 7, 11], [13], [6, 8, 10, 12, 14, 16, 18]]
    for source, (best,) in zip(sources, engine.translate(sources, Search(beam=1, max_length=9)), strict=True):
        said = [*best.pieces, END] if best.finished else list(best.pieces)
        rows = log_probabilities(network, torch.tensor([[*source, END]]), torch.tensor([[START, *said[:-1]]]))[0]
        assert rows.argmax(dim=-1).tolist() == said
        assert best.score == pytest.approx(float(rows.max(dim=-1).values.sum()) / len(said), abs=1e-4)
    several = engine.translate(sources, Search(beam=3, best=3, max_length=9), attention=True)
    for source, found in zip(sources, several, strict=True):
        assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
        for one in found:
            assert one.attention is not None
            assert one.attention.shape == (len(one.pieces), len(source))


def test_every_step_can_be_looked_at() -> None:
    trace = PlainEngine(TINY, to_arrays(make())).trace([5, 7, 11], [13, 17])
    assert isinstance(trace.encoder, RecurrentEncoderSteps)
    assert isinstance(trace.decoder, RecurrentDecoderSteps)
    look = trace.decoder.look
    assert [layer.shape for layer in trace.encoder.layers] == [(4, 10), (4, 10)]
    assert look.weights.shape == look.scores.shape == (3, 4)
    np.testing.assert_allclose(look.weights @ trace.encoder.memory, look.context, atol=1e-6)
    np.testing.assert_allclose(
        np.exp(look.scores) / np.exp(look.scores).sum(axis=1, keepdims=True), look.weights, rtol=1e-4
    )
    # before the first step the decoder looks from where the encoder left it; later, from its own last state
    np.testing.assert_array_equal(look.queries[1:], trace.decoder.layers[-1][:-1])
    assert to_json(trace)["decoder"]["look"]["weights"][0] == look.weights[0].tolist()


def test_a_step_can_be_worked_out_from_the_trace() -> None:
    """Gates, memory and the state before make the state after, in both cells and both ways."""
    for model in (TINY, replace(TINY, cell="gru")):
        trace = PlainEngine(model, to_arrays(make(model))).trace([5, 7, 11], [13, 17])
        assert isinstance(trace.encoder, RecurrentEncoderSteps)
        assert isinstance(trace.decoder, RecurrentDecoderSteps)
        for states, (forwards, backwards) in zip(trace.encoder.layers, trace.encoder.cells, strict=True):
            half = states.shape[1] // 2
            nothing = np.zeros(half, dtype=np.float32)
            _follow(states[:, :half], nothing, forwards)
            _follow(states[::-1, half:], nothing, type(backwards)(*(part[::-1] for part in backwards)))
        for states, start, steps in zip(trace.decoder.layers, trace.decoder.start, trace.decoder.cells, strict=True):
            _follow(states, start, steps)
        np.testing.assert_array_equal(trace.decoder.look.queries[0], trace.decoder.start[-1])


def _follow(states: NDArray[np.float32], before: NDArray[np.float32], steps: CellSteps) -> None:
    """Go from state to state by the formulas of the cell."""
    memory = np.zeros_like(before)
    for place, state in enumerate(states):
        if isinstance(steps, LSTMSteps):
            memory = steps.keep[place] * memory + steps.write[place] * steps.new[place]
            np.testing.assert_allclose(steps.memory[place], memory, atol=1e-6)
            before = steps.show[place] * np.tanh(memory)
        else:
            before = steps.stay[place] * before + (1 - steps.stay[place]) * steps.new[place]
        np.testing.assert_allclose(state, before, atol=1e-6)
    gates = steps[:3] if isinstance(steps, LSTMSteps) else steps[:2]
    assert all(((gate > 0) & (gate < 1)).all() for gate in gates)


@every_shape
def test_parameters_are_counted_and_named_as_documented(model: Model) -> None:
    arrays = to_arrays(make(model))
    assert sum(array.size for array in arrays.values()) == count_parameters(model, V, LONGEST)
    table = (Path(__file__).parent.parent / "docs" / "weights.md").read_text(encoding="utf-8").split("## Recurrent")[1]
    known = {part for cell in re.findall(r"^\| (.*?) \|", table, re.MULTILINE) for part in _expand(cell)}
    shared = {"embedding", "encoder.embedding", "decoder.embedding", "output.weight", "output.bias"}
    assert {re.sub(r"\.\d+\.", ".N.", name) for name in arrays} - shared <= known


def _expand(cell: str) -> list[str]:
    names = []
    for name in re.findall("`(.*?)`", cell):
        parts = [part.strip("{}").split(",") for part in re.findall(r"\{.*?\}|[^{]+", name)]
        written = [""]
        for part in parts:
            written = [before + one for before in written for one in part]
        names += written
    return names


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["model.kind=recurrent", "model.heads=4"], r"model.heads = 4 is not for model.kind = \"recurrent\""),
        (["model.kind=recurrent", "model.positions=learned"], r"model.positions = \"learned\" is not for model.kind"),
        (["model.kind=recurrent", "model.positions=rotary"], r"model.positions = \"rotary\" is not for model.kind"),
        (["model.cell=gru"], r"model.cell = \"gru\" is not for model.kind = \"transformer\""),
        (["model.kind=recurrent", "model.width=7"], r"model.width is 7, but model.two_way halves it"),
        (
            ["model.kind=recurrent", "model.width=8", "model.look=dot", "model.decoder_width=6"],
            r"model.look = \"dot\" needs model.decoder_width = 6 to be model.width = 8",
        ),
        (
            ["model.kind=recurrent", "model.width=8", "model.look=cosine", "model.decoder_width=6"],
            r"model.look = \"cosine\" needs model.decoder_width = 6 to be model.width = 8",
        ),
    ],
)
def test_an_impossible_recipe_names_both_settings(settings: list[str], message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        check(override(Recipe(), settings))
