"""One client's connection: HTTP with limits to what a client may hold, fill or leave lying."""

import asyncio
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.flow_control import CLOSE_HEADER
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from dragoman.server.deadlines import Deadlines
from dragoman.server.guard import refuse_outside
from dragoman.server.limits import Limits, RefusedError
from dragoman.server.work import LEAVING

_REQUESTS_AHEAD = 100  # that may come before the first is answered
_BYTES_AHEAD = 1_000_000  # of them
_SOON = 5  # seconds
_MOMENT = 0.1  # seconds that a new connection has to send something when there are too many
_TURNS = 3  # of the event loop: it begins to read from a connection, sees that something has come, and takes it


class _TooManyError(Exception):
    """Ends the parsing of what has come."""


class _Cycle(RequestResponseCycle):
    """A request and its answer, whose head and body go out together: each sending costs a tenth of all the work."""

    _start: Any = None

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start" and not self.response_started:
            self._start = message
            return
        start, self._start = self._start, None
        if start is not None:
            if self._may_be_whole(start, message):
                self._send_whole(start, message["body"])
                return
            await super().send(start)
        await super().send(message)

    def _may_be_whole(self, start: Any, message: Any) -> bool:
        """Tell whether it is the service's own kind of answer, with nothing about it that is left to uvicorn."""
        is_plain = self.scope["method"] != "HEAD" and not message.get("more_body", False)
        is_free = not (self.flow.write_paused or self.disconnected)
        return is_plain and is_free and start["headers"][0] == (b"content-length", b"%d" % len(message["body"]))

    def _send_whole(self, start: Any, body: bytes) -> None:
        headers = [*self.default_headers, *start["headers"]]
        self.keep_alive = self.keep_alive and CLOSE_HEADER not in headers
        if not self.keep_alive and CLOSE_HEADER not in headers:
            headers.append(CLOSE_HEADER)
        lines = [b"%b: %b\r\n" % header for header in headers]
        head = b"".join([STATUS_LINE[start["status"]], *lines, b"\r\n"])
        if head.count(b"\n") != len(lines) + 2:
            raise ValueError("a header has a line's end in it")
        self.response_started, self.waiting_for_100_continue = True, False
        self.transport.write(head + body)
        self.response_complete = True
        self.message_event.set()
        if not self.keep_alive:
            self.transport.close()
        self.on_response()


class _Connection(HttpToolsProtocol):
    """HTTP with limits to the number of connections, to what is sent ahead, and to the time that a client may take.

    uvicorn waits for a request for ever, and for ever for a client that does not take its answer; it takes as many
    headers as there are, and as many requests before it has answered the first. So a client could hold connections by
    sending letter by letter, or fill the memory. What uvicorn says itself, it says in plain text; clients of the
    service expect JSON.
    """

    limits: Limits
    arriving: "Deadlines[_Connection]"  # for requests that are not there yet
    leaving: "Deadlines[_Connection]"  # for answers that are not taken
    _active: RequestResponseCycle | None = None  # of the requests that have come, the one to be answered now
    _unread = 0  # bytes that have come since something was last understood

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._gone = self.loop.create_future()
        if len(self.connections) > 2 * self.limits.connections:
            self._refuse(RefusedError("There are too many connections, try again later", status=503, retry_after=_SOON))
            return
        self._await_request()
        if len(self.connections) > self.limits.connections:
            self.loop.call_later(_MOMENT, self._make_room, _TURNS)

    def _make_room(self, turns: int) -> None:
        """End the connection from which a request has been awaited longest, or else one that takes no answer.

        Before that, the event loop must have come round to reading what new ones send. Where all have sent something
        nothing is ended: requests at work have a limit of their own.
        """
        idle = self.arriving.oldest() or self.leaving.oldest()
        if idle is None or len(self.connections) <= self.limits.connections:
            return
        if turns:
            self.loop.call_soon(self._make_room, turns - 1)
            return
        self.arriving.stop(idle)
        self.leaving.stop(idle)
        idle.transport.abort()

    def data_received(self, data: bytes) -> None:
        self._unread += len(data)
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._unread > self.limits.headers:
            self._refuse(RefusedError("The headers of the request are too long."))
        elif self.pipeline:
            if sum(_size(cycle) for cycle, _ in self.pipeline) > _BYTES_AHEAD:
                self._hang_up()
            else:
                self.flow.resume_reading()  # which uvicorn has paused; a client would not be seen going away

    def send_400_response(self, msg: str) -> None:
        if not self.transport.is_closing():
            self._refuse(RefusedError(msg))

    def on_headers_complete(self) -> None:
        self.scope["state"][LEAVING] = self._gone
        super().on_headers_complete()
        self.cycle.__class__ = _Cycle  # there is no other way to say of which kind they are to be
        if not self.pipeline:
            self._active = self.cycle
        elif len(self.pipeline) > _REQUESTS_AHEAD:
            self._hang_up()
            raise _TooManyError
        self._await_request()  # again: a body may take as long as the headers

    def on_body(self, body: bytes) -> None:
        self._unread = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._unread = 0
        self.arriving.stop(self)
        self.flow.resume_reading()  # as above
        super().on_message_complete()

    def on_response_complete(self) -> None:
        if self.transport.is_closing():
            self.leaving.start(self, self.transport.abort)
        elif self.pipeline:
            self._active = self.pipeline[-1][0]
            super().on_response_complete()
        else:  # as uvicorn does, but for the timer that it sets; there is one for all
            self.server_state.total_requests += 1
            self.flow.resume_reading()
            self._await_request()

    def pause_writing(self) -> None:
        super().pause_writing()
        self.leaving.start(self, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if not self.transport.is_closing():
            self.leaving.stop(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.arriving.stop(self)
        self.leaving.stop(self)
        self._gone.set_result(None)
        if self._active is not None and not self._active.response_complete:  # uvicorn tells the last that has come
            self._active.disconnected = True
            self._active.message_event.set()
        super().connection_lost(exc)

    def _await_request(self) -> None:
        self._unread = 0
        self.arriving.start(self, self._end_late)

    def _end_late(self) -> None:
        if self._is_halfway():
            late = f"The request took more than {self.limits.upload_seconds:g} seconds to arrive"
            self._refuse(RefusedError(late, status=408))
        else:
            self.transport.abort()

    def _refuse(self, error: RefusedError) -> None:
        """Say what is wrong, unless it would be taken for the answer to another request; and hang up."""
        if self._is_halfway() or self._active is None or self._active.response_complete:
            answer = refuse_outside(error)
            headers = [b"%b: %b" % header for header in (*self.server_state.default_headers, *answer.raw_headers)]
            start = f"HTTP/1.1 {error.status} {HTTPStatus(error.status).phrase}".encode()
            self.transport.write(b"\r\n".join([start, *headers, b"", bytes(answer.body)]))
        self._hang_up()

    def _hang_up(self) -> None:
        self.transport.close()
        self.leaving.start(self, self.transport.abort)  # a connection whose last words nobody takes is never closed

    def _is_halfway(self) -> bool:
        """Tell whether the request to be answered now has come, but not all of its body."""
        active = self._active
        return active is not None and active is self.cycle and active.more_body and not active.response_started


def _size(cycle: RequestResponseCycle) -> int:
    return len(cycle.body) + sum(len(name) + len(value) for name, value in cycle.scope["headers"])


def make_protocol(own: Limits) -> type[asyncio.Protocol]:
    """Return connections with one's own limits; uvicorn makes an object of it for every client."""

    class Limited(_Connection):
        limits = own
        arriving = Deadlines(own.upload_seconds)
        leaving = Deadlines(own.upload_seconds)

    return Limited
