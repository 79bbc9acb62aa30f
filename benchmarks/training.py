"""How fast training is: against the limit of matrix multiplication, and against other toolkits on the same batches.

All are measured in one run and compared as ratios. `PEERS=0` leaves the other toolkits out, whose environments take
gigabytes; `SECONDS` is how long each is measured.
"""

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.figure import Figure
from benchmarks.figure import run as run_command
from benchmarks.peers import train_speed
from dragoman.data.batches import make_batch, plan_epoch
from dragoman.data.corpus import read_pairs
from dragoman.data.grammar import generate
from dragoman.text.tokenizer import Tokenizer, train_tokenizer

_BATCHES, _BUDGET, _VOCABULARY = 60, 4096, 6000
_TINY = {"width": 128, "layers": 4, "heads": 4, "feed_forward": 256, "dropout": 0.3}
_WIDE = {"width": 256, "layers": 4, "heads": 4, "feed_forward": 1024, "dropout": 0.1}
_PEERS = {"joeynmt": 6.0, "transformers": 1.5, "eole": None, "plain_torch": None}
"""Other toolkits, and how many times as fast training should be."""


def run() -> Iterator[Figure]:
    """Measure the small network beside others, and a wider one against the limit."""
    seconds = float(os.environ.get("SECONDS", "40"))
    with tempfile.TemporaryDirectory() as room:
        batches = Path(room) / "batches.npz"
        yield Figure(_write_batches(batches))
        ours = _ours({**_TINY, "batches": str(batches), "vocabulary": _VOCABULARY, "seconds": seconds})
        yield _against_limit("4+4 layers, width 128", ours, 0.60)
        for peer, wanted in _PEERS.items() if os.environ.get("PEERS") != "0" else ():
            found = train_speed(peer, {**_TINY, "batches": batches, "vocabulary": _VOCABULARY, "seconds": seconds})
            yield _against_peer(peer, found, ours["pieces_per_second"], wanted)
        wide = _ours({**_WIDE, "batches": str(batches), "vocabulary": _VOCABULARY, "seconds": seconds})
        yield _against_limit("4+4 layers, width 256", wide, 0.80)


def _against_limit(name: str, ours: dict[str, Any], wanted: float) -> Figure:
    share = ours["pieces_per_second"] / ours["limit"]
    return Figure(
        f"{name}: {ours['pieces_per_second']:,.0f} target pieces/s, {share:.2f} of the {ours['limit']:,.0f} that "
        f"products of {ours['gigaflops']:.0f} GFLOP/s allow ({wanted:.2f} wanted)",
        share >= wanted,
    )


def _against_peer(peer: str, found: dict[str, Any], ours: float, wanted: float | None) -> Figure:
    if "failed" in found:
        return Figure(f"{peer}: not measured ({found['failed'][:200]})", None if wanted is None else False)
    ratio = ours / found["pieces_per_second"]
    more = f" ({wanted:g} wanted)" if wanted else ""
    text = f"{peer} {found['version']}: {found['pieces_per_second']:,.0f} target pieces/s; dragoman {ratio:.1f} ×{more}"
    return Figure(text, None if wanted is None else ratio >= wanted)


def _write_batches(path: Path) -> str:
    """Write the batches that all learn from: Multi30k if it is there, else the built-in corpus."""
    data = Path(os.environ.get("MULTI30K", "../shared/data/multi30k-en-de"))
    if (data / "train.en.gz").exists():
        name, pairs = "Multi30k", [(p.source, p.target) for p in read_pairs([data / "train"], "en", "de")]
    else:
        name, pairs = "the built-in corpus", [(e.source, e.target) for e in generate(30_000, 1)]
    tokenizer = Tokenizer(train_tokenizer((side for pair in pairs for side in pair), _VOCABULARY))
    sides = [tokenizer.encode_all([pair[side] for pair in pairs]) for side in (0, 1)]
    lengths = np.array([[len(a), len(b)] for a, b in zip(*sides, strict=True)], np.uint16)
    arrays = {}
    for number, chosen in enumerate(plan_epoch(lengths, _BUDGET, seed=1, epoch=0)[:_BATCHES]):
        batch = make_batch(*([side[n] for n in chosen.tolist()] for side in sides))
        arrays.update({f"{field}_{number}": array for field, array in batch._asdict().items()})
    np.savez(path, **arrays)
    return f"{_BATCHES} batches of {_BUDGET:,} pieces from {name}, {len(tokenizer):,} pieces in the vocabulary"


def _ours(request: dict[str, Any]) -> dict[str, Any]:
    """Train in a process of its own, as the command does."""
    found: dict[str, Any] = json.loads(
        run_command([sys.executable, "-m", "benchmarks.updates", json.dumps(request)]).out
    )
    return found
