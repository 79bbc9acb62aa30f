"""How fast this machine trains this network: measured on real batches, with a learner that is thrown away after."""

import time

from dragoman.config import Recipe
from dragoman.data.batches import Batches
from dragoman.training.crew import Crew
from dragoman.training.learner import Learner

_WARM_UP = 3
_FEWEST = 5


def measure_update(recipe: Recipe, vocabulary: int, batches: Batches, crew: Crew, *, seconds: float) -> float:
    """Seconds that an update takes on average, from as many updates as fit into `seconds`.

    Batches differ in size, and few are measured; so what is averaged is the time for each padded piece.
    """
    learner = Learner(recipe, vocabulary, crew)
    costs = batches.costs()
    begun = time.monotonic()
    spent, pieces = 0.0, 0.0
    for made, (_, _, batch) in enumerate(batches.after(0, 0), start=1):
        before = time.monotonic()
        learner.update(batch, made, 0.0)
        if made > _WARM_UP:
            spent += time.monotonic() - before
            pieces += batch.source.size + 2 * batch.wanted.size
        if made >= _WARM_UP + _FEWEST and time.monotonic() - begun > seconds:
            break
    return float(spent / pieces * costs.mean())
