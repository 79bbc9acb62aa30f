"""The work for one request: in a thread, no longer than it may take, and not for a client that has gone away."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, ThreadPoolExecutor
from typing import Any, TypeVar

from starlette.requests import Request

from dragoman.engine.translator import Translator
from dragoman.server.gather import Gather, SharedEngine
from dragoman.server.limits import Limits, RefusedError
from dragoman.server.models import Served

Result = TypeVar("Result")


class ClientGoneError(Exception):
    """Nobody is there to hear the answer."""


class Work:
    """One request's share of the engines; whoever is at it can be stopped from another thread."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._lock = threading.Lock()
        self._engines: dict[Gather, SharedEngine] = {}
        self._given_up = False

    def translator(self, model: Served) -> Translator:
        """Return a translator that can be given up."""
        with self._lock:
            if self._given_up:
                raise CancelledError
            engine = self._engines.setdefault(model.gather, SharedEngine(model.gather, self.limits.sentences))
        return model.translator(engine)

    def give_up(self) -> None:
        """Stop at the next chance."""
        with self._lock:
            self._given_up = True
            for engine in self._engines.values():
                engine.give_up()


class Workers:
    """The threads that work for requests, and how many requests and characters they have taken on."""

    def __init__(self, limits: Limits, *, busy: Callable[[], int]) -> None:
        """Ask `busy` how many seconds a client had better wait when there is no room."""
        self.limits = limits
        self._busy = busy
        self._threads = ThreadPoolExecutor(limits.requests, thread_name_prefix="request")
        self.requests = self.characters = 0

    async def run(self, request: Request, characters: int, do: Callable[[Work], Result]) -> Result:
        """Do something in a thread, and stop it when it takes too long or the client has gone away.

        The room that it takes is free again when the thread is, not when the client has been answered.
        """
        self._admit(characters)
        work = Work(self.limits)
        doing = asyncio.wrap_future(self._threads.submit(do, work))
        doing.add_done_callback(lambda _: self._release(characters))
        leaving = asyncio.ensure_future(_leave(request))
        both: set[asyncio.Future[Any]] = {doing, leaving}
        try:
            await asyncio.wait(both, timeout=self.limits.seconds, return_when=asyncio.FIRST_COMPLETED)
            if doing.done():
                return doing.result()
            if leaving.done():
                raise ClientGoneError
            raise RefusedError(
                f"The request took more than {self.limits.seconds:g} seconds", status=503, retry_after=self._busy()
            )
        finally:
            leaving.cancel()
            if not doing.done():
                work.give_up()
                doing.add_done_callback(_forget)

    def close(self) -> None:
        """Let the threads finish."""
        self._threads.shutdown()

    def _admit(self, characters: int) -> None:
        if self.requests >= self.limits.requests or self.characters + characters > self.limits.waiting:
            raise RefusedError("The service is busy, try again later", status=503, retry_after=self._busy())
        self.requests += 1
        self.characters += characters

    def _release(self, characters: int) -> None:
        self.requests -= 1
        self.characters -= characters


async def _leave(request: Request) -> None:
    """Wait until the client goes away; the whole body has been read before."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _forget(done: "asyncio.Future[Result]") -> None:
    """Look at the outcome of what was given up, which nobody else will."""
    if not done.cancelled():
        done.exception()
