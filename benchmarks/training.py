"""How fast training is: against the limit of matrix multiplication, and against other toolkits on the same batches.

All are measured in one run and compared as ratios. `PEERS=0` leaves the other toolkits out, whose environments take
gigabytes; `SECONDS` is how long each is measured.
"""

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.figure import Figure
from benchmarks.figure import run as run_command
from benchmarks.peers import train_speed

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
    from dragoman.data.batches import make_batch, plan_epoch
    from dragoman.data.grammar import generate
    from dragoman.text.tokenizer import Tokenizer, train_tokenizer

    data = Path(os.environ.get("MULTI30K", "../shared/data/multi30k-en-de"))
    if (data / "train.en.gz").exists():
        from dragoman.data.corpus import read_pairs

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
        run_command([sys.executable, "-m", "benchmarks.training", json.dumps(request)]).out
    )
    return found


def measure(request: dict[str, Any]) -> dict[str, float]:
    """Train on the batches for some seconds, in short turns with the product that is the limit."""
    from contextlib import closing

    from dragoman.config import Model, Recipe, Training
    from dragoman.data.batches import Batch
    from dragoman.training.crew import Crew
    from dragoman.training.learner import Learner
    from dragoman.training.memory import keep_memory
    from dragoman.training.plan import default_processes

    keep_memory()
    with np.load(request["batches"]) as arrays:
        batches = [Batch(*(arrays[f"{field}_{n}"] for field in Batch._fields)) for n in range(_BATCHES)]
    model = Model(
        encoder_layers=request["layers"],
        decoder_layers=request["layers"],
        **{name: request[name] for name in ("width", "heads", "feed_forward", "dropout")},
    )
    speeds, products = [], [_multiply()]
    with closing(Crew(default_processes())) as crew:
        learner = Learner(Recipe(model=model, training=Training(batch_pieces=_BUDGET)), request["vocabulary"], crew)
        turns, update = max(1, round(request["seconds"] / 8)), 0
        for turn in range(-1, turns):  # the first one warms up
            pieces, begun = 0, time.perf_counter()
            while time.perf_counter() - begun < (2 if turn < 0 else 8):
                update += 1
                batch = batches[update % len(batches)]
                learner.update(batch, update, 1e-4)
                pieces += batch.pieces
            if turn >= 0:
                speeds.append(pieces / (time.perf_counter() - begun))
            products.append(_multiply())
    source, target = (sum(int(np.count_nonzero(getattr(b, side))) for b in batches) for side in ("source", "wanted"))
    d, f = request["width"], request["feed_forward"]
    encoder, decoder = request["layers"] * (4 * d * d + 2 * d * f), request["layers"] * (8 * d * d + 2 * d * f)
    operations = 6 * (encoder * source / target + decoder + request["vocabulary"] * d)
    gigaflops = statistics.median(products)
    return {
        "pieces_per_second": statistics.median(speeds),
        "gigaflops": gigaflops,
        "limit": gigaflops * 1e9 / operations,
    }


def _multiply() -> float:
    """GFLOP/s of a product of 1,024³ on all cores, best of ten: PyTorch's, with as many threads as there are cores."""
    import torch

    from dragoman.machine import cores

    before = torch.get_num_threads()
    torch.set_num_threads(cores())
    left = torch.ones(1024, 1024)
    times = []
    for _ in range(10):
        begun = time.perf_counter()
        left @ left
        times.append(time.perf_counter() - begun)
    torch.set_num_threads(before)
    return 2 * 1024**3 / min(times) / 1e9


if __name__ == "__main__":
    print(json.dumps(measure(json.loads(sys.argv[1]))))
