"""What one request, and all of them together, may cost; and how a request is refused."""

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from dragoman.errors import DragomanError

_REMEMBERED_CLIENTS = 10_000


class RefusedError(DragomanError):
    """A request that is not met, with the status that says why; `retry_after` is in seconds."""

    def __init__(self, message: str, *, status: int = 400, hint: str = "", retry_after: int | None = None) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.retry_after = retry_after


class ClientGoneError(Exception):
    """Nobody is there to hear the answer."""


@dataclass(frozen=True)
class Limits:
    """What may be asked for; every default is safe for a service that strangers can reach."""

    body: int = 1_000_000
    """Bytes of a request."""
    headers: int = 64_000
    """Bytes of its headers."""
    characters: int = 20_000
    """Characters of the texts of a request."""
    texts: int = 500
    """Texts of a request."""
    sentences: int = 1_000
    """Different sentences that a request needs at a time, a long one counted for every part that it is cut into."""
    alternatives: int = 10
    """Translations of one text besides the best."""
    seconds: float = 30.0
    """From when a request has been read to when it is answered."""
    upload_seconds: float = 20.0
    """For a request's headers, again for its body, and again for taking the answer."""
    traced: int = 100
    """Pieces of a sentence that is traced, and of its translation."""
    requests: int = 128
    """Requests that are at work or waiting at a time; long ones get a part of them."""
    waiting: int = 400_000
    """Characters of the requests that are at work or waiting at a time; long ones get a part of them."""
    connections: int = 256
    """Connections that are open at a time; for a moment twice as many, until it is seen who has nothing to ask."""
    kept: int = 32_000_000
    """Bytes that the translated files take which wait to be downloaded."""
    kept_seconds: float = 600.0
    """How long a translated file waits."""
    suggested: int = 100_000_000
    """Bytes of the file that suggestions are written to."""
    per_minute: int | None = None
    """Requests of one client in a minute; none are counted without it."""


class Rates:
    """Counts the requests of each client, by minutes; the clients seen longest ago are forgotten."""

    def __init__(self, per_minute: int | None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = per_minute
        self._clock = clock
        self._counts: OrderedDict[str, tuple[int, int]] = OrderedDict()

    def count(self, client: str) -> None:
        """Count a request, and refuse it if it is one too many."""
        if self._most is None:
            return
        now = self._clock()
        minute = int(now // 60)
        before, number = self._counts.pop(client, (minute, 0))
        number = number + 1 if before == minute else 1
        self._counts[client] = minute, number
        while len(self._counts) > _REMEMBERED_CLIENTS:
            self._counts.popitem(last=False)
        if number > self._most:
            wait = math.ceil(60 * (minute + 1) - now)
            raise RefusedError(f"Slowdown: {self._most} per 1 minute", status=429, retry_after=max(1, wait))
