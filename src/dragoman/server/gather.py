"""Sentences of many clients, gathered into batches for one engine.

An idle engine takes what there is at once. While it is at work, what comes in is gathered for some milliseconds, for a
batch of thirty sentences costs little more than one of ten. It takes a share of every request in turn: a long request
needs many turns, a short one is done after its first, and neither waits for the other. A client that has gone away
leaves no work behind, except for what is with the engine already.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future, InvalidStateError
from dataclasses import dataclass, field
from typing import NamedTuple

from dragoman.config import Search
from dragoman.engine.base import Engine, Hypothesis
from dragoman.engine.question import Manner
from dragoman.server.limits import RefusedError

_BATCH_PIECES = 1024
_SHARE_PIECES = 64  # of a batch, that one request gets before it is another one's turn
_PATIENCE = 0.005  # seconds; how long a free worker waits for more, while another one is at work
_ENOUGH_PIECES = 400  # for which it does not wait
_LONGEST_WAIT = 60
_FIRST_GUESS = 2_000.0  # pieces a second, until it has been measured

Found = list[list[Hypothesis]]


@dataclass(eq=False)
class _Ticket:
    """What one request wants translated, and what has been found for it so far."""

    sources: Sequence[Sequence[int]]
    prefixes: Sequence[Sequence[int]]
    future: Future[Found] = field(default_factory=Future)
    taken: int = 0
    found: dict[int, list[Hypothesis]] = field(default_factory=dict)

    def take(self) -> list[int]:
        """Take this turn's share: the numbers of some sources, at least one."""
        first, pieces = self.taken, 0
        while self.taken < len(self.sources) and pieces < _SHARE_PIECES:
            pieces += cost(self.sources[self.taken])
            self.taken += 1
        return list(range(first, self.taken))

    def answer(self, number: int, hypotheses: list[Hypothesis]) -> None:
        """Keep what was found for a source; the last one completes the request."""
        self.found[number] = hypotheses
        if len(self.found) == len(self.sources):
            self._settle(lambda: self.future.set_result([self.found[n] for n in range(len(self.sources))]))

    def fail(self, error: Exception) -> None:
        """Tell whoever waits that nothing will come."""
        self._settle(lambda: self.future.set_exception(error))

    def _settle(self, settle: Callable[[], None]) -> None:
        try:
            settle()
        except InvalidStateError:  # the client has gone away meanwhile, or another source has failed
            return

    def left(self) -> int:
        """Count the pieces that no batch has taken yet."""
        return sum(map(cost, self.sources[self.taken :]))


class _Place(NamedTuple):
    """One source of a batch: whose, and its number there."""

    ticket: _Ticket
    number: int


class Gather:
    """Shares one engine among all requests."""

    def __init__(self, engine: Engine, *, workers: int, told: Callable[[int], None] | None = None) -> None:
        """Start the threads that call the engine; `told` hears the size of every batch."""
        self._engine = engine
        self._told = told or (lambda _size: None)
        self._lock = threading.Lock()
        self._come, self._enough = threading.Condition(self._lock), threading.Condition(self._lock)
        self._is_gathering = False  # whether a free worker waits for more, which is told only when there is enough
        self._waiting: dict[Manner, deque[_Ticket]] = {}
        self._pieces = 0
        self._speed = _FIRST_GUESS
        self._closed = False
        self._free = workers
        self._threads = [threading.Thread(target=self._work, name="gather", daemon=True) for _ in range(workers)]
        for thread in self._threads:
            thread.start()

    @property
    def max_source(self) -> int:
        """The most source pieces that the engine takes."""
        return self._engine.max_source

    @property
    def max_target(self) -> int:
        """The most pieces of the engine's translations."""
        return self._engine.max_target

    @property
    def waiting(self) -> int:
        """How many pieces wait."""
        return self._pieces

    def seconds_left(self) -> int:
        """Guess how long it takes until what waits now is done."""
        return max(1, min(_LONGEST_WAIT, round(self._pieces / self._speed)))

    def submit(
        self, sources: Sequence[Sequence[int]], prefixes: Sequence[Sequence[int]] | None, manner: Manner
    ) -> Future[Found]:
        """Have sources translated; cancelling the future gives them up."""
        ticket = _Ticket(sources, prefixes if prefixes is not None else [()] * len(sources))
        if not sources:
            ticket.future.set_result([])
            return ticket.future
        with self._lock:
            if self._closed:
                raise RefusedError("The service is stopping", status=503, retry_after=1)
            self._waiting.setdefault(manner, deque()).append(ticket)
            self._pieces += ticket.left()
            self._tell()
        return ticket.future

    def close(self) -> None:
        """Finish what was submitted, and take nothing more."""
        with self._lock:
            self._closed = True
            self._come.notify_all()
            self._enough.notify_all()
        for thread in self._threads:
            thread.join()

    def _tell(self) -> None:
        """Wake whoever should know of what waits; a worker that is woken for nothing keeps others from working."""
        if not self._is_gathering:
            self._come.notify()
        elif self._is_enough():
            self._enough.notify()

    def _is_enough(self) -> bool:
        return self._pieces >= _ENOUGH_PIECES or self._free == len(self._threads) or self._closed

    def _work(self) -> None:
        while batch := self._next():
            try:
                self._translate(*batch)
            finally:
                with self._lock:
                    self._free += 1
                    if self._waiting:
                        self._tell()

    def _next(self) -> tuple[Manner, list[_Place]] | None:
        """Wait for a batch; there is none when everything is done and nothing more will come."""
        with self._lock:
            while True:
                self._come.wait_for(lambda: (self._waiting and not self._is_gathering) or self._closed)
                self._is_gathering = True
                self._enough.wait_for(self._is_enough, timeout=_PATIENCE)
                self._is_gathering = False
                if self._waiting:
                    manner, batch = self._take()
                    if self._waiting:  # there is work for another one
                        self._come.notify()
                    if batch:
                        self._free -= 1
                        return manner, batch
                elif self._closed:
                    return None

    def _take(self) -> tuple[Manner, list[_Place]]:
        """Take a batch: the manner whose turn it is, and a share of each of its requests in turn.

        There are to be as many batches as there are free workers.
        """
        most = min(_BATCH_PIECES, -(-self._pieces // self._free))
        manner = next(iter(self._waiting))
        tickets = self._waiting.pop(manner)
        batch: list[_Place] = []
        pieces = 0
        while tickets and pieces < most:
            ticket = tickets.popleft()
            if ticket.future.cancelled():
                self._pieces -= ticket.left()
                continue
            numbers = ticket.take()
            batch.extend(_Place(ticket, number) for number in numbers)
            pieces += sum(cost(ticket.sources[number]) for number in numbers)
            if ticket.taken < len(ticket.sources):
                tickets.append(ticket)
        self._pieces -= pieces
        if tickets:
            self._waiting[manner] = tickets  # at the end: the next batch is another manner's
        return manner, batch

    def _translate(self, manner: Manner, batch: list[_Place]) -> None:
        """Translate a batch; if that fails, each request of it by itself, so that none fails for another's sake."""
        self._told(len(batch))
        begun = time.monotonic()
        try:
            found = self._ask(manner, batch)
        except Exception as error:  # noqa: BLE001 -- it is raised again where the request is waited for
            owners = dict.fromkeys(place.ticket for place in batch)
            for ticket in owners:
                if len(owners) == 1:
                    ticket.fail(error)
                else:
                    self._translate(manner, [place for place in batch if place.ticket is ticket])
            return
        pieces = sum(cost(place.ticket.sources[place.number]) for place in batch)
        self._speed += 0.1 * (pieces / max(time.monotonic() - begun, 1e-6) - self._speed)
        for place, hypotheses in zip(batch, found, strict=True):
            place.ticket.answer(place.number, hypotheses)

    def _ask(self, manner: Manner, batch: list[_Place]) -> Found:
        prefixes = [place.ticket.prefixes[place.number] for place in batch]
        return self._engine.translate(
            [place.ticket.sources[place.number] for place in batch],
            manner.search,
            prefixes=prefixes if any(prefixes) else None,
            attention=manner.alignments,
        )


def cost(source: Sequence[int]) -> int:
    """What translating a source costs: its pieces and the end mark."""
    return len(source) + 1


class SharedEngine:
    """The engine as one request sees it: it can be given up while it is waited for."""

    def __init__(self, gather: Gather, most: int) -> None:
        """Take no more than `most` sources at a time."""
        self._gather = gather
        self._most = most
        self._lock = threading.Lock()
        self._given_up = False
        self._awaited: Future[Found] | None = None

    @property
    def max_source(self) -> int:
        """The most source pieces it takes."""
        return self._gather.max_source

    @property
    def max_target(self) -> int:
        """The most pieces of a translation."""
        return self._gather.max_target

    def translate(
        self,
        sources: Sequence[Sequence[int]],
        search: Search,
        *,
        prefixes: Sequence[Sequence[int]] | None = None,
        attention: bool = False,
    ) -> Found:
        """Wait until the sources have been translated among those of others."""
        return self.submit(sources, prefixes, Manner(search, attention)).result()

    def submit(
        self, sources: Sequence[Sequence[int]], prefixes: Sequence[Sequence[int]] | None, manner: Manner
    ) -> Future[Found]:
        """Have the sources translated among those of others."""
        if len(sources) > self._most:
            raise RefusedError(f"Invalid request: there are more than {self._most} different sentences")
        with self._lock:
            if self._given_up:
                raise CancelledError
            self._awaited = self._gather.submit(sources, prefixes, manner)
            return self._awaited

    def give_up(self) -> None:
        """Stop waiting, from another thread; whatever is asked for later is given up too."""
        with self._lock:
            self._given_up = True
            if self._awaited is not None:
                self._awaited.cancel()
