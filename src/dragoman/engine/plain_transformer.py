"""The Transformer in NumPy, written to be read (Vaswani et al. 2017, "Attention Is All You Need").

Every function returns its steps. Whoever wants to look keeps them; whoever only translates drops them, and
they cost nothing.

The decoder reads some new pieces after a `State` that holds the keys and values of all pieces before them.
One piece at a time is a search; all pieces after an empty state is a forced target. It is the same function.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple, final

import numpy as np
from jaxtyping import Bool, Int

from dragoman import config
from dragoman.engine.base import Limits
from dragoman.engine.layout import Array, Weights, read_sizes, read_tables
from dragoman.engine.plain_layers import (
    Attention,
    DecoderLayer,
    EncoderLayer,
    FeedForward,
    Ids,
    KeysValues,
    Linear,
    Norm,
    Truth,
    log_softmax,
    read_attention,
    read_feed_forward,
    read_norm,
)
from dragoman.engine.trace import (
    AttentionSubLayer,
    DecoderLayerSteps,
    DecoderSteps,
    EncoderLayerSteps,
    EncoderSteps,
    FeedForwardSubLayer,
    Residual,
)
from dragoman.text.tokenizer import PAD


class State(NamedTuple):
    """What the decoder remembers of some hypotheses."""

    past: tuple[KeysValues, ...]
    """For every layer, of the target pieces read so far."""
    memory: tuple[KeysValues, ...]
    """For every layer, of the source."""
    visible: Bool[Truth, "b 1 1 s"]
    """The source without its padding."""
    sentence: Int[Ids, " b"]
    """Which sentence of the batch a row belongs to."""

    @property
    def length(self) -> int:
        """How many pieces have been read."""
        return int(self.past[0].keys.shape[2])

    def select(self, rows: Int[Ids, " n"]) -> "State":
        """Take some rows, in this order; a row may be taken many times.

        A beam is re-ordered within its sentence at every step, and its sentence's memory need not be copied
        for that.
        """
        past = tuple(layer.select(rows) for layer in self.past)
        sentence = self.sentence[rows]
        if np.array_equal(sentence, self.sentence):
            return State(past, self.memory, self.visible, sentence)
        memory = tuple(layer.select(rows) for layer in self.memory)
        return State(past, memory, self.visible[rows], sentence)


class Decoded(NamedTuple):
    """The steps for the new pieces, and what the decoder now remembers."""

    steps: DecoderSteps
    state: State


@final
class Transformer:
    """The network: weights, and the two stacks that use them."""

    def __init__(self, model: config.Model, weights: Weights) -> None:
        sizes = read_sizes(model)
        self.heads = sizes.heads
        self.tables = read_tables(model, weights)
        self._pre, self._around = model.norm == "pre", model.residual
        self._output = Linear(self.tables.output, weights["output.bias"])
        self._encoder = [
            EncoderLayer(
                read_attention(model, weights, f"encoder.{number}.attention"),
                read_feed_forward(model, weights, f"encoder.{number}.feed_forward"),
            )
            for number in range(sizes.encoder_layers)
        ]
        self._decoder = [
            DecoderLayer(
                read_attention(model, weights, f"decoder.{number}.self_attention"),
                read_attention(model, weights, f"decoder.{number}.cross_attention"),
                read_feed_forward(model, weights, f"decoder.{number}.feed_forward"),
            )
            for number in range(sizes.decoder_layers)
        ]
        self._encoder_norm = read_norm(weights, "encoder.norm") if self._pre else None
        self._decoder_norm = read_norm(weights, "decoder.norm") if self._pre else None

    def encode(self, sources: Int[Ids, "b s"], visible: Bool[Truth, "b s"]) -> EncoderSteps:
        """Read the sources, end marks included."""
        embedded = self.tables.source[sources] * np.float32(math.sqrt(self.tables.source.shape[-1]))
        start = vectors = embedded + self.tables.source_positions[: sources.shape[1]]
        shown = visible[:, np.newaxis, np.newaxis, :]
        layers = []
        for weights in self._encoder:
            attention = self._attend(vectors, weights.attention, None, shown)
            feed_forward = self._feed_forward(attention.residual.output, weights.feed_forward)
            layers.append(EncoderLayerSteps(attention, feed_forward))
            vectors = feed_forward.residual.output
        memory = vectors if self._encoder_norm is None else self._encoder_norm(vectors)
        return EncoderSteps(embedded, start, tuple(layers), memory)

    @property
    def limits(self) -> Limits:
        """What its tables can take."""
        return self.tables.limits

    def start(self, encoded: EncoderSteps, visible: Bool[Truth, "b s"]) -> State:
        """Return the state in which nothing of the target has been read."""
        memory = encoded.memory
        batch, _, width = memory.shape
        nothing = np.zeros((batch, self.heads, 0, width // self.heads), dtype=np.float32)
        return State(
            tuple(KeysValues(nothing, nothing) for _ in self._decoder),
            tuple(layer.cross_attention.offer(memory) for layer in self._decoder),
            visible[:, np.newaxis, np.newaxis, :],
            np.arange(batch),
        )

    def decode(self, pieces: Int[Ids, "b t"], state: State) -> Decoded:
        """Read the next target pieces, each of which sees itself and those before it."""
        before, new = state.length, pieces.shape[1]
        embedded = self.tables.target[pieces] * np.float32(math.sqrt(self.tables.target.shape[-1]))
        start = vectors = embedded + self.tables.target_positions[before : before + new]
        causal = np.tri(new, before + new, before, dtype=np.bool_)[np.newaxis, np.newaxis]
        layers, past = [], []
        for weights, seen, memory in zip(self._decoder, state.past, state.memory, strict=True):
            own = self._attend(vectors, weights.self_attention, seen, causal)
            cross = self._cross_attend(own.residual.output, weights.cross_attention, memory, state.visible)
            feed_forward = self._feed_forward(cross.residual.output, weights.feed_forward)
            layers.append(DecoderLayerSteps(own, cross, feed_forward))
            past.append(KeysValues(own.attention.keys, own.attention.values))
            vectors = feed_forward.residual.output
        output = vectors if self._decoder_norm is None else self._decoder_norm(vectors)
        logits = self._output(output)
        steps = DecoderSteps(embedded, start, tuple(layers), output, logits, log_softmax(logits))
        return Decoded(steps, state._replace(past=tuple(past)))

    def _attend(self, vectors: Array, weights: Attention, past: KeysValues | None, visible: Truth) -> AttentionSubLayer:
        """Let positions look at each other, and at those before them."""
        read = self._read(vectors, weights.norm)
        start = 0 if past is None else past.keys.shape[2]
        offered = weights.offer(read, start)
        steps = weights.look(read, offered if past is None else past.extend(offered), visible, start)
        return AttentionSubLayer(steps, self._add(vectors, read, weights.join(steps.context), weights.norm))

    def _cross_attend(
        self, vectors: Array, weights: Attention, memory: KeysValues, visible: Truth
    ) -> AttentionSubLayer:
        """Let target positions look at the source."""
        read = self._read(vectors, weights.norm)
        steps = weights.look(read, memory, visible)
        return AttentionSubLayer(steps, self._add(vectors, read, weights.join(steps.context), weights.norm))

    def _feed_forward(self, vectors: Array, weights: FeedForward) -> FeedForwardSubLayer:
        """Work on every position alone."""
        read = self._read(vectors, weights.norm)
        inner = np.maximum(weights.inner(read), 0)
        return FeedForwardSubLayer(inner, self._add(vectors, read, weights.outer(inner), weights.norm))

    def _read(self, vectors: Array, norm: Norm | None) -> Array:
        return norm(vectors) if self._pre and norm is not None else vectors

    def _add(self, vectors: Array, read: Array, answer: Array, norm: Norm | None) -> Residual:
        total = vectors + answer if self._around else answer
        return Residual(vectors, read, answer, total, total if self._pre or norm is None else norm(total))


def pad(rows: Sequence[Sequence[int]]) -> tuple[Int[Ids, "b t"], Bool[Truth, "b t"]]:
    """Put rows of different lengths into one array; the second array is True where there is a piece."""
    lengths = np.array([len(row) for row in rows])
    visible = np.arange(lengths.max(initial=0)) < lengths[:, np.newaxis]
    padded = np.full(visible.shape, PAD, dtype=np.int64)
    padded[visible] = [piece for row in rows for piece in row]
    return padded, visible
