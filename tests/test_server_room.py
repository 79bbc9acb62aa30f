"""Room for requests: who gets it, who is turned away, and what becomes of work that nobody waits for any more."""

import json
import socket
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from dragoman.config import Search
from dragoman.engine.base import Engine
from dragoman.engine.load import load_translator
from dragoman.engine.plain import PlainEngine
from dragoman.server.answers import Json
from dragoman.server.gather import Found
from dragoman.server.limits import Limits
from serving import TALKATIVE, Running, serving
from test_server_limits import SENTENCE, TIMEOUT, WORDS, head, is_served, until
from tiny_model import make_tiny_model


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_model(tmp_path_factory.mktemp("room") / "model", seed=TALKATIVE)


@pytest.fixture(scope="module")
def running(model: Path) -> Iterator[Running]:
    with serving([model]) as running:
        yield running


class Gate:
    """An engine that works only when it is let, batch by batch."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.passed = threading.Semaphore(0)
        self.sources = 0
        self.asked = threading.Event()

    @property
    def max_source(self) -> int:
        return self._engine.max_source

    @property
    def max_target(self) -> int:
        return self._engine.max_target

    def translate(
        self,
        sources: Sequence[Sequence[int]],
        search: Search,
        *,
        prefixes: Sequence[Sequence[int]] | None = None,
        attention: bool = False,
    ) -> Found:
        self.sources += len(sources)
        self.asked.set()
        assert self.passed.acquire(timeout=2 * TIMEOUT)  # longer than any test waits for what else happens
        return self._engine.translate(sources, search, prefixes=prefixes, attention=attention)


@contextmanager
def gated(model: Path, limits: Limits) -> Iterator[tuple[Running, Gate]]:
    with serving([model], limits) as running:
        (served,) = running.service.models
        gate = Gate(served.gather._engine)
        served.gather._engine = gate
        try:
            yield running, gate
        finally:
            gate.passed.release(10_000)


def test_more_than_can_wait_is_turned_away_with_a_time_to_come_back(model: Path) -> None:
    with (
        gated(model, Limits(requests=3)) as (running, gate),
        ThreadPoolExecutor(3) as clients,
        running.client() as late,
    ):
        waiting = [clients.submit(is_served, running) for _ in range(3)]
        until(lambda: gate.asked.is_set() and _requests(running) == 3)
        answer = late.post("/translate", json=WORDS)
        assert (answer.status_code, answer.json()) == (503, {"error": "The service is busy, try again later"})
        assert int(answer.headers["retry-after"]) >= 1
        assert late.get("/health").json() == {"status": "ok"}
        gate.passed.release(100)
        assert all(one.result() for one in waiting)
        until(lambda: _requests(running) == 0)
        assert late.post("/translate", json=WORDS).status_code == 200


def _requests(running: Running) -> int:
    return running.service.workers.requests


def test_characters_that_wait_are_counted_too(model: Path) -> None:
    with (
        gated(model, Limits(waiting=100)) as (running, gate),
        ThreadPoolExecutor(1) as clients,
        running.client() as late,
    ):
        first = clients.submit(is_served, running)
        until(gate.asked.is_set)
        answer = late.post("/translate", json={**WORDS, "q": "x" * 60})
        assert answer.status_code == 503
        gate.passed.release(10)
        assert first.result()


def test_long_requests_leave_room_for_short_ones(model: Path) -> None:
    """As many long ones as are let in wait for the engine; a further one is refused, and a short one is not."""
    long = {**WORDS, "q": "\n".join(f"{SENTENCE} {number}" for number in range(40))}
    limits = Limits(requests=8, waiting=10 * len(long["q"]))
    with gated(model, limits) as (running, gate), ThreadPoolExecutor(7) as clients, running.client() as client:
        waiting = [clients.submit(client.post, "/translate", json=long) for _ in range(6)]
        until(lambda: _requests(running) == 6)
        refused = client.post("/translate", json=long)
        assert (refused.status_code, refused.json()) == (503, {"error": "The service is busy, try again later"})
        assert int(refused.headers["retry-after"]) >= 1
        short = clients.submit(is_served, running)
        until(lambda: _requests(running) == 7)
        gate.passed.release(10_000)
        assert short.result()
        assert [one.result().status_code for one in waiting] == [200] * 6


def test_characters_of_long_requests_leave_room_too(model: Path) -> None:
    long = {**WORDS, "q": "\n".join(f"{SENTENCE} {number}" for number in range(40))}
    with (
        gated(model, Limits(waiting=2 * len(long["q"]))) as (running, gate),
        ThreadPoolExecutor(2) as clients,
        running.client() as client,
    ):
        first = clients.submit(client.post, "/translate", json=long)
        until(gate.asked.is_set)
        assert client.post("/translate", json=long).status_code == 503
        short = clients.submit(is_served, running)
        until(lambda: _requests(running) == 2)
        gate.passed.release(10_000)
        assert short.result()
        assert first.result().status_code == 200


@pytest.mark.parametrize(
    ("path", "words", "is_long"),
    [
        ("/translate", {"q": ["a"] * 20}, False),
        ("/translate", {"q": SENTENCE, "source": "auto"}, False),
        ("/translate", {"q": ["a"] * 20, "alternatives": 3}, True),
        ("/translate", {"q": ["a"] * 20, "source": "auto"}, True),
        ("/translate", {"q": ["a"] * 100}, True),
        ("/v1/translate", {"q": SENTENCE}, False),
        ("/v1/translate", {"q": ["a"] * 20, "best": 4}, True),
    ],
)
def test_a_request_is_long_that_takes_long_beside_the_engine(
    running: Running, path: str, words: dict[str, Any], is_long: bool
) -> None:
    """However few characters it has, it is not followed on the event loop."""
    with running.client() as client:
        workers = running.service.workers
        with patch.object(workers, "run", wraps=workers.run) as in_a_thread:
            assert client.post(path, json={**WORDS, **words}).status_code == 200
        assert in_a_thread.called is is_long


def test_a_request_alone_is_never_too_long_to_wait(model: Path) -> None:
    with serving([model], Limits(waiting=10)) as running:
        assert is_served(running)


LOOK = {**WORDS, "pieces": ["▁the"], "side": "source"}


def test_few_look_inside_at_a_time_and_who_waits_in_vain_never_does(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, gate, trace = threading.Semaphore(0), threading.Event(), PlainEngine.trace

    def wait(*given: Any) -> Any:
        begun.release()
        assert gate.wait(TIMEOUT)
        return trace(*given)

    monkeypatch.setattr(PlainEngine, "trace", wait)
    with serving([model], Limits(seconds=10)) as running, ThreadPoolExecutor(6) as clients, running.client() as client:
        asked = [clients.submit(client.post, "/v1/trace/way", json=LOOK) for _ in range(6)]
        until(lambda: _requests(running) == 6)
        assert is_served(running)
        assert {one.result().status_code for one in asked} == {503}
        until(lambda: _requests(running) == 2)
        gate.set()
        until(lambda: _requests(running) == 0)
        assert [begun.acquire(blocking=False) for _ in range(3)] == [True, True, False]
        assert client.post("/v1/trace/way", json=LOOK).status_code == 200


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/v1/trace", {}),
        ("/v1/trace/head", {"kind": "cross", "layer": 1, "head": 1}),
        ("/v1/trace/alternatives", LOOK),
        ("/v1/trace/way", LOOK),
        ("/v1/trace/flows", LOOK),
        ("/v1/trace/beam", {}),
        ("/v1/trace/what-if", LOOK),
        ("/v1/trace/meaning", {"sentences": [SENTENCE] * 2, "word": "bank"}),
        ("/v1/tour/similarity", {}),
    ],
)
def test_what_is_seen_inside_is_written_down_by_who_looks(
    running: Running, monkeypatch: pytest.MonkeyPatch, path: str, words: dict[str, Any]
) -> None:
    """It is large, and the event loop has others to serve."""
    threads, render = [], Json.render

    def note(answer: Json, content: Any) -> bytes:
        threads.append(threading.current_thread().name)
        return render(answer, content)

    monkeypatch.setattr(Json, "render", note)
    with running.client() as client:
        assert client.post(path, json={**WORDS, **words}).status_code == 200
    assert [name.partition("_")[0] for name in threads] == ["look"]


def test_a_client_that_goes_away_does_not_look_inside(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate, trace = threading.Event(), PlainEngine.trace
    seen: list[Any] = []

    def wait(engine: PlainEngine, *path: Any) -> Any:
        seen.append(path)
        assert gate.wait(TIMEOUT)
        return trace(engine, *path)

    monkeypatch.setattr(PlainEngine, "trace", wait)
    with serving([model]) as running, ThreadPoolExecutor(2) as clients, running.client() as client:
        busy = [clients.submit(client.post, "/v1/trace/way", json=LOOK) for _ in range(2)]
        until(lambda: len(seen) == 2)
        body = json.dumps(LOOK).encode()
        with socket.create_connection(("127.0.0.1", running.port)) as connection:
            connection.sendall(head(f"Content-Length: {len(body)}", path="/v1/trace/way") + body)
            until(lambda: _requests(running) == 3)
        until(lambda: _requests(running) == 2)
        gate.set()
        assert [one.result().status_code for one in busy] == [200, 200]
    assert len(seen) == 2


def test_a_what_if_that_takes_too_long_stops_at_its_next_step(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate, step = threading.Event(), PlainEngine._step
    steps: list[Any] = []

    def wait(engine: PlainEngine, *given: Any) -> Any:
        steps.append(given)
        assert gate.wait(TIMEOUT)
        return step(engine, *given)

    monkeypatch.setattr(PlainEngine, "_step", wait)
    with serving([model], Limits(seconds=6)) as running, running.client() as client:
        assert [one.plain for one in running.service.models]  # which are loaded when they are first asked for
        assert client.post("/v1/trace/what-if", json=LOOK).status_code == 503
        gate.set()
        until(lambda: _requests(running) == 0)
    assert len(steps) == 1


def test_what_takes_too_long_is_given_up(model: Path) -> None:
    with gated(model, Limits(seconds=0.3)) as (running, gate), running.client() as client:
        answer = client.post("/translate", json={**WORDS, "q": "\n".join(f"{SENTENCE} {n}" for n in range(300))})
        assert answer.status_code == 503
        assert answer.json() == {"error": "The request took more than 0.3 seconds"}
        assert int(answer.headers["retry-after"]) >= 1
        gate.passed.release(1)
        until(lambda: _requests(running) == 0)
        assert gate.sources < 300


def test_a_client_that_goes_away_stops_costing(model: Path) -> None:
    with gated(model, Limits()) as (running, gate):
        text = "\n".join(f"{SENTENCE} {number}" for number in range(300))
        body = json.dumps({**WORDS, "q": text}).encode()
        with socket.create_connection(("127.0.0.1", running.port)) as connection:
            connection.sendall(head(f"Content-Length: {len(body)}") + body)
            until(gate.asked.is_set)
        until(lambda: _requests(running) == 0)
        gate.passed.release(1)
        assert is_served_when_let(running, gate)
        assert gate.sources < 100


def test_a_client_that_goes_away_after_a_large_body_stops_costing(model: Path) -> None:
    """uvicorn stops reading at so much, and would not see it go."""
    with gated(model, Limits()) as (running, gate):
        body = json.dumps({**WORDS, "api_key": "x" * 500_000}).encode()
        with socket.create_connection(("127.0.0.1", running.port)) as connection:
            connection.sendall(head(f"Content-Length: {len(body)}") + body)
            until(gate.asked.is_set)
        until(lambda: _requests(running) == 0)


def is_served_when_let(running: Running, gate: Gate) -> bool:
    gate.passed.release(3)
    return is_served(running)


def test_stopping_finishes_what_was_accepted(model: Path) -> None:
    expected = load_translator(model, threads=1).translate([SENTENCE])[0].text
    with ExitStack() as later, ThreadPoolExecutor(3) as clients:
        with gated(model, Limits()) as (running, gate):
            client = later.enter_context(running.client())
            asked = [clients.submit(client.post, "/translate", json=WORDS) for _ in range(3)]
            until(lambda: _requests(running) == 3)
            opened = threading.Timer(0.3, gate.passed.release, [100])
            opened.start()
        assert [one.result().json() for one in asked] == [{"translatedText": expected}] * 3
