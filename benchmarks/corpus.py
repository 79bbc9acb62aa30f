"""The text that is measured on: Multi30k if it is there, else the built-in corpus; and for some, Tatoeba.

The data is not part of the project: MULTI30K names the directory that holds train, val and test_2016_flickr as
`.en.gz` and `.de.gz`, TATOEBA the one that holds English and Spanish as train.tsv.gz, val.tsv.gz and test.tsv.gz,
PYTHON_DOCS and TICO19 those that hold English and Spanish as pairs.tsv.gz, FLORES the one of dev.en.gz and dev.es.gz.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.figure import Figure, NotHereError
from dragoman.data.batches import make_batch
from dragoman.data.corpus import read_pairs
from dragoman.data.grammar import generate

_MULTI30K = "Multi30k"


class Text(NamedTuple):
    """Pairs to learn from, pairs to be judged by, and where they come from."""

    name: str
    languages: tuple[str, str]
    train: list[tuple[str, str]]
    dev: list[tuple[str, str]]

    def files(self, room: Path) -> list[str | Path]:
        """The pairs as files, written into a room, and the words that name them to `dragoman train`."""
        for name, pairs in (("train", self.train), ("dev", self.dev)):
            lines = "".join(f"{source}\t{target}\n" for source, target in pairs)
            (room / f"{name}.tsv").write_text(lines, encoding="utf-8", newline="\n")
        return [room / "train.tsv", "--dev", room / "dev.tsv"]

    def judged(self, figure: Figure) -> Figure:
        """What was set out for is Multi30k's: of other text it is neither reached nor missed, and says so."""
        if self.name == _MULTI30K or figure.met is None:
            return figure
        return figure._replace(text=f"{figure.text} (but on {self.name})", met=None, shown=True)


_DIRECTORIES = {
    "MULTI30K": "multi30k-en-de",
    "TATOEBA": "tatoeba-en-es",
    "TICO19": "tico19-en-es",
    "PYTHON_DOCS": "python-docs-en-es",
    "FLORES": "flores-en-es",
}


def directory(variable: str) -> Path:
    """The directory that a variable names, or where such text usually lies; it need not be there."""
    return Path(os.environ.get(variable, f"../shared/data/{_DIRECTORIES[variable]}"))


def multi30k() -> Path | None:
    """The directory that holds Multi30k, if there is one."""
    data = directory("MULTI30K")
    return data if (data / "train.en.gz").exists() else None


def need_multi30k() -> Path:
    """The directory that holds Multi30k."""
    return need("MULTI30K", "train.en.gz")


def need(variable: str, *files: str) -> Path:
    """The directory that a variable names, if these files are in it."""
    found = directory(variable)
    for file in files:
        if not (found / file).is_file():
            raise NotHereError(f"there is no {found / file}; {variable} names the directory")
    return found


def multi30k_words(data: Path, source: str = "en", target: str = "de") -> list[str | Path]:
    """Multi30k as the words that name it to `dragoman train`."""
    train, dev, test = (data / name for name in ("train", "val", "test_2016_flickr"))
    return [train, "--from", source, "--to", target, "--dev", dev, "--test", test]


def read_text() -> Text:
    """Read Multi30k, or generate as much."""
    if data := multi30k():
        sides = [[(p.source, p.target) for p in read_pairs([data / name], "en", "de")] for name in ("train", "val")]
        return Text(_MULTI30K, ("en", "de"), *sides)
    pairs = [(e.source, e.target) for e in generate(30_000, 1)]
    return Text("the built-in corpus", ("en", "es"), pairs[1000:], pairs[:1000])


def read_tatoeba(pairs: int, seed: int = 1) -> Text | None:
    """Read some pairs of Tatoeba, drawn at random, if it is there."""
    data = directory("TATOEBA")
    if not (data / "train.tsv.gz").exists():
        return None
    train, dev = (
        [(p.source, p.target) for p in read_pairs([data / f"{name}.tsv.gz"], "en", "es")] for name in ("train", "val")
    )
    drawn = np.random.default_rng(seed).permutation(len(train))[:pairs]
    return Text(f"Tatoeba, {len(drawn):,} pairs", ("en", "es"), [train[n] for n in drawn], dev[:1000])


def save_batches(path: Path, sides: Sequence[Sequence[list[int]]], plan: Sequence[list[int]]) -> None:
    """Write the pairs of a plan as batches, in the form that the peers' programs read."""
    arrays = {}
    for number, chosen in enumerate(plan):
        batch = make_batch(*([side[n] for n in chosen] for side in sides))
        arrays.update({f"{field}_{number}": array for field, array in batch._asdict().items()})
    np.savez(path, **arrays)
