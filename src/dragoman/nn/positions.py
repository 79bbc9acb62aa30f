"""Positions: attention alone sees a bag of words, so each place adds its own vector to the word that stands there.

    P[p, 2i] = sin(p / n^(2i/d))        P[p, 2i+1] = cos(p / n^(2i/d))        n = 10,000

(Vaswani et al. 2017, section 3.5.) The vector is *added* to the embedding, not concatenated. Learned positions are a
table of parameters instead; they know no place beyond their last row.
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


class SinusoidalPositions(nn.Module):
    """The table of sines and cosines, grown to the longest sequence met."""

    table: Tensor

    def __init__(self, width: int) -> None:
        super().__init__()
        self.register_buffer("table", sinusoids(1, width), persistent=False)

    def forward(self, length: int) -> Float[Tensor, "{length} d"]:
        """The vectors of the first `length` places."""
        if length > len(self.table):
            self.table = sinusoids(2 * length, self.table.shape[1]).to(self.table)
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
