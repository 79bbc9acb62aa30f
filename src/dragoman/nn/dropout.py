"""Dropout (Srivastava et al. 2014): values are dropped at random while training, so that none can rely on another."""

from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional


class Noise:
    """The random numbers of one update, drawn from the seed and the update's number alone.

    So a training that is resumed needs no saved random state to go on exactly as it would have. NumPy's generator
    makes bytes several times faster than PyTorch makes its Bernoulli draws on a CPU; a graphics card makes its own.
    """

    def __init__(self) -> None:
        self.restart(0, 0)

    def restart(self, seed: int, update: int, part: int = 0) -> None:
        """Begin the draws of an update, or of one part of its batch."""
        self._draws = np.random.Generator(np.random.SFC64([seed, update, part]))
        if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
            torch.cuda.manual_seed(int(self._draws.integers(2**63)))

    def kept(self, shape: torch.Size, dropped: int, kind: torch.dtype = torch.float32) -> Float[Tensor, "..."]:
        """Zero for about `dropped` of 256 places, one for the others."""
        count = shape.numel()
        words = self._draws.integers(0, 2**64, size=(count + 7) // 8, dtype=np.uint64)
        keep = words.view(np.uint8)[:count] >= dropped
        # As small integers: PyTorch takes several times as long to turn booleans into floats.
        return torch.from_numpy(keep.view(np.int8)).to(kind).view(shape)


class Dropout(nn.Module):
    """Drop values at random while training, and enlarge the others so that their mean stays as it was.

    On a CPU it is the memory that costs time here, not the arithmetic: so what comes before or after dropping is done
    in the same pass where that is possible. Rates are rounded to steps of 1/256.
    """

    def __init__(self, rate: float, noise: Noise) -> None:
        super().__init__()
        self.rate = rate
        self.noise = noise
        self._dropped = min(255, round(rate * 256))
        self._larger = 256 / (256 - self._dropped)

    def forward(self, x: Float[Tensor, "*any"]) -> Float[Tensor, "*any"]:
        """Drop while training, pass on unchanged otherwise."""
        if self._is_usual(x):
            return functional.dropout(x, self.rate, self.training)
        return x * self._kept(x).mul_(self._larger)

    def add(self, x: Float[Tensor, "*any"], y: Float[Tensor, "*any"]) -> Float[Tensor, "*any"]:
        """`x + self(y)`."""
        if self._is_usual(x):
            added: Tensor = x + self(y)
            return added
        return torch.addcmul(x, y, self._kept(y), value=self._larger)

    def narrow(self, x: Float[Tensor, "*any f"], outer: nn.Linear) -> Float[Tensor, "*any d"]:
        """`outer(self(x.relu()))`; `x` itself is overwritten."""
        if self._is_usual(x):
            narrowed: Tensor = outer(self(x.relu()))
            return narrowed
        kept: Tensor = _KeepPositive.apply(x, self._kept(x))  # type: ignore[no-untyped-call]
        # It is cheaper to enlarge the matrix that follows.
        return functional.linear(kept, outer.weight * self._larger, outer.bias)

    def _kept(self, x: Tensor) -> Float[Tensor, "..."]:
        return self.noise.kept(x.shape, self._dropped, x.dtype)

    def _is_usual(self, x: Tensor) -> bool:
        return not self.training or self.rate == 0 or not x.is_cpu


class _KeepPositive(torch.autograd.Function):
    """x.relu() · kept, in place. Only what comes out positive passes gradients back, so nothing else need be known."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, kept: Tensor) -> Tensor:
        x.relu_().mul_(kept)
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx: Any, *outside: Tensor) -> tuple[Tensor, None]:
        return torch.ops.aten.threshold_backward(outside[0], ctx.saved_tensors[0], 0), None
