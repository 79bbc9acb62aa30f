"""Whether memory stays bounded when the corpus does not."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.figure import Figure, dragoman
from benchmarks.figure import run as run_command

_SMALL, _LARGE, _PARTS = 30_000, 3_000_000, 2
_STEPS = 60
# The same network for both, or the memory of the larger one would be that of its size.
_SAME = (
    *("model.width=128", "model.heads=4", "model.feed_forward=256", "model.encoder_layers=4", "model.decoder_layers=4"),
    *("pieces.size=2000", "training.batch_pieces=4096"),
)
# Trains, and tells the most memory of its process until the corpus was encoded, and until the end.
_PROGRAM = """
import json, resource, sys
import dragoman
from dragoman.jobs.events import Ready

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

def observe(event):
    if isinstance(event, Ready):
        told["encoded"] = peak()

told = {}
asked = json.loads(sys.argv[1])
dragoman.train(asked["inputs"], out=asked["out"], source_language="en", target_language="es",
               steps=asked["steps"], settings=asked["settings"], observe=observe)
told["trained"] = peak()
print(json.dumps(told))
"""


def run() -> Iterator[Figure]:
    """Check and train on 30,000 and on 3 million generated pairs."""
    with tempfile.TemporaryDirectory() as room:
        (small,), large = _generate(Path(room), _SMALL, 1), _generate(Path(room), _LARGE // _PARTS, _PARTS)
        checked = run_command(dragoman("check", *large))
        yield Figure(
            f"check, {_LARGE:,} pairs: {checked.megabytes:.0f} MB, {checked.seconds:.0f} s (below 600 MB wanted)",
            checked.megabytes < 600,
        )
        little, much = _train(Path(room) / "little", [small]), _train(Path(room) / "much", large)
        yield Figure(
            f"reading, cleaning and encoding {_LARGE:,} pairs: {much['encoded']:.0f} MB, PyTorch included "
            "(below 600 MB wanted)",
            much["encoded"] < 600,
        )
        more = much["trained"] - little["trained"]
        yield Figure(
            f"training: {little['trained']:.0f} MB with {_SMALL:,} pairs, {more:+.0f} MB with {_LARGE:,} "
            "(at most +300 wanted)",
            more <= 300,
        )


def _generate(room: Path, pairs: int, parts: int) -> list[Path]:
    """Generate several files at once, each from its own seed."""
    files = [room / f"{pairs}-{part}.tsv" for part in range(parts)]
    at_work = [
        subprocess.Popen(dragoman("generate", "--pairs", str(pairs), "--seed", str(seed), "--out", file))
        for seed, file in enumerate(files, start=1)
    ]
    if any(process.wait() for process in at_work):
        raise SystemExit("generating the text failed")
    return files


def _train(out: Path, inputs: Sequence[Path]) -> dict[str, float]:
    asked = {"inputs": list(map(str, inputs)), "out": str(out), "steps": _STEPS, "settings": _SAME}
    done = run_command([sys.executable, "-c", _PROGRAM, json.dumps(asked)])
    told: dict[str, float] = json.loads(done.out)
    return told
