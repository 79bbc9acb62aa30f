"""Attention as the Transformer has it: queries, keys and values, in many heads, scaled, masked, and made linear."""

import math

import numpy as np
from jaxtyping import Bool, Float

from dragoman.engine.layout import Array
from dragoman.engine.plain_layers import KeysValues, attend, positive, softmax
from dragoman.errors import RecipeError
from dragoman.tour.fill import Quantities
from dragoman.tour.inputs import Words
from dragoman.tour.maps import Truth, look_at, make_attention, same, times, weights_of

_WIDTHS = (1, 4, 16, 64, 256)
_DRAWN = 256


def look(
    x: Float[Array, "n d"],
    query_weights: Float[Array, "d e"],
    key_weights: Float[Array, "d e"],
    value_weights: Float[Array, "d e"],
    decimals: int,
) -> Quantities:
    """Let every input look at every input, with scores as they are and with weights exact and rounded."""
    attention = make_attention(times(query_weights), times(key_weights), times(value_weights), "dot")
    steps = look_at(attention, x, x)
    scaled = look_at(attention._replace(scores="scaled-dot"), x, x)
    scores, weights, values = steps.scores[0, 0], steps.weights[0, 0], steps.values[0, 0]
    rounded = _round(weights, decimals)
    return {
        "queries": steps.queries[0, 0],
        "keys": steps.keys[0, 0],
        "values": values,
        "scores": scores,
        "first_scores": scores[0],
        "first_weights": weights[0],
        "first_rounded": rounded[0],
        "first_scaled": scaled.weights[0, 0, 0],
        "each_rounded": np.round(weights[0], decimals),
        "each_rounded_sum": float(np.round(weights[0], decimals).sum()),
        "weighted": weights[0][:, np.newaxis] * values,
        "output": weights[0] @ values,
        "rounded_output": rounded[0] @ values,
        "weights": weights,
        "rounded": rounded,
        "outputs": weights @ values,
        "rounded_outputs": rounded @ values,
        "first_most": _places(scores[0] == scores[0].max()),
        "first_least": _places(scores[0] == scores[0].min()),
        "root": math.sqrt(query_weights.shape[1]),
        "learned": 3 * query_weights.size,
    }


def _round(shares: Float[Array, "n k"], decimals: int) -> Float[Array, "n k"]:
    """Round so that every row still adds up to 1: all down, then those up that lost most, as seats go to parties."""
    scaled = shares.astype(np.float64) * 10**decimals
    whole = np.floor(scaled)
    missing = np.rint(10**decimals - whole.sum(axis=1, keepdims=True))
    rank = np.argsort(np.argsort(whole - scaled, axis=1, kind="stable"), axis=1)
    return np.asarray((whole + (rank < missing)) / 10**decimals)


def _places(chosen: Bool[Truth, " n"]) -> str:
    return ", ".join(str(place + 1) for place in np.flatnonzero(chosen))


def scale(words: Words, scores: Float[Array, " n"], width: int, seed: int) -> Quantities:
    """Divide scores by the root of the width; draw vectors of many widths to see why."""
    divided = scores / np.float32(math.sqrt(width))
    weights, undivided = weights_of(divided), weights_of(scores)
    best = int(scores.argmax())
    before, after = zip(*(_spread(one, seed) for one in _WIDTHS), strict=True)
    return {
        "root": math.sqrt(width),
        "divided": divided,
        "weights": weights,
        "undivided": undivided,
        "best": words[best],
        "slope": _slope(weights, best),
        "undivided_slope": _slope(undivided, best),
        "widths": tuple(f"d = {one}" for one in _WIDTHS),
        "before": np.array(before),
        "roots": np.sqrt(_WIDTHS),
        "after": np.array(after),
        "drawn": _DRAWN**2,
    }


def _slope(weights: Float[Array, " n"], place: int) -> float:
    """How fast a weight grows with its score, w (1 - w); the rest is added up, because 1 - w would round it away."""
    return float(weights[place] * np.delete(weights, place).sum())


def _spread(width: int, seed: int) -> tuple[float, float]:
    """Draw queries and keys; return the standard deviation of their scores before and after the division."""
    drawn = np.random.default_rng([seed, width]).standard_normal((2, 1, 1, _DRAWN, width)).astype(np.float32)
    everything = np.ones((1, 1, 1, _DRAWN), dtype=np.bool_)
    scores = attend(drawn[0], drawn[1], drawn[1], everything).scores
    return float((drawn[0] @ drawn[1].swapaxes(-2, -1)).std()), float(scores.std())


def split(
    x: Float[Array, "n d"],
    query_weights: Float[Array, "d d"],
    key_weights: Float[Array, "d d"],
    value_weights: Float[Array, "d d"],
    output_weights: Float[Array, "d d"],
    heads: int,
) -> Quantities:
    """Look with several heads, put what they saw side by side, and mix it."""
    width = x.shape[1]
    if width % heads:
        raise RecipeError(
            f"heads is {heads}, but x has {width} columns, which {heads} heads cannot share",
            hint=f"choose a number that divides {width}",
        )
    attention = make_attention(times(query_weights), times(key_weights), times(value_weights), "scaled-dot", heads)
    steps = look_at(attention, x, x)
    mixed = attention._replace(output=times(output_weights)).join(steps.context)[0]
    slices = np.split(output_weights, heads)
    parts = np.array([seen @ part for seen, part in zip(steps.context[0], slices, strict=True)])
    return {
        "head_width": width // heads,
        "weights": steps.weights[0],
        "seen": steps.context[0],
        "side_by_side": attention.join(steps.context)[0],
        "output": mixed,
        "parts": parts,
        "difference": float(np.abs(parts.sum(axis=0) - mixed).max()),
    }


def hide(words: Words, scores: Float[Array, "n n"]) -> Quantities:
    """Hide the future: with minus infinity in its place, and in two ways that do not work."""
    visible = np.tri(len(words), dtype=np.bool_)
    weights = softmax(scores, visible)
    with np.errstate(invalid="ignore"):  # 0 times infinity is what this is about
        multiplied = np.where(visible, scores, scores * np.float32(-np.inf))
    zeroed = weights_of(np.where(visible, scores, np.float32(0)))
    shouted = np.where(visible, scores, np.float32(1000))
    return {
        "masked": np.where(visible, scores, -np.inf),
        "weights": weights,
        "multiplied": multiplied,
        "wrong": bool(((multiplied == np.inf) | np.isnan(multiplied)).any()),
        "leak": np.where(visible, 0, zeroed).sum(axis=-1),
        "change": float(np.abs(softmax(shouted, visible) - weights).max()),
        "hidden": int((~visible).sum()),
        "cells": visible.size,
    }


def look_across(
    source: Words,
    target: Words,
    memory: Float[Array, "n d"],
    states: Float[Array, "m d"],
    query_weights: Float[Array, "d e"],
    key_weights: Float[Array, "d e"],
    value_weights: Float[Array, "d e"],
    layers: int,
    lengths: Float[Array, " l"],
) -> Quantities:
    """Let the decoder's states look at what the encoder made, and count the steps that wait for each other."""
    steps = look_at(
        make_attention(times(query_weights), times(key_weights), times(value_weights), "scaled-dot"), states, memory
    )
    whole = np.floor(lengths)
    return {
        "queries": steps.queries[0, 0],
        "keys": steps.keys[0, 0],
        "values": steps.values[0, 0],
        "scores": steps.scores[0, 0],
        "weights": steps.weights[0, 0],
        "context": steps.context[0, 0],
        "looked": tuple(
            f"{word} → {source[int(row.argmax())]}" for word, row in zip(target, steps.scores[0, 0], strict=True)
        ),
        "sizes": tuple(f"N = {length:.0f}" for length in whole),
        "recurrent_steps": whole,
        "transformer_steps": np.full_like(whole, layers),
        "recurrent_path": whole - 1,
        "transformer_path": np.minimum(whole - 1, 1),
        "comparisons": whole**2,
    }


def remember(
    words: Words, queries: Float[Array, "n e"], keys: Float[Array, "n e"], values: Float[Array, "n e"]
) -> Quantities:
    """Attend without exponentials: by comparing all pairs, and by a memory that is written to word by word."""
    visible = np.tri(len(words), dtype=np.bool_)
    as_it_is, shown = same(queries.shape[1]), visible[np.newaxis, np.newaxis]
    attention = make_attention(as_it_is, as_it_is, as_it_is, "linear")
    offered = KeysValues(keys[np.newaxis, np.newaxis], values[np.newaxis, np.newaxis])
    steps = attention.look(queries[np.newaxis], offered, shown)
    sharp = attend(queries[np.newaxis, np.newaxis], *offered, shown)
    memory, total = np.zeros((queries.shape[1],) * 2, dtype=np.float32), np.zeros(queries.shape[1], dtype=np.float32)
    memories, answers = [], []
    for query, key, value in zip(positive(queries), positive(keys), values, strict=True):
        memory, total = memory + np.outer(key, value), total + key
        memories.append(memory)
        answers.append(query @ memory / max(query @ total, np.finfo(np.float32).tiny))
    by_pairs = steps.context[0, 0]
    return {
        "positive_queries": positive(queries),
        "positive_keys": positive(keys),
        "scores": np.where(visible, steps.scores[0, 0], np.float32(0)),
        "weights": steps.weights[0, 0],
        "sharp_weights": sharp.weights[0, 0],
        "by_pairs": by_pairs,
        "first_memory": memories[0],
        "memory": memory,
        "total": total,
        "by_memory": np.array(answers),
        "difference": float(np.abs(np.array(answers) - by_pairs).max()),
        "pairs": len(words) * (len(words) + 1) // 2,
        "kept": memory.size + total.size,
    }
