"""How long it takes to learn: to 35 BLEU on Multi30k's val, ours against PyTorch written plainly.

Ours is trained for LEARN_MINUTES (6 unless given), everything that `dragoman train` does included. The plain program
has twice that time, in which it only trains; its weights are taken every minute and translated by the same engine. Its
network is of the same shape and reads the same pieces, in the batches of 4,096 that are usual.
"""

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.corpus import Text, need_multi30k, read_text, save_batches
from benchmarks.figure import Figure, dragoman
from benchmarks.figure import run as run_command
from benchmarks.judge import judge
from benchmarks.peers import train_speed
from dragoman.checkpoint import ModelDirectory
from dragoman.data.batches import plan_epoch
from dragoman.engine.load import load_tokenizer

_WANTED = 35.0
_USUAL_BATCH = 4096


def run() -> Iterator[Figure]:
    """Train both and score."""
    need_multi30k()
    minutes, text = float(os.environ.get("LEARN_MINUTES", "6")), read_text()
    with tempfile.TemporaryDirectory() as place:
        room = Path(place)
        words = ("--from", "en", "--to", "de", "--minutes", f"{minutes:g}", "--out", room / "model")
        ran = run_command(dragoman("train", *text.files(room), *words))
        scored = json.loads(run_command(dragoman("evaluate", "-m", room / "model", room / "dev.tsv", "--json")).out)
        ours = scored["scores"]["bleu"]["score"]
        yield Figure(f"dragoman, {ran.seconds / 60:.1f} minutes: BLEU {ours:.2f} on val", ours >= _WANTED)
        directory = ModelDirectory(room / "model")
        updates, learned = _plain(directory, text, room, 2 * ran.seconds)
        curve = ", ".join(f"{score:.1f} after {seconds / 60:.0f}" for seconds, score in learned)
        yield Figure(f"PyTorch written plainly, {updates:,} updates, BLEU on val after so many minutes: {curve}")
        reached = next((seconds for seconds, score in learned if score >= _WANTED), None)
    told = f"reached after {reached / 60:.1f} minutes" if reached else "not reached in twice our time"
    yield Figure(f"{_WANTED:g} BLEU by the plain program: {told}", ours >= _WANTED and reached is None)


def _plain(directory: ModelDirectory, text: Text, room: Path, seconds: float) -> tuple[int, list[tuple[float, float]]]:
    """Train plainly on the same pairs, cut into the same pieces; return how many updates, and BLEU by time."""
    recipe, tokenizer = directory.recipe, load_tokenizer(directory)
    sides = [tokenizer.encode_all([pair[side] for pair in text.train]) for side in (0, 1)]
    lengths = np.array([[len(a), len(b)] for a, b in zip(*sides, strict=True)], np.uint16)
    plan = plan_epoch(lengths, _USUAL_BATCH, seed=1, epoch=0)
    save_batches(room / "epoch.npz", sides, [chosen.tolist() for chosen in plan])
    (room / "weights").mkdir()
    model = recipe.model
    spec = {
        **{name: getattr(model, name) for name in ("width", "heads", "feed_forward", "dropout")},
        "layers": model.encoder_layers,
        "vocabulary": len(tokenizer),
        "batches": room / "epoch.npz",
        "seconds": seconds,
        "snapshots": {"room": str(room / "weights"), "every": min(60.0, seconds / 4)},
    }
    found = train_speed("plain_torch", spec)
    if "failed" in found:
        raise SystemExit(f"the plain program failed: {found['failed']}")
    learned = []
    for file in sorted((room / "weights").iterdir(), key=lambda file: float(file.stem)):
        with np.load(file) as weights:
            learned.append((float(file.stem), judge(recipe, weights, tokenizer, text, room)))
    return found["updates"], learned
