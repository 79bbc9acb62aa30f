"""Positions: attention alone sees a bag of words, so each place adds its own vector to the word that stands there.

    P[p, 2i] = sin(p / n^(2i/d))        P[p, 2i+1] = cos(p / n^(2i/d))        n = 10,000

(Vaswani et al. 2017, section 3.5.) The vector is *added* to the embedding, not concatenated. Learned positions are a
table of parameters instead; they know no place beyond their last row. Rotary positions add nothing: they turn each pair
of a query's and of a key's numbers by an angle that grows with the place, so that a dot product knows how far the two
are apart (Su et al. 2021). Without positions the order of the source is lost.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


def sinusoids(length: int, width: int, base: float = 10_000.0) -> Float[Tensor, "{length} {width}"]:
    """The sinusoidal table for the first `length` places."""
    places = torch.arange(length, dtype=torch.float64)[:, None]
    angles = places / base ** (torch.arange(0, width, 2, dtype=torch.float64) / width)
    table = torch.zeros(length, width, dtype=torch.float64)
    table[:, 0::2] = angles.sin()
    table[:, 1::2] = angles.cos()[:, : width // 2]
    return table.float()


def rotate(x: Float[Tensor, "*lead t e"], base: float) -> Float[Tensor, "*lead t e"]:
    """Turn the numbers 2i and 2i+1 of every vector, as a point in the plane, by its place / base^(2i/e)."""
    length, width = x.shape[-2:]
    places, pairs = (torch.arange(0, end, step, dtype=torch.float64) for end, step in ((length, 1), (width, 2)))
    angles = (places[:, None] / base ** (pairs / width)).to(x.device)
    sine, cosine = angles.sin().to(x.dtype), angles.cos().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cosine - odd * sine, even * sine + odd * cosine], dim=-1).flatten(-2)


class NoPositions(nn.Module):
    """Nothing to add."""

    def forward(self, length: int) -> Float[Tensor, ""]:  # noqa: ARG002 -- all places are alike
        """Zero."""
        return torch.zeros(())


class SinusoidalPositions(nn.Module):
    """The table of sines and cosines, grown to the longest sequence met."""

    table: Tensor

    def __init__(self, width: int, base: float = 10_000.0) -> None:
        super().__init__()
        self.base = base
        self.register_buffer("table", sinusoids(1, width, base), persistent=False)

    def forward(self, length: int) -> Float[Tensor, "{length} d"]:
        """The vectors of the first `length` places."""
        if length > len(self.table):
            self.table = sinusoids(2 * length, self.table.shape[1], self.base).to(self.table)
        return self.table[:length]


class LearnedPositions(nn.Module):
    """A vector of its own for each place, learned like any other weight."""

    def __init__(self, width: int, length: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.empty(length, width))

    def forward(self, length: int) -> Float[Tensor, "{length} d"]:
        """The vectors of the first `length` places."""
        if length > len(self.table):
            raise ValueError(f"a sequence of {length} places, but only {len(self.table)} were learned")
        return self.table[:length]
