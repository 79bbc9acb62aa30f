"""How speed and memory grow: with the length of a sentence, with the batch, with the corpus.

Ours stands beside others where others can do the same. Sentences are random pieces, all of one length, and a
translation has as many pieces as its source: what is measured is the work. SECONDS is how long each training is
measured (5 unless given), `PEERS=0` leaves the others out.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import ctranslate2
import numpy as np

from benchmarks.cold import small_model
from benchmarks.corpus import save_batches
from benchmarks.figure import Figure, dragoman
from benchmarks.figure import run as run_command
from benchmarks.peers import train_speed, translate_speed
from dragoman.checkpoint import ModelDirectory
from dragoman.engine.load import load_tokenizer
from dragoman.machine import cores

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
    """Ours and Hugging Face's, beam 5, in batches; each must write as many pieces as it reads.

    A translation that ends early is no work, so the end is forbidden. Our engine cannot be told that, and is called as
    it calls CTranslate2.
    """
    directory = ModelDirectory(model)
    pieces = load_tokenizer(directory).pieces
    sources = np.random.default_rng(1).integers(4, len(pieces), size=(_SENTENCES, length)).tolist()
    words = [[*(pieces[number] for number in source), "</s>"] for source in sources]
    engine = ctranslate2.Translator(
        str(directory.exported(directory.kinds()[0])), inter_threads=cores(), intra_threads=1
    )
    share = -(-_SENTENCES * (length + 1) // cores())
    options = {"beam_size": 5, "max_batch_size": max(length + 1, min(share, 512)), "batch_type": "tokens"}
    engine.translate_batch(words[:8], **options)
    begun = time.perf_counter()
    done = engine.translate_batch(words, **options, min_decoding_length=length, max_decoding_length=length)
    found: dict[str, Any] = {"dragoman": {"seconds": time.perf_counter() - begun}}
    written = {"dragoman": [result.hypotheses[0] for result in done]}
    if os.environ.get("PEERS") != "0":
        file = model.parent / "sources.json"
        file.write_text(json.dumps(sources), encoding="utf-8")
        lengths = {"min_length": length, "max_length": length}
        found["transformers"] = translate_speed(
            "transformers", {"model": model, "source": file, "beam": 5, "batch": 32, **lengths}
        )
        written["transformers"] = found["transformers"].get("outputs", [])
    for name, outputs in written.items():
        if any(len(output) != length for output in outputs):
            raise SystemExit(f"{name} was to write {length} pieces, but wrote {sorted(set(map(len, outputs)))}")
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
