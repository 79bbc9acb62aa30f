"""Limits, and requests that mean no good: refused in JSON, in bounded time and memory, while others are served."""

import json
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from dragoman.engine.load import load_translator
from dragoman.server.files import Store
from dragoman.server.limits import Limits, Rates, RefusedError
from dragoman.server.service import Options
from serving import TALKATIVE, Running, serving
from tiny_model import make_tiny_model

SENTENCE = "I arrived at the bank after crossing the river."
WORDS = {"q": SENTENCE, "source": "en", "target": "es"}
TIMEOUT = 60
SMALL = Limits(body=5_000, connections=50)
HASTY = Limits(upload_seconds=2)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_model(tmp_path_factory.mktemp("limits") / "model", seed=TALKATIVE)


@pytest.fixture(scope="module")
def small(model: Path) -> Iterator[Running]:
    with serving([model], SMALL, Options(names=("translate.example",))) as running:
        yield running


@pytest.fixture(scope="module")
def hasty(model: Path) -> Iterator[Running]:
    with serving([model], HASTY) as running:
        yield running


def until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + TIMEOUT
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)


def send(running: Running, raw: bytes, *, wait: float = TIMEOUT) -> bytes:
    """Send something and return all that comes back until the server closes the connection."""
    with socket.create_connection(("127.0.0.1", running.port), timeout=wait) as connection:
        received = b""
        with suppress(ConnectionResetError, BrokenPipeError):  # it was refused before it was sent
            connection.sendall(raw)
        with suppress(ConnectionResetError):
            while part := connection.recv(65536):
                received += part
        return received


def head(*lines: str, path: str = "/translate") -> bytes:
    start = [f"POST {path} HTTP/1.1", "Host: localhost", "Content-Type: application/json", *lines]
    return ("\r\n".join(start) + "\r\n\r\n").encode()


def assert_in_the_services_own_way(answer: bytes) -> None:
    headers = answer.partition(b"\r\n\r\n")[0].lower()
    for line in (b"content-type: application/json", b"x-content-type-options: nosniff", b"connection: close"):
        assert line in headers
    assert b"access-control-allow-origin: *" in headers


def is_served(running: Running) -> bool:
    with running.client() as client:
        return client.post("/translate", json=WORDS).status_code == 200


def test_a_body_that_says_it_is_too_long_is_not_read(small: Running) -> None:
    answer = send(small, head("Content-Length: 100000000"))
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert answer.endswith(b'{"error":"The request has more than 5000 bytes"}')
    assert b"connection: close" in answer.lower()
    assert is_served(small)


def test_a_body_that_goes_on_and_on_is_cut_off(small: Running) -> None:
    answer = send(small, head("Transfer-Encoding: chunked") + b"1000\r\n" + b" " * 4096 + b"\r\n1000\r\n" + b" " * 4096)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert is_served(small)


def test_headers_that_go_on_and_on_are_cut_off(small: Running) -> None:
    answer = send(small, b"GET /health HTTP/1.1\r\nHost: localhost\r\nCookie: " + b"a" * 70_000)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.endswith(b'\r\n\r\n{"error":"The headers of the request are too long."}')
    assert_in_the_services_own_way(answer)
    assert is_served(small)


def test_a_body_is_no_header_however_long(small: Running) -> None:
    body = json.dumps({**WORDS, "api_key": "x" * 4_000}).encode()
    whole = head(f"Content-Length: {len(body)}") + body
    answers = send(small, whole * 20 + b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert answers.count(b"HTTP/1.1 200 ") == 21


def test_one_who_sends_slowly_is_not_waited_for(hasty: Running) -> None:
    """Headers that never end, and bodies that never come, while others are served."""
    with ThreadPoolExecutor(12) as clients:
        slow = [clients.submit(send, hasty, b"POST /translate HTTP/1.1\r\nHost: ") for _ in range(5)]
        slow += [clients.submit(send, hasty, head("Content-Length: 100") + b"{") for _ in range(5)]
        assert is_served(hasty)
        answers = [one.result() for one in slow]
    assert answers[:5] == [b""] * 5
    for answer in answers[5:]:
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert answer.endswith(b'{"error":"The request took more than 2 seconds to arrive"}')


def test_headers_must_come_in_time_after_another_request_too(hasty: Running) -> None:
    first = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    answer = send(hasty, first + b"GET /health HTTP/1.1\r\nHo")
    assert answer.count(b"HTTP/1.1 200") == 1


@pytest.mark.parametrize(
    "raw", [b"\x00\x01\x02\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"A" * 100_000, b"\x16\x03\x01\x02\x00\x01"]
)
def test_what_is_no_request_is_answered_or_cut_off(small: Running, raw: bytes) -> None:
    answer = send(small, raw)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 400 ")
    if answer:
        assert_in_the_services_own_way(answer)
    assert is_served(small)


def test_an_error_of_the_service_itself_is_told_like_others(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving([model]) as running, running.client() as client:
        monkeypatch.setattr(running.service.models, "targets", None)
        answer = client.get("/languages")
        assert (answer.status_code, answer.json()) == (500, {"error": "Internal Server Error"})
        assert answer.headers["access-control-allow-origin"] == "*"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert is_served(running)  # by another connection: this one is closed


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "", "[", "a b"])
def test_only_known_hosts_are_let_in(small: Running, host: str) -> None:
    answer = send(small, f"GET /health HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b'{"error":"Invalid host header"' in answer


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:5000", "127.0.0.1:1", "[::1]:5000", "translate.example:80", "10.1.2.3"]
)
def test_numbers_and_the_operators_names_are_known(small: Running, host: str) -> None:
    answer = send(small, f"GET /health HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 200 ")


QUIRKS = (
    "\ud800", "\x00", "\u202e\u200b", "😀" * 50, ">>fra<< <s> </s> ▁ ￨", " \n\t ", "a\u0300" * 500, "x" * 3000,
    "{" * 2000, "%" * 2000, "<" * 2000, "&" * 2000, "<b>" * 900, "\u2028\u0085",
)  # fmt: skip


@pytest.mark.parametrize("form", ["text", "html"])
@pytest.mark.parametrize("text", QUIRKS, ids=range(len(QUIRKS)))
def test_strange_text_is_translated(small: Running, text: str, form: str) -> None:
    body = json.dumps({**WORDS, "q": text, "format": form})
    with small.client() as client:
        answer = client.post("/translate", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 200
    assert isinstance(answer.json()["translatedText"], str)


@pytest.mark.parametrize("q", [3, 1.5, True, {"a": 1}, [[["a"]]], [None], [1], float("inf")], ids=str)
@pytest.mark.parametrize("path", ["/translate", "/detect", "/v1/translate", "/v1/trace"])
def test_what_is_no_text_is_refused(small: Running, path: str, q: Any) -> None:
    with small.client() as client:
        answer = client.post(path, content=json.dumps({**WORDS, "q": q}), headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert "q parameter is not a string" in answer.json()["error"]


def test_wrong_content_types_and_doubled_names(small: Running) -> None:
    with small.client() as client:
        other = client.post("/translate", content=b"<xml/>", headers={"Content-Type": "text/xml"})
        assert other.json() == {"error": "Invalid request: missing q parameter"}
        doubled = b'{"q": "a", "q": "12", "source": "en", "target": "es"}'
        answer = client.post("/translate", content=doubled, headers={"Content-Type": "application/json"})
        assert answer.json() == {"translatedText": "12"}
        fields = "&".join(["q=a&source=en&target=es", *(f"a{number}=1" for number in range(100))])
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        many = client.post("/translate", content=fields.encode(), headers=form)
        assert (many.status_code, list(many.json())) == (400, ["error"])
        assert many.json()["error"].startswith("Too many fields")
        multi = {"Content-Type": "multipart/form-data; boundary=x"}
        broken = client.post("/translate", content=b"--x\r\nnonsense", headers=multi)
        assert (broken.status_code, list(broken.json())) == (400, ["error"])


def test_many_clients_get_each_their_own(model: Path) -> None:
    texts = [f"My sister closed {number} boxes." for number in range(40)]
    expected = [translation.text for translation in load_translator(model, threads=1).translate(texts)]
    with serving([model]) as running, ThreadPoolExecutor(16) as clients, running.client() as client:

        def ask(text: str) -> str:
            found: str = client.post("/translate", json={**WORDS, "q": text}).json()["translatedText"]
            return found

        assert list(clients.map(ask, texts)) == expected


def test_a_request_has_so_many_sentences(model: Path) -> None:
    with serving([model], Limits(sentences=3)) as running, running.client() as client:
        answer = client.post("/translate", json={**WORDS, "q": "The dog.\nThe cat.\nThe box.\nThe bank."})
        assert (answer.status_code, answer.json()) == (
            400,
            {"error": "Invalid request: there are more than 3 different sentences"},
        )
        mended = client.post("/translate", json={**WORDS, "q": "The dog {0}.\nThe cat {1}.\nThe box {2}."})
        assert mended.status_code == 200
        for number in range(3):
            assert f"{{{number}}}" in mended.json()["translatedText"]


def test_requests_are_counted_by_the_minute(model: Path) -> None:
    with serving([model], Limits(per_minute=2)) as running, running.client() as client:
        statuses = [client.post("/detect", json={"q": "a"}) for _ in range(6)]
        refused = [answer for answer in statuses if answer.status_code == 429]
        assert refused
        assert refused[0].json() == {"error": "Slowdown: 2 per 1 minute"}
        assert 1 <= int(refused[0].headers["retry-after"]) <= 60
        assert client.get("/health").status_code == 200


def test_each_client_has_its_own_minutes() -> None:
    now = [0.0]
    rates = Rates(2, clock=lambda: now[0])
    rates.count("a")
    rates.count("a")
    rates.count("b")
    with pytest.raises(RefusedError, match="Slowdown: 2 per 1 minute") as refused:
        rates.count("a")
    assert refused.value.retry_after == 60
    now[0] = 60.0
    rates.count("a")


def test_files_are_kept_for_a_time_and_while_there_is_room() -> None:
    now = [0.0]
    store = Store(Limits(kept=3_010, kept_seconds=5), clock=lambda: now[0])
    first, second = (store.put("../a/b\\c d?.txt", "text/plain", content) for content in (b"12345", b"67890"))
    assert store.get(first).name == "c d_.txt"
    third = store.put("x.txt", "text/plain", b"1")
    assert [store.get(name).content for name in (second, third)] == [b"67890", b"1"]
    for name in (first, "", "../x.txt", second + "x"):
        with pytest.raises(RefusedError, match="Invalid filename"):
            store.get(name)
    now[0] = 5.0
    with pytest.raises(RefusedError, match="Invalid filename"):
        store.get(second)
