"""The layers of the Transformer, each built from the same two ideas: a sub-layer, and a residual path around it.

pre-norm:   x + Dropout(Sublayer(LayerNorm(x)))         (Xiong et al. 2020)
post-norm:  LayerNorm(x + Dropout(Sublayer(x)))         (Vaswani et al. 2017)

For study, the normalisation and the way around can each be left out.
"""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional

from dragoman.nn.attention import MultiHead


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

    def kept(self, shape: torch.Size, dropped: int) -> Float[Tensor, "..."]:
        """Zero for about `dropped` of 256 places, one for the others."""
        count = shape.numel()
        words = self._draws.integers(0, 2**64, size=(count + 7) // 8, dtype=np.uint64)
        keep = words.view(np.uint8)[:count] >= dropped
        # As small integers: PyTorch takes several times as long to turn booleans into floats.
        return torch.from_numpy(keep.view(np.int8)).to(torch.float32).view(shape)


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
        return x * self.noise.kept(x.shape, self._dropped).to(x).mul_(self._larger)

    def add(self, x: Float[Tensor, "*any"], y: Float[Tensor, "*any"]) -> Float[Tensor, "*any"]:
        """`x + self(y)`."""
        if self._is_usual(x):
            added: Tensor = x + self(y)
            return added
        return torch.addcmul(x, y, self.noise.kept(y.shape, self._dropped).to(y), value=self._larger)

    def narrow(self, x: Float[Tensor, "*any f"], outer: nn.Linear) -> Float[Tensor, "*any d"]:
        """`outer(self(x.relu()))`; `x` itself is overwritten."""
        if self._is_usual(x):
            narrowed: Tensor = outer(self(x.relu()))
            return narrowed
        kept: Tensor = _KeepPositive.apply(x, self.noise.kept(x.shape, self._dropped).to(x))  # type: ignore[no-untyped-call]
        # It is cheaper to enlarge the matrix that follows.
        return functional.linear(kept, outer.weight * self._larger, outer.bias)

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


class Residual(nn.Module):
    """The path around a sub-layer: normalise, drop, add."""

    def __init__(
        self, width: int, dropout: Dropout, norm: Literal["pre", "post", "none"] = "pre", *, around: bool = True
    ) -> None:
        super().__init__()
        self.norm = nn.Identity() if norm == "none" else nn.LayerNorm(width)
        self.dropout = dropout
        self.pre_norm = norm == "pre"
        self.around = around

    def forward(self, x: Float[Tensor, "b t d"], sublayer: Callable[[Tensor], Tensor]) -> Float[Tensor, "b t d"]:
        """Add what the sub-layer makes of `x` to `x`."""
        if self.pre_norm:
            return self._add(x, sublayer(self.norm(x)))
        normed: Tensor = self.norm(self._add(x, sublayer(x)))
        return normed

    def _add(self, x: Tensor, y: Tensor) -> Float[Tensor, "b t d"]:
        if self.around:
            return self.dropout.add(x, y)
        dropped: Tensor = self.dropout(y)
        return dropped


class FeedForward(nn.Module):
    """Two linear maps with a ReLU between, at each position alone (section 3.3 of the paper of 2017)."""

    def __init__(self, width: int, inner: int, dropout: Dropout) -> None:
        super().__init__()
        self.inner = nn.Linear(width, inner)
        self.outer = nn.Linear(inner, width)
        self.dropout = dropout

    def forward(self, x: Float[Tensor, "b t d"]) -> Float[Tensor, "b t d"]:
        """Widen, keep what is positive, narrow."""
        return self.dropout.narrow(self.inner(x), self.outer)


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward, each with a path around it."""

    def __init__(self, attention: MultiHead, feed_forward: FeedForward, path: Callable[[], Residual]) -> None:
        super().__init__()
        self.attention = attention
        self.attention_path = path()
        self.feed_forward = feed_forward
        self.feed_forward_path = path()

    def forward(self, x: Float[Tensor, "b s d"], visible: Bool[Tensor, "b 1 1 s"]) -> Float[Tensor, "b s d"]:
        """Let every source position look at every other."""
        x = self.attention_path(x, lambda y: self.attention(y, y, visible))
        encoded: Tensor = self.feed_forward_path(x, self.feed_forward)
        return encoded


class DecoderLayer(nn.Module):
    """Masked self-attention, attention to the encoder's output, then feed-forward, each with a path around it."""

    def __init__(
        self,
        self_attention: MultiHead,
        cross_attention: MultiHead,
        feed_forward: FeedForward,
        path: Callable[[], Residual],
    ) -> None:
        super().__init__()
        self.self_attention = self_attention
        self.self_attention_path = path()
        self.cross_attention = cross_attention
        self.cross_attention_path = path()
        self.feed_forward = feed_forward
        self.feed_forward_path = path()

    def forward(
        self,
        x: Float[Tensor, "b t d"],
        visible: Bool[Tensor, "#b 1 t t"],
        memory: Float[Tensor, "b s d"],
        memory_visible: Bool[Tensor, "b 1 1 s"],
    ) -> Float[Tensor, "b t d"]:
        """Let every target position look back at the target and across at the source."""
        x = self.self_attention_path(x, lambda y: self.self_attention(y, y, visible))
        x = self.cross_attention_path(x, lambda y: self.cross_attention(y, memory, memory_visible))
        decoded: Tensor = self.feed_forward_path(x, self.feed_forward)
        return decoded
