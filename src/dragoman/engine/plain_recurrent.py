"""The recurrent models in NumPy, written to be read; twin of `dragoman.nn.recurrent`, which has the formulas.

The decoder reads some new pieces after a `State` that holds what its cells remember, one piece after another: here a
forced target is no faster than a search.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, final

import numpy as np
from jaxtyping import Bool, Float, Int

from dragoman import config
from dragoman.engine.base import Limits
from dragoman.engine.layout import LONGEST, Array, Weights, read_embeddings
from dragoman.engine.plain_layers import Ids, Linear, Truth, log_softmax, normalise, read_linear, softmax
from dragoman.engine.trace import (
    CellSteps,
    GRUSteps,
    LookSteps,
    LSTMSteps,
    RecurrentDecoderSteps,
    RecurrentEncoderSteps,
)

Remembered = tuple[Array, ...]
"""What a cell remembers, its output first."""


_LOOKS = {
    "fixed": ("places",),
    "cosine": ("sharpness",),
    "bilinear": ("key.weight",),
    "mlp": ("key.weight", "key.bias", "query.weight", "score.weight"),
}


def sigmoid(x: Float[Array, "*any"]) -> Float[Array, "*any"]:
    """1 / (1 + e⁻ˣ), by way of the hyperbolic tangent, which cannot overflow."""
    return np.asarray(np.float32(0.5) * np.tanh(np.float32(0.5) * x) + np.float32(0.5))


class LSTM(NamedTuple):
    """Long short-term memory."""

    input: Linear
    state: Linear

    def start(self, first: Float[Array, "b w"]) -> Remembered:
        """The state whose output is given."""
        return first, np.zeros_like(first)

    def step(self, x: Float[Array, "b r"], remembered: Remembered) -> "Stepped":
        """Go one step on."""
        hidden, memory = remembered
        *gates, offered = np.split(self.input(x) + self.state(hidden), 4, axis=-1)
        write, keep, show = map(sigmoid, gates)
        new = np.tanh(offered)
        memory = keep * memory + write * new
        return Stepped((show * np.tanh(memory), memory), LSTMSteps(write, keep, show, new, memory))


class GRU(NamedTuple):
    """Gated recurrent unit."""

    input: Linear
    state: Linear

    def start(self, first: Float[Array, "b w"]) -> Remembered:
        """The state whose output is given."""
        return (first,)

    def step(self, x: Float[Array, "b r"], remembered: Remembered) -> "Stepped":
        """Go one step on."""
        (hidden,) = remembered
        reads, kept = np.split(self.input(x), 3, axis=-1), np.split(self.state(hidden), 3, axis=-1)
        reset, stay = sigmoid(reads[0] + kept[0]), sigmoid(reads[1] + kept[1])
        new = np.tanh(reads[2] + reset * kept[2])
        return Stepped((new + stay * (hidden - new),), GRUSteps(reset, stay, new))


Cell = LSTM | GRU


class Stepped(NamedTuple):
    """One step of a cell: what it remembers now, and what happened inside."""

    remembered: Remembered
    inside: CellSteps


def side_by_side(steps: Sequence[CellSteps]) -> CellSteps:
    """The steps of one cell, each [b w], as arrays [b t w]; one alone, as in a search, is not copied."""
    if len(steps) == 1:
        return type(steps[0])(*(part[:, np.newaxis] for part in steps[0]))
    return type(steps[0])(*(np.stack(part, axis=1) for part in zip(*steps, strict=True)))


class State(NamedTuple):
    """What the decoder remembers of some hypotheses."""

    cells: tuple[Remembered, ...]
    output: Float[Array, "b d"]
    """The last output; zeros before the first."""
    keys: Float[Array, "b s k"]
    memory: Float[Array, "b s m"]
    last: Float[Array, "b m"]
    visible: Bool[Truth, "b s"]
    """The source without its padding."""

    def select(self, rows: Int[Ids, " n"]) -> "State":
        """Take some rows, in this order; a row may be taken many times."""
        cells = tuple(tuple(part[rows] for part in cell) for cell in self.cells)
        kept = (self.output[rows], self.keys[rows], self.memory[rows], self.last[rows])
        return State(cells, *kept, self.visible[rows])


class Decoded(NamedTuple):
    """The steps for the new pieces, and what the decoder now remembers."""

    steps: RecurrentDecoderSteps
    state: State


class Looked(NamedTuple):
    """One look at the source."""

    query: Float[Array, "b w"]
    scores: Float[Array, "b s"]
    weights: Float[Array, "b s"]
    context: Float[Array, "b m"]


@final
class Recurrent:
    """The network: weights, and what uses them."""

    def __init__(self, model: config.Model, weights: Weights) -> None:
        if model.encoder_layers is None or model.decoder_layers is None:
            raise ValueError(f"the model has sizes that were never chosen: {model}")
        self._model, self._weights = model, weights
        self._source, self._target, output = read_embeddings(model, weights)
        self._output = Linear(output, weights["output.bias"])
        ways = ("forward", "backward") if model.two_way else ("forward",)
        self._encoder = [
            [self._read_cell(f"encoder.{number}.{way}") for way in ways] for number in range(model.encoder_layers)
        ]
        self._decoder = [self._read_cell(f"decoder.{number}") for number in range(model.decoder_layers)]
        missing = [name for name in _LOOKS.get(model.look, ()) if f"decoder.look.{name}" not in weights]
        if missing:
            raise ValueError(f"there is no decoder.look.{missing[0]}")
        self._begin, self._join = (read_linear(weights, f"decoder.{name}") for name in ("begin", "output"))

    @property
    def limits(self) -> Limits:
        """What it takes: only weights by place know an end, but something must end a translation."""
        source = len(self._weights["decoder.look.places"]) if self._model.look == "fixed" else LONGEST
        return Limits(len(self._output.bias), source - 1, LONGEST)

    def encode(self, sources: Int[Ids, "b s"], visible: Bool[Truth, "b s"]) -> RecurrentEncoderSteps:
        """Read the sources, end marks included."""
        embedded = x = _embed(self._source, sources)
        layers, ends, inside = [], [], []
        for cells in self._encoder:
            ways = [run(cell, x, visible, backwards=way == 1) for way, cell in enumerate(cells)]
            ends = [states[:, 0] if way == 1 else states[:, -1] for way, (states, _) in enumerate(ways)]
            x = np.concatenate([states for states, _ in ways], axis=-1)
            layers.append(x)
            inside.append(tuple(steps for _, steps in ways))
        return RecurrentEncoderSteps(embedded, tuple(layers), np.concatenate(ends, axis=-1), tuple(inside))

    def start(self, encoded: RecurrentEncoderSteps, visible: Bool[Truth, "b s"]) -> State:
        """Return the state in which nothing of the target has been read."""
        firsts = np.split(np.tanh(self._begin(encoded.last)), len(self._decoder), axis=-1)
        cells = tuple(cell.start(first) for cell, first in zip(self._decoder, firsts, strict=True))
        nothing = np.zeros((len(visible), self._join.weight.shape[0]), dtype=np.float32)
        return State(cells, nothing, self._keys(encoded.memory), encoded.memory, encoded.last, visible)

    def decode(self, pieces: Int[Ids, "b t"], state: State) -> Decoded:
        """Read the next target pieces."""
        embedded = _embed(self._target, pieces)
        begun = tuple(cell[0] for cell in state.cells)
        states, looks, outputs, inside = [], [], [], []
        for place in range(pieces.shape[1]):
            state, looked, stepped = self._step(embedded[:, place], state)
            states.append([cell[0] for cell in state.cells])
            looks.append(looked)
            outputs.append(state.output)
            inside.append(stepped)
        queries, scores, weights, context = (np.stack(part, axis=1) for part in zip(*looks, strict=True))
        output = np.stack(outputs, axis=1)
        logits = self._output(output)
        steps = RecurrentDecoderSteps(
            embedded,
            tuple(np.stack(layer, axis=1) for layer in zip(*states, strict=True)),
            LookSteps(queries, state.keys, scores, weights, context),
            output,
            logits,
            log_softmax(logits),
            begun,
            tuple(map(side_by_side, zip(*inside, strict=True))),
        )
        return Decoded(steps, state)

    def _step(self, vector: Float[Array, "b d"], state: State) -> tuple[State, Looked, list[CellSteps]]:
        """Read one piece more; look at the source before that, or after."""
        x = np.concatenate([vector, state.output], axis=-1) if self._model.input_feeding else vector
        looked = self._look(state.cells[-1][0], state) if self._model.attend == "before" else None
        if looked is not None:
            x = np.concatenate([x, looked.context], axis=-1)
        cells, inside = [], []
        for cell, before in zip(self._decoder, state.cells, strict=True):
            remembered, steps = cell.step(x, before)
            cells.append(remembered)
            inside.append(steps)
            x = remembered[0]
        looked = looked or self._look(x, state)
        output = np.tanh(self._join(np.concatenate([x, looked.context], axis=-1)))
        return state._replace(cells=tuple(cells), output=output), looked, inside

    def _look(self, query: Float[Array, "b w"], state: State) -> Looked:
        """See the source from one state of the decoder."""
        if self._model.look == "last":
            ends = state.visible.sum(axis=1)[:, np.newaxis] - 1
            weights = (np.arange(state.visible.shape[1]) == ends).astype(np.float32)
            return Looked(query, weights, weights, state.last)
        scores = self._scores(query, state.keys)
        weights = softmax(scores, state.visible)
        return Looked(query, scores, weights, (weights[:, np.newaxis] @ state.memory)[:, 0])

    def _keys(self, memory: Float[Array, "b s m"]) -> Float[Array, "b s k"]:
        """What of the scores depends on the source alone."""
        match self._model.look:
            case "bilinear":
                return memory @ self._weights["decoder.look.key.weight"].T
            case "mlp":
                return read_linear(self._weights, "decoder.look.key")(memory)
            case "cosine":
                return self._weights["decoder.look.sharpness"] * normalise(memory)
            case _:
                return memory

    def _scores(self, query: Float[Array, "b w"], keys: Float[Array, "b s k"]) -> Float[Array, "b s"]:
        match self._model.look:
            case "fixed":
                return np.tile(self._weights["decoder.look.places"][: keys.shape[1]], (len(keys), 1))
            case "mlp":
                asked = query @ self._weights["decoder.look.query.weight"].T
                return np.asarray(np.tanh(asked[:, np.newaxis] + keys) @ self._weights["decoder.look.score.weight"][0])
            case "cosine":
                return (keys @ normalise(query)[..., np.newaxis])[..., 0]
            case "dot" | "bilinear":
                return (keys @ query[..., np.newaxis])[..., 0]
            case _:
                return np.zeros(keys.shape[:2], dtype=np.float32)

    def _read_cell(self, name: str) -> Cell:
        weight = self._weights[f"{name}.state.weight"]
        read = read_linear(self._weights, f"{name}.input")
        if self._model.cell == "gru":
            return GRU(read, Linear(weight, self._weights[f"{name}.state.bias"]))
        return LSTM(read, Linear(weight, np.zeros(len(weight), dtype=np.float32)))


def run(
    cell: Cell, x: Float[Array, "b s r"], visible: Bool[Truth, "b s"], *, backwards: bool
) -> tuple[Array, CellSteps]:
    """Return the outputs [b s w] of a cell that reads a sequence, and its steps; over padding its state stays."""
    state = cell.start(np.zeros((len(x), cell.state.weight.shape[1]), dtype=np.float32))
    outputs = np.zeros((*x.shape[:2], cell.state.weight.shape[1]), dtype=np.float32)
    inside = []
    for place in _places(x.shape[1], backwards=backwards):
        seen = visible[:, place, np.newaxis]
        after, steps = cell.step(x[:, place], state)
        state = tuple(np.where(seen, new, old) for new, old in zip(after, state, strict=True))
        outputs[:, place] = state[0]
        inside.append(steps)
    return outputs, side_by_side(inside[::-1] if backwards else inside)


def _places(length: int, *, backwards: bool) -> Iterator[int]:
    return iter(reversed(range(length)) if backwards else range(length))


def _embed(table: Float[Array, "v d"], pieces: Int[Ids, "b t"]) -> Float[Array, "b t d"]:
    return table[pieces] * np.float32(np.sqrt(table.shape[-1]))
