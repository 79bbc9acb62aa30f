"""The real command: it starts, says where it is, serves, and stops in order."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import pytest
from libretranslatepy import LibreTranslateAPI

from dragoman.cli import serve as verb
from dragoman.errors import DataError, DragomanError
from dragoman.server.run import ServeError, bind
from run_command import Cli
from serving import TALKATIVE
from tiny_model import make_tiny_model

ALL = "0.0.0.0"  # noqa: S104 -- for a moment, in a test
SENTENCE = "I arrived at the bank after crossing the river."


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_model(tmp_path_factory.mktemp("command") / "model", seed=TALKATIVE, kinds=["float32"])


@contextmanager
def started(*words: object) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run the command and return it with what it says first, which is where it is."""
    command = [sys.executable, "-m", "dragoman", "serve", "--port", "0", *map(str, words)]
    quiet = {**os.environ, "NO_COLOR": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=quiet) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


def is_open(address: tuple[str, int]) -> bool:
    try:
        socket.create_connection(address, timeout=60).close()
    except ConnectionRefusedError:
        return False
    return True


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_until_it_is_told_to_stop_and_finishes_what_it_has(model: Path, number: int) -> None:
    """The request has been accepted, but not yet read, when the service stops listening."""
    with started("-m", model) as (process, url):
        assert LibreTranslateAPI(url).translate(SENTENCE, "en", "es")
        address = ("127.0.0.1", int(url.rpartition(":")[2]))
        texts = "\n".join(f"{SENTENCE} {number}" for number in range(300))
        body = urlencode({"q": texts, "source": "en", "target": "es"}).encode()
        lines = ("Host: localhost", "Content-Type: application/x-www-form-urlencoded", f"Content-Length: {len(body)}")
        with socket.create_connection(address, timeout=60) as connection:
            start = "\r\n".join(["POST /translate HTTP/1.1", *lines, "Expect: 100-continue", "", ""])
            connection.sendall(start.encode())
            assert connection.recv(100).startswith(b"HTTP/1.1 100 ")
            process.send_signal(number)
            while is_open(address):
                time.sleep(0.01)
            connection.sendall(body)
            answer = b"".join(iter(lambda: connection.recv(65536), b""))
        out, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, "")
        assert "en → es" in out
        assert len(json.loads(answer.partition(b"\r\n\r\n")[2])["translatedText"].split("\n")) == 300


def test_it_says_when_anybody_may_come_in(model: Path, tmp_path: Path) -> None:
    with started("-m", model, "--host", ALL) as (process, url):
        assert url.startswith("http://0.0.0.0:")
        process.terminate()
        _, err = process.communicate(timeout=60)
        assert "note: anybody who reaches this machine may translate 20,000 characters at a time" in err
    (tmp_path / "keys").write_text("secret\n", encoding="utf-8")
    with started("-m", model, "--host", ALL, "--keys", tmp_path / "keys") as (process, _):
        process.terminate()
        assert process.communicate(timeout=60)[1] == ""


def test_a_port_that_is_taken_is_an_error(model: Path, cli: Cli) -> None:
    with bind("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        said = cli("serve", "-m", model, "--port", port)
    assert said.code == 1
    assert f"error: cannot listen on 127.0.0.1, port {port} (Address already in use" in said.err
    assert "choose another with --port" in said.err


def test_an_address_must_be_this_machines() -> None:
    with pytest.raises(ServeError, match=r"cannot listen on 192\.0\.2\.1, port 0"):
        bind("192.0.2.1", 0)  # an address for examples, nobody's own
    with bind("::1", 0) as sock:
        assert sock.family == socket.AF_INET6
        assert sock.proto == socket.IPPROTO_TCP  # or asyncio lets every answer wait


def test_keys_are_lines_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    path.write_text("\n one \ntwo\n\n", encoding="utf-8")
    assert verb._read_keys(path) == {"one", "two"}
    assert verb._read_keys(None) == frozenset()
    path.write_text("one\r\ntwo\r\n", encoding="utf-8-sig")
    assert verb._read_keys(path) == {"one", "two"}
    path.write_text("one\n", encoding="utf-16")
    with pytest.raises(DataError, match="is not UTF-8"):
        verb._read_keys(path)
    path.write_text(" \n", encoding="utf-8")
    with pytest.raises(DataError, match="holds no key"):
        verb._read_keys(path)


def test_the_address_that_clients_see_has_a_name() -> None:
    assert verb._names_of(None) == []
    assert verb._names_of("https://Translate.example.org:8443/inside/") == ["translate.example.org"]


@pytest.mark.parametrize("url", ["translate.example.org", "ftp://a.example", "https://", "https://[", "http://a?b"])
def test_what_is_no_address_is_an_error(cli: Cli, url: str) -> None:
    said = cli("serve", "--port", 0, "--url", url)
    assert said.code == DataError.exit_code
    assert f"{url}: is not an address of a service" in said.err
    assert "https://translate.example.org" in said.err


def test_a_model_that_is_not_there_is_an_error(cli: Cli, tmp_path: Path) -> None:
    said = cli("serve", "--port", 0, "-m", tmp_path / "nothing")
    assert said.code == DragomanError.exit_code
    assert "no such model directory" in said.err
