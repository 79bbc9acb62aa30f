"""What both engines, and the export, must agree on: a model's sizes, tables and limits.

`docs/weights.md` has the names and shapes of the weights; this module is the engines' reading of it.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dragoman import config
from dragoman.engine.base import Limits

Array = NDArray[np.float32]
Weights = Mapping[str, Array]

EPSILON = 1e-5
"""Added to the variance in layer normalisation."""
LONGEST = 1024
"""The most pieces of a sentence for a model that sets no limit of its own, and so the rows of a sinusoidal table."""


class Sizes(NamedTuple):
    """The sizes of a Transformer, none of them left open."""

    encoder_layers: int
    decoder_layers: int
    width: int
    heads: int


class Tables(NamedTuple):
    """Everything that is looked up by piece or by position."""

    source: Array
    """[v d]"""
    target: Array
    """[v d]"""
    output: Array
    """[v d]: one row of weights for every piece that may come next."""
    source_positions: Array
    """[n d]"""
    target_positions: Array
    """[n d]"""

    @property
    def limits(self) -> Limits:
        """What these tables can take; the source's end and the target's start need a position too."""
        return Limits(len(self.output), len(self.source_positions) - 1, len(self.target_positions))


def read_sizes(model: config.Model) -> Sizes:
    """Return the model's sizes; one that is still open is a programmer's mistake."""
    sizes = (model.encoder_layers, model.decoder_layers, model.width, model.heads)
    filled = [size for size in sizes if size is not None]
    if len(filled) < len(sizes):
        raise ValueError(f"the model has sizes that were never chosen: {model}")
    if filled[2] % filled[3]:
        raise ValueError(f"a width of {filled[2]} cannot be shared out among {filled[3]} heads")
    return Sizes(*filled)


def read_tables(model: config.Model, weights: Weights) -> Tables:
    """Return the embeddings and the position tables, whichever way this model has them."""
    source, target, output = read_embeddings(model, weights)
    if model.positions == "learned":
        return Tables(source, target, output, weights["encoder.positions"], weights["decoder.positions"])
    added = positions_table(LONGEST, source.shape[-1], model.position_base)
    if model.positions != "sinusoidal":  # rotary positions turn queries and keys, and add nothing
        added = np.zeros_like(added)
    return Tables(source, target, output, added, added)


def read_embeddings(model: config.Model, weights: Weights) -> tuple[Array, Array, Array]:
    """Return the tables [v d] of source, target and output, which are the same one if they are tied."""
    if model.tied:
        return (weights["embedding"],) * 3
    return weights["encoder.embedding"], weights["decoder.embedding"], weights["output.weight"]


def positions_table(length: int, width: int, base: float = 10_000.0) -> Array:
    """Return sinusoids (Vaswani et al. 2017) as [n d]: sines in the even columns, cosines in the odd ones."""
    columns = np.arange(0, width, 2)
    angles = np.arange(length)[:, np.newaxis] / base ** (columns / width)
    table = np.zeros((length, width), dtype=np.float32)
    table[:, 0::2] = np.sin(angles)
    table[:, 1::2] = np.cos(angles)[:, : width // 2]
    return table
