"""What a network learns from a given amount of text, with one thing changed at a time, on two corpora.

Every variant sees PIECES target pieces, and is judged by BLEU on dev (beam 5, cased, 13a). SEEDS names the seeds, and
VARIANTS those to be tried, with | between them; unless given, they are what the defaults would be without that which
makes a given network learn faster. What was learned is kept in `.bench/learning.json` and not learned again, so that a
run of hours may be interrupted.
"""

import hashlib
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.corpus import Text, read_tatoeba, read_text
from benchmarks.figure import Figure
from benchmarks.judge import judge
from dragoman.config import Recipe
from dragoman.data.batches import make_batch, plan_epoch
from dragoman.recipe import override
from dragoman.text.tokenizer import Tokenizer, train_tokenizer
from dragoman.training.crew import Crew
from dragoman.training.learner import Learner
from dragoman.training.memory import keep_memory
from dragoman.training.plan import plan_updates
from dragoman.training.sizes import CorpusSize, fill, suit

_KEPT = Path(".bench/learning.json")
_PAIRS = 30_000
Lengths = NDArray[np.uint16]
Order = Iterator[list[int]]


class Variant(NamedTuple):
    """Settings that are other than usual, and what no setting can change."""

    settings: tuple[str, ...] = ()
    order: Callable[[Lengths, Recipe], Order] | None = None


def usual_order(lengths: Lengths, recipe: Recipe, epoch: int = 0) -> Order:
    """Batches as the training makes them."""
    while True:
        yield from (batch.tolist() for batch in plan_epoch(lengths, _budget(recipe), recipe.training.seed, epoch))
        epoch += 1


def short_first(lengths: Lengths, recipe: Recipe) -> Order:
    """In the first epoch, the batches of short sentences before those of long ones."""
    first = plan_epoch(lengths, _budget(recipe), recipe.training.seed, 0)
    yield from (batch.tolist() for batch in sorted(first, key=lambda batch: int(lengths[batch].max())))
    yield from usual_order(lengths, recipe, 1)


def small_first(lengths: Lengths, recipe: Recipe) -> Order:
    """The first half of the first epoch in batches of a quarter of the size."""
    small = plan_epoch(lengths, _budget(recipe) // 4, recipe.training.seed, 0)
    seen = small[: len(small) // 2]
    yield from (batch.tolist() for batch in seen)
    left = np.setdiff1d(np.arange(len(lengths)), np.concatenate(seen))
    yield from (left[batch].tolist() for batch in plan_epoch(lengths[left], _budget(recipe), recipe.training.seed, 0))
    yield from usual_order(lengths, recipe, 1)


USUAL = "as it is"
VARIANTS = {
    USUAL: Variant(),
    "twice the batch": Variant(("training.batch_pieces=4096",)),
    "half the batch": Variant(("training.batch_pieces=1024",)),
    "half the batch, rate × 0.7": Variant(("training.batch_pieces=1024", "training.peak_rate=0.0028")),
    "dropout 0.3": Variant(("model.dropout=0.3",)),
    "dropout 0.2": Variant(("model.dropout=0.2",)),
    "no dropout": Variant(("model.dropout=0.0",)),
    "twice the rate": Variant(("training.peak_rate=0.008",)),
    "AdamW for all, rate 0.001": Variant(("training.optimiser=adamw", "training.peak_rate=0.001")),
    "AdamW for all, rate 0.002": Variant(("training.optimiser=adamw", "training.peak_rate=0.002")),
    "small batches first": Variant(order=small_first),
    "short sentences first": Variant(order=short_first),
    "products of float32": Variant(("training.precision=float32",)),
    "no layer silent at first": Variant(("training.initial=glorot",)),
    "decay from the start": Variant(("training.decay_share=1.0",)),
    "decay in the last fifth": Variant(("training.decay_share=0.2",)),
    "half the vocabulary": Variant(("pieces.size=3000",)),
    "three embeddings": Variant(("model.tied=false",)),
}
_UNDONE = ("AdamW for all, rate 0.002", "no layer silent at first")


def run() -> Iterator[Figure]:
    """Train what is not trained yet; then a line for each variant."""
    keep_memory()
    texts = [text for text in (read_text(), read_tatoeba(_PAIRS)) if text is not None]
    names = os.environ["VARIANTS"].split("|") if "VARIANTS" in os.environ else [USUAL, *_UNDONE]
    pieces = int(os.environ.get("PIECES", "600000"))
    kept: dict[str, Any] = json.loads(_KEPT.read_text(encoding="utf-8")) if _KEPT.exists() else {}
    for seed in os.environ.get("SEEDS", "1,2,3").split(","):
        for name in names:
            for text in texts:
                key = _key(text, VARIANTS[name], pieces, name, seed)
                if key not in kept:
                    kept[key] = learn(text, VARIANTS[name], int(seed), pieces)
                    _KEPT.parent.mkdir(exist_ok=True)
                    _KEPT.write_text(json.dumps(kept, indent=1, ensure_ascii=False), encoding="utf-8")
    for text in texts:
        for name in names:
            yield Figure(_line(text, name, pieces, kept))


def _key(text: Text, variant: Variant, pieces: int, name: str, seed: str) -> str:
    """What a result is kept by: when a default changes, so does the key of whatever follows it."""
    recipe = fill(override(Recipe(), variant.settings), CorpusSize(len(text.train), len(text.train)))
    return f"{text.name} | {pieces} | {name} | {hashlib.sha256(repr(recipe).encode()).hexdigest()[:8]} | {seed}"


def _line(text: Text, name: str, pieces: int, kept: dict[str, Any]) -> str:
    """One variant beside the usual one, seed by seed."""

    def learned(of: str) -> dict[str, dict[str, float]]:
        start = _key(text, VARIANTS[of], pieces, of, "")
        return {key.removeprefix(start): found for key, found in kept.items() if key.startswith(start)}

    found, usual = learned(name), learned(USUAL)
    more = [found[seed]["bleu"] - usual[seed]["bleu"] for seed in found if seed in usual]
    every = ", ".join(f"{run['bleu']:.1f}" for run in found.values())
    gained = f", {statistics.mean(more):+.2f} on average" if more and name != USUAL else ""
    seconds = statistics.mean(run["seconds"] for run in found.values())
    return f"{text.name}, {name}: BLEU {every}{gained}; {seconds:.0f} s of updates on average"


def learn(text: Text, variant: Variant, seed: int, pieces: int) -> dict[str, float]:
    """Train once; return the BLEU of the averaged weights, and how long the updates took."""
    words = len({word for pair in text.train for side in pair for word in side.split()})
    asked = override(Recipe(), (f"training.seed={seed}", *variant.settings))
    recipe = fill(asked, CorpusSize(len(text.train), words))
    assert recipe.pieces.size is not None
    tokenizer = Tokenizer(train_tokenizer((side for pair in text.train for side in pair), recipe.pieces.size))
    sides = [tokenizer.encode_all([pair[side] for pair in text.train]) for side in (0, 1)]
    lengths = np.array([[len(a), len(b)] for a, b in zip(*sides, strict=True)], np.uint16)
    recipe = suit(asked, recipe, pieces / int(lengths[:, 1].sum() + len(lengths)))
    plan = _as_much(variant.order or usual_order, lengths, recipe, pieces)
    schedule = plan_updates(recipe.training, len(plan)).schedule
    with closing(Crew(recipe.training.processes or 1)) as crew, tempfile.TemporaryDirectory() as room:
        learner = Learner(recipe, len(tokenizer), crew)
        begun = time.perf_counter()
        for number, chosen in enumerate(plan, start=1):
            batch = make_batch(*([side[n] for n in chosen] for side in sides))
            learner.update(batch, number, schedule.rate(number))
        seconds = time.perf_counter() - begun
        score = judge(recipe, learner.averaged(), tokenizer, text, Path(room))
    return {"bleu": round(score, 2), "seconds": round(seconds, 1), "updates": len(plan)}


def _as_much(order: Callable[[Lengths, Recipe], Order], lengths: Lengths, recipe: Recipe, pieces: int) -> list[Any]:
    """So many batches that they hold the target pieces that are wanted."""
    taken, seen = [], 0
    for chosen in order(lengths, recipe):
        taken.append(chosen)
        seen += int(lengths[chosen, 1].sum()) + len(chosen)
        if seen >= pieces:
            break
    return taken


def _budget(recipe: Recipe) -> int:
    assert recipe.training.batch_pieces is not None
    return recipe.training.batch_pieces
