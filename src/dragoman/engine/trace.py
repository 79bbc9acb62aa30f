"""Everything that happens to one sentence inside a model, as plain tuples of arrays.

Shapes are those of one sentence: `s` source pieces with the end mark, `t` target pieces with the start mark.
While a batch is computed, the same tuples hold the same arrays with one more axis in front. `to_json` makes
lists of them.
"""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

VERSION = 1
"""Of what is told of a trace: one more whenever a reader of the old one would misread the new one."""
Array = NDArray[np.float32]


class AttentionSteps(NamedTuple):
    """One attention, all heads: softmax(Q Kᵀ / √e) V, or with other scores as `model.scores` says."""

    queries: Float[Array, "*b h q e"]
    keys: Float[Array, "*b h k e"]
    values: Float[Array, "*b h k e"]
    scores: Float[Array, "*b h q k"]
    """Before anything is hidden."""
    weights: Float[Array, "*b h q k"]
    context: Float[Array, "*b h q e"]


class Residual(NamedTuple):
    """The way around a sub-layer: normalised are its input (pre-norm) or its outcome (post-norm)."""

    input: Float[Array, "*b t d"]
    read: Float[Array, "*b t d"]
    """What the sub-layer reads: the input, in a pre-norm model normalised."""
    answer: Float[Array, "*b t d"]
    """What the sub-layer makes of it."""
    total: Float[Array, "*b t d"]
    """The input plus the answer; without residual paths, the answer."""
    output: Float[Array, "*b t d"]
    """What goes on: the total, in a post-norm model normalised."""


class AttentionSubLayer(NamedTuple):
    """Attention and the way around it."""

    attention: AttentionSteps
    residual: Residual


class FeedForwardSubLayer(NamedTuple):
    """The two-layer network at every position, and the way around it."""

    inner: Float[Array, "*b t f"]
    """After ReLU."""
    residual: Residual


class EncoderLayerSteps(NamedTuple):
    """One layer of the encoder."""

    attention: AttentionSubLayer
    feed_forward: FeedForwardSubLayer


class DecoderLayerSteps(NamedTuple):
    """One layer of the decoder."""

    self_attention: AttentionSubLayer
    cross_attention: AttentionSubLayer
    feed_forward: FeedForwardSubLayer


class EncoderSteps(NamedTuple):
    """The source, from pieces to memory."""

    embedded: Float[Array, "*b s d"]
    """Embeddings times √d."""
    input: Float[Array, "*b s d"]
    """Positions added."""
    layers: tuple[EncoderLayerSteps, ...]
    memory: Float[Array, "*b s d"]
    """The last layer's output, in a pre-norm model normalised: what the decoder looks at."""


class DecoderSteps(NamedTuple):
    """The target, from pieces to the probabilities of the next ones."""

    embedded: Float[Array, "*b t d"]
    input: Float[Array, "*b t d"]
    layers: tuple[DecoderLayerSteps, ...]
    output: Float[Array, "*b t d"]
    logits: Float[Array, "*b t v"]
    log_probabilities: Float[Array, "*b t v"]

    @property
    def crossed(self) -> tuple[Float[Array, "..."], ...]:
        """The weights of the attention to the source, [h t s] for every layer."""
        return tuple(layer.cross_attention.attention.weights for layer in self.layers)


class LSTMSteps(NamedTuple):
    """Inside a cell, step by step: memory = keep · memory before + write · new, state = show · tanh(memory).

    Where a batch is padded, the encoder's steps are worked out and not taken.
    """

    write: Float[Array, "*b t w"]
    keep: Float[Array, "*b t w"]
    show: Float[Array, "*b t w"]
    """The three gates, between 0 and 1."""
    new: Float[Array, "*b t w"]
    """What is offered to the memory."""
    memory: Float[Array, "*b t w"]


class GRUSteps(NamedTuple):
    """Inside a cell, step by step: state = stay · state before + (1 - stay) · new."""

    reset: Float[Array, "*b t w"]
    stay: Float[Array, "*b t w"]
    """The two gates, between 0 and 1."""
    new: Float[Array, "*b t w"]
    """What is offered to the state; `reset` is how much of the state before has a say in it."""


CellSteps = LSTMSteps | GRUSteps


class RecurrentEncoderSteps(NamedTuple):
    """The source, from pieces to states."""

    embedded: Float[Array, "*b s d"]
    """Embeddings times √d."""
    layers: tuple[Float[Array, "*b s m"], ...]
    """The states of every layer, both ways side by side."""
    last: Float[Array, "*b m"]
    """Where the last layer ended: forwards at the end mark, backwards at the first piece."""
    cells: tuple[tuple[CellSteps, ...], ...]
    """Inside the cells of every layer: the one that reads forwards, and backwards if there is one."""

    @property
    def memory(self) -> Float[Array, "*b s m"]:
        """What the decoder looks at."""
        return self.layers[-1]


class LookSteps(NamedTuple):
    """How the decoder saw the source."""

    queries: Float[Array, "*b t w"]
    """The decoder's states that looked: those before a step, or after it."""
    keys: Float[Array, "*b s k"]
    """What of the scores depends on the source alone."""
    scores: Float[Array, "*b t s"]
    """Before the padding is hidden."""
    weights: Float[Array, "*b t s"]
    context: Float[Array, "*b t m"]


class RecurrentDecoderSteps(NamedTuple):
    """The target, from pieces to the probabilities of the next ones."""

    embedded: Float[Array, "*b t d"]
    layers: tuple[Float[Array, "*b t w"], ...]
    """The states of every layer."""
    look: LookSteps
    output: Float[Array, "*b t d"]
    logits: Float[Array, "*b t v"]
    log_probabilities: Float[Array, "*b t v"]
    start: tuple[Float[Array, "*b w"], ...]
    """The states of every layer before the first piece, made of where the encoder ended."""
    cells: tuple[CellSteps, ...]
    """Inside the cells of every layer."""

    @property
    def crossed(self) -> tuple[Float[Array, "..."], ...]:
        """The weights of the attention to the source, [1 t s]: one layer, one head."""
        return (np.expand_dims(self.look.weights, -3),)


class Trace(NamedTuple):
    """One sentence with a forced target."""

    source: tuple[int, ...]
    """With the end mark: what the encoder reads."""
    target: tuple[int, ...]
    """With the start mark: what the decoder reads."""
    predicted: tuple[int, ...]
    """With the end mark: `log_probabilities[t]` says what the model thought of `predicted[t]`."""
    encoder: EncoderSteps | RecurrentEncoderSteps
    decoder: DecoderSteps | RecurrentDecoderSteps


def first(steps: Any) -> Any:
    """Take the first sentence out of a batch of steps."""
    if isinstance(steps, tuple):
        taken = [first(part) for part in steps]
        return type(steps)(*taken) if hasattr(steps, "_fields") else tuple(taken)
    return steps[0]


def to_json(steps: Any) -> Any:
    """Turn tuples with names into dictionaries and arrays into nested lists."""
    if isinstance(steps, tuple):
        if hasattr(steps, "_fields"):
            return {name: to_json(part) for name, part in zip(steps._fields, steps, strict=True)}
        return [to_json(part) for part in steps]
    return steps.tolist() if isinstance(steps, np.ndarray) else steps
