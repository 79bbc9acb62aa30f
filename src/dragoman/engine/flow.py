"""What a weight leaves out: how large the value was that it was given to, and where that value came from.

* Weighted by values: a large weight on a small value moves little, so every weight is multiplied with the length of
  what its value adds, ‖W_O v‖, and rows are shared out anew (Kobayashi et al. 2020, "Attention is Not Only a Weight").
* Rolled out: from the second layer on, positions hold a mixture of what they saw before. Each layer is taken to be half
  its heads' mean and half the residual path, and the layers are multiplied (Abnar and Zuidema 2020, "Quantifying
  Attention Flow in Transformers").
"""

import numpy as np
from jaxtyping import Float

from dragoman.engine.layout import Array
from dragoman.engine.trace import AttentionSteps, DecoderSteps, EncoderSteps


def weigh_by_values(steps: AttentionSteps, output: Float[Array, "d m"]) -> Float[Array, "h q k"]:
    """Return weights times the lengths of what the values add, each row summing to 1 again."""
    heads, _, width = steps.values.shape
    per_head = output.reshape(len(output), heads, width)
    lengths = np.linalg.norm(np.einsum("dhe,hke->hkd", per_head, steps.values), axis=-1)
    weighted = steps.weights * lengths[:, np.newaxis]
    return np.asarray(weighted / np.maximum(weighted.sum(axis=-1, keepdims=True), np.finfo(np.float32).tiny))


def roll_out_encoder(encoder: EncoderSteps) -> Float[Array, "s s"]:
    """Return how much of every source piece is in what the decoder sees at every source place."""
    mixed = np.eye(len(encoder.memory), dtype=np.float32)
    for layer in encoder.layers:
        mixed = _half(layer.attention.attention) @ mixed
    return mixed


def roll_out(encoder: EncoderSteps, decoder: DecoderSteps) -> Float[Array, "t s"]:
    """Return how much of every source piece is in what chose every target piece.

    The rest of a row, up to 1, came from the target pieces before it.
    """
    source = roll_out_encoder(encoder)
    found = np.zeros((len(decoder.output), len(source)), dtype=np.float32)
    for layer in decoder.layers:
        found = _half(layer.self_attention.attention) @ found
        found = (found + layer.cross_attention.attention.weights.mean(axis=0) @ source) / 2
    return found


def _half(steps: AttentionSteps) -> Float[Array, "q k"]:
    """Half the mean of all heads, half the residual path."""
    weights = steps.weights.mean(axis=0)
    return np.asarray((weights + np.eye(len(weights), dtype=np.float32)) / 2)
