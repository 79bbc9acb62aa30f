"""Whether memory stays bounded when the corpus does not."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figure import Figure, Ran, dragoman
from benchmarks.figure import run as run_command

_SMALL, _LARGE = 30_000, 3_000_000
# The same network for both, or the memory of the larger one would be that of its size.
_SAME = (
    *("--set", "model.width=128", "--set", "model.heads=4", "--set", "model.feed_forward=256"),
    *("--set", "model.encoder_layers=4", "--set", "model.decoder_layers=4"),
    *("--set", "pieces.size=2000", "--set", "training.batch_pieces=4096"),
)


def run() -> Iterator[Figure]:
    """Check and train on 30,000 and on 3 million generated pairs."""
    with tempfile.TemporaryDirectory() as room:
        small, large = (_generate(Path(room), pairs) for pairs in (_SMALL, _LARGE))
        checked = run_command(dragoman("check", large))
        yield Figure(
            f"check, {_LARGE:,} pairs: {checked.megabytes:.0f} MB, {checked.seconds:.0f} s (below 600 MB wanted)",
            checked.megabytes < 600,
        )
        encoded = _train(Path(room), large, "encode", steps=1)
        yield Figure(
            f"encoding and one update, {_LARGE:,} pairs: {encoded.megabytes:.0f} MB, {encoded.seconds:.0f} s",
            None,
        )
        little, much = _train(Path(room), small, "small", steps=150), _train(Path(room), large, "large", steps=150)
        more = much.megabytes - little.megabytes
        yield Figure(
            f"training: {little.megabytes:.0f} MB with {_SMALL:,} pairs, {more:+.0f} MB with {_LARGE:,} "
            "(at most +300 wanted)",
            more <= 300,
        )


def _generate(room: Path, pairs: int) -> Path:
    out = room / f"{pairs}.tsv"
    run_command(dragoman("generate", "--pairs", str(pairs), "--seed", "1", "--out", out))
    return out


def _train(room: Path, corpus: Path, name: str, steps: int) -> Ran:
    words = ("--from", "en", "--to", "es", "--steps", str(steps), "--out", room / name)
    return run_command(dragoman("train", corpus, *words, *_SAME))
