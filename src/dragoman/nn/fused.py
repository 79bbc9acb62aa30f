"""Scaled dot-product attention as training does it: the same numbers as the formula's, in less time."""

import math
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional

_SHORT = 128  # pieces


def attend_fast(
    queries: Float[Tensor, "b h q e"],
    keys: Float[Tensor, "b h k e"],
    values: Float[Tensor, "b h k e"],
    visible: Bool[Tensor, "#b #h #q k"],
) -> Float[Tensor, "b h q e"]:
    """The context of `attend(dot_scores(queries, keys), values, visible)`, see `dragoman.nn.attention`.

    PyTorch's kernel never holds all the weights in memory, which pays for long sentences; for short ones, on a CPU, it
    takes longer than a few products of whole batches. Hiding is adding the lowest number rather than passing the
    booleans on, for the kernel makes NaN of a row that sees nothing.
    """
    lowest = torch.finfo(queries.dtype).min
    bias = torch.zeros_like(visible, dtype=queries.dtype).masked_fill_(~visible, lowest)
    if not queries.is_cpu or queries.shape[-2] * keys.shape[-2] > _SHORT**2:
        return functional.scaled_dot_product_attention(queries, keys, values, attn_mask=bias)
    context: Tensor = _AttendShort.apply(queries, keys, values, bias)  # type: ignore[no-untyped-call]
    return context


class _AttendShort(torch.autograd.Function):
    """Attention and its gradients as products of batches, one matrix for each head of each sentence."""

    @staticmethod
    def forward(ctx: Any, queries: Tensor, keys: Tensor, values: Tensor, bias: Tensor) -> Tensor:
        scale = 1 / math.sqrt(queries.shape[-1])
        q, k, v = (x.flatten(0, 1) for x in (queries, keys, values))
        scores = torch.bmm(q, k.transpose(1, 2)).view(*queries.shape[:3], -1)
        weights = scores.mul_(scale).add_(bias).softmax(dim=-1).flatten(0, 1)
        ctx.save_for_backward(q, k, v, weights)
        ctx.scale = scale
        return torch.bmm(weights, v).view(queries.shape)

    @staticmethod
    def backward(ctx: Any, *outside: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, weights = ctx.saved_tensors
        heads, above = outside[0].shape[:2], outside[0].flatten(0, 1)
        for_weights = torch.bmm(above, v.transpose(1, 2))
        # A softmax passes back to each score its weight · (its own gradient - the mean of all, weighted).
        mean = torch.linalg.vecdot(weights, for_weights)[..., None]
        for_scores = for_weights.sub_(mean).mul_(weights).mul_(ctx.scale)
        grads = (
            torch.bmm(for_scores, k),
            torch.bmm(for_scores.transpose(1, 2), q),
            torch.bmm(weights.transpose(1, 2), above),
        )
        return (*(grad.view(*heads, *grad.shape[1:]) for grad in grads), None)
