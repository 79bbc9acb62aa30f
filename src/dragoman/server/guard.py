"""What every request must pass: its host, its size, its origin; and the headers of every answer.

A page on the web can send requests to a service on the reader's own machine. It cannot choose the Host header but by
owning a name that leads there (DNS rebinding), so only numbers and names that the operator knows are let in. The API is
open to all origins, as its clients expect; traces are for the service's own page.
"""

import ipaddress
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import lru_cache
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dragoman.server.answers import TOLD, to_response
from dragoman.server.limits import ClientGoneError, Limits, RefusedError
from dragoman.server.metrics import Metrics

OWN_PAGE = "/v1/trace"
"""Paths that begin so are for the service's own page alone."""

_SAFE = ((b"x-content-type-options", b"nosniff"),)
_OPEN = (
    *_SAFE,
    (b"access-control-allow-origin", b"*"),
    (b"access-control-allow-headers", b"Authorization, Content-Type"),
    (b"access-control-expose-headers", b"Authorization"),
    (b"access-control-allow-methods", b"GET, POST"),
    (b"access-control-allow-credentials", b"true"),
    (b"access-control-max-age", b"1728000"),
)
_CLOSE = (b"connection", b"close")
_REMEMBERED = 1_000  # hosts that have been judged
_LONGEST_HOST = 300  # no name is as long
_Headers = Mapping[bytes, bytes]


Handler = Callable[[Request], Awaitable[Response]]


class _Whole(Request):
    """A request whose body has been read."""

    def __init__(self, scope: Scope, receive: Receive, body: bytes) -> None:
        super().__init__(scope, _replay(body, receive))
        self._whole = body

    async def body(self) -> bytes:
        return self._whole


class Guard:
    """Lets requests in, and answers itself where it does not."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        limits: Limits,
        names: Collection[str],
        metrics: Metrics,
        paths: Collection[str],
        direct: Mapping[tuple[str, str], Handler],
    ) -> None:
        """Take the host names that are let in besides localhost, and the paths that are counted by name.

        What is direct is answered without the application's way to its routes, which costs as much as an answer does.
        """
        self._app, self._limits, self._metrics, self._direct = app, limits, metrics, direct
        self._names = {name.lower() for name in names} | {"localhost"}
        self._paths = dict.fromkeys(sorted(paths, key=len, reverse=True))
        self._knows = lru_cache(_REMEMBERED)(self._judge)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun, status = time.monotonic(), 0

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] += _headers(scope["path"])
            await send(message)

        try:
            await self._pass(scope, receive, answer)
        except Exception as error:
            if not status:
                await to_response(error)(scope, receive, answer)
            raise  # for the log
        finally:
            self._metrics.tell_request(self._name(scope["path"]), status or 500, time.monotonic() - begun)

    async def _pass(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            headers = dict(reversed(scope["headers"]))  # of two by the same name, the first
            self._check(scope["path"], headers)
            body = await self._read(headers, receive)
        except (RefusedError, ClientGoneError) as error:
            response: Response = refuse(error)
        else:
            handler = self._direct.get((scope["method"], scope["path"]))
            if handler is not None:
                response = await _handle(handler, _Whole(scope, receive, body))
            elif scope["method"] == "OPTIONS":
                response = Response(headers={"Allow": "GET, POST, OPTIONS"})
            else:
                await self._app(scope, _replay(body, receive), send)
                return
        await response(scope, receive, send)

    def _check(self, path: str, headers: _Headers) -> None:
        host = headers.get(b"host", b"")
        if len(host) > _LONGEST_HOST or not self._knows(host):
            raise RefusedError("Invalid host header", hint="name the host with --name when starting the service")
        if path.startswith(OWN_PAGE) and not _is_same_origin(headers):
            raise RefusedError("Traces are for the service's own page", status=403)

    def _judge(self, host: bytes) -> bool:
        try:
            name = urlsplit(f"//{host.decode('latin-1')}").hostname or ""
        except ValueError:
            return False
        return name in self._names or is_address(name)

    async def _read(self, headers: _Headers, receive: Receive) -> bytes:
        """Read the whole body; it may not be too long."""
        most = self._limits.body
        told = headers.get(b"content-length", b"0")
        if told.isdigit() and int(told[:20]) > most:
            raise _too_long(most)
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientGoneError
            body += message.get("body", b"")
            if len(body) > most:
                raise _too_long(most)
            if not message.get("more_body", False):
                return bytes(body)

    def _name(self, path: str) -> str:
        """Return the route that a path belongs to, or the same for all that have none."""
        if path in self._paths:
            return path
        return next((known for known in self._paths if path.startswith(f"{known}/")), "other")


async def _handle(handler: Handler, request: Request) -> Response:
    try:
        return await handler(request)
    except TOLD as error:
        return to_response(error)


def _headers(path: str) -> Sequence[tuple[bytes, bytes]]:
    """Return the headers that every answer has."""
    return _SAFE if path.startswith(OWN_PAGE) else _OPEN


def refuse(error: RefusedError | ClientGoneError) -> Response:
    """Return an answer after which the connection is closed."""
    response = to_response(error)
    response.raw_headers.append(_CLOSE)
    return response


def refuse_outside(error: RefusedError) -> Response:
    """Return an answer for a request that does not come as far as the guard, with the headers of all others."""
    response = refuse(error)
    response.raw_headers.extend(_OPEN)
    return response


def _too_long(most: int) -> RefusedError:
    return RefusedError(f"The request has more than {most} bytes", status=413)


def is_address(name: str) -> bool:
    """Tell whether a host is a number, which no name server can redirect."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _is_same_origin(headers: _Headers) -> bool:
    """Tell whether a request comes from the service's own page, or from no page at all."""
    if headers.get(b"sec-fetch-site", b"none") not in (b"none", b"same-origin"):
        return False
    origin = headers.get(b"origin")
    return origin is None or origin.lower().partition(b"://")[2] == headers.get(b"host", b"").lower()


def _replay(body: bytes, receive: Receive) -> Receive:
    """Give a body that has been read to whoever comes next."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
