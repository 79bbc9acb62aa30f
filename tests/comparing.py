"""Two small recipes, and text for them: what the tests of comparisons compare."""

import json
from pathlib import Path
from typing import Any

from dragoman.data.grammar import generate
from dragoman.jobs.comparison.contest import Entry
from dragoman.jobs.comparison.work import Data
from tiny_recipe import TINY, TRANSFORMER

ENTRIES = (
    Entry("last", "LSTM, last", (*TINY, "model.kind=recurrent", "model.look=last")),
    Entry("transformer", "Transformer", (*TINY, *TRANSFORMER), headline=True, seeds=(1, 2)),
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
