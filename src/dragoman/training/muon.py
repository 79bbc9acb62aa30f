"""Muon (Jordan et al. 2024): momentum whose matrix is made orthogonal before it is applied.

A gradient's matrix is dominated by a few directions; an orthogonal update moves all directions alike. The nearest
orthogonal matrix, U Vᵀ of the singular value decomposition, is approached by a few steps of a Newton–Schulz
iteration, which needs nothing but matrix products.
"""

import math

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
        x = _A * x + (_B * gram + _C * gram @ gram) @ x
    turned: Tensor = x if wide else x.transpose(1, 2)
    return turned


class Muon:
    """The optimiser of the matrices inside the layers; the other parameters are AdamW's."""

    def __init__(self, matrices: dict[str, torch.nn.Parameter], momentum: float, decay: float) -> None:
        self._groups: dict[torch.Size, list[str]] = {}
        for name, matrix in matrices.items():
            self._groups.setdefault(matrix.shape, []).append(name)
        self._matrices = matrices
        self._momentum, self._decay = momentum, decay
        self.memory = {name: torch.zeros_like(matrix) for name, matrix in matrices.items()}

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """Apply the gradients.

        The root mean square of an update is 0.2 · rate, about what AdamW's is, so that the two share their rate.
        """
        for shape, names in self._groups.items():
            gradients = torch.stack([_gradient(self._matrices[name]) for name in names])
            memory = torch.stack([self.memory[name] for name in names])
            memory.lerp_(gradients, 1 - self._momentum)
            ahead = gradients.lerp_(memory, self._momentum)
            updates = orthogonalise(ahead) * (0.2 * math.sqrt(max(shape)))
            for name, remembered, update in zip(names, memory, updates, strict=True):
                self.memory[name].copy_(remembered)
                self._matrices[name].mul_(1 - rate * self._decay).sub_(update, alpha=rate)


def _gradient(parameter: torch.nn.Parameter) -> Tensor:
    assert parameter.grad is not None
    return parameter.grad
