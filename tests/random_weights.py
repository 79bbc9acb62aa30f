"""Tiny Transformers with random weights, for tests of the engines."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dragoman.config import Model
from dragoman.text.tokenizer import END, SPECIALS

VOCABULARY, POSITIONS = 31, 37
TINY = Model(encoder_layers=2, decoder_layers=3, width=35, heads=5, feed_forward=11, dropout=0.0)
_SCORES: tuple[Literal["dot", "cosine", "additive", "linear"], ...] = ("dot", "cosine", "additive", "linear")
_PRE: tuple[Model, ...] = (TINY, replace(TINY, positions="learned"))
_PLACES: tuple[Model, ...] = (replace(TINY, positions="none"), replace(TINY, position_base=50.0))
_TIED = (*_PRE, *(replace(model, norm="post") for model in _PRE))
SHAPES = (*_TIED, *(replace(model, tied=False) for model in _TIED), *_PLACES)
"""Every variant of the Transformer that both engines run."""
_EVEN = replace(TINY, width=30)
STUDIED = (
    *(replace(TINY, scores=scores) for scores in _SCORES),
    replace(_EVEN, positions="rotary"),
    replace(_EVEN, positions="rotary", position_base=100.0, scores="linear", norm="post"),
    replace(TINY, norm="none"),
    replace(TINY, residual=False),
    replace(TINY, norm="none", scores="additive"),
)
"""Variants for study, which only the plain engine runs."""


def random_pieces(size: int = VOCABULARY) -> list[str]:
    return [*SPECIALS, *(f"▁w{number}" for number in range(len(SPECIALS), size))]


def random_weights(model: Model, seed: int) -> dict[str, NDArray[np.float32]]:
    """Draw the weights of a model that is sure enough of itself for ties to be rare, and sometimes ends."""
    rng = np.random.default_rng(seed)
    weights = {}
    for name, shape in shapes(model):
        tame = 0.3 if model.norm == "none" and len(shape) > 1 else 1.0  # what nobody normalises must not grow
        values = rng.standard_normal(shape) * _scale(name, shape) * tame
        weights[name] = (values + name.endswith("norm.scale")).astype(np.float32)
    weights["output.bias"][END] += 3
    last = "decoder" if model.norm == "pre" else f"decoder.{(model.decoder_layers or 0) - 1}.feed_forward"
    if model.norm != "none":
        weights[f"{last}.norm.scale"] *= 3
    return weights


def shapes(model: Model) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield what `docs/weights.md` says."""
    width = model.width or 0
    tables = ["embedding"] if model.tied else ["encoder.embedding", "decoder.embedding", "output.weight"]
    yield from ((table, (VOCABULARY, width)) for table in tables)
    yield "output.bias", (VOCABULARY,)
    if model.positions == "learned":
        yield from ((f"{side}.positions", (POSITIONS, width)) for side in ("encoder", "decoder"))
    if model.norm == "pre":
        yield from ((f"{side}.norm.{part}", (width,)) for side in ("encoder", "decoder") for part in _NORM)
    for number in range(model.encoder_layers or 0):
        yield from _layer(model, f"encoder.{number}", ["attention"])
    for number in range(model.decoder_layers or 0):
        yield from _layer(model, f"decoder.{number}", ["self_attention", "cross_attention"])


_NORM = ("scale", "shift")


def _layer(model: Model, name: str, attentions: list[str]) -> Iterator[tuple[str, tuple[int, ...]]]:
    width, inner, heads = model.width or 0, model.feed_forward or 0, model.heads or 1
    maps = [(f"{one}.{part}", width, width) for one in attentions for part in ("query", "key", "value", "output")]
    maps += [("feed_forward.inner", inner, width), ("feed_forward.outer", width, inner)]
    for part, rows, columns in maps:
        yield f"{name}.{part}.weight", (rows, columns)
        yield f"{name}.{part}.bias", (rows,)
    if model.norm != "none":
        for part in (*attentions, "feed_forward"):
            yield from ((f"{name}.{part}.norm.{which}", (width,)) for which in _NORM)
    for part in attentions:
        if model.scores == "cosine":
            yield f"{name}.{part}.sharpness", (heads,)
        if model.scores == "additive":
            yield f"{name}.{part}.mix", (heads, width // heads)


def _scale(name: str, shape: tuple[int, ...]) -> float:
    """Return the standard deviation of some weights.

    Chosen so that about half the translations end, and few say the same piece again and again.
    """
    tables = {"embedding": 0.1, "encoder.embedding": 0.3, "decoder.embedding": 0.3, "output.weight": 0.2}
    if name in tables or name.endswith(".positions"):
        return tables.get(name, 1.0)
    if len(shape) == 1:
        return 0.5 if name == "output.bias" else 0.1
    gain = 6.0 if "feed_forward" in name else 1.3 if ".query." in name or ".key." in name else 0.7
    return float(gain / shape[1] ** 0.5)
