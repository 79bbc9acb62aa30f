"""A service in a process of its own, and a client of it that costs as little as it can."""

import asyncio
import json
import statistics
import subprocess
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import NamedTuple

from benchmarks.figure import dragoman
from dragoman.checkpoint import ModelDirectory

_JSON = "Content-Type: application/json"


class Answer(NamedTuple):
    """What came back: the status, the body's bytes on the wire, and how long it took."""

    status: int
    body: bytes
    seconds: float


class Server(NamedTuple):
    """A service in a process of its own."""

    process: int
    port: int
    pair: tuple[str, str]

    def megabytes(self) -> float:
        """Its memory now."""
        for line in Path(f"/proc/{self.process}/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        raise SystemExit("the service is gone")

    def words(self, **words: object) -> bytes:
        """The body of a request."""
        return json.dumps({"source": self.pair[0], "target": self.pair[1], **words}).encode()


class Connection:
    """One client's connection, kept open from request to request."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def post(self, path: str, body: bytes, *headers: str) -> Answer:
        """Ask, and wait for the answer; the body is JSON unless a header says otherwise."""
        begun = time.perf_counter()
        kind = () if any(header.startswith("Content-Type:") for header in headers) else (_JSON,)
        start = (f"POST {path} HTTP/1.1", "Host: localhost", *kind, *headers)
        head = "\r\n".join([*start, f"Content-Length: {len(body)}", "", ""])
        self._writer.write(head.encode() + body)
        status, *lines = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        length = next(int(line.split(":")[1]) for line in lines if line.lower().startswith("content-length:"))
        received = await self._reader.readexactly(length)
        return Answer(int(status.split()[1]), received, time.perf_counter() - begun)


@asynccontextmanager
async def connect(server: Server) -> AsyncIterator[Connection]:
    """Open a connection, and close it."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    try:
        yield Connection(reader, writer)
    finally:
        writer.close()


@contextmanager
def serving(model: Path) -> Iterator[Server]:
    """Start the service on a free port, and stop it."""
    recipe = ModelDirectory(model).recipe
    words = dragoman("serve", "-m", model, "--port", "0")
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        first = process.stdout.readline().strip()
        try:
            yield Server(process.pid, int(first.rpartition(":")[2]), (recipe.source_language, recipe.target_language))
        finally:
            process.terminate()


def growth(memory: Sequence[float]) -> float:
    """By how much memory has grown from the second third of the time to the last, a moment's needs left out."""
    third = len(memory) // 3
    return statistics.median(memory[-third:]) - statistics.median(memory[third : 2 * third])


def told(statuses: Counter[int]) -> str:
    """How often each status came."""
    return ", ".join(f"{number:,} × {status}" for status, number in sorted(statuses.items()))
