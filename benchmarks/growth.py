"""How speed and memory grow: with the length of a sentence, with the batch, with the corpus.

Ours stands beside others where others can do the same. Sentences are random pieces, all of one length, and networks
have hardly learned, so that a translation is as long as it may be: what is measured is the work. SECONDS is how long
each training is measured (5 unless given), `PEERS=0` leaves the others out.
"""

import dataclasses
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cold import small_model
from benchmarks.corpus import save_batches
from benchmarks.figure import Figure, dragoman
from benchmarks.figure import run as run_command
from benchmarks.peers import train_speed, translate_speed
from dragoman.checkpoint import ModelDirectory
from dragoman.engine.fast import FastEngine
from dragoman.engine.load import load_tokenizer

_SIZES = {"width": 128, "layers": 4, "heads": 4, "feed_forward": 256, "dropout": 0.3}
_VOCABULARY = 6000
_LENGTHS = (8, 32, 128)
_BATCHES = (1024, 4096, 16384)
_USUAL_LENGTH, _USUAL_BATCH = 16, 4096
_SENTENCES = 64
_CORPORA = (10_000, 100_000, 300_000)


def run() -> Iterator[Figure]:
    """Train, translate and read, little and much."""
    peers = ["transformers", "plain_torch"] if os.environ.get("PEERS") != "0" else []
    with tempfile.TemporaryDirectory() as place:
        room = Path(place)
        cases = {f"{n} pieces a sentence": (n, _USUAL_BATCH) for n in _LENGTHS}
        cases |= {f"batches of {size:,} pieces": (_USUAL_LENGTH, size) for size in _BATCHES}
        for name, (length, budget) in cases.items():
            yield Figure(f"training, target pieces a second, {name}: {_train(room, length, budget, peers)}")
        model = small_model(room)
        for length in _LENGTHS:
            yield Figure(f"translating, milliseconds a sentence, {length} pieces each way: {_translate(model, length)}")
        for pairs in _CORPORA:
            yield _check(room, pairs)


def _train(room: Path, length: int, budget: int, peers: Sequence[str]) -> str:
    """Ours and others on the same batches."""
    rows = budget // (length + 1)
    pieces = np.random.default_rng(1).integers(4, _VOCABULARY, size=(2, 4 * rows, length)).tolist()
    save_batches(room / "batches.npz", pieces, np.arange(4 * rows).reshape(4, rows).tolist())
    request = {
        **_SIZES,
        "vocabulary": _VOCABULARY,
        "batches": room / "batches.npz",
        "seconds": float(os.environ.get("SECONDS", "5")),
    }
    words = [sys.executable, "-m", "benchmarks.updates", json.dumps({**request, "optimiser": "muon"}, default=str)]
    found = {"dragoman": json.loads(run_command(words).out)}
    found |= {peer: train_speed(peer, request) for peer in peers}
    return _beside({name: answer.get("pieces_per_second") for name, answer in found.items()}, "{:,.0f}")


def _translate(model: Path, length: int) -> str:
    """Ours and Hugging Face's, beam 5, in batches."""
    directory = ModelDirectory(model)
    vocabulary = len(load_tokenizer(directory))
    sources = np.random.default_rng(1).integers(4, vocabulary, size=(_SENTENCES, length)).tolist()
    engine = FastEngine(directory.exported(directory.kinds()[0]))
    search = dataclasses.replace(directory.recipe.search, beam=5, max_length=length)
    engine.translate(sources[:8], search)
    begun = time.perf_counter()
    engine.translate(sources, search)
    found: dict[str, Any] = {"dragoman": {"seconds": time.perf_counter() - begun}}
    if os.environ.get("PEERS") != "0":
        file = model.parent / "sources.json"
        file.write_text(json.dumps(sources), encoding="utf-8")
        spec = {"model": model, "source": file, "beam": 5, "max_length": length, "batch": 32}
        found["transformers"] = translate_speed("transformers", spec)
    return _beside(
        {name: answer.get("seconds") and 1000 * answer["seconds"] / _SENTENCES for name, answer in found.items()},
        "{:.1f}",
    )


def _beside(found: dict[str, float | None], form: str) -> str:
    """The figures of all, ours first."""
    return ", ".join(f"{name} {'not measured' if x is None else form.format(x)}" for name, x in found.items())


def _check(room: Path, pairs: int) -> Figure:
    """Reading and judging a corpus."""
    words = ("river", "bank", "dog", "letter", "house", "street", "boat", "teacher", "garden", "book")
    with (room / "pairs.tsv").open("w", encoding="utf-8") as file:
        for number in range(pairs):
            text = " ".join(words[int(digit)] for digit in f"{number:07d}")
            file.write(f"{text}\t{text[::-1]}\n")
    ran = run_command(dragoman("check", room / "pairs.tsv", "--from", "en", "--to", "es"))
    return Figure(f"reading a corpus, {pairs:,} pairs: {ran.seconds:.1f} s, {ran.megabytes:.0f} MB")
