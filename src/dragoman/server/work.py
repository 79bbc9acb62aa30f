"""The work for one request: no longer than it may take, and not for a client that has gone away.

A short request is followed where it came in, on the event loop, which does other things while the engine is at it. A
long one would hold everybody up while it is cut into pieces and put together again, so it gets a thread; and all long
ones together get a part of the room that there is, so that there is some for short ones. Looking inside a model keeps a
core busy, so few look at a time.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from typing import Any, TypeVar

from starlette.requests import Request

from dragoman.engine.question import Question, Steps, finish
from dragoman.engine.translator import Translator
from dragoman.server.deadlines import Deadlines
from dragoman.server.gather import Found, Gather, SharedEngine
from dragoman.server.limits import ClientGoneError, Limits, RefusedError
from dragoman.server.models import Served

Result = TypeVar("Result")

LEAVING = "dragoman.leaving"
"""In a request's state, if its server tells: a future that is done when the client has gone away."""

_SHORT = 1_000  # characters; what they cost beside the engine is a matter of a millisecond
_EACH = 20  # characters that cost as much as it does to have one more text
_FOR_LONG = 0.75  # of the room, that long requests may fill
_LOOKERS = 2  # at a time


class Work:
    """One request's share of the engines; whoever is at it can be stopped from another thread."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._lock = threading.Lock()
        self._engines: dict[Gather, SharedEngine] = {}
        self.given_up: Exception | None = None  # and why
        self.attended: asyncio.Task[Any] | None = None  # by whom
        self.doing: Future[Any] | None = None  # what a thread does or will do; given up before that, it is never done

    def translator(self, model: Served) -> Translator:
        """Return a translator that can be given up."""
        with self._lock:
            self.check()
            engine = self._engines.setdefault(model.gather, SharedEngine(model.gather, self.limits.sentences))
        return model.translator(engine)

    def check(self) -> None:
        """Stop here if it was given up."""
        if self.given_up is not None:
            raise CancelledError

    def stop(self, why: Exception) -> None:
        """Give up, and let whoever waits for it know."""
        if self.attended is not None:
            task, self.attended = self.attended, None
            self.give_up(why)
            task.cancel()

    def leave(self, _gone: object) -> None:
        """Stop, because the client has gone away."""
        self.stop(ClientGoneError())

    def give_up(self, why: Exception) -> None:
        """Do no more than can be helped."""
        if self.doing is not None:
            self.doing.cancel()
        with self._lock:
            self.given_up = why
            for engine in self._engines.values():
                engine.give_up()


class Bell:
    """Tells the event loop what engines have found, all that has come by then at once.

    Whoever wakes the loop has to wait until it lets go of Python again. If every answer did, an engine that has thirty
    would stand still for as many requests to be answered.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rung: list[asyncio.Future[None]] = []

    async def hear(self, future: Future[Result]) -> Result:
        """Wait for what another thread finds; whoever does not want to wait any longer cancels it."""
        loop = asyncio.get_running_loop()
        heard = loop.create_future()
        future.add_done_callback(lambda _: self._ring(loop, heard))
        try:
            await heard
        except asyncio.CancelledError:
            future.cancel()
            raise
        if future.cancelled():
            raise asyncio.CancelledError
        return future.result()

    def _ring(self, loop: asyncio.AbstractEventLoop, heard: asyncio.Future[None]) -> None:
        with self._lock:
            self._rung.append(heard)
            is_first = len(self._rung) == 1
        if is_first:
            loop.call_soon_threadsafe(self._tell)

    def _tell(self) -> None:
        with self._lock:
            rung, self._rung = self._rung, []
        for heard in rung:
            if not heard.done():
                heard.set_result(None)


class Workers:
    """Who works for requests, and how many requests and characters have been taken on."""

    def __init__(self, limits: Limits, *, busy: Callable[[], int]) -> None:
        """Ask `busy` how many seconds a client had better wait when there is no room."""
        self.limits = limits
        self._busy = busy
        self._threads = ThreadPoolExecutor(limits.requests, thread_name_prefix="request")
        self._lookers = ThreadPoolExecutor(_LOOKERS, thread_name_prefix="look")
        self._bell = Bell()
        self._deadlines: Deadlines[Work] = Deadlines(limits.seconds)
        self.requests = self.characters = 0

    async def follow(
        self, request: Request, characters: int, steps: Callable[[Work], Steps[Result]], *, effort: int
    ) -> Result:
        """Follow some steps, a short request's right here and a long one's in a thread."""
        if effort > _SHORT:
            return await self.run(request, characters, lambda work: finish(steps(work)))
        self._admit(characters, is_long=False)
        work = Work(self.limits)
        try:
            return await self._attend(request, work, self._follow(steps(work)))
        finally:
            self._release(characters)

    async def run(self, request: Request, characters: int, do: Callable[[Work], Result]) -> Result:
        """Do something in a thread."""
        self._admit(characters, is_long=characters > _SHORT)
        return await self._do(self._threads, request, characters, do)

    async def look(self, request: Request, characters: int, do: Callable[[Work], Result]) -> Result:
        """Look inside a model, when it is this request's turn."""
        self._admit(characters, is_long=True)
        return await self._do(self._lookers, request, characters, do)

    async def _do(
        self, threads: ThreadPoolExecutor, request: Request, characters: int, do: Callable[[Work], Result]
    ) -> Result:
        """Do something in one of some threads.

        The room that it takes is free again when the thread is, not when the client has been answered.
        """
        work = Work(self.limits)
        work.doing = doing = threads.submit(do, work)
        loop = asyncio.get_running_loop()
        doing.add_done_callback(lambda _: loop.call_soon_threadsafe(self._release, characters))
        return await self._attend(request, work, asyncio.wrap_future(doing))

    async def _follow(self, steps: Steps[Result]) -> Result:
        """Follow steps, and let others go on while an engine is asked."""
        try:
            question = next(steps)
            while True:
                found = await self._bell.hear(_submit(question))
                question = steps.send(question.match(found))
        except StopIteration as end:
            result: Result = end.value
            return result

    async def _attend(self, request: Request, work: Work, doing: Awaitable[Result]) -> Result:
        """Wait for work, and give it up when it takes too long or the client has gone away."""
        leaving: asyncio.Future[None] | None = request.scope.get("state", {}).get(LEAVING)
        work.attended = asyncio.current_task()
        if leaving is not None:
            leaving.add_done_callback(work.leave)
        self._deadlines.start(work, lambda: work.stop(self._too_late()))
        try:
            return await doing
        except (asyncio.CancelledError, CancelledError):
            if work.given_up is None:  # by a service that is stopped at once
                work.give_up(ClientGoneError())
                raise
            raise work.given_up from None
        finally:
            work.attended = None
            self._deadlines.stop(work)
            if leaving is not None:
                leaving.remove_done_callback(work.leave)

    def _too_late(self) -> RefusedError:
        return RefusedError(
            f"The request took more than {self.limits.seconds:g} seconds", status=503, retry_after=self._busy()
        )

    def close(self) -> None:
        """Let the threads finish."""
        self._threads.shutdown()
        self._lookers.shutdown()

    def _admit(self, characters: int, *, is_long: bool) -> None:
        """Take a request on if there is room; for one alone there always is."""
        share = _FOR_LONG if is_long else 1.0
        requests, waiting = share * self.limits.requests, share * self.limits.waiting
        if self.requests and (self.requests >= requests or self.characters + characters > waiting):
            raise RefusedError("The service is busy, try again later", status=503, retry_after=self._busy())
        self.requests += 1
        self.characters += characters

    def _release(self, characters: int) -> None:
        self.requests -= 1
        self.characters -= characters


def _submit(question: Question) -> Future[Found]:
    assert isinstance(question.engine, SharedEngine), "a request has a share of an engine, not an engine"
    return question.engine.submit(question.sources, question.prefixes, question.manner)


def effort(texts: Sequence[str], times: int) -> int:
    """Guess what texts cost beside the engine, in characters; all of it as many times."""
    return (sum(map(len, texts)) + _EACH * len(texts)) * times
