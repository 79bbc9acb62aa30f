"""From pieces to pieces: the embeddings that lead in and out, and what all translators have in common."""

import math
from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from dragoman.nn.dropout import Noise

_CHUNK = 256


class Embedding(nn.Module):
    """A piece's vector, scaled by √d so that it outweighs the position that is added to it."""

    def __init__(self, vocabulary: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(vocabulary, width))

    def forward(self, pieces: Int[Tensor, "b t"]) -> Float[Tensor, "b t d"]:
        """Look the pieces up."""
        return functional.embedding(pieces, self.weight) * math.sqrt(self.weight.shape[1])


class SequenceToSequence(nn.Module):
    """Source pieces and the target so far, in; a score for every piece that might come next, out."""

    def __init__(self, encoder: nn.Module, decoder: nn.Module, output: Embedding, noise: Noise) -> None:
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder
        self.output = output
        self.bias = nn.Parameter(torch.zeros(output.weight.shape[0]))
        self.noise = noise

    def score(self, decoded: Float[Tensor, "*any d"]) -> Float[Tensor, "*any v"]:
        """A score (logit) for every piece of the vocabulary."""
        return functional.linear(decoded, self.output.weight, self.bias)


def likeliest(score: Callable[[Tensor], Tensor], decoded: Float[Tensor, "*any d"]) -> Int[Tensor, "*any"]:
    """The pieces with the highest scores, without holding all scores in memory."""
    rows = torch.split(decoded.flatten(0, -2), _CHUNK)
    return torch.cat([score(some).argmax(dim=-1) for some in rows]).view(decoded.shape[:-1])
