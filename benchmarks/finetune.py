"""What going on from a model buys against training from nothing, with little, some and much text of a new domain.

The model to start from has seen everyday sentences (Tatoeba) and nothing of the new domain, technical prose
(PYTHON_DOCS names the directory that holds its pairs.tsv.gz). START names it; without that it is the one that `sizing`
makes of 50,000 pairs in 20 minutes. SIZES are the numbers of pairs, and EACH the minutes that both ways get with each
of them (2,000, 10,000 and 40,000: 4, 10 and 20). Beside them the least is learned for as long as `--start` takes by
itself, and the second with the old domain mixed in. Two are trained at a time, on half of the cores each; all are
judged on the same 1,000 pairs that none has seen, and on the old domain. What is begun and finished is kept in
`.bench/finetune`, so that it may be interrupted.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.corpus import need
from benchmarks.figure import Figure
from benchmarks.sizing import learn
from benchmarks.trained import asked_sizes, scored, trained_at_once
from dragoman.checkpoint import find_model
from dragoman.data.corpus import Pair, read_pairs, write_pairs

_ROOM = Path(".bench/finetune")
_TEST_PAIRS = 1000
_START = (50_000, "20")
"""The pairs that the model to start from learns, and the minutes it takes."""


class Way(NamedTuple):
    """A way to learn so many pairs: for so many minutes, or as long as it takes by itself."""

    size: int
    minutes: str = ""
    start: bool = True
    mixed: bool = False

    @property
    def name(self) -> str:
        """The directory's."""
        minutes, start, mixed = self.minutes or "any", "model" if self.start else "nothing", "-mixed" * self.mixed
        return f"{self.size}-{minutes}-from-{start}{mixed}"

    def __str__(self) -> str:
        minutes = f"{self.minutes} minutes" if self.minutes else "ten times through them"
        start = "from the model" if self.start else "from nothing"
        return f"{self.size:,} pairs, {minutes}, {start}{', the old domain mixed in' if self.mixed else ''}"

    def words(self, start: Path, old: Path, test: Path) -> list[str | Path]:
        """What is said to `dragoman train`."""
        spoken: list[str | Path] = ["--start", start.absolute()] if self.start else ["--from", "en", "--to", "es"]
        mixed: list[str | Path] = ["--mix", old / "train.tsv.gz"] if self.mixed else []
        promised = ["--minutes", self.minutes] if self.minutes else []
        return [_ROOM / f"{self.size}.tsv", "--test", test, *promised, *spoken, *mixed]


def run() -> Iterator[Figure]:
    """Train both ways with every size."""
    old = need("TATOEBA", "train.tsv.gz", "test.tsv.gz")
    new = need("PYTHON_DOCS", "pairs.tsv.gz") / "pairs.tsv.gz"
    _ROOM.mkdir(parents=True, exist_ok=True)
    ways = _ways(asked_sizes("2000,10000,40000", "4,10,20"))
    new_test, old_test = _draw(new, sorted({way.size for way in ways})), old / "test.tsv.gz"
    start = find_model(os.environ.get("START") or learn(old, [_START])[0])
    models = trained_at_once(_ROOM, {way.name: way.words(start, old, new_test) for way in ways}, at_once=2)
    for told, model in [("the model to start from", start), *zip(map(str, ways), models, strict=True)]:
        yield Figure(
            f"{told}: {scored(model, new_test)} on the new domain; {scored(model, old_test)} on the old", shown=True
        )


def _ways(asked: Sequence[tuple[int, str]]) -> list[Way]:
    """Both ways with every size; the first size as it comes, and the second with the old domain mixed in."""
    both = [Way(size, minutes, start) for size, minutes in asked for start in (False, True)]
    as_it_comes = [Way(size) for size, _ in asked[:1]]
    mixed = [Way(size, minutes, mixed=True) for size, minutes in asked[1:2]]
    return [*both, *as_it_comes, *mixed]


def _draw(path: Path, sizes: Sequence[int]) -> Path:
    """Write a training text of every size, each within the next, and a test set, no source of which is in them."""
    pairs = list(read_pairs([path], "en", "es"))
    drawn = [pairs[n] for n in np.random.default_rng(1).permutation(len(pairs))]
    test, rest = drawn[:_TEST_PAIRS], drawn[_TEST_PAIRS:]
    seen = {pair.source for pair in test}
    rest = [pair for pair in rest if pair.source not in seen]
    named: list[tuple[str, list[Pair]]] = [(str(size), rest[:size]) for size in sizes]
    for name, some in [*named, ("test", test)]:
        write_pairs(_ROOM / f"{name}.tsv", some)
    return _ROOM / "test.tsv"
