"""Recurrent sequence-to-sequence, and attention over its states.

    the encoder         s_k = cell(x_k, s_{k-1})        one way, or two ways side by side
    attend = "before"   c_t = look(h_{t-1}, s)          h_t = cell([y_{t-1}; c_t], h_{t-1})      (Bahdanau et al. 2015)
    attend = "after"    h_t = cell(y_{t-1}, h_{t-1})    c_t = look(h_t, s)                       (Luong et al. 2015)
    the output          o_t = tanh(W [h_t; c_t])        scored against every piece

What the decoder sees of the source is c_t. Without attention it is the same at every step: the encoder's last state
(Sutskever et al. 2014), the mean of all, or an average whose weights are learned by place. Whatever it sees, it begins
from the encoder's last state. With input feeding, o_{t-1} is read beside y_{t-1}.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional

from dragoman.nn.attention import Attended, attend
from dragoman.nn.dropout import Dropout
from dragoman.nn.sequence import Embedding, SequenceToSequence, likeliest

Looking = Literal["last", "mean", "fixed", "dot", "bilinear", "mlp", "cosine"]
State = tuple[Tensor, ...]
"""What a cell remembers, its output first."""


class LSTM(nn.Module):
    """Long short-term memory (Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000).

    i, f, o = σ(…)    g = tanh(…)    c' = f · c + i · g    h' = o · tanh(c')
    """

    def __init__(self, read: int, width: int) -> None:
        super().__init__()
        self.width = width
        self.input = nn.Linear(read, 4 * width)
        self.state = nn.Linear(width, 4 * width, bias=False)

    def start(self, first: Float[Tensor, "b w"]) -> State:
        """The state whose output is given."""
        return first, torch.zeros_like(first)

    def step(self, read: Float[Tensor, "b g"], state: State) -> State:
        """Go one step on, from the input's share of the gates."""
        hidden, cell = state
        gates = (read + self.state(hidden)).chunk(4, dim=-1)
        write, keep, show = (gate.sigmoid() for gate in gates[:3])
        cell = keep * cell + write * gates[3].tanh()
        return show * cell.tanh(), cell


class GRU(nn.Module):
    """Gated recurrent unit (Cho et al. 2014), its reset applied after the product, as most programs do.

    r, z = σ(…)    n = tanh(W x + r · (U h + b))    h' = (1 - z) · n + z · h
    """

    def __init__(self, read: int, width: int) -> None:
        super().__init__()
        self.width = width
        self.input = nn.Linear(read, 3 * width)
        self.state = nn.Linear(width, 3 * width)

    def start(self, first: Float[Tensor, "b w"]) -> State:
        """The state whose output is given."""
        return (first,)

    def step(self, read: Float[Tensor, "b g"], state: State) -> State:
        """Go one step on, from the input's share of the gates."""
        (hidden,) = state
        reads, kept = read.chunk(3, dim=-1), self.state(hidden).chunk(3, dim=-1)
        reset, stay = (reads[0] + kept[0]).sigmoid(), (reads[1] + kept[1]).sigmoid()
        new = (reads[2] + reset * kept[2]).tanh()
        return (new + stay * (hidden - new),)


Cell = LSTM | GRU


def run(
    cell: Cell, x: Float[Tensor, "b s r"], visible: Bool[Tensor, "b s"], *, backwards: bool
) -> Float[Tensor, "b s w"]:
    """The outputs of a cell that reads a sequence; over what is not visible its state passes unchanged."""
    reads = cell.input(x)
    state = cell.start(x.new_zeros(len(x), cell.width))
    outputs: list[Tensor] = [state[0]] * x.shape[1]
    for place in reversed(range(x.shape[1])) if backwards else range(x.shape[1]):
        seen = visible[:, place, None]
        after = cell.step(reads[:, place], state)
        state = tuple(torch.where(seen, new, old) for new, old in zip(after, state, strict=True))
        outputs[place] = state[0]
    return torch.stack(outputs, dim=1)


class Memory(NamedTuple):
    """What the encoder made of the source."""

    states: Float[Tensor, "b s m"]
    last: Float[Tensor, "b m"]
    """Where the encoder ended: forwards at the end mark, backwards at the first piece."""
    visible: Bool[Tensor, "b s"]


class Encoder(nn.Module):
    """Layers of cells, each reading the states of the one below; two ways are joined side by side."""

    def __init__(self, embedding: Embedding, dropout: Dropout, layers: list[list[Cell]]) -> None:
        super().__init__()
        self.embedding = embedding
        self.dropout = dropout
        self.layers = nn.ModuleList(nn.ModuleList(ways) for ways in layers)

    def forward(self, pieces: Int[Tensor, "b s"], visible: Bool[Tensor, "b s"]) -> Memory:
        """Read the source."""
        x = self.embedding(pieces)
        ways: list[Tensor] = []
        for layer in self.layers:
            x = self.dropout(x)
            assert isinstance(layer, nn.ModuleList)
            ways = [run(cell, x, visible, backwards=way == 1) for way, cell in enumerate(layer)]  # type: ignore[arg-type]
            x = torch.cat(ways, dim=-1)
        ends = [way[:, 0] if number == 1 else way[:, -1] for number, way in enumerate(ways)]
        return Memory(x, torch.cat(ends, dim=-1), visible)


class Look(nn.Module):
    """How the decoder sees the source: a context vector for each of its states.

    dot: h·s    bilinear: h·W s    mlp: w·tanh(W₁ [h; s])    cosine: h·s / |h||s|, times a learned sharpness
    """

    def __init__(self, kind: Looking, width: int, memory: int, longest: int) -> None:
        super().__init__()
        self.kind = kind
        match kind:
            case "fixed":
                self.places = nn.Parameter(torch.zeros(longest))
            case "dot" | "cosine" if width != memory:
                raise ValueError(f"{kind} scores need states of one width, not {width} and {memory}")
            case "cosine":
                self.sharpness = nn.Parameter(torch.empty(1))
            case "bilinear":
                self.key = nn.Linear(memory, width, bias=False)
            case "mlp":
                self.key = nn.Linear(memory, width)
                self.query = nn.Linear(width, width, bias=False)
                self.score = nn.Linear(width, 1, bias=False)
            case "last" | "mean" | "dot":
                pass

    def keys(self, memory: Memory) -> Float[Tensor, "b s k"]:
        """What of the scores depends on the source alone, computed once for a sentence."""
        match self.kind:
            case "bilinear" | "mlp":
                keys: Tensor = self.key(memory.states)
                return keys
            case "cosine":
                return self.sharpness * functional.normalize(memory.states, dim=-1)
            case _:
                return memory.states

    def forward(self, queries: Float[Tensor, "b q w"], keys: Float[Tensor, "b s k"], memory: Memory) -> Attended:
        """Look at the source from some of the decoder's states."""
        if self.kind == "last":
            ends = functional.one_hot(memory.visible.sum(dim=1) - 1, memory.visible.shape[1])
            weights = ends[:, None].expand(-1, queries.shape[1], -1).to(queries)
            return Attended(weights, memory.last[:, None].expand(-1, queries.shape[1], -1))
        return attend(self._scores(queries, keys), memory.states, memory.visible[:, None])

    def _scores(self, queries: Float[Tensor, "b q w"], keys: Float[Tensor, "b s k"]) -> Float[Tensor, "b q s"]:
        shape = (len(queries), queries.shape[1], keys.shape[1])
        match self.kind:
            case "fixed":
                if keys.shape[1] > len(self.places):
                    raise ValueError(f"a source of {keys.shape[1]} places, but only {len(self.places)} were learned")
                return self.places[: keys.shape[1]].expand(shape)
            case "mlp":
                mixed = (self.query(queries)[:, :, None] + keys[:, None]).tanh()
                scores: Tensor = self.score(mixed)[..., 0]
                return scores
            case "cosine":
                return functional.normalize(queries, dim=-1) @ keys.transpose(1, 2)
            case "dot" | "bilinear":
                return queries @ keys.transpose(1, 2)
            case _:
                return queries.new_zeros(shape)


class Read(NamedTuple):
    """What the decoder remembers after some pieces."""

    cells: list[State]
    output: Float[Tensor, "b d"]
    """The last o_t; zeros before the first."""


class Decoder(nn.Module):
    """Cells one above the other that read the target, look at the source, and say what they think comes next."""

    def __init__(
        self,
        embedding: Embedding,
        dropout: Dropout,
        cells: list[Cell],
        look: Look,
        memory: int,
        *,
        before: bool,
        feeding: bool,
    ) -> None:
        super().__init__()
        width, out = cells[0].width, embedding.weight.shape[1]
        self.embedding = embedding
        self.dropout = dropout
        self.cells = nn.ModuleList(cells)
        self.look = look
        self.begin = nn.Linear(memory, len(cells) * width)
        self.output = nn.Linear(width + memory, out)
        self.before, self.feeding = before, feeding

    def forward(
        self,
        pieces: Int[Tensor, "b t"],
        memory: Memory,
        given: Bool[Tensor, "b t"] | None = None,
        guess: Callable[[Tensor], Tensor] = torch.clone,
    ) -> Float[Tensor, "b t d"]:
        """Read the whole target, as it was written by a person (teacher forcing).

        Where a piece is not `given`, the piece that the decoder itself would have written is read in its stead
        (scheduled sampling, Bengio et al. 2015): `guess` turns its last output into pieces.
        """
        keys, read = self.look.keys(memory), self.start(memory)
        vectors = self.dropout(self.embedding(pieces))
        outputs = []
        for place in range(pieces.shape[1]):
            vector = vectors[:, place]
            if given is not None and place:
                own = self.dropout(self.embedding(guess(read.output.detach())[:, None]))
                vector = torch.where(given[:, place, None], vector, own[:, 0])
            read = self.step(vector, read, keys, memory)
            outputs.append(read.output)
        dropped: Tensor = self.dropout(torch.stack(outputs, dim=1))
        return dropped

    def start(self, memory: Memory) -> Read:
        """Before the first piece."""
        firsts = self.begin(memory.last).tanh().chunk(len(self.cells), dim=-1)
        cells = [cell.start(first) for cell, first in zip(self._cells(), firsts, strict=True)]
        return Read(cells, memory.last.new_zeros(len(memory.last), self.output.out_features))

    def step(self, vector: Float[Tensor, "b d"], read: Read, keys: Float[Tensor, "b s k"], memory: Memory) -> Read:
        """Read one piece more."""
        x = torch.cat([vector, read.output], dim=-1) if self.feeding else vector
        context = self._look(read.cells[-1][0], keys, memory) if self.before else None
        if context is not None:
            x = torch.cat([x, context], dim=-1)
        states = []
        for number, (cell, state) in enumerate(zip(self._cells(), read.cells, strict=True)):
            states.append(cell.step(cell.input(self.dropout(x) if number else x), state))
            x = states[-1][0]
        if context is None:
            context = self._look(x, keys, memory)
        return Read(states, self.output(torch.cat([x, context], dim=-1)).tanh())

    def _look(self, state: Tensor, keys: Tensor, memory: Memory) -> Float[Tensor, "b m"]:
        context: Tensor = self.look(state[:, None], keys, memory).context[:, 0]
        return context

    def _cells(self) -> list[Cell]:
        return list(self.cells)  # type: ignore[arg-type]


class Recurrent(SequenceToSequence):
    """One position after the other."""

    encoder: Encoder
    decoder: Decoder

    def forward(
        self,
        source: Int[Tensor, "b s"],
        visible: Bool[Tensor, "b s"],
        target: Int[Tensor, "b t"],
        given: Bool[Tensor, "b t"] | None = None,
    ) -> Float[Tensor, "b t d"]:
        """Return the decoder's outputs; `score` turns them into scores for the next piece.

        Where a target piece is not `given`, the decoder reads its own guess in its stead.
        """
        memory = self.encoder(source, visible)
        decoded: Tensor = self.decoder(target, memory, given, lambda output: likeliest(self.score, output))
        return decoded
