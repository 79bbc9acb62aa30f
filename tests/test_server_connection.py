"""Connections: nobody can hold them all, fill the memory through one, or leave work behind on one."""

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from dragoman.server import answers
from dragoman.server.deadlines import Deadlines
from dragoman.server.limits import Limits
from serving import TALKATIVE, Running, serving
from test_server_limits import TIMEOUT, WORDS, assert_in_the_services_own_way, head, is_served, send, until
from test_server_room import gated
from tiny_model import make_tiny_model

HEALTH = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
LAST = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
LARGE = b"GET /page/offline.html HTTP/1.1\r\nHost: localhost\r\n\r\n"
BODY = json.dumps(WORDS).encode()
WHOLE = head(f"Content-Length: {len(BODY)}") + BODY


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_model(tmp_path_factory.mktemp("connection") / "model", seed=TALKATIVE)


@pytest.fixture(scope="module")
def running(model: Path) -> Iterator[Running]:
    with serving([model]) as running:
        yield running


def connect(running: Running) -> socket.socket:
    return socket.create_connection(("127.0.0.1", running.port), timeout=TIMEOUT)


def connections(running: Running) -> int:
    return len(running.server.server_state.connections)


def stream(running: Running, raw: bytes) -> bytes:
    """Send while somebody reads, and return all that comes back until the server hangs up."""
    received = bytearray()

    def read() -> None:
        with suppress(ConnectionResetError):
            while part := connection.recv(65536):
                received.extend(part)

    with connect(running) as connection:
        reading = threading.Thread(target=read)
        reading.start()
        with suppress(ConnectionResetError, BrokenPipeError):
            connection.sendall(raw)
        reading.join()
    return bytes(received)


def test_some_requests_may_be_sent_before_the_first_is_answered(running: Running) -> None:
    told = send(running, HEALTH * 90 + LAST)
    assert told.count(b"HTTP/1.1 200 ") == 91


def test_requests_without_end_are_not_queued(running: Running) -> None:
    told = stream(running, HEALTH * 10_000 + LAST)
    assert told.count(b"HTTP/1.1 200 ") < 10_000
    assert is_served(running)


AHEAD = {
    "headers": b"GET /health HTTP/1.1\r\nHost: localhost\r\nCookie: " + b"a" * 40_000 + b"\r\n\r\n",
    "bodies": head("Content-Length: 40000") + b" " * 40_000,
}


@pytest.mark.parametrize("part", AHEAD)
def test_not_much_is_kept_of_what_is_sent_ahead(model: Path, part: str) -> None:
    with gated(model, Limits()) as (running, gate), connect(running) as connection:
        connection.sendall(WHOLE)
        until(gate.asked.is_set)
        connection.sendall(AHEAD[part] * 3)
        assert connections(running) == 1
        with suppress(ConnectionResetError, BrokenPipeError):
            connection.sendall(AHEAD[part] * 60)
        until(lambda: connections(running) == 0)


def test_a_client_that_goes_away_stops_costing_though_it_has_asked_for_more(model: Path) -> None:
    with gated(model, Limits()) as (running, gate):
        with connect(running) as connection:
            connection.sendall(WHOLE * 3)
            until(gate.asked.is_set)
        until(lambda: running.service.workers.requests == 0)
        until(lambda: connections(running) == 0)


def test_an_answer_that_nobody_takes_is_not_kept(model: Path) -> None:
    with serving([model], Limits(upload_seconds=2)) as running, socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", running.port))
        connection.sendall(LARGE * 90)
        until(lambda: connections(running) == 1)
        until(lambda: connections(running) == 0)


def test_a_large_answer_that_is_taken_comes_whole(running: Running) -> None:
    told = send(running, LARGE * 30 + LAST)
    assert told.count(b"HTTP/1.1 200 ") == 31
    assert told.endswith(b'{"status":"ok"}')


@pytest.mark.parametrize("begun", [b"", b"POST /translate HTTP/1.1\r\nHo", head("Content-Length: 100") + b"{"])
def test_connections_that_wait_for_nothing_make_room_for_others(model: Path, begun: bytes) -> None:
    """The one from which a request has been awaited longest goes, and no other."""
    with serving([model], Limits(connections=3)) as running, ExitStack() as held:
        silent = []
        for number in range(3):
            silent.append(held.enter_context(connect(running)))
            silent[-1].sendall(begun)
            until(lambda number=number: connections(running) == number + 1)  # type: ignore[misc]
        other = held.enter_context(connect(running))
        other.sendall(HEALTH)
        answer = b""
        while not answer.endswith(b'{"status":"ok"}'):
            answer += other.recv(1000)
        assert silent[0].recv(1) == b""
        until(lambda: connections(running) == 3)
        for one in (*silent[1:], other):
            one.settimeout(0)
            with pytest.raises(BlockingIOError):
                one.recv(1)


def test_many_who_come_at_once_and_ask_are_all_served(model: Path) -> None:
    """More than there may be connections, while others hold those; who has asked is not taken for one who has not."""
    with serving([model], Limits(connections=10)) as running, ExitStack() as held:
        silent = [held.enter_context(connect(running)) for _ in range(10)]
        until(lambda: connections(running) == len(silent))
        asking = [held.enter_context(connect(running)) for _ in range(10)]
        for one in asking:
            one.sendall(WHOLE)
        assert all(one.recv(1000).startswith(b"HTTP/1.1 200 ") for one in asking)
        assert all(one.recv(1) == b"" for one in silent)


def test_where_all_are_at_work_one_more_is_turned_away_at_once(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It need not say what it wants."""
    monkeypatch.setattr("dragoman.server.connection._MOMENT", 60)  # for the second of those that are at work to begin
    with (
        gated(model, Limits(connections=1)) as (running, gate),
        ThreadPoolExecutor(2) as clients,
    ):
        waiting = [clients.submit(is_served, running) for _ in range(2)]
        until(lambda: running.service.workers.requests == 2)
        answer = send(running, b"")
        assert answer.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
        assert answer.endswith(b'{"error":"There are too many connections, try again later"}')
        assert b"retry-after: 5\r\n" in answer.lower()
        assert_in_the_services_own_way(answer)
        gate.passed.release(10)
        assert all(one.result() for one in waiting)
        until(lambda: send(running, LAST).startswith(b"HTTP/1.1 200 "))


def test_who_began_first_is_late_first() -> None:
    late: list[str] = []

    async def wait() -> None:
        deadlines: Deadlines[str] = Deadlines(0.01)
        for who in ("a", "b", "c", "a", "d"):
            deadlines.start(who, lambda who=who: late.append(who))  # type: ignore[misc]
        assert deadlines.oldest() == "b"
        deadlines.stop("c")
        deadlines.stop("nobody")
        while deadlines.oldest() is not None:
            await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(wait(), TIMEOUT))
    assert late == ["b", "a", "d"]


def test_who_asks_for_the_head_alone_gets_that(running: Running) -> None:
    """And what comes next is the answer to the next request."""
    first, second = (b"HEAD /health HTTP/1.1\r\nHost: localhost\r\n\r\n", LAST)
    told = send(running, first + second)
    assert [told.count(one) for one in (b"HTTP/1.1 200 ", b"content-length: 15\r\n", b'{"status":"ok"}')] == [2, 2, 1]
    assert told.endswith(b'\r\n\r\n{"status":"ok"}')


def test_no_header_can_bring_others_along(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "_TYPE", (b"content-type", b"text/html\r\nset-cookie: a=b"))
    answer = send(running, LAST)
    assert answer.startswith(b"HTTP/1.1 500 ")
    assert b"set-cookie" not in answer
