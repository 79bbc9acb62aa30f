"""Look for translations: greedily, with a beam, or by drawing at random.

A search knows nothing of the model. It calls a `Step`, which reads the last pieces of some hypotheses and
says what it thinks of every next piece, and it re-orders the step's `State` as hypotheses come and go. So
every family of models is searched in the same way.

The way is CTranslate2's, so that both engines find the same translations:

* A beam of b takes the 2b best continuations at every step. An end mark among the first b of them closes a
  hypothesis, and the next best continuation takes its place; an end mark further down is forgotten.
* A sentence is done when b hypotheses are closed. With a length penalty of 0 it is done as soon as the best
  slot has closed once and `search.best` hypotheses are closed: no later one can be better.
* At the greatest length all slots are closed as they are, unfinished.
* The pieces of a prefix are forced and cost nothing. Right after a prefix, an end mark counts only as the
  best continuation of all; elsewhere its slot stays empty for one step.
* Drawing applies top-k first, then the temperature, then top-p; the score is that of the model, without all
  these.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import NDArray

from dragoman.config import Search
from dragoman.engine.base import Hypothesis, samples
from dragoman.text.tokenizer import END, PAD, START

Array = NDArray[np.float32]
Ids = NDArray[np.int64]

_DEAD = np.float32(-1e10)
"""The total of a slot that holds nothing: out of reach, yet a number that can be added to."""
_SEEDS = 2**64


@runtime_checkable
class State(Protocol):
    """What a model remembers of some hypotheses, one row each."""

    def select(self: "S", rows: Int[Ids, " n"]) -> "S":  # noqa: PYI019 (beartype cannot read Self here)
        """Take some rows, in this order; a row may be taken many times."""


S = TypeVar("S", bound=State)


@dataclass(frozen=True)
class Stepped(Generic[S]):
    """What a model thinks of the next pieces; a tuple, were it not that beartype takes no generic ones."""

    log_probabilities: Float[Array, "n v"]
    attention: Float[Array, "n s"]
    """Where each row looked in the source."""
    state: S


@runtime_checkable
class Step(Protocol[S]):
    """A model, one piece at a time."""

    def __call__(self, last: Int[Ids, " n"], state: S) -> Stepped[S]:
        """Read the last piece of every row."""


class BeamStep(NamedTuple):
    """What a beam did with one sentence at one step, for whoever watches."""

    sentence: int
    origins: Int[Ids, " c"]
    """The continuations that were considered, best first: the slot that each continues, ..."""
    pieces: Int[Ids, " c"]
    totals: Float[Array, " c"]
    closing: Sequence[int]
    """Which of them ended a hypothesis."""
    going: Sequence[int]
    """Which of them fill the slots of the next step, in the order of the slots; none if the sentence is done."""


class Request(NamedTuple):
    """What is looked for, for some sentences at once."""

    search: Search
    prefixes: Sequence[Sequence[int]]
    """One for every sentence, which also says how many sentences there are."""
    numbers: Sequence[int]
    """The sentences' own numbers: what is drawn for one depends on its number, not on its neighbours."""
    longest: int
    """The most pieces of a translation."""
    attention: bool
    watch: Callable[[BeamStep], None] | None = None
    """Told of every step of a beam."""


class History(NamedTuple):
    """What has been chosen so far, one row for every hypothesis."""

    pieces: Int[Ids, "n t"]
    attention: Float[Array, "n t s"]

    @classmethod
    def start(cls, rows: int) -> "History":
        """Return a history in which nothing has happened."""
        return cls(np.zeros((rows, 0), dtype=np.int64), np.zeros((rows, 0, 0), dtype=np.float32))

    def select(self, rows: Int[Ids, " n"]) -> "History":
        """Take some rows."""
        return History(self.pieces[rows], self.attention[rows])

    def append(self, pieces: Int[Ids, " n"], attention: Float[Array, "n s"]) -> "History":
        """Add what was chosen, and where the model looked for it."""
        chosen, looked = pieces[:, np.newaxis], attention[:, np.newaxis]
        if self.pieces.shape[1] == 0:
            return History(chosen, looked)
        return History(np.concatenate([self.pieces, chosen], axis=1), np.concatenate([self.attention, looked], axis=1))

    def close(self, row: int, total: float, request: Request, *, finished: bool) -> Hypothesis:
        """Make a hypothesis of a row, end mark and all."""
        length = self.pieces.shape[1]
        kept = length - 1 if finished else length
        return Hypothesis(
            tuple(self.pieces[row, :kept].tolist()),
            total / length**request.search.length_penalty,
            finished,
            self.attention[row, :kept] if request.attention else None,
        )


def find(step: Step[S], state: S, request: Request) -> list[list[Hypothesis]]:
    """Return for every sentence its best hypotheses, best first; `state` has one row for every sentence."""
    if not request.attention:
        step = _blind(step)
    if samples(request.search) or (request.search.beam == 1 and request.watch is None):
        found = _find_singly(step, state, request)
    else:
        found = _find_with_beam(step, state, request)
    best = request.search.best
    return [sorted(several, key=lambda one: -one.score)[:best] for several in found]


def _blind(step: Step[S]) -> Step[S]:
    """Make a step that does not say where it looked, so that nobody carries it along."""

    def look_away(last: Int[Ids, " n"], state: S) -> Stepped[S]:
        stepped = step(last, state)
        return replace(stepped, attention=stepped.attention[:, :0])

    return look_away


def _find_singly(step: Step[S], state: S, request: Request) -> list[list[Hypothesis]]:
    """Follow single hypotheses, each taking the best next piece or drawing one."""
    search = request.search
    found: list[list[Hypothesis]] = [[] for _ in request.prefixes]
    owners = np.repeat(np.arange(len(found)), search.best)
    generators = [
        np.random.default_rng([search.seed % _SEEDS, number, draw])
        for number in request.numbers
        for draw in range(search.best)
    ]
    state, history = state.select(owners), History.start(len(owners))
    last, totals = np.full(len(owners), START), np.zeros(len(owners), dtype=np.float32)
    for position in range(request.longest):
        stepped = step(last, state)
        if samples(search):
            last = draw_pieces(stepped.log_probabilities, search, generators)
        else:
            last = stepped.log_probabilities.argmax(axis=1)
        chosen = np.take_along_axis(stepped.log_probabilities, last[:, np.newaxis], axis=1)[:, 0]
        prefixes = [request.prefixes[owner] for owner in owners.tolist()]
        free = np.array([position >= len(prefix) for prefix in prefixes], dtype=np.bool_)
        last = np.array([last[n] if free[n] else prefix[position] for n, prefix in enumerate(prefixes)])
        totals = totals + np.where(free, chosen, np.float32(0))
        history = history.append(last, stepped.attention)
        ended = (last == END) & free
        done = ended | (position + 1 == request.longest)
        for row in np.flatnonzero(done).tolist():
            closed = history.close(row, float(totals[row]), request, finished=bool(ended[row]))
            found[owners[row]].append(closed)
        going = np.flatnonzero(~done)
        if not len(going):
            break
        generators = [generators[row] for row in going]
        owners, last, totals, history = owners[going], last[going], totals[going], history.select(going)
        state = stepped.state.select(going) if len(going) < len(done) else stepped.state
    return found


def draw_pieces(
    log_probabilities: Float[Array, "n v"], search: Search, generators: Sequence[np.random.Generator]
) -> Int[Ids, " n"]:
    """Draw one piece for every row, each row with its own generator.

    The greatest of some scores, after Gumbel noise has been added to them, is a draw from their softmax.
    """
    scores = log_probabilities.astype(np.float64)
    size = scores.shape[1]
    if 0 < search.top_k < size:
        worst = np.argpartition(-scores, search.top_k - 1, axis=1)[:, search.top_k :]
        np.put_along_axis(scores, worst, -np.inf, axis=1)
    scores = scores / search.temperature
    if search.top_p < 1:
        order = np.argsort(-scores, axis=1, kind="stable")
        sorted_scores = np.take_along_axis(scores, order, axis=1)
        shares = np.exp(sorted_scores - sorted_scores[:, :1])
        shares /= shares.sum(axis=1, keepdims=True)
        needed = np.cumsum(shares, axis=1) - shares < search.top_p
        np.put_along_axis(scores, order, np.where(needed, sorted_scores, -np.inf), axis=1)
    noise = np.stack([generator.gumbel(size=size) for generator in generators])
    return np.asarray((scores + noise).argmax(axis=1), dtype=np.int64)


class Candidates(NamedTuple):
    """The best continuations of every sentence's beam, best first."""

    origins: Int[Ids, "n c"]
    """The slot that is continued."""
    pieces: Int[Ids, "n c"]
    totals: Float[Array, "n c"]


def _find_with_beam(step: Step[S], state: S, request: Request) -> list[list[Hypothesis]]:
    """Keep a beam of hypotheses for every sentence; see the module's docstring for when it stops."""
    beam = request.search.beam
    found: list[list[Hypothesis]] = [[] for _ in request.prefixes]
    led, closed = [False for _ in found], [0 for _ in found]
    live = np.arange(len(found))
    state, history = state.select(np.repeat(live, beam)), History.start(len(live) * beam)
    totals = np.full((len(live), beam), _DEAD)
    totals[:, 0] = 0
    last = np.full(len(live) * beam, START)
    for position in range(request.longest):
        stepped = step(last, state)
        candidates = _rank(totals, stepped.log_probabilities)
        _force(candidates, [request.prefixes[sentence] for sentence in live.tolist()], position)
        staying, slots = [], []
        for n, sentence in enumerate(live.tolist()):
            may_end = position >= len(request.prefixes[sentence])
            at_limit = position + 1 == request.longest
            closing, going = _settle(candidates.pieces[n], beam, may_end=may_end, at_limit=at_limit)
            for slot in closing:
                row, total = n * beam + candidates.origins[n, slot], float(candidates.totals[n, slot])
                piece = candidates.pieces[n, slot]
                grown = history.select(row[np.newaxis]).append(piece[np.newaxis], stepped.attention[row][np.newaxis])
                if total > _DEAD / 2:
                    finished = bool(piece == END and may_end)
                    found[sentence].append(grown.close(0, total, request, finished=finished))
            led[sentence] |= 0 in closing
            closed[sentence] += len(closing)
            done = at_limit or _is_done(closed[sentence], request.search, led=led[sentence])
            if request.watch is not None:
                origins, pieces, sums = (part[n] for part in candidates)
                request.watch(BeamStep(sentence, origins, pieces, sums, closing, [] if done else going))
            if not done:
                staying.append(n)
                slots.append(going)
        if not staying:
            break
        live, kept = live[staying], np.array(staying)[:, np.newaxis]
        rows = (kept * beam + candidates.origins[kept, slots]).ravel()
        totals, last = candidates.totals[kept, slots], candidates.pieces[kept, slots].ravel()
        history = history.select(rows).append(last, stepped.attention[rows])
        state = stepped.state.select(rows)
    return found


def _rank(totals: Float[Array, "n b"], log_probabilities: Float[Array, "nb v"]) -> Candidates:
    """Return twice as many continuations as there are slots, so that finished ones can be replaced."""
    sentences, beam = totals.shape
    size = log_probabilities.shape[-1]
    sums = (totals[:, :, np.newaxis] + log_probabilities.reshape(sentences, beam, size)).reshape(sentences, -1)
    best = np.argpartition(-sums, 2 * beam - 1, axis=1)[:, : 2 * beam]
    values = np.take_along_axis(sums, best, axis=1)
    order = np.argsort(-values, axis=1, kind="stable")
    best = np.take_along_axis(best, order, axis=1)
    return Candidates(best // size, best % size, np.take_along_axis(values, order, axis=1))


def _force(candidates: Candidates, prefixes: Sequence[Sequence[int]], position: int) -> None:
    """Overwrite the candidates of those sentences whose prefix goes on, or has just ended."""
    for n, prefix in enumerate(prefixes):
        if position < len(prefix):
            candidates.pieces[n], candidates.origins[n] = prefix[position], 0
            candidates.totals[n] = _DEAD
            candidates.totals[n, 0] = 0
        elif prefix and position == len(prefix):
            early = candidates.pieces[n] == END
            early[0] = False
            candidates.pieces[n, early], candidates.totals[n, early] = PAD, _DEAD


def _settle(pieces: Int[Ids, " c"], beam: int, *, may_end: bool, at_limit: bool) -> tuple[list[int], list[int]]:
    """Say which of a sentence's candidates close, and which ones fill the slots of the next step."""
    ends = (pieces == END) & may_end
    closing = [slot for slot in range(beam) if ends[slot] or at_limit]
    spare = iter(slot for slot in range(beam, len(pieces)) if pieces[slot] != END)
    going = [next(spare, slot) if slot in closing else slot for slot in range(beam)]
    return closing, going


def _is_done(closed: int, search: Search, *, led: bool) -> bool:
    if search.length_penalty == 0:
        return led and closed >= search.best
    return closed >= search.beam
