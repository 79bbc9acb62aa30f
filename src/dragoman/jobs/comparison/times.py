"""How long a sentence takes by its length, and how many of its steps must wait for each other."""

import math
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import numpy as np

from dragoman.checkpoint import ModelDirectory
from dragoman.config import Model, Search
from dragoman.engine.base import has_attention
from dragoman.engine.load import load_plain, load_tokenizer
from dragoman.engine.plain import PlainEngine

LENGTHS = (8, 32, 128, 512)
_ROUNDS = 3
Times = list[dict[str, float]]


def count_steps(model: Model, length: int) -> dict[str, int]:
    """Steps of which each must wait for the one before, for a source and a target of so many pieces.

    A step is a cell's, a look at the source, or a Transformer's sub-layer. `reading` is a given pair, as in training;
    `writing` is a translation, whose every piece waits for the one before whatever the network.
    """
    encoder, decoder = model.encoder_layers or 0, model.decoder_layers or 0
    if model.kind == "transformer":
        return {"reading": 2 * encoder + 3 * decoder, "writing": 2 * encoder + length * 3 * decoder}
    looks = int(has_attention(model))
    encoded = length * encoder if model.two_way else _staggered(length, encoder)
    if model.input_feeding or (looks and model.attend == "before"):  # the lowest cell waits for the highest
        read = length * (decoder + looks)
    else:
        read = _staggered(length, decoder) + looks
    return {"reading": encoded + read, "writing": encoded + length * (decoder + looks)}


def _staggered(length: int, layers: int) -> int:
    """Steps of cells one above the other, of which each needs only the one below and the one before."""
    return length + layers - 1


def time_in_turn(models: Mapping[str, Path], rounds: int = _ROUNDS) -> dict[str, Times]:
    """Milliseconds of the plain engine for each model and length, at best, and models in turn.

    A machine has slow minutes: were one model timed after the other, one of them would get all of those. `reading` is a
    given pair of so many random pieces each way, `writing` as many steps of a greedy search, each piece but the last
    given, so that no model ends before another.
    """
    engines = {name: _open(path) for name, path in models.items()}
    best: dict[str, dict[int, dict[str, float]]] = {name: {} for name in models}
    for _ in range(rounds):
        for name, (engine, vocabulary) in engines.items():
            for length in (n for n in LENGTHS if n <= engine.max_source):
                known = best[name].setdefault(length, {"reading": math.inf, "writing": math.inf})
                now = _time(engine, vocabulary, length)
                known.update({way: min(known[way], now[way]) for way in known})
    return {name: [{"length": length, **times} for length, times in found.items()] for name, found in best.items()}


def _open(path: Path) -> tuple[PlainEngine, int]:
    directory = ModelDirectory(path)
    tokenizer = load_tokenizer(directory)
    return load_plain(directory, tokenizer), len(tokenizer)


def _time(engine: PlainEngine, vocabulary: int, length: int) -> dict[str, float]:
    source, target = np.random.default_rng(length).integers(4, vocabulary, (2, length)).tolist()
    reading = _timed(partial(engine.force, [source], [target]))
    greedy = Search(beam=1, max_length=length)
    writing = _timed(partial(engine.translate, [source], greedy, prefixes=[target[:-1]]))
    return {"reading": reading, "writing": writing}


def _timed(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - begun)
