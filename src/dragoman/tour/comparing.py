"""How alike two vectors are, what weights scores become, and four ways to score."""

import math

import numpy as np
from jaxtyping import Float

from dragoman.engine.layout import Array
from dragoman.engine.plain_layers import normalise
from dragoman.tour.fill import Quantities
from dragoman.tour.inputs import Words
from dragoman.tour.maps import look_at, make_attention, same, times, weights_of


def compare(a: Float[Array, " d"], b: Float[Array, " d"]) -> Quantities:
    """Compare two vectors by dot product and by cosine."""
    lengths = np.linalg.norm(a), np.linalg.norm(b)
    cosine = _cosine(a, b)
    return {
        "products": a * b,
        "dot": float(a @ b),
        "length_a": float(lengths[0]),
        "length_b": float(lengths[1]),
        "cosine": cosine,
        "angle": math.degrees(math.acos(max(-1.0, min(1.0, cosine)))),
        "distance": 1 - cosine,
        "itself": _cosine(a, a),
        "opposite": _cosine(a, -a),
        "dots": np.array([a @ b, a @ (2 * b), a @ (10 * b)]),
        "cosines": np.array([cosine, _cosine(a, 2 * b), _cosine(a, 10 * b)]),
        "pointless": not (lengths[0] and lengths[1]),
    }


def _cosine(a: Float[Array, " d"], b: Float[Array, " d"]) -> float:
    return float(normalise(a) @ normalise(b))


def weigh(words: Words, states: Float[Array, "n d"], scores: Float[Array, " n"]) -> Quantities:
    """Average states: all alike, then by weights that scores have become."""
    alike, weights = weights_of(np.zeros_like(scores)), weights_of(scores)
    best = int(scores.argmax())
    gaps = np.arange(5, dtype=np.float32)
    return {
        "alike": alike,
        "mean": alike @ states,
        "exponentials": np.exp(scores - scores.max()),
        "weights": weights,
        "weighted": weights[:, np.newaxis] * states,
        "context": weights @ states,
        "best": words[best],
        "best_weight": float(weights[best]),
        "gaps": gaps,
        "shares": np.array([weights_of(np.array([gap, 0], dtype=np.float32))[0] for gap in gaps]),
    }


def score(  # noqa: PLR0913, PLR0917 -- what can be changed
    words: Words,
    states: Float[Array, "n d"],
    query: Float[Array, " d"],
    next_query: Float[Array, " d"],
    bilinear: Float[Array, "d d"],
    mlp_query: Float[Array, "m d"],
    mlp_key: Float[Array, "m d"],
    mlp_mix: Float[Array, " m"],
    sharpness: float,
    kernel: Float[Array, " n"],
) -> Quantities:
    """Score the states for two steps of a decoder, in four ways, and weigh them by a kernel that is fixed."""
    as_it_is, mlp_keys, turned = same(len(query)), times(mlp_key.T), times(bilinear.T)
    ways = (
        make_attention(as_it_is, as_it_is, as_it_is, "dot"),
        make_attention(as_it_is, turned, turned, "dot"),
        make_attention(times(mlp_query.T), mlp_keys, mlp_keys, "additive")._replace(mix=mlp_mix[np.newaxis]),
        make_attention(as_it_is, as_it_is, as_it_is, "cosine")._replace(sharpness=np.array([sharpness], np.float32)),
    )
    steps = np.stack([query, next_query])
    now, later = np.stack([look_at(way, steps, states).scores[0, 0] for way in ways], axis=1)
    return {
        "scores": now,
        "weights": weights_of(now),
        "dot_weights": weights_of(now[0]),
        "next_weights": weights_of(later[0]),
        "moved": float(np.abs(weights_of(later[0]) - weights_of(now[0])).sum() / 2),
        "kernel_weights": weights_of(kernel),
        "best_now": words[int(now[0].argmax())],
        "best_later": words[int(later[0].argmax())],
        "cosine_ratio": math.exp(2 * min(abs(sharpness), 300)),
    }
