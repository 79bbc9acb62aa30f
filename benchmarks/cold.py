"""How long a person waits for the first answer: --help, and one sentence from a cold start."""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figure import Figure, dragoman
from benchmarks.figure import run as run_command
from benchmarks.peers import TRANSLATION, translate_speed, wanted_peers
from dragoman.checkpoint import ModelDirectory
from dragoman.engine.load import load_tokenizer

_SENTENCE = "I arrived at the bank after crossing the river."


def run() -> Iterator[Figure]:
    """Measure best of five, on a small model trained for the purpose; and others, best of two."""
    helps = [run_command(dragoman("--help")) for _ in range(5)]
    seconds = min(ran.seconds for ran in helps)
    yield Figure(f"dragoman --help: {seconds:.2f} s, best of five (0.3 wanted at most)", seconds <= 0.3)
    with tempfile.TemporaryDirectory() as room:
        model = small_model(Path(room))
        told = [run_command(dragoman("translate", "-m", model, _SENTENCE)) for _ in range(5)]
        seconds, megabytes = min(ran.seconds for ran in told), min(ran.megabytes for ran in told)
        yield Figure(
            f"one sentence, cold: {seconds:.2f} s and {megabytes:.0f} MB, best of five (0.4 and 120 wanted at most)",
            seconds <= 0.4 and megabytes <= 120,
        )
        for peer, _ in wanted_peers([(peer, None) for peer in TRANSLATION]):
            yield _peer(peer, model, seconds, megabytes)


def _peer(peer: str, model: Path, seconds: float, megabytes: float) -> Figure:
    """Another toolkit with the same weights, which gets pieces and gives pieces: import, load, translate."""
    source = model.parent / "source.json"
    source.write_text(json.dumps([load_tokenizer(ModelDirectory(model)).encode(_SENTENCE)]), encoding="utf-8")
    spec = {"model": model, "source": source, "beam": 5, "max_length": 100, "batch": 1, "cold": True}
    found = [translate_speed(peer, spec) for _ in range(2)]
    if failed := next((answer["failed"] for answer in found if "failed" in answer), None):
        return Figure(f"{peer}: not measured ({failed[:200]})", shown=True)
    longer, more = (min(answer[name] for answer in found) for name in ("whole_seconds", "megabytes"))
    return Figure(
        f"one sentence, cold, {found[0]['version']}, pieces to pieces: {longer:.2f} s and {more:.0f} MB, best of two, "
        f"{longer / seconds:.0f} × and {more / megabytes:.0f} × dragoman's",
        shown=True,
    )


def small_model(room: Path) -> Path:
    """Train a model of an ordinary size for a few updates."""
    run_command(dragoman("generate", "--pairs", "20000", "--seed", "1", "--out", room / "pairs.tsv"))
    words = ("--from", "en", "--to", "es", "--steps", "20", "--out", room / "model")
    run_command(dragoman("train", room / "pairs.tsv", *words))
    return room / "model"
