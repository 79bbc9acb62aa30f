"""The ways to call an engine: a model with its sentences, the clock, and the best settings of CTranslate2's own."""

import dataclasses
import statistics
import time
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import ctranslate2

from benchmarks.corpus import Text
from dragoman.checkpoint import ModelDirectory
from dragoman.engine.fast import FastEngine
from dragoman.engine.load import load_tokenizer
from dragoman.engine.shortlist import SHORTLIST
from dragoman.engine.translator import Translator
from dragoman.machine import cores

BEAM = 5
LONGEST = 100
"""Pieces after which all stop: no right translation is longer, and a model of a minute may never end by itself."""
_BATCHES = (
    *((size, "examples") for size in (16, 32, 64)),
    *((size, "tokens") for size in (256, 512, 1024, 2048, 4096)),
)
_FIRST_BATCHES = ((32, "examples"), (1024, "tokens"))
_FIRST, _SECOND, _THIRD = 200, 2000, 5000  # sentences; the second and third are several of the largest batches for all
_FINALISTS = 3

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
        self.search = dataclasses.replace(self.directory.recipe.search, beam=BEAM, max_length=LONGEST)
        self.sentences = list(dict.fromkeys(source for source, _ in text.train))[:count]
        self.encoded = self.tokenizer.encode_all([self.tokenizer.familiar(one) for one in self.sentences])
        self.pieces = [[*(self.tokenizer.pieces[i] for i in ids), "</s>"] for ids in self.encoded]

    @property
    def options(self) -> dict[str, Any]:
        """The search in CTranslate2's own words."""
        return {"beam_size": BEAM, "length_penalty": self.search.length_penalty, "max_decoding_length": LONGEST}

    @property
    def kind(self) -> str:
        """The kind of export that is used unless another is asked for."""
        return self.directory.kinds()[0]

    @property
    def shortlists(self) -> tuple[bool, ...]:
        """Without a shortlist, and with it, if the model got one."""
        return (False, True) if (self.directory.exported(self.kind) / SHORTLIST).is_file() else (False,)

    def ours(self, *, shortlist: bool = False) -> Translator:
        """Our translator, the memory of sentences off."""
        engine = FastEngine(self.directory.exported(self.kind), shortlist=shortlist)
        longest = self.directory.recipe.pieces.max_length
        return Translator(engine, self.tokenizer, self.search, max_pieces=longest, remember=0)

    def text_to_text(self, *, shortlist: bool = False) -> Translate:
        """Ours, with everything that a person gets."""
        translator = self.ours(shortlist=shortlist)
        return lambda some: translator.translate(self.sentences[some])

    def direct(self, way: Way) -> Translate:
        """CTranslate2 called directly, on pieces that are made already."""
        engine = ctranslate2.Translator(
            str(self.directory.exported(way.kind)), inter_threads=way.workers, intra_threads=way.threads
        )
        return lambda some: engine.translate_batch(
            self.pieces[some],
            **self.options,
            max_batch_size=way.batch,
            batch_type=way.batch_type,
        )

    def speed(self, translate: Translate, most: int) -> float:
        """Sentences a second, on the first of them."""
        begun = time.perf_counter()
        translate(slice(most))
        return len(self.sentences[:most]) / (time.perf_counter() - begun)

    def speeds(self, ways: Sequence[Translate], rounds: int) -> list[float]:
        """Sentences a second of each, the median of rounds, so that when the machine is slow it is slow for all."""
        speeds = [[self.speed(translate, len(self.sentences)) for translate in ways] for _ in range(rounds)]
        return [statistics.median(found) for found in zip(*speeds, strict=True)]


def choose_ways(bench: Bench) -> list[Way]:
    """Find the best ways to call CTranslate2.

    Workers and threads matter most: each is tried with small and with large batches, and is out if it is not half as
    fast as the best. The others are tried with all batches, and the better third of those once more.
    """
    threads = dict.fromkeys([(cores(), 1), (1, cores()), (cores(), cores())])
    ways = [Way(kind, *how, *batch) for kind, how, batch in product(bench.directory.kinds(), threads, _BATCHES)]
    first = _race(bench, [way for way in ways if (way.batch, way.batch_type) in _FIRST_BATCHES], _FIRST)
    fit = {way[:3] for way, speed in first.items() if speed >= max(first.values()) / 2}
    second = _race(bench, [way for way in ways if way[:3] in fit], _SECOND)
    third = _race(bench, _best(second, max(_FINALISTS, len(second) // 3)), _THIRD)
    return _best(third, _FINALISTS)


def _race(bench: Bench, ways: Sequence[Way], most: int) -> dict[Way, float]:
    speeds = {}
    for way in ways:
        translate = bench.direct(way)
        translate(slice(way.workers))  # a first call is slower
        speeds[way] = bench.speed(translate, most)
    return speeds


def _best(speeds: dict[Way, float], count: int) -> list[Way]:
    return sorted(speeds, key=lambda way: -speeds[way])[:count]
