"""What going on from a model buys against training from nothing, with little, some and much text of a new domain.

The model to start from has seen everyday sentences (Tatoeba) and nothing of the new domain, technical prose
(PYTHON_DOCS names the directory that holds its pairs.tsv.gz). START names it; without that it is trained for
START_MINUTES (30 unless given). SIZES are the numbers of pairs; every training takes MINUTES (10), and both ways are
judged on the same 1,000 pairs that none has seen, and what was started from also on what it knew before. What is
finished is kept in `.bench/finetune`, so that a run of hours may be interrupted.
"""

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks.figure import Figure, dragoman
from benchmarks.figure import run as run_command
from dragoman.data.corpus import Pair, read_pairs, write_pairs

_ROOM = Path(".bench/finetune")
_TEST_PAIRS = 1000
_LANGUAGES = ("--from", "en", "--to", "es")


def run() -> Iterator[Figure]:
    """Train both ways with every size, if the data is there."""
    old = Path(os.environ.get("TATOEBA", "../shared/data/tatoeba-en-es"))
    new = Path(os.environ.get("PYTHON_DOCS", "../shared/data/python-docs-en-es")) / "pairs.tsv.gz"
    if not (new.exists() and (old / "train.tsv.gz").exists()):
        yield Figure("skipped: no text (set TATOEBA and PYTHON_DOCS)")
        return
    _ROOM.mkdir(parents=True, exist_ok=True)
    test, *trains = _draw(new, [int(size) for size in os.environ.get("SIZES", "2000,10000,40000").split(",")])
    start = Path(os.environ["START"]) if "START" in os.environ else _ROOM / "start"
    minutes = os.environ.get("START_MINUTES", "30")
    _train(start, [old / "train.tsv.gz", "--dev", old / "val.tsv.gz", *_LANGUAGES, "--minutes", minutes])
    was, knew = _score(start, test), _score(start, old / "test.tsv.gz")
    yield Figure(f"the model to start from: {was} on the new domain, {knew} on its own")
    for train in trains:
        minutes = os.environ.get("MINUTES", "10")
        nothing, tuned = _ROOM / f"{train.stem}-from-nothing", _ROOM / f"{train.stem}-from-model"
        _train(nothing, [train, *_LANGUAGES, "--minutes", minutes])
        _train(tuned, [train, "--start", start, "--minutes", minutes])
        yield Figure(
            f"{train.stem} pairs, {minutes} minutes: {_score(nothing, test)} from nothing, {_score(tuned, test)} from "
            f"the model, which then has {_score(tuned, old / 'test.tsv.gz')} on its own domain"
        )


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


def _train(out: Path, words: Sequence[str | Path]) -> None:
    """Train a model, or go on, or leave it as it is if it is finished."""
    if not (out / "card.json").exists():
        again = (out / "run" / "request.json").exists()
        run_command(dragoman("train", *(["--resume"] if again else words), "--out", out, "--quiet"))


def _score(model: Path, test: Path) -> str:
    told = json.loads(run_command(dragoman("evaluate", "-m", model, test, "--worst", "0", "--json")).out)
    bleu, chrf = (told["scores"][name]["score"] for name in ("bleu", "chrf"))
    return f"BLEU {bleu:.1f} / chrF {chrf:.1f}"
