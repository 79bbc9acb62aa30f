"""The way of one position's vector: from the embedding through every sub-layer to the choice of a piece."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

from dragoman.engine.trace import (
    DecoderLayerSteps,
    DecoderSteps,
    EncoderLayerSteps,
    EncoderSteps,
    RecurrentDecoderSteps,
    RecurrentEncoderSteps,
    Residual,
)

Vectors = Float[NDArray[np.float32], "t d"]


class Choice(NamedTuple):
    """The highest scores of pieces, and the logarithm of the sum over all, which makes probabilities of them."""

    logits: list[tuple[int, float]]
    log_sum: float


def likeliest(logits: Float[NDArray[np.float32], " v"], count: int) -> Choice:
    """Find the pieces with the highest scores."""
    scores = logits.astype(np.float64)
    peak = float(scores.max())
    top = np.argsort(scores)[: -count - 1 : -1].tolist()
    return Choice([(piece, float(scores[piece])) for piece in top], peak + float(np.log(np.exp(scores - peak).sum())))


def stages(steps: Any) -> Iterator[tuple[str, Vectors]]:
    """Yield what stands at every position, from the embedding on, each with what it is called."""
    yield "embedding", steps.embedded
    match steps:
        case EncoderSteps():
            yield from _walk(steps, [_parts(layer) for layer in steps.layers], steps.memory)
        case DecoderSteps():
            yield from _walk(steps, [_parts(layer) for layer in steps.layers], steps.output)
        case RecurrentEncoderSteps() | RecurrentDecoderSteps():
            for number, states in enumerate(steps.layers, start=1):
                yield f"state of layer {number}", states
            if isinstance(steps, RecurrentDecoderSteps):
                yield "context", steps.look.context
                yield "out", steps.output
        case _:
            raise ValueError(f"steps of an unknown kind: {type(steps)}")


def _walk(
    steps: EncoderSteps | DecoderSteps, layers: Sequence[Sequence[tuple[str, Residual]]], last: Vectors
) -> Iterator[tuple[str, Vectors]]:
    yield "+ position", steps.input - steps.embedded
    for number, parts in enumerate(layers, start=1):
        for name, part in parts:
            yield f"layer {number}: + {name}", part.answer
            yield f"layer {number}", part.output
    yield "out", last


def _parts(layer: EncoderLayerSteps | DecoderLayerSteps) -> list[tuple[str, Residual]]:
    """Name the sub-layers of a layer, and the ways around them."""
    last = ("feed-forward", layer.feed_forward.residual)
    if isinstance(layer, EncoderLayerSteps):
        return [("attention", layer.attention.residual), last]
    return [
        ("self-attention", layer.self_attention.residual),
        ("cross-attention", layer.cross_attention.residual),
        last,
    ]
