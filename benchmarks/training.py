"""How fast training is: against the limit of matrix multiplication, and against other toolkits on the same batches.

All are measured in one run and compared as ratios: another toolkit with ours just before it and just after it.
`PEERS=0` leaves the other toolkits out, whose environments take gigabytes, and `PEERS=few` those of which nothing is
wanted; `SECONDS` is how long each is measured.
"""

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.corpus import Text, read_text, save_batches
from benchmarks.figure import Figure
from benchmarks.figure import run as run_command
from benchmarks.peers import train_speed, wanted_peers
from dragoman.data.batches import plan_epoch
from dragoman.text.tokenizer import Tokenizer, train_tokenizer
from dragoman.training.sizes import default_precision

_BATCHES, _BUDGET, _VOCABULARY = 60, 4096, 6000
_TINY = {"width": 128, "layers": 4, "heads": 4, "feed_forward": 256, "dropout": 0.3}
_WIDE = {"width": 256, "layers": 4, "heads": 4, "feed_forward": 1024, "dropout": 0.1}
_OPTIMISERS = {"muon": "Muon (the default)", "adamw": "AdamW"}
_PEERS = (
    ("joeynmt as its users run it, in batches of any length", 6.0),
    ("joeynmt on the same batches", None),
    ("transformers", 1.5),
    ("eole", None),
    ("plain_torch", None),
)
"""Other toolkits, on the same batches unless they make their own, and how many times as fast training should be."""


def run() -> Iterator[Figure]:
    """Measure the small network beside others, and a wider one against the limit; each with both optimisers.

    Muon's matrices are work that the limit does not count, and that the others, who use Adam, do not do. The limit is
    that of float32, which the others compute with, and so do we beside them on the same batches; what bfloat16 makes of
    it, where it is the default, is told beside.
    """
    seconds, text = float(os.environ.get("SECONDS", "40")), read_text()
    with tempfile.TemporaryDirectory() as place:
        room = Path(place)
        yield Figure(_write_batches(text, room))
        common = {"batches": room / "batches.npz", "vocabulary": _VOCABULARY, "seconds": seconds}
        for sizes, wanted in ((_TINY, 0.60), (_WIDE, 0.80)):
            for optimiser in ("muon", "adamw"):
                ours = _ours({**sizes, **common, "optimiser": optimiser})
                name = f"4+4 layers, width {sizes['width']}, {_OPTIMISERS[optimiser]}"
                yield text.judged(_against_limit(name, ours, wanted))
            if default_precision("cpu") == "bfloat16":
                yield _beside_limit(
                    _ours({**sizes, **common, "optimiser": "muon", "precision": "bfloat16"}), sizes["width"]
                )
        yield from map(text.judged, _against_peers({**_TINY, **common}, room))


def _against_limit(name: str, ours: dict[str, Any], wanted: float) -> Figure:
    return Figure(
        f"{name}: {ours['pieces_per_second']:,.0f} target pieces/s, {ours['share']:.2f} of the {ours['limit']:,.0f} "
        f"that products of {ours['gigaflops']:.0f} GFLOP/s allow ({wanted:.2f} wanted)",
        ours["share"] >= wanted,
    )


def _beside_limit(ours: dict[str, Any], width: float) -> Figure:
    return Figure(
        f"4+4 layers, width {width}, Muon, products of bfloat16, the default on this processor: "
        f"{ours['pieces_per_second']:,.0f} target pieces/s, {ours['share']:.2f} of the limit of float32",
        shown=True,
    )


def _against_peers(common: dict[str, Any], room: Path) -> Iterator[Figure]:
    """Measure the others, and ours before and after each: where they run as users run them, ours does too."""
    for peer, wanted in wanted_peers(_PEERS):
        usual = "as its users" in peer
        own = {"batches": room / "unsorted.npz"} if usual else {}
        precision = default_precision("cpu") if usual else "float32"
        shortly = {**common, "optimiser": "muon", "precision": precision, "seconds": common["seconds"] / 4}
        before = _ours(shortly)["pieces_per_second"]
        found = train_speed(peer.split()[0], {**common, **own})
        after = _ours(shortly)["pieces_per_second"]
        yield _against_peer(peer, found, (before + after) / 2, wanted, precision)


def _against_peer(peer: str, found: dict[str, Any], ours: float, wanted: float | None, precision: str) -> Figure:
    if "failed" in found:
        return Figure(f"{peer}: not measured ({found['failed'][:200]})", None if wanted is None else False, shown=True)
    ratio = ours / found["pieces_per_second"]
    more = f" ({wanted:g} wanted)" if wanted else ""
    text = (
        f"{peer} ({found['version']}): {found['pieces_per_second']:,.0f} target pieces/s; dragoman in {precision} "
        f"{ours:,.0f} before and after, {ratio:.1f} ×{more}"
    )
    return Figure(text, None if wanted is None else ratio >= wanted, shown=True)


def _write_batches(text: Text, room: Path) -> str:
    """Write the batches that all learn from, and those that Joey NMT would make of the same pairs."""
    tokenizer = Tokenizer(train_tokenizer((side for pair in text.train for side in pair), _VOCABULARY))
    sides = [tokenizer.encode_all([pair[side] for pair in text.train]) for side in (0, 1)]
    lengths = np.array([[len(a), len(b)] for a, b in zip(*sides, strict=True)], np.uint16)
    ours = [chosen.tolist() for chosen in plan_epoch(lengths, _BUDGET, seed=1, epoch=0)]
    save_batches(room / "batches.npz", sides, ours[:_BATCHES])
    save_batches(room / "unsorted.npz", sides, _unsorted(lengths)[:_BATCHES])
    return f"{_BATCHES} batches of {_BUDGET:,} pieces from {text.name}, {len(tokenizer):,} pieces in the vocabulary"


def _unsorted(lengths: NDArray[np.uint16]) -> list[list[int]]:
    """Batches as Joey NMT makes them: pairs as they come, until the longest times their number fills the budget."""
    batches: list[list[int]] = []
    batch: list[int] = []
    longest = 0
    for number in np.random.default_rng(1).permutation(len(lengths)).tolist():
        batch.append(number)
        longest = max(longest, int(lengths[number].max()) + 1)
        if longest * len(batch) >= _BUDGET:
            batches.append(batch)
            batch, longest = [], 0
    return batches


def _ours(request: dict[str, Any]) -> dict[str, Any]:
    """Train in a process of its own, as the command does."""
    found: dict[str, Any] = json.loads(
        run_command([sys.executable, "-m", "benchmarks.updates", json.dumps(request, default=str)]).out
    )
    return found
