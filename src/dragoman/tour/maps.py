"""The engine's maps and attention, made of matrices as the lectures write them: to the right of a row."""

import numpy as np
from jaxtyping import Bool, Float
from numpy.typing import NDArray

from dragoman.engine.layout import Array
from dragoman.engine.plain_layers import Attention, Linear, softmax
from dragoman.engine.trace import AttentionSteps

Truth = NDArray[np.bool_]


def times(matrix: Float[Array, "n m"]) -> Linear:
    """Make the map x ↦ x · matrix."""
    return Linear(matrix.T, np.zeros(matrix.shape[1], dtype=np.float32))


def same(width: int) -> Linear:
    """Make the map that changes nothing."""
    return times(np.eye(width, dtype=np.float32))


def make_attention(query: Linear, key: Linear, value: Linear, scores: str, heads: int = 1) -> Attention:
    """Make attention without a norm, whose heads are put side by side and not mixed."""
    return Attention(query, key, value, same(len(value.bias)), None, heads, scores, None, None, None)


def look_at(
    attention: Attention, x: Float[Array, "q d"], at: Float[Array, "k d"], visible: Bool[Truth, "q k"] | None = None
) -> AttentionSteps:
    """Let vectors look at others; the steps have one batch in front, of one sentence."""
    shown = np.ones((len(x), len(at)), dtype=np.bool_) if visible is None else visible
    return attention.look(x[np.newaxis], attention.offer(at[np.newaxis]), shown[np.newaxis, np.newaxis])


def weights_of(scores: Float[Array, "*lead n"]) -> Float[Array, "*lead n"]:
    """Share out attention where nothing is hidden."""
    return softmax(scores, np.ones(scores.shape, dtype=np.bool_))
