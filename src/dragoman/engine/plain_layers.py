"""The parts of a network in NumPy, written to be read: attention, linear maps, norms, and how their weights are read.

Every function returns its steps. `visible` is True where a position may be seen: it hides padding and the future alike.
"""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray

from dragoman import config
from dragoman.engine.layout import EPSILON, Array, Weights, read_sizes
from dragoman.engine.trace import AttentionSteps

Ids = NDArray[np.int64]
Truth = NDArray[np.bool_]


def attend(
    queries: Float[Array, "b h q e"],
    keys: Float[Array, "b h k e"],
    values: Float[Array, "b h k e"],
    visible: Bool[Truth, "#b #h #q k"],
) -> AttentionSteps:
    """Dot-product attention; twin of `dragoman.nn.attention.attend`."""
    scores = queries @ keys.swapaxes(-2, -1) / np.float32(math.sqrt(queries.shape[-1]))
    weights = softmax(scores, visible)
    return AttentionSteps(queries, keys, values, scores, weights, weights @ values)


def softmax(scores: Float[Array, "*lead k"], visible: Bool[Truth, "*#lead k"]) -> Float[Array, "*lead k"]:
    """Share out attention among what is visible.

    A query that may see nothing gets uniform weights, not NaN: a fully hidden row stays harmless.
    """
    shown = np.where(visible, scores, np.finfo(np.float32).min)
    weights = np.exp(shown - shown.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def positive(x: Float[Array, "*any"]) -> Float[Array, "*any"]:
    """Linear attention's φ: elu(x) + 1."""
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0))).astype(np.float32)


def rotate(x: Float[Array, "b h t e"], base: float, start: int) -> Float[Array, "b h t e"]:
    """Turn pairs of numbers by their place; twin of `dragoman.nn.positions.rotate`."""
    length, width = x.shape[-2:]
    angles = np.arange(start, start + length)[:, np.newaxis] / base ** (np.arange(0, width, 2) / width)
    sine, cosine = np.sin(angles).astype(np.float32), np.cos(angles).astype(np.float32)
    even, odd = x[..., 0::2], x[..., 1::2]
    return np.stack([even * cosine - odd * sine, even * sine + odd * cosine], axis=-1).reshape(x.shape)


def log_softmax(logits: Float[Array, "*b v"]) -> Float[Array, "*b v"]:
    """Turn logits into log-probabilities."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)))


class Linear(NamedTuple):
    """A linear map: W x + b."""

    weight: Float[Array, "n m"]
    bias: Float[Array, " n"]

    def __call__(self, vectors: Float[Array, "*any m"]) -> Float[Array, "*any n"]:
        """Map every vector."""
        return vectors @ self.weight.T + self.bias


class Norm(NamedTuple):
    """Layer normalisation (Ba et al. 2016): mean 0 and variance 1, then scaled and shifted."""

    scale: Float[Array, " d"]
    shift: Float[Array, " d"]

    def __call__(self, vectors: Float[Array, "b t d"]) -> Float[Array, "b t d"]:
        """Normalise every vector."""
        centred = vectors - vectors.mean(axis=-1, keepdims=True)
        variance = (centred**2).mean(axis=-1, keepdims=True)
        return np.asarray(centred / np.sqrt(variance + np.float32(EPSILON)) * self.scale + self.shift)


class KeysValues(NamedTuple):
    """What queries look at, and what they find there."""

    keys: Float[Array, "b h k e"]
    values: Float[Array, "b h k e"]

    def select(self, rows: Int[Ids, " n"]) -> "KeysValues":
        """Take some rows of the batch, in this order."""
        return KeysValues(self.keys[rows], self.values[rows])

    def extend(self, later: "KeysValues") -> "KeysValues":
        """Append what later positions offer."""
        return KeysValues(
            np.concatenate([self.keys, later.keys], axis=2),
            np.concatenate([self.values, later.values], axis=2),
        )


class Attention(NamedTuple):
    """Multi-head attention's four maps, its norm, and how it compares queries and keys."""

    query: Linear
    key: Linear
    value: Linear
    output: Linear
    norm: Norm | None
    heads: int
    scores: str
    rotary_base: float | None
    sharpness: Float[Array, " h"] | None
    mix: Float[Array, "h e"] | None

    def offer(self, vectors: Float[Array, "b k d"], start: int = 0) -> KeysValues:
        """Make the keys and values of some positions, the first of which is `start`."""
        return KeysValues(self._turn(self._split(self.key(vectors)), start), self._split(self.value(vectors)))

    def look(
        self,
        vectors: Float[Array, "b q d"],
        offered: KeysValues,
        visible: Bool[Truth, "#b #h #q k"],
        start: int = 0,
    ) -> AttentionSteps:
        """Let every position look at what is offered."""
        queries = self._turn(self._split(self.query(vectors)), start)
        if self.scores == "scaled-dot":
            return attend(queries, *offered, visible)
        if self.scores == "linear":
            scores = positive(queries) @ positive(offered.keys).swapaxes(-2, -1)
            shown = np.where(visible, scores, np.float32(0))
            weights = shown / np.maximum(shown.sum(axis=-1, keepdims=True), np.finfo(np.float32).tiny)
        else:
            scores = self._compare(queries, offered.keys)
            weights = softmax(scores, visible)
        return AttentionSteps(queries, *offered, scores, weights, weights @ offered.values)

    def _compare(self, queries: Float[Array, "b h q e"], keys: Float[Array, "b h k e"]) -> Float[Array, "b h q k"]:
        """The scores that are for study: twins of those in `dragoman.nn.attention`."""
        if self.sharpness is not None:
            queries, keys = normalise(queries), normalise(keys)
            return self.sharpness[:, np.newaxis, np.newaxis] * (queries @ keys.swapaxes(-2, -1))
        if self.mix is not None:
            mixed = np.tanh(queries[..., :, np.newaxis, :] + keys[..., np.newaxis, :, :])
            return np.asarray((mixed @ self.mix[:, np.newaxis, :, np.newaxis])[..., 0])
        return queries @ keys.swapaxes(-2, -1)

    def _turn(self, vectors: Float[Array, "b h t e"], start: int) -> Float[Array, "b h t e"]:
        return vectors if self.rotary_base is None else rotate(vectors, self.rotary_base, start)

    def join(self, context: Float[Array, "b h q e"]) -> Float[Array, "b q d"]:
        """Put the heads side by side again, and mix them."""
        batch, heads, positions, width = context.shape
        return self.output(context.swapaxes(1, 2).reshape(batch, positions, heads * width))

    def _split(self, vectors: Float[Array, "b t d"]) -> Float[Array, "b h t e"]:
        batch, positions, _ = vectors.shape
        return vectors.reshape(batch, positions, self.heads, -1).swapaxes(1, 2)


class FeedForward(NamedTuple):
    """max(0, W₁ x + b₁) W₂ + b₂, and its norm."""

    inner: Linear
    outer: Linear
    norm: Norm | None


class EncoderLayer(NamedTuple):
    """The weights of one layer."""

    attention: Attention
    feed_forward: FeedForward


class DecoderLayer(NamedTuple):
    """The weights of one layer."""

    self_attention: Attention
    cross_attention: Attention
    feed_forward: FeedForward


def read_norm(weights: Weights, name: str) -> Norm:
    """Read the weights of one normalisation."""
    return Norm(weights[f"{name}.scale"], weights[f"{name}.shift"])


def read_linear(weights: Weights, name: str) -> Linear:
    """Read the weights of one linear map."""
    return Linear(weights[f"{name}.weight"], weights[f"{name}.bias"])


def read_attention(model: config.Model, weights: Weights, name: str) -> Attention:
    """Read the weights of one attention; only self-attention knows rotary positions."""
    query, key, value, output = (read_linear(weights, f"{name}.{part}") for part in ("query", "key", "value", "output"))
    turned = model.positions == "rotary" and "cross" not in name
    return Attention(
        query,
        key,
        value,
        output,
        _read_own_norm(model, weights, name),
        read_sizes(model).heads,
        model.scores,
        model.position_base if turned else None,
        weights[f"{name}.sharpness"] if model.scores == "cosine" else None,
        weights[f"{name}.mix"] if model.scores == "additive" else None,
    )


def read_feed_forward(model: config.Model, weights: Weights, name: str) -> FeedForward:
    """Read the weights of one feed-forward network."""
    inner, outer = (read_linear(weights, f"{name}.{part}") for part in ("inner", "outer"))
    return FeedForward(inner, outer, _read_own_norm(model, weights, name))


def _read_own_norm(model: config.Model, weights: Weights, name: str) -> Norm | None:
    return None if model.norm == "none" else read_norm(weights, f"{name}.norm")


def normalise(vectors: Float[Array, "*any e"]) -> Float[Array, "*any e"]:
    """Shorten or lengthen vectors to 1; one of length 0 stays."""
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), np.float32(1e-12)))
