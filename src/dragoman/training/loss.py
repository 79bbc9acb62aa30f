"""The loss: cross-entropy with smoothed labels (Szegedy et al. 2016; section 5.4 of Vaswani et al. 2017).

    q(v) = (1 - ε) · [v is wanted] + ε / V          loss = - Σ_v q(v) log p(v)

Where every piece is predicted twice, with different values dropped, disagreeing costs as well (R-Drop, Liang et al.
2021); as both sum to 1, the norms of the two predictions cancel:

    α/2 · (KL(p₁‖p₂) + KL(p₂‖p₁)) = α/2 · Σ_v (p₁(v) - p₂(v)) (s₁(v) - s₂(v))          p = softmax(s)

The scores of a batch over the whole vocabulary are its largest array by far, and reading and writing it takes longer
than computing it. So loss and gradients are computed together, a chunk of positions at a time, and the scores are never
all in memory.
"""

from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

_CHUNK = 256  # rows whose scores stay in the cache
_ROWS = 64  # a smaller chunk, the last, is filled up to a multiple of so many: few sizes of products, each made once


def smoothed_loss(
    decoded: Float[Tensor, "n d"],
    weight: Float[Tensor, "v d"],
    bias: Float[Tensor, " v"],
    wanted: Int[Tensor, " n"],
    smoothing: float,
    kind: torch.dtype | None = None,
) -> Float[Tensor, ""]:
    """The summed loss of predicting the wanted pieces from the decoder's last vectors.

    Products of matrices are of numbers of another `kind`, if one is given; all else is not.
    """
    total: Tensor
    total, _ = _SmoothedLoss.apply(decoded[None], weight, bias, wanted, smoothing, 0.0, kind)  # type: ignore[no-untyped-call]
    return total


class Loss(NamedTuple):
    """What is learned from, and how much of that is cross-entropy."""

    total: Float[Tensor, ""]
    cross_entropy: Float[Tensor, ""]
    """To be told, not learned from: it has no gradients of its own."""


def agreed_loss(
    decoded: Float[Tensor, "2 n d"],
    weight: Float[Tensor, "v d"],
    bias: Float[Tensor, " v"],
    wanted: Int[Tensor, " n"],
    smoothing: float,
    agreement: float,
    kind: torch.dtype | None = None,
) -> Loss:
    """The summed loss of predicting the wanted pieces twice, and α = `agreement` times that of disagreeing."""
    return Loss(*_SmoothedLoss.apply(decoded, weight, bias, wanted, smoothing, agreement, kind))  # type: ignore[no-untyped-call]


class _SmoothedLoss(torch.autograd.Function):
    """The gradient with respect to the scores is p - q, and what disagreeing adds to it.

    What ε adds to q is the same for every piece, so it is kept out of the chunks: it meets all vectors in the mean of
    the weights, and all weights in the sum of the vectors.
    """

    @staticmethod
    def forward(
        ctx: Any,
        decoded: Tensor,
        weight: Tensor,
        bias: Tensor,
        wanted: Tensor,
        smoothing: float,
        agreement: float,
        kind: torch.dtype | None,
    ) -> tuple[Tensor, Tensor]:
        (passes, _, width), pieces = decoded.shape, len(weight)
        every = decoded.flatten(0, 1)
        mean, rough = weight.mean(dim=0), weight.to(kind or weight.dtype)
        cross_entropy = -smoothing * ((every @ mean).sum() + len(every) * bias.mean())
        apart = torch.zeros_like(cross_entropy)
        for_decoded = torch.empty_like(decoded)
        for_weight = (every.sum(dim=0) * (-smoothing / pieces)).repeat(pieces, 1)
        for_bias = torch.full_like(bias, -smoothing * len(every) / pieces)
        for start in range(0, len(wanted), _CHUNK):
            chunk = slice(start, start + _CHUNK)
            rows = len(wanted[chunk])
            vectors = _filled(decoded[:, chunk]).flatten(0, 1).to(rough)
            right = _filled(wanted[chunk, None]).repeat(passes, 1)
            scores = torch.mm(vectors, rough.t()).to(weight).add_(bias)
            p = scores.softmax(dim=1)
            norm = scores.amax(dim=1) - p.amax(dim=1).log()
            cross_entropy += (norm - (1 - smoothing) * scores.gather(1, right)[:, 0]).view(passes, -1)[:, :rows].sum()
            if agreement:
                differing = _disagree(scores, p)
                apart += differing.total
                p.add_(differing.gradient, alpha=agreement / 2)
            p.scatter_add_(1, right, p.new_full(right.shape, smoothing - 1))
            p.view(passes, -1, pieces)[:, rows:] = 0
            for_bias += p.sum(dim=0)
            p = p.to(rough)
            for_decoded[:, chunk] = (torch.mm(p, rough) - smoothing * mean).view(passes, -1, width)[:, :rows]
            _add_product(for_weight, p.t(), vectors)
        ctx.save_for_backward(for_decoded, for_weight, for_bias)
        ctx.mark_non_differentiable(cross_entropy)
        return cross_entropy + agreement / 2 * apart, cross_entropy

    @staticmethod
    def backward(ctx: Any, *outside: Tensor) -> tuple[Tensor | None, ...]:
        return (*(outside[0] * gradient for gradient in ctx.saved_tensors), None, None, None, None)


def _filled(rows: Tensor) -> Tensor:
    """Rows, with as many of zeros after them as make their number one of a few; in every pass alike, so they agree."""
    missing = -rows.shape[-2] % _ROWS
    return functional.pad(rows, (0, 0, 0, missing)) if missing else rows


def _add_product(total: Float[Tensor, "v d"], left: Float[Tensor, "v n"], right: Float[Tensor, "n d"]) -> None:
    """`total += left @ right`, in one pass where all are of one kind."""
    if total.dtype == left.dtype:
        total.addmm_(left, right)
    else:
        total += left @ right


class _Differing(NamedTuple):
    total: Tensor
    gradient: Tensor


def _disagree(scores: Float[Tensor, "n v"], p: Float[Tensor, "n v"]) -> _Differing:
    """The divergence of two predictions, both ways, and its gradient with respect to the scores.

    The one half of the rows holds s₁, the other s₂. With l = s₁ - s₂ and its mean under p₁, the gradient for s₁ is
    p₁ (1 + l - mean) - p₂; for s₂ it is the same, exchanged.
    """
    half = len(p) // 2
    lead = scores - scores.roll(half, dims=0)
    mean = (p * lead).sum(dim=1, keepdim=True)
    return _Differing(mean.sum(), lead.sub_(mean - 1).mul_(p).sub_(p.roll(half, dims=0)))
