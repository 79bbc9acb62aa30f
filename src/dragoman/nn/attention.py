"""Attention: every query looks at every key and takes a weighted average of the values.

    Attention(Q, K, V) = softmax(Q Kᵀ / √e) V          (Vaswani et al. 2017, equation 1)

`dot_scores` and `attend` are the formula written out, step by step. `attend_fused` is PyTorch's kernel for the same
formula, which never holds all the scores in memory; training uses it, and a test holds the two equal. `MultiHead` owns
the four matrices and lets several heads look at once, each in a narrow space of its own (section 3.2.2).
"""

import math
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional


class Attended(NamedTuple):
    """Where each query looked, and what it saw there."""

    weights: Float[Tensor, "*lead q k"]
    context: Float[Tensor, "*lead q e"]


def dot_scores(queries: Float[Tensor, "*lead q e"], keys: Float[Tensor, "*lead k e"]) -> Float[Tensor, "*lead q k"]:
    """Scaled dot product. The root keeps the variance of the scores at 1 whatever e is."""
    return queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])


def attend(
    scores: Float[Tensor, "*lead q k"],
    values: Float[Tensor, "*lead k e"],
    visible: Bool[Tensor, "*#lead #q k"],
) -> Attended:
    """Hide what may not be seen, normalise, and average the values.

    A query that may see nothing gets uniform weights, not NaN: a fully padded row stays harmless.
    """
    hidden = scores.masked_fill(~visible, torch.finfo(scores.dtype).min)
    weights = hidden.softmax(dim=-1)
    return Attended(weights, weights @ values)


def attend_fused(
    queries: Float[Tensor, "b h q e"],
    keys: Float[Tensor, "b h k e"],
    values: Float[Tensor, "b h k e"],
    visible: Bool[Tensor, "#b #h #q k"],
) -> Float[Tensor, "b h q e"]:
    """The context of `attend(dot_scores(queries, keys), values, visible)` in one kernel.

    Hiding is adding the lowest number rather than passing the booleans on, for the kernel makes NaN of a row that
    sees nothing.
    """
    lowest = torch.finfo(queries.dtype).min
    bias = torch.zeros(visible.shape, dtype=queries.dtype).masked_fill_(~visible, lowest)
    return functional.scaled_dot_product_attention(queries, keys, values, attn_mask=bias)


def causal(length: int) -> Bool[Tensor, "1 1 q k"]:
    """What a decoder may see of its own output: each position itself and what stands before it."""
    return torch.ones(length, length, dtype=torch.bool).tril()[None, None]


class MultiHead(nn.Module):
    """Several heads side by side: project to queries, keys and values, attend, join the heads and project back."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        if width % heads:
            raise ValueError(f"width {width} is not a multiple of heads {heads}")
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.output = nn.Linear(width, width)

    def forward(
        self, x: Float[Tensor, "b q d"], memory: Float[Tensor, "b k d"], visible: Bool[Tensor, "#b #h #q k"]
    ) -> Float[Tensor, "b q d"]:
        """Let every position of `x` look at the visible positions of `memory` (self-attention: at itself)."""
        queries = self._split(self.query(x))
        keys, values = self._split(self.key(memory)), self._split(self.value(memory))
        context = attend_fused(queries, keys, values, visible)
        joined: Tensor = self.output(context.transpose(1, 2).flatten(2))
        return joined

    def _split(self, x: Float[Tensor, "b t d"]) -> Float[Tensor, "b h t e"]:
        b, t, d = x.shape
        return x.view(b, t, self.heads, d // self.heads).transpose(1, 2)
