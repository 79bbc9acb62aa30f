"""nn == plain == fast: what is trained is what is shown and what is served."""

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dragoman.config import Model, Search
from dragoman.data.batches import make_batch
from dragoman.engine.base import Engine, needs_plain
from dragoman.engine.export import export
from dragoman.engine.fast import FastEngine
from dragoman.engine.plain import PlainEngine
from dragoman.nn.models import Network, build
from dragoman.nn.weights import from_arrays, to_arrays
from dragoman.text.tokenizer import END, PAD, START
from random_weights import POSITIONS, SHAPES, STUDIED, VOCABULARY, random_pieces, random_weights

studied_too = pytest.mark.parametrize(
    "model", [*SHAPES, *STUDIED], ids=lambda m: f"{m.norm}-{m.positions}-{m.scores}-{'tied' if m.tied else 'untied'}"
)
every_shape = pytest.mark.parametrize(
    "model", SHAPES, ids=lambda m: f"{m.norm}-{m.positions}-{m.scores}-{'tied' if m.tied else 'untied'}"
)
sentences = st.lists(st.integers(4, VOCABULARY - 1), min_size=1, max_size=13)
pairs = st.lists(st.tuples(sentences, sentences), min_size=1, max_size=5)
LONGEST = 11


def make(model: Model, seed: int) -> Network:
    network = build(model, VOCABULARY, POSITIONS - 1)
    from_arrays(network, random_weights(model, seed))
    return network.eval()


def log_probabilities(network: Network, source: torch.Tensor, target: torch.Tensor) -> NDArray[np.float32]:
    with torch.no_grad():
        scores = network.score(network(source, source != PAD, target))
    return scores.log_softmax(dim=-1).numpy()


@studied_too
@given(pairs=pairs, seed=st.integers(0, 2**16))
@settings(max_examples=8)
def test_training_and_plain_engine_agree_on_any_target(
    model: Model, pairs: list[tuple[list[int], list[int]]], seed: int
) -> None:
    """A padded batch as training makes it, against the engine's own batches and against one sentence at a time."""
    network = make(model, seed)
    engine = PlainEngine(model, to_arrays(network))
    sources, targets = [source for source, _ in pairs], [target for _, target in pairs]
    batch = make_batch(sources, targets)
    found = log_probabilities(network, torch.from_numpy(batch.source), torch.from_numpy(batch.target))
    for row, (source, target) in enumerate(pairs):
        length = len(target) + 1
        whole = engine.trace(source, target).decoder.log_probabilities
        np.testing.assert_allclose(found[row, :length], whole, atol=1e-4, rtol=1e-4)
        forced = engine.force(sources, targets)[row].log_probabilities
        wanted = found[row, np.arange(length), batch.wanted[row, :length]]
        np.testing.assert_allclose(forced, wanted, atol=1e-4, rtol=1e-4)


def greedy(network: Network, source: list[int]) -> tuple[tuple[int, ...], float, bool]:
    """Take the likeliest piece again and again, with the training's network and nothing else."""
    given, total = [START], 0.0
    while len(given) <= LONGEST:
        row = log_probabilities(network, torch.tensor([[*source, END]]), torch.tensor([given]))[0, -1]
        total += float(row.max())
        given.append(int(row.argmax()))
        if given[-1] == END:
            return tuple(given[1:-1]), total / (len(given) - 1), True
    return tuple(given[1:]), total / LONGEST, False


@studied_too
def test_engines_say_what_the_network_finds_likeliest(model: Model, tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    sources = [rng.integers(4, VOCABULARY, length).tolist() for length in (1, 2, 3, 5, 7, 11, 13)]
    for seed in range(4, 20):
        network = make(model, seed)
        wanted = [greedy(network, source) for source in sources]
        if len({pieces for pieces, _, _ in wanted}) > 1:
            break
    else:
        pytest.fail("no seed makes a network that has something to say")
    weights = to_arrays(network)
    engines: list[Engine] = [PlainEngine(model, weights)]
    if needs_plain(model) is None:
        export(model, weights, random_pieces(), tmp_path / "fast", quantization="float32")
        engines.append(FastEngine(tmp_path / "fast", threads=1))
    search = Search(beam=1, length_penalty=1.0, max_length=LONGEST)
    for engine in engines:
        for (found,), (pieces, score, finished) in zip(engine.translate(sources, search), wanted, strict=True):
            assert (found.pieces, found.finished) == (pieces, finished)
            assert found.score == pytest.approx(score, abs=1e-4)


@pytest.mark.parametrize("beam", [2, 5])
def test_a_beams_score_is_the_networks(beam: int, tmp_path: Path) -> None:
    model = SHAPES[0]
    network = make(model, seed=11)
    export(model, to_arrays(network), random_pieces(), tmp_path / "fast", quantization="float32")
    sources = [[5, 7, 11], [13, 17, 19, 23, 29], [6]]
    search = Search(beam=beam, best=beam, length_penalty=0.6, max_length=LONGEST)
    for source, several in zip(
        sources, FastEngine(tmp_path / "fast", threads=1).translate(sources, search), strict=True
    ):
        for one in several:
            said = [*one.pieces, END] if one.finished else list(one.pieces)
            rows = log_probabilities(network, torch.tensor([[*source, END]]), torch.tensor([[START, *said[:-1]]]))[0]
            total = rows[np.arange(len(said)), said].sum()
            assert one.score == pytest.approx(total / len(said) ** 0.6, abs=1e-4)
