"""Two small recipes, and text for them: what the tests of comparisons compare."""

import json
from pathlib import Path
from typing import Any

from dragoman.data.grammar import generate
from dragoman.jobs.comparison.contest import Entry
from dragoman.jobs.comparison.work import Data

_SMALL = (
    "model.encoder_layers=1",
    "model.decoder_layers=1",
    "model.width=16",
    "model.dropout=0.1",
    "pieces.size=420",
    "training.batch_pieces=256",
    "training.scorings=1",
    "training.score_pairs=7",
    "training.save_seconds=0",
    "training.peak_rate=0.003",
    "training.processes=1",
    "search.max_length=20",
    "search.beam=2",
)
ENTRIES = (
    Entry("last", "LSTM, last", (*_SMALL, "model.kind=recurrent", "model.look=last")),
    Entry(
        "transformer", "Transformer", (*_SMALL, "model.heads=2", "model.feed_forward=32"), headline=True, seeds=(1, 2)
    ),
)


def write_texts(room: Path) -> Data:
    """Write some pairs of the grammar's to learn from, and others to judge by."""
    sizes = {"train": (200, 7), "dev": (11, 8), "test": (97, 9)}
    for name, (count, seed) in sizes.items():
        lines = "".join(f"{e.source}\t{e.target}\n" for e in generate(count, seed))
        (room / f"{name}.tsv").write_text(lines, encoding="utf-8")
    learn, dev, test = ([room / f"{name}.tsv"] for name in sizes)
    return Data(learn, dev, test, source_language="en", target_language="es")


def figures(out: Path, name: str) -> dict[str, Any]:
    """Read what was measured of a run."""
    found: dict[str, Any] = json.loads((out / "figures" / f"{name}.json").read_text(encoding="utf-8"))
    return found
