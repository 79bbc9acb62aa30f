"""What going on from a model buys against training from nothing, with little, some and much text of a new domain.

The model to start from has seen everyday sentences (Tatoeba) and nothing of the new domain, technical prose
(PYTHON_DOCS names the directory that holds its pairs.tsv.gz). START names it; without that it is trained for
START_MINUTES (20 unless given). SIZES are the numbers of pairs, and EACH the minutes that both ways get with each of
them (4, 10 and 25), side by side, on half of the cores each. Both are judged on the same 1,000 pairs that none has
seen, and the tuned models also on what was known before. What is begun and finished is kept in `.bench/finetune`, so
that a run of hours may be interrupted.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks.corpus import directory
from benchmarks.figure import Figure
from benchmarks.trained import asked_sizes, scored, trained, trained_at_once
from dragoman.checkpoint import find_model
from dragoman.data.corpus import Pair, read_pairs, write_pairs

_ROOM = Path(".bench/finetune")
_TEST_PAIRS = 1000
_LANGUAGES = ("--from", "en", "--to", "es")


def run() -> Iterator[Figure]:
    """Train both ways with every size, if the data is there."""
    old, new = directory("TATOEBA"), directory("PYTHON_DOCS") / "pairs.tsv.gz"
    if not (new.exists() and (old / "train.tsv.gz").exists()):
        yield Figure("skipped: no text (set TATOEBA and PYTHON_DOCS)")
        return
    _ROOM.mkdir(parents=True, exist_ok=True)
    asked = asked_sizes("2000,10000,40000", "4,10,25")
    test, *texts = _draw(new, [size for size, _ in asked])
    start = find_model(os.environ.get("START") or _learn(old))
    was, knew = scored(start, test), scored(start, old / "test.tsv.gz")
    yield Figure(f"the model to start from: {was} on the new domain, {knew} on its own", shown=True)
    for text, (_, minutes) in zip(texts, asked, strict=True):
        words: list[str | Path] = [text, "--test", test, "--minutes", minutes]
        nothing, tuned = trained_at_once(
            _ROOM,
            {
                f"{text.stem}-from-nothing": [*words, *_LANGUAGES],
                f"{text.stem}-from-model": [*words, "--start", start.absolute()],
            },
        )
        yield Figure(
            f"{text.stem} pairs, {minutes} minutes: {scored(nothing, test)} from nothing, {scored(tuned, test)} from "
            f"the model, which then has {scored(tuned, old / 'test.tsv.gz')} on its own domain",
            shown=True,
        )


def _learn(old: Path) -> Path:
    """Train the model to start from."""
    train, dev, test = (old / f"{name}.tsv.gz" for name in ("train", "val", "test"))
    words: list[str | Path] = [train, "--dev", dev, "--test", test, *_LANGUAGES]
    return trained(_ROOM, "start", [*words, "--minutes", os.environ.get("START_MINUTES", "20")])


def _draw(path: Path, sizes: Sequence[int]) -> list[Path]:
    """Write a test set and a training text of every size, each within the next, none with a source of the test."""
    pairs = list(read_pairs([path], "en", "es"))
    drawn = [pairs[n] for n in np.random.default_rng(1).permutation(len(pairs))]
    test, rest = drawn[:_TEST_PAIRS], drawn[_TEST_PAIRS:]
    seen = {pair.source for pair in test}
    rest = [pair for pair in rest if pair.source not in seen]
    named: list[tuple[str, list[Pair]]] = [("test", test), *((str(size), rest[:size]) for size in sizes)]
    files = [_ROOM / f"{name}.tsv" for name, _ in named]
    for file, (_, some) in zip(files, named, strict=True):
        write_pairs(file, some)
    return files
