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


def orthogonalise(matrices: Float[Tensor, "n r c"]) -> Float[Tensor, "n r c"]:
    """Replace the singular values of each matrix by values near 1."""
    wide = matrices.shape[1] <= matrices.shape[2]
    x = matrices if wide else matrices.transpose(1, 2)
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(_STEPS):
        gram = x @ x.transpose(1, 2)
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=_B, alpha=_C), x, beta=_A)
    turned: Tensor = x if wide else x.transpose(1, 2)
    return turned


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
