"""What stands around attention: positions, residuals, normalisation and the feed-forward network."""

import math

import numpy as np
from jaxtyping import Float

from dragoman.engine.layout import Array, positions_table
from dragoman.engine.plain_layers import Norm, attend, rotate
from dragoman.errors import RecipeError
from dragoman.tour.fill import Quantities
from dragoman.tour.inputs import Words
from dragoman.tour.maps import times

_DISTURBANCE = 10


def place(words: Words, width: int, base: float, seed: int) -> Quantities:
    """Make the table of positions, add it to words, and see what order is worth with and without it."""
    if width % 2:
        raise RecipeError(f"width is {width}, but sines and cosines come in pairs", hint="choose an even number")
    table = positions_table(len(words), width, base)
    kinds = list(dict.fromkeys(words))
    drawn = np.random.default_rng(seed).standard_normal((len(kinds), width)).round(1).astype(np.float32)
    vectors = drawn[[kinds.index(word) for word in words]]
    turned = rotate(np.tile(vectors[0], (1, 1, len(words), 1)), base, 0)[0, 0]
    return {
        "table": table,
        "waves": tuple(
            f"{wave}(k/{base ** (2 * pair / width):.4g})" for pair in range(width // 2) for wave in ("sin", "cos")
        ),
        "vectors": vectors,
        "placed": vectors + table,
        "root": math.sqrt(width),
        "shuffled_without": _reversal(vectors, np.zeros_like(table)),
        "shuffled_with": _reversal(vectors, table),
        "likeness": table @ table.T,
        "turned": turned @ turned.T,
        "first": words[0],
        "concatenated": 2 * width,
    }


def _reversal(vectors: Float[Array, "n d"], positions: Float[Array, "n d"]) -> float:
    """Read a sentence forwards and backwards; return by how much a word's new vector differs, at most."""
    forwards, backwards = _attend(vectors + positions), _attend(vectors[::-1] + positions)
    return float(np.abs(forwards - backwards[::-1]).max())


def _attend(vectors: Float[Array, "n d"]) -> Float[Array, "n d"]:
    one = vectors[np.newaxis, np.newaxis]
    return np.asarray(attend(one, one, one, np.ones((1, 1, 1, len(vectors)), dtype=np.bool_)).context[0, 0])


def pass_through(
    x: Float[Array, "n d"],
    answer: Float[Array, "n d"],
    scale: Float[Array, " d"],
    shift: Float[Array, " d"],
    inner_weights: Float[Array, "d f"],
    outer_weights: Float[Array, "f d"],
    slope: float,
    layers: int,
) -> Quantities:
    """Add what a sub-layer answers, normalise it, and send every position through the feed-forward network."""
    total = x + answer
    normed = Norm(scale, shift)(total[np.newaxis])[0]
    disturbed = total.copy()
    disturbed[-1, 0] += _DISTURBANCE
    inner = np.maximum(times(inner_weights)(normed), 0)
    return {
        "total": total,
        "means": total.mean(axis=-1),
        "variances": total.var(axis=-1),
        "unscaled_means": _by_layer(total).mean(axis=-1),
        "unscaled_variances": _by_layer(total).var(axis=-1),
        "normed": normed,
        "by_batch": _by_batch(total),
        "disturbance": _DISTURBANCE,
        "layer_change": _change(_by_layer(disturbed), _by_layer(total)),
        "batch_change": _change(_by_batch(disturbed), _by_batch(total)),
        "inner": inner,
        "output": _by_layer(normed + times(outer_weights)(inner)),
        "silent": int((inner == 0).sum()),
        "inner_size": inner.size,
        "inner_width": inner.shape[1],
        "width": x.shape[1],
        "gradient_without": slope**layers,
        "gradient_with": (1 + slope) ** layers,
    }


def _by_layer(vectors: Float[Array, "n d"]) -> Float[Array, "n d"]:
    width = vectors.shape[1]
    norm = Norm(np.ones(width, dtype=np.float32), np.zeros(width, dtype=np.float32))
    return np.asarray(norm(vectors[np.newaxis])[0])


def _by_batch(vectors: Float[Array, "n d"]) -> Float[Array, "n d"]:
    """The same formula down the columns: batch normalisation, as it is while training."""
    return _by_layer(vectors.T).T


def _change(after: Float[Array, "n d"], before: Float[Array, "n d"]) -> float:
    """How much has changed, at most, in rows that nobody touched: all but the last."""
    return float(np.abs(after - before)[:-1].max(initial=0))
