"""The values the pictures are made of: where one head looked, and the arithmetic of one layer's heads.

Plain arrays and labels only: nothing here knows which engine, model or family the numbers came from.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.floating[Any]]

KINDS: Final = ("encoder self", "cross", "decoder self")
"""The kinds of attention, in the order a page shows them; an unknown kind comes after these."""


class AttentionMap(NamedTuple):
    """Where every query of one head looked."""

    name: str
    """What a reader is shown, such as "encoder 2 · head 3"."""
    kind: str
    """One of `KINDS`."""
    layer: int
    head: int
    weights: Numbers
    """[q k]; every row adds up to one."""
    queries: tuple[str, ...]
    """The labels of the rows: pieces, with or without their "▁", or words."""
    keys: tuple[str, ...]
    """The labels of the columns."""
    scores: Numbers | None = None
    """[q k]: the same before softmax."""


class HeadSteps(NamedTuple):
    """The arithmetic of all heads of one layer; `kind` and `layer` say which maps it belongs to."""

    kind: str
    layer: int
    queries: Numbers
    """[h q e]"""
    keys: Numbers
    """[h k e]"""
    values: Numbers
    """[h k e]"""
    scores: Numbers
    """[h q k]: the dot products already divided by √e, or what `formula` says. Where the weight is zero, the key was
    hidden."""
    weights: Numbers
    """[h q k]"""
    context: Numbers
    """[h q e]: the values, averaged by the weights."""
    formula: str | None = None
    """How a score is made of q and k, if it is no scaled dot product; the widths of the three may differ then."""
    powers: bool = True
    """Whether softmax makes the weights of the scores, or only a division by their sum."""


def check_map(attention: AttentionMap) -> None:
    """Raise ValueError if the labels and the weights disagree."""
    expected = (len(attention.queries), len(attention.keys))
    if attention.weights.shape != expected:
        raise ValueError(f"{attention.name}: weights are {attention.weights.shape}, labels are {expected}")
    if attention.scores is not None and attention.scores.shape != expected:
        raise ValueError(f"{attention.name}: scores are {attention.scores.shape}, labels are {expected}")


def check_steps(steps: HeadSteps) -> None:
    """Raise ValueError unless the six arrays have the shapes of one attention."""
    heads, queries, width = steps.queries.shape
    _, keys, compared = steps.keys.shape
    found = steps.values.shape[-1]
    if steps.formula is None:
        compared = found = width
    expected = {
        "keys": (heads, keys, compared),
        "values": (heads, keys, found),
        "scores": (heads, queries, keys),
        "weights": (heads, queries, keys),
        "context": (heads, queries, found),
    }
    for name, shape in expected.items():
        if getattr(steps, name).shape != shape:
            raise ValueError(f"{steps.kind} {steps.layer}: {name} are {getattr(steps, name).shape}, not {shape}")


def group_by_layer(maps: Sequence[AttentionMap]) -> list[tuple[str, int, list[AttentionMap]]]:
    """Return (kind, layer, its heads in order), in the order a reader wants: by kind, then by layer."""
    groups: dict[tuple[str, int], list[AttentionMap]] = {}
    for attention in maps:
        groups.setdefault((attention.kind, attention.layer), []).append(attention)

    def place(key: tuple[str, int]) -> tuple[int, str, int]:
        kind, layer = key
        return (KINDS.index(kind) if kind in KINDS else len(KINDS), kind, layer)

    return [(*key, sorted(groups[key], key=lambda one: one.head)) for key in sorted(groups, key=place)]
