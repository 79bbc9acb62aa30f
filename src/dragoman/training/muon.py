"""Muon (Jordan et al. 2024): momentum whose matrix is made orthogonal before it is applied.

A gradient's matrix is dominated by a few directions; an orthogonal update moves all directions alike. The nearest
orthogonal matrix, U Vᵀ of the singular value decomposition, is approached by a few steps of a Newton–Schulz
iteration, which needs nothing but matrix products.
"""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

# Of the iteration's polynomial; its authors chose them to raise small singular values fast, not to reach 1 exactly.
_A, _B, _C = 3.4445, -4.7750, 2.0315
_STEPS = 5


def orthogonalise(matrices: Float[Tensor, "n r c"], kind: torch.dtype | None = None) -> Float[Tensor, "n r c"]:
    """Replace the singular values of each matrix by values near 1; products may be of numbers of another kind."""
    rows, columns = matrices.shape[1:]
    if rows > columns:
        return orthogonalise(matrices.transpose(1, 2), kind).transpose(1, 2)
    x = (matrices / (matrices.norm(dim=(1, 2), keepdim=True) + 1e-7)).to(kind or matrices.dtype)
    # What rough numbers lose of x xᵀ would grow from step to step, if x itself had no part in them.
    return _turn_wide(x) if columns >= 2 * rows and x.dtype != torch.bfloat16 else _turn(x)


def _turn(x: Float[Tensor, "n r c"]) -> Float[Tensor, "n r c"]:
    """The iteration, x ← P(x xᵀ) x."""
    for _ in range(_STEPS):
        x = _polynomial(x @ x.transpose(1, 2)) @ x
    return x


def _turn_wide(x: Float[Tensor, "n r c"]) -> Float[Tensor, "n r c"]:
    """The same in small squares alone: all that changes is what stands before the first x.

    As all these polynomials of one symmetric matrix commute, x xᵀ turns into P x xᵀ P.
    """
    gram = x @ x.transpose(1, 2)
    turn = step = _polynomial(gram)
    for _ in range(_STEPS - 1):
        gram = step @ gram @ step
        step = _polynomial(gram)
        turn = step @ turn
    return turn @ x


def _polynomial(gram: Float[Tensor, "n r r"]) -> Float[Tensor, "n r r"]:
    """P(g) = a + b g + c g²."""
    p = torch.baddbmm(gram, gram, gram, beta=_B, alpha=_C)
    p.diagonal(dim1=1, dim2=2).add_(_A)
    return p


class Muon:
    """The optimiser of the matrices inside the layers; the other parameters are AdamW's."""

    def __init__(self, matrices: dict[str, torch.nn.Parameter], momentum: float, decay: float) -> None:
        self._momentum, self._decay = momentum, decay
        alike: dict[torch.Size, list[str]] = {}
        for name, matrix in matrices.items():
            alike.setdefault(matrix.shape, []).append(name)
        self._groups = [_Alike([matrices[name] for name in names]) for names in alike.values()]
        self.memory = {
            name: memory
            for names, group in zip(alike.values(), self._groups, strict=True)
            for name, memory in zip(names, group.memory, strict=True)
        }

    @torch.no_grad()
    def look_ahead(self) -> list[Float[Tensor, "..."]]:
        """Take the gradients into the momentum, and return where it leads: a stack for all matrices of one shape."""
        ahead = []
        for group in self._groups:
            gradients = torch.stack([_gradient(matrix) for matrix in group.matrices])
            group.memory.lerp_(gradients, 1 - self._momentum)
            ahead.append(gradients.lerp_(group.memory, self._momentum))
        return ahead

    @torch.no_grad()
    def step(self, rate: float, orthogonal: Sequence[Float[Tensor, "..."]]) -> None:
        """Apply what `look_ahead` returned, made orthogonal.

        The root mean square of an update is 0.2 · rate, about what AdamW's is, so that the two share their rate.
        """
        for group, updates in zip(self._groups, orthogonal, strict=True):
            step = rate * 0.2 * math.sqrt(max(updates.shape[1:]))
            for matrix, update in zip(group.matrices, updates, strict=True):
                matrix.mul_(1 - rate * self._decay).sub_(update, alpha=step)


class _Alike:
    """Matrices of one shape, which are worked on together, and their momentum."""

    def __init__(self, matrices: list[torch.nn.Parameter]) -> None:
        self.matrices = matrices
        self.memory = matrices[0].new_zeros(len(matrices), *matrices[0].shape)


def _gradient(parameter: torch.nn.Parameter) -> Tensor:
    assert parameter.grad is not None
    return parameter.grad
