"""A sentence read word by word, and how much of each word is left at its end."""

import numpy as np
from jaxtyping import Float

from dragoman.engine.layout import Array
from dragoman.engine.plain_layers import Linear
from dragoman.engine.plain_recurrent import GRU, run
from dragoman.tour.fill import Quantities
from dragoman.tour.inputs import Words

_OPEN = 20.0
"""A gate with this before its sigmoid lets everything through."""


def read(words: Words, vectors: Float[Array, "n d"], keep: float) -> Quantities:
    """Read a sentence with a gated recurrent unit whose gates are held still.

    A unit that has learned decides anew at every word how much to keep; one that always keeps the same share forgets in
    a way that can be followed by hand.
    """
    unit = _make_unit(vectors.shape[1], keep)
    states = _run(unit, vectors)
    ends = [_run(unit, vectors, backwards=True)[0], states[-1]]
    left, left_both_ways = np.zeros(len(words)), np.zeros(len(words))
    for number in range(len(words)):
        without = vectors.copy()
        without[number] = 0
        forwards = np.linalg.norm(_run(unit, without)[-1] - ends[1])
        backwards = np.linalg.norm(_run(unit, without, backwards=True)[0] - ends[0])
        left[number], left_both_ways[number] = forwards, np.hypot(forwards, backwards)
    return {
        "fresh": 1 - keep,
        "states": states,
        "last": states[-1],
        "steps": len(words),
        "width": vectors.shape[1],
        "left": _shares(left),
        "left_both_ways": _shares(left_both_ways),
        "least": words[int(left.argmin())],
        "least_both_ways": words[int(left_both_ways.argmin())],
    }


def _make_unit(width: int, keep: float) -> GRU:
    """Make a unit that always keeps the same share of its state, and replaces the rest by tanh x."""
    nothing, one = np.zeros((width, width)), np.eye(width)
    stay = np.log(keep / (1 - keep))
    bias = np.repeat([_OPEN, stay, 0.0], width)
    return GRU(
        Linear(np.concatenate([nothing, nothing, one]).astype(np.float32), bias.astype(np.float32)),
        Linear(np.zeros((3 * width, width), dtype=np.float32), np.zeros(3 * width, dtype=np.float32)),
    )


def _run(unit: GRU, vectors: Float[Array, "n d"], *, backwards: bool = False) -> Float[Array, "n d"]:
    seen = np.ones((1, len(vectors)), dtype=np.bool_)
    states, _ = run(unit, vectors[np.newaxis], seen, backwards=backwards)
    return np.asarray(states[0])


def _shares(amounts: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    return np.asarray(amounts / max(float(amounts.sum()), np.finfo(np.float32).tiny))
