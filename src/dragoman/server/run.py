"""Run the service on a socket until it is told to stop."""

import asyncio
import gc
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from dragoman.errors import DragomanError
from dragoman.server.connection import make_protocol
from dragoman.server.limits import Limits

_SWITCH_SECONDS = 0.001
_NEW_OBJECTS = 20_000  # after which Python looks for rings of objects that nobody holds; requests leave none


class ServeError(DragomanError):
    """A service that cannot start."""


def bind(host: str, port: int) -> socket.socket:
    """Take a port; 0 is any that is free.

    asyncio has answers sent without delay only on sockets that say that they are TCP. On others the second part of an
    answer waits until the client has acknowledged the first, which may take it 40 ms.
    """
    sock = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        sock.listen(1024)
    except OSError as error:
        sock.close()
        raise ServeError(
            f"cannot listen on {host}, port {port} ({error.strerror or error})",
            hint="stop what listens there, or choose another with --port; --host must be an address of this machine",
        ) from error
    return sock


class _Server(uvicorn.Server):
    """uvicorn, but a signal to stop is heeded and not passed on: who stops in order has not failed."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at the first signal, and at once at another Ctrl-C."""
        if threading.current_thread() is not threading.main_thread():  # signals are the main thread's
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def make_server(app: ASGIApp, limits: Limits) -> uvicorn.Server:
    """Make a server; once it is told to stop, it has as long as a request may take to finish those it has."""
    config = uvicorn.Config(
        app,
        http=make_protocol(limits),
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=round(limits.seconds) + 1,
    )
    return _Server(config)


def run(app: ASGIApp, sock: socket.socket, limits: Limits, started: Callable[[], None]) -> None:
    """Serve until a signal comes, then finish what was accepted.

    A thread that comes back from the engine waits until another lets go of Python, five milliseconds unless it is told
    otherwise, and the engine has nothing to do meanwhile. What has been loaded stays, so Python need not go through it
    again and again to see what can be thrown away.
    """
    sys.setswitchinterval(_SWITCH_SECONDS)
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS)
    server = make_server(app, limits)

    async def serve() -> None:
        serving = asyncio.ensure_future(server.serve(sockets=[sock]))
        while not server.started and not serving.done():
            await asyncio.sleep(0.01)
        if server.started:
            started()
        await serving

    asyncio.run(serve())
