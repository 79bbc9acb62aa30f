"""The layers of the Transformer, each built from the same two ideas: a sub-layer, and a residual path around it.

pre-norm:   x + Dropout(Sublayer(LayerNorm(x)))         (Xiong et al. 2020)
post-norm:  LayerNorm(x + Dropout(Sublayer(x)))         (Vaswani et al. 2017)

For study, the normalisation and the way around can each be left out.
"""

from collections.abc import Callable
from typing import Literal

from jaxtyping import Bool, Float
from torch import Tensor, nn

from dragoman.nn.attention import MultiHead
from dragoman.nn.dropout import Dropout


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
