"""A program that trains on given batches, in short turns with the matrix product that is the machine's limit.

It answers a request in JSON with one line of JSON, like the peers' programs.
"""

import json
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from itertools import cycle, pairwise
from typing import Any

import numpy as np
import torch

from benchmarks.peers.peer import read_batches
from dragoman.config import Model, Recipe, Training
from dragoman.data.batches import Batch
from dragoman.machine import cores
from dragoman.training.crew import Crew
from dragoman.training.learner import Learner
from dragoman.training.memory import keep_memory
from dragoman.training.sizes import default_processes

_WARM_UP, _TURN, _PRODUCTS = 3.0, 5.0, 1.5  # seconds
_SIDE = 1024


def main(request: dict[str, Any]) -> dict[str, float]:
    """Measure both, turn by turn; the share of the limit is that of each turn and the products before and after it."""
    keep_memory()
    processes = default_processes("cpu")
    batches = [Batch(*batch) for batch in read_batches(request["batches"])]
    turns = max(1, round(request["seconds"] / _TURN))
    speeds, products = [], []
    with closing(Crew(processes)) as crew:
        speed = _train(_learner(request, crew), batches, [_WARM_UP] + [_TURN] * turns)
        next(speed)
        products.append(_multiply())
        for _ in range(turns):
            speeds.append(next(speed))
            products.append(_multiply())
    operations = _operations(request, batches)
    limits = [statistics.mean(around) / operations for around in pairwise(products)]
    return {
        "pieces_per_second": statistics.median(speeds),
        "gigaflops": statistics.median(products) / 1e9,
        "limit": statistics.median(limits),
        "share": statistics.median(speed / limit for speed, limit in zip(speeds, limits, strict=True)),
        "processes": processes,
    }


def _learner(request: dict[str, Any], crew: Crew) -> Learner:
    model = Model(
        encoder_layers=request["layers"],
        decoder_layers=request["layers"],
        **{name: request[name] for name in ("width", "heads", "feed_forward", "dropout")},
    )
    training = Training(optimiser=request["optimiser"], precision=request.get("precision"))
    return Learner(Recipe(model=model, training=training), request["vocabulary"], crew)


def _train(learner: Learner, batches: list[Batch], turns: list[float]) -> Iterator[float]:
    """Yield the target pieces a second of each turn."""
    feed = enumerate(cycle(batches), start=1)
    for seconds in turns:
        pieces, begun = 0, time.perf_counter()
        while (spent := time.perf_counter() - begun) < seconds:
            number, batch = next(feed)
            learner.update(batch, number, 1e-4)
            pieces += batch.pieces
        yield pieces / spent


def _operations(request: dict[str, Any], batches: list[Batch]) -> float:
    """Multiplications and additions that a target piece needs, in matrix products, forward and twice that back."""
    source, target = (sum(int(np.count_nonzero(getattr(b, side))) for b in batches) for side in ("source", "wanted"))
    d, f = request["width"], request["feed_forward"]
    encoder, decoder = request["layers"] * (4 * d * d + 2 * d * f), request["layers"] * (8 * d * d + 2 * d * f)
    operations: float = 3 * 2 * (encoder * source / target + decoder + request["vocabulary"] * d)
    return operations


def _multiply() -> float:
    """Operations a second of products of 1,024³ by as many threads as there are cores, over a while, as of training."""
    before = torch.get_num_threads()
    torch.set_num_threads(cores())
    left = torch.ones(_SIDE, _SIDE)
    left @ left
    count, begun = 0, time.perf_counter()
    while (spent := time.perf_counter() - begun) < _PRODUCTS:
        left @ left
        count += 1
    torch.set_num_threads(before)
    return 2 * _SIDE**3 * count / spent


if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.argv[1]))))
