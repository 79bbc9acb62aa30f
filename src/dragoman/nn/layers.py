"""The layers of the Transformer, each built from the same two ideas: a sub-layer, and a residual path around it.

pre-norm:   x + Dropout(Sublayer(LayerNorm(x)))         (Xiong et al. 2020)
post-norm:  LayerNorm(x + Dropout(Sublayer(x)))         (Vaswani et al. 2017)
"""

from collections.abc import Callable

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

    def kept(self, shape: torch.Size, rate: float) -> Float[Tensor, "..."]:
        """Zeros for about `rate` of the places, elsewhere what keeps the mean as it was (rate in steps of 1/256)."""
        dropped = min(255, round(rate * 256))
        count = shape.numel()
        words = self._draws.integers(0, 2**64, size=(count + 7) // 8, dtype=np.uint64)
        keep = words.view(np.uint8)[:count] >= dropped
        # As small integers: PyTorch takes several times as long to turn booleans into floats.
        kept = torch.from_numpy(keep.view(np.int8)).to(torch.float32)
        return kept.mul_(256 / (256 - dropped)).view(shape)


class Dropout(nn.Module):
    """Drop values at random while training."""

    def __init__(self, rate: float, noise: Noise) -> None:
        super().__init__()
        self.rate = rate
        self.noise = noise

    def forward(self, x: Float[Tensor, "*any"]) -> Float[Tensor, "*any"]:
        """Drop while training, pass on unchanged otherwise."""
        if not self.training or self.rate == 0:
            return x
        if not x.is_cpu:
            return functional.dropout(x, self.rate)
        return x * self.noise.kept(x.shape, self.rate).to(x)


class Residual(nn.Module):
    """The path around a sub-layer: normalise, drop, add."""

    def __init__(self, width: int, dropout: Dropout, *, pre_norm: bool) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.dropout = dropout
        self.pre_norm = pre_norm

    def forward(self, x: Float[Tensor, "b t d"], sublayer: Callable[[Tensor], Tensor]) -> Float[Tensor, "b t d"]:
        """Add what the sub-layer makes of `x` to `x`."""
        if self.pre_norm:
            added: Tensor = x + self.dropout(sublayer(self.norm(x)))
            return added
        normed: Tensor = self.norm(x + self.dropout(sublayer(x)))
        return normed


class FeedForward(nn.Module):
    """Two linear maps with a ReLU between, at each position alone (section 3.3 of the paper of 2017)."""

    def __init__(self, width: int, inner: int, dropout: Dropout) -> None:
        super().__init__()
        self.inner = nn.Linear(width, inner)
        self.outer = nn.Linear(inner, width)
        self.dropout = dropout

    def forward(self, x: Float[Tensor, "b t d"]) -> Float[Tensor, "b t d"]:
        """Widen, keep what is positive, narrow."""
        narrowed: Tensor = self.outer(self.dropout(self.inner(x).relu()))
        return narrowed


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward."""

    def __init__(self, width: int, heads: int, inner: int, dropout: Dropout, *, pre_norm: bool) -> None:
        super().__init__()
        self.attention = MultiHead(width, heads)
        self.attention_path = Residual(width, dropout, pre_norm=pre_norm)
        self.feed_forward = FeedForward(width, inner, dropout)
        self.feed_forward_path = Residual(width, dropout, pre_norm=pre_norm)

    def forward(self, x: Float[Tensor, "b s d"], visible: Bool[Tensor, "b 1 1 s"]) -> Float[Tensor, "b s d"]:
        """Let every source position look at every other."""
        x = self.attention_path(x, lambda y: self.attention(y, y, visible))
        encoded: Tensor = self.feed_forward_path(x, self.feed_forward)
        return encoded


class DecoderLayer(nn.Module):
    """Masked self-attention, attention to the encoder's output, then feed-forward."""

    def __init__(self, width: int, heads: int, inner: int, dropout: Dropout, *, pre_norm: bool) -> None:
        super().__init__()
        self.self_attention = MultiHead(width, heads)
        self.self_attention_path = Residual(width, dropout, pre_norm=pre_norm)
        self.cross_attention = MultiHead(width, heads)
        self.cross_attention_path = Residual(width, dropout, pre_norm=pre_norm)
        self.feed_forward = FeedForward(width, inner, dropout)
        self.feed_forward_path = Residual(width, dropout, pre_norm=pre_norm)

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
