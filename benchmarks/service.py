"""What serving over HTTP costs, how it bears many clients at once, how soon it shows a sentence's inside.

`dragoman serve` runs in a process of its own and is asked over sockets from this one, on the same cores, so that the
clients' work counts against it. MODEL names the model; without it one is trained on the built-in corpus for MINUTES (2
unless given). SECONDS is how long many clients ask (60) for translations of SENTENCES different sentences (4,000), and
HOSTILE how long hostile ones do (600; see `benchmarks.hostile`).
"""

import asyncio
import itertools
import os
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.client import Server, connect, growth, serving, told
from benchmarks.figure import Figure, dragoman
from benchmarks.figure import run as run_command
from benchmarks.hostile import measure_hostility
from benchmarks.page import measure_drawing
from dragoman.data.grammar import generate
from dragoman.engine.load import load_translator

_CLIENTS = 64
_SHORT = "The dog sees the cat."
_TWENTY_WORDS = "The tired animal did not cross the street because it was too wide and the old man saw the river again."
_GROWTH = 2.0  # megabytes that are not called growth, from the second third of the time to the last
_TURNS = 200


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
            yield from asyncio.run(measure_hostility(server))


def _train(room: Path) -> Path:
    run_command(dragoman("generate", "--pairs", "30000", "--seed", "1", "--out", room / "pairs.tsv"))
    words = ("--from", "en", "--to", "es", "--minutes", os.environ.get("MINUTES", "2"), "--out", room / "model")
    run_command(dragoman("train", room / "pairs.tsv", *words))
    return room / "model"


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
    end, statuses, memory = time.monotonic() + seconds, Counter[int](), list[float]()

    async def ask() -> None:
        async with connect(server) as client:
            while time.monotonic() < end:
                answer = await client.post("/translate", server.words(q=next(groups)))
                statuses[answer.status] += 1

    async def watch() -> None:
        while time.monotonic() < end:
            memory.append(server.megabytes())
            await asyncio.sleep(0.5)

    begun = time.monotonic()
    await asyncio.gather(watch(), *(ask() for _ in range(_CLIENTS)))
    speed = each * statuses[200] / (time.monotonic() - begun)
    own = (before + _engine_speed(model, sentences)) / 2
    grown = growth(memory)
    figures = [
        Figure(
            f"{_CLIENTS} clients, requests of {each}: {speed:.0f} sentences/s, {speed / own:.2f} × the engine's own "
            f"{own:.0f} ({wanted:.2f} wanted)",
            speed >= wanted * own,
        ),
        Figure(
            f"{_CLIENTS} clients, requests of {each}: {told(statuses)}; memory {memory[-1]:.0f} MB, {grown:+.1f} MB "
            f"from the second third of the time to the last ({_GROWTH:+.0f} allowed)",
            set(statuses) == {200} and grown <= _GROWTH,
        ),
    ]
    return iter(figures)


def _engine_speed(model: Path, sentences: Sequence[str]) -> float:
    translator = load_translator(model)
    translator.translate(sentences[:100])
    begun = time.perf_counter()
    translator.translate(sentences[100:])
    return (len(sentences) - 100) / (time.perf_counter() - begun)


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
