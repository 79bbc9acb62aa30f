"""What serving over HTTP costs, how it bears many clients at once, and what hostile ones can do to it.

`dragoman serve` runs in a process of its own and is asked over sockets from this one, on the same cores, so that the
clients' work counts against it. MODEL names the model; without it one is trained on the built-in corpus for MINUTES (2
unless given). SECONDS is how long many clients ask (60) for translations of SENTENCES different sentences (4,000),
HOSTILE how long hostile ones do (600).
"""

import asyncio
import itertools
import json
import os
import statistics
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import NamedTuple

from benchmarks.figure import Figure, dragoman
from benchmarks.figure import run as run_command
from benchmarks.page import measure_drawing
from dragoman.checkpoint import ModelDirectory
from dragoman.data.grammar import generate
from dragoman.engine.load import load_translator

_CLIENTS = 64
_SHORT = "The dog sees the cat."
_TWENTY_WORDS = "The tired animal did not cross the street because it was too wide and the old man saw the river again."
_SETTLED = 10.0  # seconds after which memory must stay as it is
_GROWTH = 10.0  # megabytes that are not called growth
_TURNS = 200


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
        """Ask, and wait for the answer."""
        begun = time.perf_counter()
        start = (f"POST {path} HTTP/1.1", "Host: localhost", "Content-Type: application/json", *headers)
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


def run() -> Iterator[Figure]:
    """Measure one after the other."""
    with tempfile.TemporaryDirectory() as room:
        model = Path(os.environ["MODEL"]) if "MODEL" in os.environ else _train(Path(room))
        count = int(os.environ.get("SENTENCES", "4000"))
        sentences = list(dict.fromkeys(example.source for example in generate(2 * count, 7)))[:count]
        with serving(model) as server:
            yield asyncio.run(_alone(server, model))
            for each in (1, 20):
                yield from asyncio.run(_together(server, model, sentences, each))
            yield from asyncio.run(_trace(server))
            yield from measure_drawing(server.port, [f"{_TWENTY_WORDS[:-1]} {number}." for number in range(5)])
            yield from asyncio.run(_hostile(server))


def _train(room: Path) -> Path:
    run_command(dragoman("generate", "--pairs", "30000", "--seed", "1", "--out", room / "pairs.tsv"))
    words = ("--from", "en", "--to", "es", "--minutes", os.environ.get("MINUTES", "2"), "--out", room / "model")
    run_command(dragoman("train", room / "pairs.tsv", *words))
    return room / "model"


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


async def _alone(server: Server, model: Path) -> Figure:
    """One short sentence after another, over HTTP and by the engine in this process, in turn."""
    translator = load_translator(model)
    over_http, by_engine = [], []
    async with connect(server) as client:
        for number in range(_TURNS):
            text = f"{_SHORT[:-1]} {number}."  # never the same, so that nothing is remembered
            over_http.append((await client.post("/translate", server.words(q=text))).seconds)
            begun = time.perf_counter()
            translator.translate([text])
            by_engine.append(time.perf_counter() - begun)
    served, own = (1e3 * statistics.median(times[_TURNS // 10 :]) for times in (over_http, by_engine))
    return Figure(
        f"one short sentence: {served:.2f} ms over HTTP, {own:.2f} ms by the engine, {served - own:+.2f} ms (3 wanted)",
        served - own <= 3,
    )


async def _together(server: Server, model: Path, sentences: Sequence[str], each: int) -> Iterator[Figure]:
    """Many clients at once, against the engine's own speed before and after."""
    seconds, wanted = float(os.environ.get("SECONDS", "60")), {1: 0.70, 20: 0.95}[each]
    before = _engine_speed(model, sentences)
    groups = itertools.cycle([list(sentences[at : at + each]) for at in range(0, len(sentences), each)])
    end, statuses, memory = time.monotonic() + seconds, Counter[int](), list[tuple[float, float]]()

    async def ask() -> None:
        async with connect(server) as client:
            while time.monotonic() < end:
                answer = await client.post("/translate", server.words(q=next(groups)))
                statuses[answer.status] += 1

    async def watch() -> None:
        while time.monotonic() < end:
            memory.append((time.monotonic() - end + seconds, server.megabytes()))
            await asyncio.sleep(0.5)

    begun = time.monotonic()
    await asyncio.gather(watch(), *(ask() for _ in range(_CLIENTS)))
    speed = each * statuses[200] / (time.monotonic() - begun)
    own = (before + _engine_speed(model, sentences)) / 2
    settled = [megabytes for at, megabytes in memory if at >= min(_SETTLED, seconds / 2)]
    growth = max(settled) - settled[0]
    told = [
        Figure(
            f"{_CLIENTS} clients, requests of {each}: {speed:.0f} sentences/s, {speed / own:.2f} × the engine's own "
            f"{own:.0f} ({wanted:.2f} wanted)",
            speed >= wanted * own,
        ),
        Figure(
            f"{_CLIENTS} clients, requests of {each}: {_told(statuses)}; memory {settled[0]:.0f} MB, {growth:+.0f} MB "
            f"after the first {min(_SETTLED, seconds / 2):.0f} s ({_GROWTH:+.0f} allowed)",
            set(statuses) == {200} and growth <= _GROWTH,
        ),
    ]
    return iter(told)


def _engine_speed(model: Path, sentences: Sequence[str]) -> float:
    translator = load_translator(model)
    translator.translate(sentences[:100])
    begun = time.perf_counter()
    translator.translate(sentences[100:])
    return (len(sentences) - 100) / (time.perf_counter() - begun)


def _told(statuses: Counter[int]) -> str:
    return ", ".join(f"{number:,} × {status}" for status, number in sorted(statuses.items()))


async def _trace(server: Server) -> Iterator[Figure]:
    """Look inside a long sentence, and at one head."""
    async with connect(server) as client:
        ask = server.words(q=_TWENTY_WORDS)
        overviews = [await client.post("/v1/trace", ask, "Accept-Encoding: gzip") for _ in range(_TURNS // 10)]
        head = await client.post("/v1/trace/head", server.words(q=_TWENTY_WORDS, kind="cross", layer=1, head=1))
    seconds, size = statistics.median(one.seconds for one in overviews), len(overviews[-1].body)
    return iter(
        [
            Figure(
                f"trace of a sentence of {len(_TWENTY_WORDS.split())} words: {1e3 * seconds:.0f} ms (150 wanted), "
                f"{size / 1e3:.0f} kB compressed (300 wanted); one head: {len(head.body) / 1e3:.0f} kB",
                overviews[-1].status == head.status == 200 and seconds <= 0.15 and size <= 300_000,
            )
        ]
    )


async def _hostile(server: Server) -> Iterator[Figure]:
    """Clients that mean no good, of every kind at once, and some honest ones."""
    seconds = float(os.environ.get("HOSTILE", "600"))
    end, statuses, honest = time.monotonic() + seconds, Counter[int](), list[Answer]()
    memory = [server.megabytes()]

    async def repeat(attack: Callable[[], Awaitable[int]]) -> None:
        while time.monotonic() < end:
            try:
                statuses[await asyncio.wait_for(attack(), 60)] += 1
            except (OSError, TimeoutError, asyncio.IncompleteReadError):
                statuses[0] += 1  # cut off, which is as good an answer as any

    async def ask() -> None:
        async with connect(server) as client:
            while time.monotonic() < end:
                honest.append(await client.post("/translate", server.words(q=_SHORT)))
                memory.append(server.megabytes())
                await asyncio.sleep(0.2)

    attacks = [repeat(lambda body=body: _post(server, body)) for body in _bodies(server)]  # type: ignore[misc]
    attacks += [repeat(lambda raw=raw: _send(server, raw)) for raw in _raw(server)]  # type: ignore[misc]
    await asyncio.gather(*attacks, *(ask() for _ in range(4)))
    wrong = {status: number for status, number in statuses.items() if status >= 500 and status != 503}
    served = sum(answer.status == 200 for answer in honest)
    slowest = max((answer.seconds for answer in honest), default=0.0)
    settled = memory[len(memory) // 2] if memory else 0.0
    return iter(
        [
            Figure(
                f"hostile clients for {seconds:.0f} s: {_told(statuses)} (0 is cut off); memory {memory[0]:.0f} MB "
                f"before, {settled:.0f} MB half-way, {max(memory):.0f} MB at most",
                not wrong and max(memory) <= settled + 100,
            ),
            Figure(
                f"honest clients meanwhile: {served:,} of {len(honest):,} served, the slowest in {slowest:.2f} s",
                served == len(honest) > 0,
            ),
        ]
    )


def _bodies(server: Server) -> list[bytes]:
    """Bodies that are wrong, or cost as much as they may."""
    texts = ("x" * 20_000, "<" * 20_000, "{" * 20_000, "<b>" * 6_000, "a\u0300" * 10_000, ["a b. "] * 10_000, 3, None)
    asked = [server.words(q=q, format="html") for q in texts]
    return [
        *asked,
        server.words(q=_SHORT, alternatives=10**6),
        b"[" * 100_000,
        b'{"q": "\\ud800", "source": "en", "target": "es"}',
        server.words(q=" ".join(f"{_SHORT} {number}." for number in range(500))),
    ]


def _raw(server: Server) -> list[bytes]:
    """Requests that are none, end too soon, or never."""
    head = b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    body = server.words(q=" ".join(f"{_SHORT} {number}." for number in range(500)))
    return [
        b"\x16\x03\x01" * 1000,
        b"POST /translate HTTP/1.1\r\nHost: ",
        head + b"Content-Length: 100\r\n\r\n{",
        head + b"Content-Length: 100000000\r\n\r\n" + b" " * 100_000,
        head + b"Transfer-Encoding: chunked\r\n\r\n" + b"ffff\r\n" + b" " * 0xFFFF + b"\r\n",
        b"GET /health HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        b"GET /download_file/..%2f..%2fetc%2fpasswd HTTP/1.1\r\nHost: localhost\r\n\r\n",
        head + f"Content-Length: {len(body)}\r\n\r\n".encode() + body,
    ]


async def _post(server: Server, body: bytes) -> int:
    async with connect(server) as client:
        return (await client.post("/translate", body)).status


async def _send(server: Server, raw: bytes) -> int:
    """Send something, wait a little, and go away whether there was an answer or not."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    try:
        writer.write(raw)
        line = await asyncio.wait_for(reader.readline(), 0.5)
        return int(line.split()[1]) if line else 0
    finally:
        writer.close()
