"""Deadlines of many, all given the same time."""

import asyncio
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Who = TypeVar("Who", bound=Hashable)


class Deadlines(Generic[Who]):
    """Calls for whoever is late. As all have the same time, who began first is the first to be late.

    A timer of the event loop's own costs dozens of calls to set and to take back; this sets one for all.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._due: dict[Who, tuple[float, Callable[[], object]]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def start(self, who: Who, late: Callable[[], object]) -> None:
        """Give someone time from now on."""
        loop = asyncio.get_running_loop()
        self._due.pop(who, None)  # so that they stand at the end
        self._due[who] = loop.time() + self._seconds, late
        if self._timer is None:
            self._timer = loop.call_later(self._seconds, self._sweep)

    def stop(self, who: Who) -> None:
        """Wait for someone no longer."""
        self._due.pop(who, None)

    def oldest(self) -> Who | None:
        """Return who has been waited for longest."""
        return next(iter(self._due), None)

    def _sweep(self) -> None:
        self._timer = None
        loop = asyncio.get_running_loop()
        while self._due:
            who, (due, late) = next(iter(self._due.items()))
            if due > loop.time():
                self._timer = loop.call_at(due, self._sweep)
                return
            del self._due[who]
            late()
