"""How fast translating is: against CTranslate2 called directly in every sensible way, and against other toolkits.

All translate the same sentences with the same weights, in one run. MODEL names a model to use; without it one is
trained for MINUTES (5 unless given). SENTENCES is how many are translated (10,000); `PEERS=0` leaves the other toolkits
out.
"""

import dataclasses
import json
import math
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import ctranslate2

from benchmarks.corpus import Text, read_text
from benchmarks.figure import Figure, dragoman
from benchmarks.figure import run as run_command
from benchmarks.peers import translate_speed
from dragoman.checkpoint import ModelDirectory
from dragoman.engine.fast import FastEngine
from dragoman.engine.load import load_tokenizer
from dragoman.engine.translator import Translator
from dragoman.evaluation.scores import bleu
from dragoman.machine import cores

_BEAM = 5
_BATCHES = (
    *((size, "examples") for size in (16, 32, 64)),
    *((size, "tokens") for size in (256, 512, 1024, 2048, 4096)),
)
_WARM = "A man is riding a horse."
_PEERS = (
    ("transformers", "one sentence at a time, as its pipelines do", 1, 64, 15.0),
    ("transformers", "batches of 32, sorted by length for it", 32, 320, 15.0),
    ("joeynmt", "batches of 32, sorted by length for it", 32, 128, 30.0),
)
"""Other toolkits: how they are called, in what batches, how many sentences; how many times as fast ours should be."""

Translate = Callable[[slice], Any]
"""Translates some of the sentences."""


class Way(NamedTuple):
    """One way to call CTranslate2."""

    kind: str
    workers: int
    threads: int
    batch: int
    batch_type: str

    def __str__(self) -> str:
        return (
            f"{self.kind}, {self.workers} workers of {self.threads} threads, batches of {self.batch} {self.batch_type}"
        )


class Bench:
    """A model, its sentences, and the clock."""

    def __init__(self, model: Path, text: Text, count: int) -> None:
        self.directory, self.text = ModelDirectory(model), text
        self.tokenizer = load_tokenizer(self.directory)
        self.search = dataclasses.replace(self.directory.recipe.search, beam=_BEAM)
        self.sentences = list(dict.fromkeys(source for source, _ in text.train))[:count]
        self.pieces = [[self.tokenizer.pieces[i] for i in ids] + ["</s>"] for ids in self._encoded()]

    def _encoded(self) -> list[list[int]]:
        return self.tokenizer.encode_all(self.sentences)

    def ours(self, kind: str, *, shortlist: bool) -> Translator:
        """Our translator, the memory of sentences off."""
        engine = FastEngine(self.directory.exported(kind), shortlist=shortlist)
        longest = self.directory.recipe.pieces.max_length
        return Translator(engine, self.tokenizer, self.search, max_pieces=longest, remember=0)

    def direct(self, way: Way) -> Translate:
        """CTranslate2 called directly, on pieces that are made already."""
        engine = ctranslate2.Translator(
            str(self.directory.exported(way.kind)), inter_threads=way.workers, intra_threads=way.threads
        )
        return lambda some: engine.translate_batch(
            self.pieces[some],
            beam_size=_BEAM,
            length_penalty=self.search.length_penalty,
            max_batch_size=way.batch,
            batch_type=way.batch_type,
        )

    def text_to_text(self, kind: str, *, shortlist: bool) -> Translate:
        """Ours, with everything that a person gets."""
        translator = self.ours(kind, shortlist=shortlist)
        return lambda some: translator.translate(self.sentences[some])

    def speeds(self, ways: Sequence[Translate], rounds: int = 2) -> list[float]:
        """Sentences a second of each, in rounds, so that an hour in which the machine is slow is slow for all."""
        spent = [0.0] * len(ways)
        for _ in range(rounds):
            for number, translate in enumerate(ways):
                begun = time.perf_counter()
                translate(slice(None))
                spent[number] += time.perf_counter() - begun
        return [rounds * len(self.sentences) / seconds for seconds in spent]


def run() -> Iterator[Figure]:
    """Measure one after the other."""
    text = read_text()
    with tempfile.TemporaryDirectory() as room:
        model = Path(os.environ["MODEL"]) if "MODEL" in os.environ else _train(text, Path(room))
        bench = Bench(model, text, int(os.environ.get("SENTENCES", "10000")))
        sizes = bench.directory.recipe.model
        yield Figure(
            f"{len(bench.sentences):,} sentences of {text.name}, beam {_BEAM}, {sizes.encoder_layers}+"
            f"{sizes.decoder_layers} layers of width {sizes.width}, {len(bench.tokenizer):,} pieces"
        )
        yield from _against_direct(bench)
        yield from _alone(bench)
        yield _warm(bench)
        if os.environ.get("PEERS") != "0":
            yield from _against_peers(bench, model, Path(room))


def _train(text: Text, room: Path) -> Path:
    """Train a model of the default shape."""
    source, target = text.languages
    words = ("--from", source, "--to", target, "--minutes", os.environ.get("MINUTES", "5"), "--out", room / "model")
    run_command(dragoman("train", *text.files(room), *words))
    return room / "model"


def _choose_ways(bench: Bench) -> list[Way]:
    """Find the three best ways to call CTranslate2, on some of the sentences; the better third is tried twice."""
    some = slice(0, 1000)
    threads = dict.fromkeys([(cores(), 1), (1, cores()), (cores(), cores())])
    ways = [Way(kind, *how, *batch) for kind, how, batch in product(bench.directory.kinds(), threads, _BATCHES)]
    times: dict[Way, float] = {}
    for tried in range(2):
        for way in ways if tried == 0 else sorted(times, key=lambda way: times[way])[: len(ways) // 3]:
            translate, begun = bench.direct(way), time.perf_counter()
            translate(some)
            times[way] = min(times.get(way, math.inf), time.perf_counter() - begun)
    return sorted(times, key=lambda way: times[way])[:3]


def _against_direct(bench: Bench) -> Iterator[Figure]:
    """Ours, text to text, against CTranslate2 that gets pieces: as it is documented, and at its best."""
    kind, ways = bench.directory.kinds()[0], _choose_ways(bench)
    documented = [Way(kind, 1, cores(), 32, "examples") for kind in bench.directory.kinds()]
    as_documented = bench.speeds(list(map(bench.direct, documented)), rounds=1)
    for way, speed in zip(documented, as_documented, strict=True):
        yield Figure(f"CTranslate2 as documented ({way}): {speed:.0f} sentences/s")
    slow = max(as_documented)
    ours = [bench.text_to_text(kind, shortlist=shortlist) for shortlist in (False, True)]
    *direct, full, short = bench.speeds([*map(bench.direct, ways), *ours])
    for way, speed in zip(ways, direct, strict=True):
        yield Figure(f"CTranslate2 directly ({way}): {speed:.0f} sentences/s")
    fast = max(direct)
    yield Figure(
        f"dragoman ({kind}), text to text: {full:.0f} sentences/s, {full / slow:.1f} × the documented way (4 wanted), "
        f"{full / fast:.2f} × the best (0.97 wanted)",
        full >= 4 * slow and full >= 0.97 * fast,
    )
    yield _with_shortlist(bench, short, fast)


def _with_shortlist(bench: Bench, speed: float, best: float) -> Figure:
    """What a shortlist gains and loses."""
    kind = bench.directory.kinds()[0]
    sources, references = zip(*bench.text.dev, strict=True)
    ways = [bench.ours(kind, shortlist=shortlist) for shortlist in (False, True)]
    found = [[t.text for t in way.translate(sources)] for way in ways]
    before, after = (bleu(some, references, bench.text.languages[1]) for some in found)
    same = sum(a == b for a, b in zip(*found, strict=True))
    return Figure(
        f"dragoman --shortlist: {speed:.0f} sentences/s, {speed / best:.2f} × the best (1.3 wanted); BLEU on dev "
        f"{after:.2f} against {before:.2f} (0.1 may be lost), {same:,} of {len(sources):,} the same",
        speed >= 1.3 * best and before - after <= 0.1,
    )


def _alone(bench: Bench) -> Iterator[Figure]:
    """Count the sentences that are translated otherwise alone than with others."""
    kind, some = bench.directory.kinds()[0], bench.sentences[:500]
    for shortlist in (False, True):
        translator = bench.ours(kind, shortlist=shortlist)
        together = [t.text for t in translator.translate(some)]
        alone = [translator.translate([sentence])[0].text for sentence in some]
        other = sum(a != b for a, b in zip(together, alone, strict=True))
        name = "with a shortlist" if shortlist else "all pieces"
        yield Figure(f"translated otherwise alone than together, {name}: {other} of {len(some)}")


def _warm(bench: Bench) -> Figure:
    """One short sentence after another, ours and the bare engine in turn."""
    ours = bench.ours(bench.directory.kinds()[0], shortlist=False)
    bare = ctranslate2.Translator(
        str(bench.directory.exported(bench.directory.kinds()[0])), inter_threads=cores(), intra_threads=1
    )
    pieces = [[*(bench.tokenizer.pieces[i] for i in bench.tokenizer.encode_all([_WARM])[0]), "</s>"]]
    options = {"beam_size": _BEAM, "length_penalty": bench.search.length_penalty}
    ways: Sequence[Callable[[], Any]] = (
        lambda: ours.translate([_WARM]),
        lambda: bare.translate_batch(pieces, **options),
    )
    times: list[list[float]] = [[], []]
    for _ in range(200):
        for way, spent in zip(ways, times, strict=True):
            begun = time.perf_counter()
            way()
            spent.append(time.perf_counter() - begun)
    one, other = (statistics.median(spent[20:]) for spent in times)
    return Figure(
        f"one short sentence, warm: {1e3 * one:.2f} ms, {one / other:.2f} × the bare engine call (1.15 wanted at most)",
        one <= 1.15 * other,
    )


def _against_peers(bench: Bench, model: Path, room: Path) -> Iterator[Figure]:
    """Ours as it comes, against other toolkits with the same weights."""
    (speed,) = bench.speeds([bench.text_to_text(bench.directory.kinds()[0], shortlist=False)], rounds=1)
    source = room / "sources.json"
    for peer, way, batch, limit, wanted in _PEERS:
        step = max(1, len(bench.sentences) // limit)
        source.write_text(json.dumps(bench.tokenizer.encode_all(bench.sentences[::step])), encoding="utf-8")
        spec = {"model": model, "source": source, "beam": _BEAM, "max_length": 100, "batch": batch, "limit": limit}
        found = translate_speed(peer, spec)
        if "failed" in found:
            yield Figure(f"{peer}: not measured ({found['failed'][:200]})", met=False)
            continue
        ratio = speed / found["sentences_per_second"]
        yield Figure(
            f"{found['version']}, {way}: {found['sentences_per_second']:.1f} sentences/s; "
            f"dragoman {ratio:.0f} × ({wanted:g} wanted)",
            ratio >= wanted,
        )
