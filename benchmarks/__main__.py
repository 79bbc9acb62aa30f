"""Run benchmarks by name, or all; each prints what it measured and what was wanted.

    python -m benchmarks [--quick] [--table | --figures] [NAME …]

A full run takes hours and leaves its figures in `benchmarks/results.json`, from which `--table` makes the table of the
README and `--figures` docs/figures.md. `--quick` measures the most important in ten minutes, less exactly, and leaves
its figures in `.bench`.
"""

import os
import sys
from pathlib import Path

from benchmarks import (
    cold,
    demo,
    finetune,
    growth,
    install,
    learning,
    lines,
    memory,
    multi30k,
    promise,
    published,
    quality,
    service,
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
    "finetune": finetune.run,
}
_QUICK = ("install", "cold", "lines", "training", "translation")
_QUICKLY = {"SECONDS": "10", "SENTENCES": "1000", "MINUTES": "1.5", "LINES": "20000"}


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
    if quick:
        os.environ.update({name: os.environ.get(name, value) for name, value in _QUICKLY.items()})
    results = Results.read(Path(".bench/quick.json") if quick else RESULTS)
    print(machine())
    chosen, failed = names or list(_QUICK if quick else ALL), False
    for name in chosen:
        try:
            for figure in results.collect(name, ALL[name]()):
                print(f"{name}: {figure}", flush=True)
        except SystemExit as error:
            failed = True
            print(f"{name}: failed, the others go on: {error}", file=sys.stderr, flush=True)
    print(f"\n{results.table(chosen)}")
    return int(failed or results.missed(chosen))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
