"""The plain engine: NumPy, every step there for whoever wants to look.

It gives the same translations as the fast engine, only slower; it is the oracle that the others are tested
against.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, final

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray

from dragoman import config
from dragoman.engine.base import Head, Hypothesis, check_request, is_empty, translate_nothing
from dragoman.engine.layout import Weights
from dragoman.engine.plain_recurrent import Recurrent
from dragoman.engine.plain_transformer import Transformer, pad
from dragoman.engine.search import BeamStep, Request, Stepped, find
from dragoman.engine.trace import DecoderSteps, RecurrentDecoderSteps, Trace, first
from dragoman.text.tokenizer import END, START

Array = NDArray[np.float32]

AnyDecoderSteps = DecoderSteps | RecurrentDecoderSteps

_BATCH_PIECES = 2048
_BATCH_SCORES = 16_000_000
"""Of sentences, hypotheses and pieces: of each the search has some copies at every step."""


class Forced(NamedTuple):
    """What the model thought of a given translation."""

    attention: Float[Array, "l h t s"]
    """The cross-attention of all layers and heads; end marks left out, as in `Hypothesis.attention`."""
    log_probabilities: Float[Array, " t+1"]
    """Of every target piece and of the end mark."""
    right: Bool[NDArray[np.bool_], " t+1"]
    """Whether the model found it the likeliest."""


@final
class PlainEngine:
    """Translates with NumPy."""

    def __init__(self, model: config.Model, weights: Weights, *, alignment: Head | None = None) -> None:
        # Both families offer encode, start and decode; what a state is, only the family knows.
        self._network: Any = Recurrent(model, weights) if model.kind == "recurrent" else Transformer(model, weights)
        self.model, self.weights = model, weights
        self._limits = self._network.limits
        self._alignment = alignment

    @property
    def max_source(self) -> int:
        """The most source pieces it takes: one less than the model has positions, for the end mark."""
        return self._limits.source

    @property
    def max_target(self) -> int:
        """The most pieces of a translation; of one that is given, to be looked at, one less, for the end mark."""
        return self._limits.target

    def translate(
        self,
        sources: Sequence[Sequence[int]],
        search: config.Search,
        *,
        prefixes: Sequence[Sequence[int]] | None = None,
        attention: bool = False,
        watch: Callable[[BeamStep], None] | None = None,
    ) -> list[list[Hypothesis]]:
        """Return for every source its `search.best` hypotheses, best first, beginning with its prefix.

        `watch` is told of every step of the beam; its sentences are numbered within their batch.
        """
        check_request(sources, prefixes, search, self._limits)
        forced: list[Sequence[int]] = list(prefixes) if prefixes is not None else [() for _ in sources]
        found = [translate_nothing(*pair, attention=attention) for pair in zip(sources, forced, strict=True)]
        longest = min(search.max_length, self._limits.target)
        worth_asking = [number for number, source in enumerate(sources) if not is_empty(source)]
        most = max(1, _BATCH_SCORES // (search.beam * self._limits.vocabulary))
        for numbers in _batches(worth_asking, [len(source) for source in sources], most):
            request = Request(search, [forced[n] for n in numbers], numbers, longest, attention, watch)
            results = find(self._step, self._start([sources[n] for n in numbers]), request)
            for number, result in zip(numbers, results, strict=True):
                found[number] = [_cut(hypothesis, len(sources[number])) for hypothesis in result]
        return found

    def trace(self, source: Sequence[int], target: Sequence[int]) -> Trace:
        """Run one sentence with a forced target and keep every step; neither has marks."""
        self._check_pair(source, target)
        read, given = (*source, END), (START, *target)
        pieces, visible = pad([read])
        encoder = self._network.encode(pieces, visible)
        state = self._network.start(encoder, visible)
        decoder = self._network.decode(pad([given])[0], state).steps
        return Trace(read, given, (*target, END), first(encoder), first(decoder))

    def force(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[Forced]:
        """Return what the model thinks of many given translations: `trace`, but in batches and in brief."""
        if len(sources) != len(targets):
            raise ValueError(f"{len(sources)} sources, but {len(targets)} targets")
        lengths = []
        for source, target in zip(sources, targets, strict=True):
            self._check_pair(source, target)
            lengths.append(len(source) + len(target))
        found: dict[int, Forced] = {}
        for numbers in _batches(range(len(sources)), lengths, len(sources)):
            state = self._start([sources[n] for n in numbers])
            given, _ = pad([(START, *targets[n]) for n in numbers])
            steps = self._network.decode(given, state).steps
            for row, number in enumerate(numbers):
                found[number] = _read_forced(steps, row, len(sources[number]), targets[number])
        return [found[number] for number in range(len(sources))]

    def _start(self, sources: Sequence[Sequence[int]]) -> Any:
        pieces, visible = pad([(*source, END) for source in sources])
        return self._network.start(self._network.encode(pieces, visible), visible)

    def _step(self, last: Int[NDArray[np.int64], " n"], state: Any) -> Stepped[Any]:
        """Read one piece more; what `dragoman.engine.search` calls."""
        steps, later = self._network.decode(last[:, np.newaxis], state)
        return Stepped(steps.log_probabilities[:, -1], self._look(steps)[:, -1], later)

    def _look(self, steps: AnyDecoderSteps) -> Float[Array, "b t s"]:
        """Return the attention that is shown: the best-aligning head's, or else the last layer's average."""
        if self._alignment is None:
            return np.asarray(steps.crossed[-1].mean(axis=1))
        return steps.crossed[self._alignment.layer][:, self._alignment.head]

    def _check_pair(self, source: Sequence[int], target: Sequence[int]) -> None:
        if len(target) >= self._limits.target:
            raise ValueError(f"the target has {len(target)} pieces; this model takes at most {self._limits.target - 1}")
        check_request([source], [target], config.Search(max_length=len(target) + 1), self._limits)


def _batches(numbers: Iterable[int], lengths: Sequence[int], most: int) -> Iterator[list[int]]:
    """Share out the numbers of some sentences, sorted by length, so that there is little padding; at most so many."""
    batch: list[int] = []
    for number in sorted(numbers, key=lambda n: lengths[n]):
        if batch and (len(batch) == most or (len(batch) + 1) * (lengths[number] + 1) > _BATCH_PIECES):
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch


def _cut(hypothesis: Hypothesis, source: int) -> Hypothesis:
    """Leave out the columns of the end mark and the padding."""
    if hypothesis.attention is None:
        return hypothesis
    return hypothesis._replace(attention=hypothesis.attention[:, :source])


def _read_forced(steps: AnyDecoderSteps, row: int, source: int, target: Sequence[int]) -> Forced:
    attention = [weights[row, :, : len(target), :source] for weights in steps.crossed]
    wanted, thought = [*target, END], steps.log_probabilities[row, : len(target) + 1]
    return Forced(np.stack(attention), thought[np.arange(len(wanted)), wanted], thought.argmax(axis=-1) == wanted)
