"""The loss: cross-entropy with smoothed labels (Szegedy et al. 2016; section 5.4 of Vaswani et al. 2017).

    q(v) = (1 - ε) · [v is wanted] + ε / V          loss = - Σ_v q(v) log p(v)

The scores of a batch over the whole vocabulary are its largest array by far, and reading and writing it takes longer
than computing it. So loss and gradients are computed together, a chunk of positions at a time, and the scores are never
all in memory.
"""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

_CHUNK = 256  # rows whose scores stay in the cache


def smoothed_loss(
    decoded: Float[Tensor, "n d"],
    weight: Float[Tensor, "v d"],
    bias: Float[Tensor, " v"],
    wanted: Int[Tensor, " n"],
    smoothing: float,
) -> Float[Tensor, ""]:
    """The summed loss of predicting the wanted pieces from the decoder's last vectors."""
    loss: Tensor = _SmoothedLoss.apply(decoded, weight, bias, wanted, smoothing)  # type: ignore[no-untyped-call]
    return loss


class _SmoothedLoss(torch.autograd.Function):
    """The gradient with respect to the scores is p - q.

    What ε adds to q is the same for every piece, so it is kept out of the chunks: it meets all vectors in the mean of
    the weights, and all weights in the sum of the vectors.
    """

    @staticmethod
    def forward(ctx: Any, decoded: Tensor, weight: Tensor, bias: Tensor, wanted: Tensor, smoothing: float) -> Tensor:
        rows, pieces = len(decoded), len(weight)
        mean = weight.mean(dim=0)
        total = -smoothing * ((decoded @ mean).sum() + rows * bias.mean())
        for_decoded = torch.empty_like(decoded)
        for_weight = (decoded.sum(dim=0) * (-smoothing / pieces)).repeat(pieces, 1)
        for_bias = torch.full_like(bias, -smoothing * rows / pieces)
        for start in range(0, rows, _CHUNK):
            chunk = slice(start, start + _CHUNK)
            vectors, right = decoded[chunk], wanted[chunk, None]
            scores = torch.mm(vectors, weight.t()).add_(bias)
            p = scores.softmax(dim=1)
            norm = scores.amax(dim=1) - p.amax(dim=1).log()
            total += (norm - (1 - smoothing) * scores.gather(1, right)[:, 0]).sum()
            p.scatter_add_(1, right, p.new_full(right.shape, smoothing - 1))
            for_decoded[chunk] = torch.addmm(mean, p, weight, beta=-smoothing)
            for_weight.addmm_(p.t(), vectors)
            for_bias += p.sum(dim=0)
        ctx.save_for_backward(for_decoded, for_weight, for_bias)
        return total

    @staticmethod
    def backward(ctx: Any, *outside: Tensor) -> tuple[Tensor | None, ...]:
        return (*(outside[0] * gradient for gradient in ctx.saved_tensors), None, None)
