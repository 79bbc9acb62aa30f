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

_CHUNK = 128  # rows whose scores stay in the cache


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
    @staticmethod
    def forward(ctx: Any, decoded: Tensor, weight: Tensor, bias: Tensor, wanted: Tensor, smoothing: float) -> Tensor:
        total = decoded.new_zeros(())
        for_decoded, for_weight, for_bias = (torch.zeros_like(x) for x in (decoded, weight, bias))
        for start in range(0, len(decoded), _CHUNK):
            rows = slice(start, start + _CHUNK)
            scores = torch.addmm(bias, decoded[rows], weight.t())
            scores -= scores.amax(dim=1, keepdim=True)
            right, mean = scores.gather(1, wanted[rows, None]), scores.mean(dim=1, keepdim=True)
            # From here on `scores` turns into probabilities, and then into the gradient with respect to them: p - q.
            norm = scores.exp_().sum(dim=1, keepdim=True)
            total += (norm.log() - (1 - smoothing) * right - smoothing * mean).sum()
            gradient = scores.mul_(1 / norm).sub_(smoothing / scores.shape[1])
            gradient.scatter_add_(1, wanted[rows, None], torch.full_like(right, smoothing - 1))
            for_decoded[rows] = gradient @ weight
            for_weight.addmm_(gradient.t(), decoded[rows])
            for_bias += gradient.sum(dim=0)
        ctx.save_for_backward(for_decoded, for_weight, for_bias)
        return total

    @staticmethod
    def backward(ctx: Any, *outside: Tensor) -> tuple[Tensor | None, ...]:
        return (*(outside[0] * gradient for gradient in ctx.saved_tensors), None, None)
