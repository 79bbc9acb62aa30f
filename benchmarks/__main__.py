"""Run benchmarks by name, or all but those that only train; each prints what it measured and what was wanted.

    python -m benchmarks [--quick] [--table | --figures] [NAME …]

A full run takes about two hours and leaves its figures in `benchmarks/results.json`, from which `--table` makes the
table of the README and `--figures` docs/figures.md. `learning`, `published`, `longest`, `finetune` and `sizing` train
for up to three hours, and run only when they are named. `--quick` measures the most important in ten minutes
(and some more where the others are not installed yet), less exactly, and leaves its figures in `.bench`, as does a run
that was told by a variable to measure something else.
"""

import os
import sys
from collections.abc import Collection
from pathlib import Path

from benchmarks import (
    box,
    cold,
    demo,
    finetune,
    growth,
    install,
    learning,
    lines,
    longest,
    memory,
    multi30k,
    promise,
    published,
    quality,
    service,
    sizing,
    training,
    translation,
)
from benchmarks.results import RESULTS, Results, machine

ALL = {
    "install": install.run,
    "cold": cold.run,
    "lines": lines.run,
    "training": training.run,
    "translation": translation.run,
    "growth": growth.run,
    "quality": quality.run,
    "learning": learning.run,
    "service": service.run,
    "promise": promise.run,
    "memory": memory.run,
    "demo": demo.run,
    "multi30k": multi30k.run,
    "published": published.run,
    "longest": longest.run,
    "finetune": finetune.run,
    "sizing": sizing.run,
    "box": box.run,
}
_BY_NAME = ("learning", "published", "longest", "finetune", "sizing")
_QUICK_RESULTS, _TRIED_RESULTS = Path(".bench/quick.json"), Path(".bench/tried.json")
_QUICK = ("install", "cold", "lines", "training", "translation")
_QUICKLY = {"SECONDS": "5", "SENTENCES": "400", "MINUTES": "1.5", "LINES": "20000", "PEERS": "few"}
_LESSER = (
    *("SECONDS", "SENTENCES", "MINUTES", "LINES", "PEERS", "LEARN_MINUTES", "HOSTILE"),
    *("PIECES", "VARIANTS", "SEEDS", "SEED", "SIZES", "EACH", "START"),
)
"""Variables that make a measurement another one, most often a lesser one, than the one that the README tells of."""


def main(words: list[str]) -> int:
    """Run the benchmarks named; return 1 if one missed its figure or failed, which ends that one alone."""
    quick, names = "--quick" in words, [word for word in words if not word.startswith("--")]
    if "--table" in words or "--figures" in words:
        measured = Results.read(RESULTS)
        print(measured.table() if "--table" in words else measured.page())
        return 0
    unknown = [name for name in names if name not in ALL]
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are: {', '.join(ALL)}", file=sys.stderr)
        return 2
    chosen = names or [name for name in (_QUICK if quick else ALL) if name not in _BY_NAME]
    path = _QUICK_RESULTS if quick else _path(chosen)
    if quick:
        os.environ.update({name: os.environ.get(name, value) for name, value in _QUICKLY.items()})
    results = Results.read(path)
    print(f"{machine()}; kept in {path}")
    try:
        for name in chosen:
            for figure in results.collect(name, ALL[name]()):
                print(f"{name}: {figure}", flush=True)
    finally:
        print(f"\n{results.table_of_run()}")
    return int(results.missed())


def _path(chosen: Collection[str]) -> Path:
    """Where the figures are kept: whatever was measured otherwise than usual is not taken for the usual.

    A MODEL is what the service is measured with; whoever measures translation with one that was not trained for it,
    measures something else.
    """
    given = {name for name in _LESSER if name in os.environ}
    if "MODEL" in os.environ and "translation" in chosen:
        given.add("MODEL")
    return _TRIED_RESULTS if given else RESULTS


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
