"""What hostile clients can do to a service, of every kind at once, and how honest ones fare meanwhile."""

import asyncio
import itertools
import json
import os
import random
import time
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from benchmarks.client import Answer, Server, connect, growth, told
from benchmarks.figure import Figure

_SHORT = "The dog sees the cat."
_LONG = " ".join(f"{_SHORT[:-1]} {number}." for number in range(500))
_HONEST = 4
_HELD = 300  # more than there are connections
_CUT_OFF = 0  # in place of a status
_PATIENCE = 60.0  # seconds that an attacker waits for an answer
_MEMORY = 200.0  # megabytes more than before
_GROWTH = 10.0  # megabytes from the second third of the time to the last
_MULTIPART = "Content-Type: multipart/form-data; boundary=x"
_HEAD = b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


class _Post(NamedTuple):
    """A whole request, with a body that is wrong or costs as much as it may."""

    path: str
    body: bytes
    headers: tuple[str, ...] = ()

    async def run(self, server: Server) -> int:
        async with connect(server) as client:
            return (await client.post(self.path, self.body, *self.headers)).status


class _Send(NamedTuple):
    """Bytes of any kind, by someone who goes away soon whether there was an answer or not."""

    raw: bytes

    async def run(self, server: Server) -> int:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        try:
            writer.write(self.raw)
            return _status(await asyncio.wait_for(reader.readline(), 0.5))
        finally:
            writer.close()


class _Hold(NamedTuple):
    """A request that goes on and on, by someone who does not go away before the service ends it."""

    start: bytes
    more: bytes
    pause: float

    async def run(self, server: Server) -> int:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        answer = asyncio.ensure_future(reader.readline())
        try:
            writer.write(self.start)
            while not answer.done():
                writer.write(self.more)
                await writer.drain()
                await asyncio.wait([answer], timeout=self.pause)
            return _status(answer.result())
        finally:
            answer.cancel()
            writer.close()


class _Flood(NamedTuple):
    """Requests without end, by someone who takes every answer."""

    raw: bytes

    async def run(self, server: Server) -> int:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)

        async def send() -> None:
            while True:
                writer.write(self.raw)
                await writer.drain()

        sending = asyncio.ensure_future(send())
        try:
            status = _status(await reader.readline())
            while await reader.read(1_000_000):
                pass
            return status
        finally:
            sending.cancel()
            await asyncio.wait([sending])  # whatever became of it
            if not sending.cancelled():
                sending.exception()
            writer.close()


class _Deaf(NamedTuple):
    """Requests by someone who takes no answer, and does not go away before the service does."""

    raw: bytes

    async def run(self, server: Server) -> int:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=1)  # hardly reads ahead
        try:
            writer.write(self.raw)
            while not reader.at_eof() and reader.exception() is None:
                await asyncio.sleep(1.0)
            return _CUT_OFF
        finally:
            writer.close()


Attack = _Post | _Send | _Hold | _Flood | _Deaf


def _status(line: bytes) -> int:
    return int(line.split()[1]) if line else _CUT_OFF


async def measure_hostility(server: Server) -> Iterator[Figure]:
    """Let all kinds of attacks be repeated at once, and some honest clients ask."""
    seconds = float(os.environ.get("HOSTILE", "600"))
    end, statuses, honest = time.monotonic() + seconds, Counter[int](), list[Answer]()
    memory = [server.megabytes()]

    async def repeat(attack: Attack) -> None:
        while time.monotonic() < end:
            try:
                statuses[await asyncio.wait_for(attack.run(server), _PATIENCE)] += 1
            except (OSError, TimeoutError, asyncio.IncompleteReadError):
                statuses[_CUT_OFF] += 1  # which is as good an answer as any

    async def ask() -> None:
        while time.monotonic() < end:
            try:
                async with connect(server) as client:
                    honest.append(await client.post("/translate", server.words(q=_SHORT)))
            except (OSError, asyncio.IncompleteReadError):
                honest.append(Answer(_CUT_OFF, b"", 0.0))
            memory.append(server.megabytes())
            await asyncio.sleep(0.2)

    attacks = [*_wrong(server), *_costly(server), *_inside(server), *_raw(), *_held()]
    await asyncio.gather(*map(repeat, attacks), *(ask() for _ in range(_HONEST)))
    wrong = {status for status in statuses if status >= 500 and status != 503}
    served = sum(answer.status == 200 for answer in honest)
    slowest = max((answer.seconds for answer in honest), default=0.0)
    grown = growth(memory)
    figures = [
        Figure(
            f"hostile clients for {seconds:.0f} s: {told(statuses)} (0 is cut off); memory {memory[0]:.0f} MB before, "
            f"{max(memory):.0f} MB at most ({_MEMORY:+.0f} allowed), {grown:+.1f} MB from the second third of the time "
            f"to the last ({_GROWTH:+.0f} allowed)",
            not wrong and max(memory) <= memory[0] + _MEMORY and grown <= _GROWTH,
        ),
        Figure(
            f"honest clients meanwhile: {served:,} of {len(honest):,} served, the slowest in {slowest:.2f} s",
            served == len(honest) > 0,
        ),
    ]
    return iter(figures)


def _wrong(server: Server) -> list[Attack]:
    """Bodies that are not what they should be."""
    bodies = [
        *(server.words(q=q) for q in (3, None, [["a"]], {"q": "a"}, ["a"] * 100_000)),
        server.words(q=_SHORT, alternatives=10**6),
        server.words(q=_SHORT, format="docx"),
        b"[" * 100_000,
        b'{"q":' * 10_000,
        b'{"q": "\\ud800", "source": "en", "target": "es"}',
        b'{"q": "a", "q": "b", "source": "en", "target": "es"}',
        b"\xff\xfe" * 1_000,
        random.Random(1).randbytes(100_000),
    ]
    file = b'--x\r\nContent-Disposition: form-data; name="file"; filename="../../a.docx"\r\n\r\nPK\r\n--x--\r\n'
    return [
        *(_Post("/translate", body) for body in bodies),
        _Post("/translate", server.words(q=_SHORT), ("Content-Encoding: gzip",)),
        _Post("/translate_file", file, (_MULTIPART,)),
        _Post("/suggest", json.dumps({"q": "a", "s": "b" * 500_000, "source": "en", "target": "es"}).encode()),
        _Post("/detect", b"q=" + b"%" * 100_000, ("Content-Type: application/x-www-form-urlencoded",)),
    ]


def _costly(server: Server) -> list[Attack]:
    """Texts that are allowed, and cost as much as they may."""
    marked = ("<" * 20_000, "{" * 20_000, "%" * 20_000, "<b>" * 6_000, "<!--" * 5_000, "&" * 20_000)
    plain = (
        "x" * 20_000,
        "a\u0300" * 10_000,
        "\u202e\u200b" * 10_000,
        "\U0001f600" * 20_000,
        " " * 20_000,
        ">>fra<< <s> </s> ▁ ￨ \0 " * 500,
        "slova слова λέξεις 言葉 " * 800,
        _LONG,
        [f"{_SHORT} {number}" for number in range(500)],
    )
    return [
        *(_Post("/translate", server.words(q=text, format="html")) for text in marked),
        *(_Post("/translate", server.words(q=text)) for text in plain),
        _Post("/translate", server.words(q=_SHORT * 20, alternatives=10)),
        _Post("/translate", server.words(q=["a"] * 500, alternatives=10)),
        _Post("/translate", server.words(q=["a"] * 500, source="auto")),
        *(_Post("/translate_file", _upload(server, number), (_MULTIPART,)) for number in range(5)),
        _Post("/v1/translate", server.words(q=_LONG[:5_000], alignments=True, best=11)),
        _Post("/detect", json.dumps({"q": "ñ" * 19_999}).encode()),
    ]


def _upload(server: Server, number: int) -> bytes:
    """A small file: what it takes to keep it is more than what is in it."""
    source, target = server.pair
    words = {"source": source, "target": target, 'file"; filename="a.txt': str(number)}
    parts = [f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{word}\r\n' for name, word in words.items()]
    return "".join([*parts, "--x--\r\n"]).encode()


def _inside(server: Server) -> list[Attack]:
    """Looks inside: as wide as they may be, with numbers that point nowhere, and from elsewhere."""
    sentence = " ".join(["The old dog sees the small cat by the river"] * 7)
    return [
        _Post("/v1/trace", server.words(q=sentence)),
        _Post("/v1/trace", server.words(q="x" * 20_000)),
        _Post("/v1/trace", server.words(q=_SHORT), ("Origin: http://elsewhere.example",)),
        _Post("/v1/trace/head", server.words(q=sentence, kind="cross", layer=10**9, head=10**9)),
        _Post("/v1/trace/head", server.words(q=sentence, kind="self", layer=1, head=1)),
        _Post("/v1/trace/beam", server.words(q=sentence, beam=10, penalty=300)),
        _Post("/v1/trace/beam", server.words(q=sentence, beam=10**6)),
        _Post("/v1/trace/way", server.words(q=sentence, pieces=[], side="source", at=10**6)),
        _Post("/v1/trace/flows", server.words(q=sentence, pieces=[], layer=1, head=1)),
        _Post("/v1/trace/meaning", server.words(sentences=[f"The dog sees {'a cat, ' * 20}."] * 8, word="dog")),
    ]


def _raw() -> list[Attack]:
    """What is no request, ends too soon, or wants what is not for it."""
    asked = json.dumps({"q": _LONG, "source": "en", "target": "es"}).encode()
    return [
        _Send(b"\x16\x03\x01" * 1_000),
        _Send(b"POST /translate HTTP/1.1\r\nHost: "),
        _Send(_HEAD + b"Content-Length: 100\r\n\r\n{"),
        _Send(_HEAD + b"Content-Length: 100000000\r\n\r\n" + b" " * 100_000),
        _Send(_HEAD + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        _Send(_HEAD + b"X: " + b"x" * 100_000),
        _Send(b"GET /?q=" + b"a" * 60_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        _Send(b"GET /health HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
        _Send(b"GET /download_file/..%2f..%2fetc%2fpasswd HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        _Send(b"GET /page/..%2f..%2frun.py HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        _Send(b"GET /languages HTTP/1.1\r\nHost: localhost\r\n\r\n" * 500),
        _Send(_HEAD + f"Content-Length: {len(asked)}\r\n\r\n".encode() + asked),  # and does not wait for the answer
    ]


def _held() -> list[Attack]:
    """Connections that are held: requests that come letter by letter, that never end, whose answers are not taken."""
    slow = [
        _Hold(b"", b"", 1.0),
        _Hold(b"POST /translate HTTP/1.1\r\nHost: localhost\r\n", b"X: y\r\n", 1.0),
        _Hold(_HEAD + b"Content-Length: 100000\r\n\r\n", b" ", 1.0),
        _Hold(_HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n", 1.0),
    ]
    endless: list[Attack] = [
        _Hold(_HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"ffff\r\n" + b" " * 0xFFFF + b"\r\n", 0.01),
        _Hold(_HEAD + b"Content-Length: 100000000\r\n\r\n", b" " * 0xFFFF, 0.01),
        _Flood(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n" * 1000),
        _Deaf(b"GET /page/offline.html HTTP/1.1\r\nHost: localhost\r\n\r\n" * 90),
    ]
    return [*itertools.islice(itertools.cycle(slow), _HELD), *endless]
