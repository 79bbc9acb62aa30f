"""Models that benchmarks train for long: kept in `.bench`, taken up where they were, and never taken for others."""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.figure import dragoman
from benchmarks.figure import run as run_command
from dragoman.checkpoint import ModelDirectory
from dragoman.engine.load import load_translator
from dragoman.evaluation.scores import Score, metrics
from dragoman.jobs.comparison.side_by_side import threads_on_shares
from dragoman.jobs.evaluate import read_test_set_for


def asked_sizes(sizes: str, minutes: str) -> list[tuple[int, str]]:
    """How many pairs are to be learned from, and in how many minutes each time: SIZES and EACH, or the usual."""
    counts, each = os.environ.get("SIZES", sizes).split(","), os.environ.get("EACH", minutes).split(",")
    if len(counts) != len(each):
        raise SystemExit(f"EACH gives minutes for {len(each)} of {len(counts)} SIZES")
    return list(zip(map(int, counts), each, strict=True))


def trained(room: Path, name: str, words: Sequence[str | Path]) -> Path:
    """Train by `dragoman train` with these words, or go on, or leave it as it is if it is finished; return the model.

    Other words are another model: recipes and models to start from count by what they hold.
    """
    told = list(map(_held, words))
    out = room / f"{name}-{hashlib.sha256(json.dumps(told).encode()).hexdigest()[:8]}"
    if not (out / "card.json").exists():
        begun = (out / "run" / "request.json").exists()
        run_command(dragoman("train", *(["--resume"] if begun else words), "--out", out, "--quiet"))
    return out


def trained_at_once(room: Path, asked: Mapping[str, Sequence[str | Path]], *, at_once: int = 0) -> list[Path]:
    """Train several models, by their names, so many at once, or all: each on a share of the cores, all as large."""
    with threads_on_shares(at_once or len(asked)) as threads:
        return list(threads.map(lambda name: trained(room, name, asked[name]), asked))


def _held(word: str | Path) -> str:
    path = Path(word)
    if path.suffix == ".toml":
        return path.read_text(encoding="utf-8")
    return json.dumps(card(path)) if (path / "card.json").exists() else str(word)


def card(model: Path) -> dict[str, Any]:
    """What a model says of itself."""
    told: dict[str, Any] = json.loads((model / "card.json").read_text(encoding="utf-8"))
    return told


class BothWays(NamedTuple):
    """The same translations as people read them, and as papers on Multi30k count them: two different numbers."""

    read: Score
    counted: Score

    @property
    def told(self) -> tuple[str, str]:
        """Both in words, with two digits: what is wanted is near."""
        read, counted = (f"BLEU {one.value:.2f} ({one.signature})" for one in self)
        return f"as people read it: {read}", f"as papers count it: {counted}"


def score_both_ways(model: Path, test: Path) -> BothWays:
    """Score a model's translations of a test set as they are, and in lower case, normalised, in Moses' words."""
    told = evaluated(model, test, "--papers")
    return BothWays(*(_score("BLEU", told[counted]["bleu"]) for counted in ("scores", "papers")))


def scored(model: Path, test: Path) -> str:
    """BLEU and chrF of a model's translations of a test set, in words, with signatures.

    No intervals and no TER, which take minutes where bad translations of long sentences are scored.
    """
    directory = ModelDirectory(model)
    sources, references, _ = read_test_set_for(directory, [test]).test
    found = [translation.text for translation in load_translator(directory).translate(sources)]
    told = []
    for name in ("BLEU", "chrF"):
        metric = metrics(directory.recipe.target_language)[name.lower()]
        value = metric.corpus_score(found, [references])
        told.append(str(Score(name, float(value.score), str(metric.get_signature()))))
    return ", ".join(told)


def in_words(scores: Mapping[str, Any]) -> str:
    """BLEU and chrF as `dragoman evaluate` tells them, in words, with signatures."""
    return ", ".join(str(_score(name, scores[name.lower()])) for name in ("BLEU", "chrF"))


def _score(name: str, told: Mapping[str, Any]) -> Score:
    return Score(name, told["score"], told["signature"])


def evaluated(model: Path, test: str | Path, *words: str) -> dict[str, Any]:
    """What `dragoman evaluate` tells of a model on a test set."""
    asked = dragoman("evaluate", "-m", model, test, "--worst", "0", "--json", *words)
    told: dict[str, Any] = json.loads(run_command(asked).out)
    return told
