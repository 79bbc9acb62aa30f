"""A tiny model directory with random weights and a real vocabulary: it translates nonsense, but all of it works."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dragoman.checkpoint import save_model
from dragoman.config import Model, Pieces, Recipe, Search
from dragoman.data.grammar import generate
from dragoman.engine.base import Head
from dragoman.engine.export import export
from dragoman.text.tokenizer import END, Tokenizer, train_tokenizer

TINY = Model(encoder_layers=2, decoder_layers=3, width=35, heads=5, feed_forward=11, dropout=0.0, tied=False)
ALIGNMENT = Head(1, 3)
MAX_PIECES, MAX_LENGTH = 61, 23
RECIPE = Recipe(
    source_language="en",
    target_language="es",
    model=TINY,
    pieces=Pieces(sampling=0.0, max_length=MAX_PIECES),
    search=Search(max_length=MAX_LENGTH),
)
TRAINING = [
    "model.encoder_layers=1",
    "model.decoder_layers=1",
    "model.width=24",
    "model.heads=2",
    "model.feed_forward=32",
    "model.dropout=0.1",
    "pieces.size=420",
    "pieces.sampling=0.2",
    "training.batch_pieces=256",
    "training.score_pairs=7",
    "training.peak_rate=0.003",
    "training.processes=2",
]
"""Settings with which a training takes seconds, by two processes."""
Kind = Literal["float32", "int8"]


Shape = tuple[str, tuple[int, ...]]


def _shapes(model: Model, vocabulary: int) -> Iterator[Shape]:
    """Name every array of an untied model with sinusoidal positions, as docs/weights.md does."""
    d, f = model.width or 0, model.feed_forward or 0
    yield from ((name, (vocabulary, d)) for name in ("encoder.embedding", "decoder.embedding", "output.weight"))
    yield "output.bias", (vocabulary,)
    sides = (
        ("encoder", model.encoder_layers, ["attention"]),
        ("decoder", model.decoder_layers, ["self_attention", "cross_attention"]),
    )
    for side, layers, attentions in sides:
        for layer in range(layers or 0):
            name = f"{side}.{layer}"
            for attention in attentions:
                for projection in ("query", "key", "value", "output"):
                    yield f"{name}.{attention}.{projection}.weight", (d, d)
                    yield f"{name}.{attention}.{projection}.bias", (d,)
            yield f"{name}.feed_forward.inner.weight", (f, d)
            yield f"{name}.feed_forward.inner.bias", (f,)
            yield f"{name}.feed_forward.outer.weight", (d, f)
            yield f"{name}.feed_forward.outer.bias", (d,)
            for part in (*attentions, "feed_forward"):
                yield f"{name}.{part}.norm.scale", (d,)
                yield f"{name}.{part}.norm.shift", (d,)
        yield f"{side}.norm.scale", (d,)
        yield f"{side}.norm.shift", (d,)


def tiny_weights(model: Model, vocabulary: int, seed: int) -> dict[str, NDArray[np.float32]]:
    """Draw weights at which attention is sharp and sentences come to an end."""
    rng = np.random.default_rng(seed)
    weights = {}
    for name, shape in _shapes(model, vocabulary):
        drawn = rng.standard_normal(shape)
        if name.endswith("norm.scale"):
            drawn = 1 + 0.1 * drawn
        elif len(shape) == 2:
            drawn = drawn * 1.5 / shape[1] ** 0.5
        else:
            drawn = 0.1 * drawn
        weights[name] = drawn.astype(np.float32)
    weights["output.bias"][:260] -= 9  # special pieces and bytes
    weights["output.bias"][END] += 12.6
    return weights


@cache
def tiny_tokenizer() -> Tokenizer:
    """Learn a vocabulary from a few sentences of the built-in corpus."""
    examples = list(generate(211, seed=3))
    texts = [side for e in examples for side in (e.source, e.target)]
    return Tokenizer(train_tokenizer(texts, size=431, characters=431))  # as of a large alphabet: rare ones are spelt


def make_tiny_model(
    path: Path,
    *,
    seed: int = 7,
    model: Model = TINY,
    recipe: Recipe = RECIPE,
    alignment: Head | None = ALIGNMENT,
    kinds: Sequence[Kind] = ("float32", "int8"),
    card: Mapping[str, Any] | None = None,
) -> Path:
    """Write a whole model directory, as training would; other weights for every seed."""
    tokenizer = tiny_tokenizer()
    weights = tiny_weights(model, len(tokenizer), seed)
    recipe = dataclasses.replace(recipe, model=model, pieces=dataclasses.replace(recipe.pieces, size=len(tokenizer)))
    (path / "fast").mkdir(parents=True)
    for kind in kinds:
        own = {name: array.copy() for name, array in weights.items()}  # quantising happens in place
        export(model, own, tokenizer.pieces, path / "fast" / kind, quantization=kind, alignment=alignment)
    written = {
        "from": recipe.source_language,
        "to": recipe.target_language,
        "fast": {"use": "float32"},
        "alignment": alignment._asdict() if alignment else None,
        **(card or {}),
    }
    exported = [file for file in (path / "fast").rglob("*") if file.is_file()]
    save_model(path, recipe, tokenizer.model, weights, written, exported)
    return path
