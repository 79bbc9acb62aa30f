"""A real server in a thread of this process, for tests to talk to over real sockets."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx
import uvicorn

from dragoman.server.app import create_app
from dragoman.server.limits import Limits
from dragoman.server.metrics import Metrics
from dragoman.server.models import Models, Served
from dragoman.server.run import bind, make_server
from dragoman.server.service import Options, Service

TALKATIVE = 3
"""A seed whose tiny model has something to say to every sentence of these tests."""


class Running(NamedTuple):
    """A server that answers."""

    url: str
    port: int
    service: Service
    server: uvicorn.Server

    def client(self, **headers: str) -> httpx.Client:
        """Return a client whose connection the caller closes."""
        return httpx.Client(base_url=self.url, headers=headers, timeout=60, trust_env=False, verify=False)  # noqa: S501 -- plain HTTP


@contextmanager
def serving(
    paths: Sequence[Path], limits: Limits | None = None, options: Options | None = None, threads: int = 1
) -> Iterator[Running]:
    """Serve models until the block is left, and wait until the server has stopped."""
    metrics, limits = Metrics(), limits or Limits()
    models = Models([Served(path, threads=threads, told=metrics.tell_batch) for path in paths])
    app = create_app(models, metrics, limits, options)
    server = make_server(app, limits)
    with bind("127.0.0.1", 0) as sock:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]})
        thread.start()
        try:
            while not server.started:
                time.sleep(0.01)
                assert thread.is_alive()
            port = sock.getsockname()[1]
            yield Running(f"http://127.0.0.1:{port}", port, app.state.service, server)
        finally:
            server.should_exit = True
            thread.join()
