"""What a model would do if some of its heads were switched off, or looked everywhere alike.

Both are changes of weights alone. A head whose columns of W_O are zero adds nothing. A head whose queries and keys are
zero gives the same score to everything, whatever kind of score it is, so that its weights are uniform over what is
visible.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, NamedTuple, assert_never

import numpy as np

from dragoman.config import Model
from dragoman.engine.layout import Array, Weights, read_sizes
from dragoman.engine.plain import PlainEngine
from dragoman.errors import DataError

Kind = Literal["encoder self", "cross", "decoder self"]
Way = Literal["off", "uniform"]


class Change(NamedTuple):
    """What is done to one head; layers and heads count from 0."""

    kind: Kind
    layer: int
    head: int
    way: Way


def change_heads(engine: PlainEngine, changes: Sequence[Change]) -> PlainEngine:
    """Return an engine with some heads changed; all other weights are shared with the first one."""
    if engine.model.kind == "recurrent":
        return PlainEngine(_change_look(engine.model, changes), engine.weights)
    weights = dict(engine.weights)
    sizes = read_sizes(engine.model)
    for change in changes:
        layers = sizes.encoder_layers if change.kind == "encoder self" else sizes.decoder_layers
        if not (0 <= change.layer < layers and 0 <= change.head < sizes.heads):
            raise DataError(
                f"the model has no head {change.head + 1} in layer {change.layer + 1} of kind {change.kind}",
                hint=f"it has {layers} layers of {sizes.heads} heads",
            )
        _change_head(weights, change, sizes.heads)
    return PlainEngine(engine.model, weights)


def _change_look(model: Model, changes: Sequence[Change]) -> Model:
    """A recurrent decoder has one head, and can see the mean of all states instead."""
    if any(change != Change("cross", 0, 0, "uniform") for change in changes):
        raise DataError(
            "a recurrent model has one attention, which cannot be switched off", hint="make its weights uniform"
        )
    return replace(model, look="mean") if changes else model


def _change_head(weights: dict[str, Array], change: Change, heads: int) -> None:
    name = attention_name(change.kind, change.layer)
    width = weights[f"{name}.query.weight"].shape[0] // heads
    mine = slice(change.head * width, (change.head + 1) * width)
    match change.way:
        case "off":
            _clear(weights, f"{name}.output.weight", np.s_[:, mine])
        case "uniform":
            for part in ("query.weight", "query.bias", "key.weight", "key.bias"):
                _clear(weights, f"{name}.{part}", np.s_[mine])
        case _:
            assert_never(change.way)


def _clear(weights: dict[str, Array], name: str, where: tuple[slice, slice] | slice) -> None:
    weights[name] = weights[name].copy()
    weights[name][where] = 0


def attention_name(kind: Kind, layer: int) -> str:
    """Return how the weights of an attention are named."""
    match kind:
        case "encoder self":
            return f"encoder.{layer}.attention"
        case "cross":
            return f"decoder.{layer}.cross_attention"
        case "decoder self":
            return f"decoder.{layer}.self_attention"
        case _:
            assert_never(kind)


def output_weights(weights: Weights, kind: Kind, layer: int) -> Array:
    """Return W_O of an attention, [d h·e]."""
    return weights[f"{attention_name(kind, layer)}.output.weight"]
