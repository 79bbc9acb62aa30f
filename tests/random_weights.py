"""Tiny Transformers with random weights, for tests of the engines."""

import numpy as np
from numpy.typing import NDArray

from dragoman.config import Model
from dragoman.text.tokenizer import SPECIALS

VOCABULARY, POSITIONS = 31, 37
TINY = Model(encoder_layers=2, decoder_layers=3, width=35, heads=5, feed_forward=11, dropout=0.0)


def random_pieces(size: int = VOCABULARY) -> list[str]:
    return [*SPECIALS, *(f"▁w{number}" for number in range(len(SPECIALS), size))]


def random_weights(
    model: Model, seed: int, *, vocabulary: int = VOCABULARY, positions: int = POSITIONS, end: float = 3.0
) -> dict[str, NDArray[np.float32]]:
    """Draw weights that make a model sharp enough for ties to be rare; `end` lifts the end mark's bias."""
    rng = np.random.default_rng(seed)
    width, inner = model.width or 0, model.feed_forward or 0
    weights: dict[str, NDArray[np.float32]] = {}

    def draw(name: str, *shape: int, scale: float = 1.0, around: float = 0.0) -> None:
        weights[name] = (around + scale * rng.standard_normal(shape)).astype(np.float32)

    def draw_norm(name: str) -> None:
        draw(f"{name}.norm.scale", width, scale=0.1, around=1.0)
        draw(f"{name}.norm.shift", width, scale=0.1)

    def draw_linear(name: str, rows: int, columns: int, scale: float = 1.5) -> None:
        draw(f"{name}.weight", rows, columns, scale=scale / columns**0.5)
        draw(f"{name}.bias", rows, scale=0.1)

    def draw_attention(name: str) -> None:
        for projection, scale in (("query", 1.3), ("key", 1.3), ("value", 2.5), ("output", 2.5)):
            draw_linear(f"{name}.{projection}", width, width, scale)
        draw_norm(name)

    def draw_feed_forward(name: str) -> None:
        draw_linear(f"{name}.inner", inner, width)
        draw_linear(f"{name}.outer", width, inner)
        draw_norm(name)

    tables = ("embedding",) if model.tied else ("encoder.embedding", "decoder.embedding", "output.weight")
    for table in tables:
        draw(table, vocabulary, width, scale=0.2)
    draw("output.bias", vocabulary, scale=0.5)
    weights["output.bias"][3] += end
    for side, layers in (("encoder", model.encoder_layers or 0), ("decoder", model.decoder_layers or 0)):
        if model.positions == "learned":
            draw(f"{side}.positions", positions, width)
        if model.norm == "pre":
            draw_norm(side)
        for number in range(layers):
            for attention in ("attention",) if side == "encoder" else ("self_attention", "cross_attention"):
                draw_attention(f"{side}.{number}.{attention}")
            draw_feed_forward(f"{side}.{number}.feed_forward")
    last = "decoder" if model.norm == "pre" else f"decoder.{(model.decoder_layers or 0) - 1}.feed_forward"
    weights[f"{last}.norm.scale"] *= 3
    return weights
