"""The Transformer of "Attention Is All You Need" (Vaswani et al. 2017).

An encoder stack, a decoder stack, and the embeddings that lead in and out.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from dragoman.nn.attention import causal
from dragoman.nn.dropout import Dropout
from dragoman.nn.layers import DecoderLayer, EncoderLayer
from dragoman.nn.positions import LearnedPositions, NoPositions, SinusoidalPositions
from dragoman.nn.sequence import Embedding, SequenceToSequence, likeliest

Positions = SinusoidalPositions | LearnedPositions | NoPositions


class Stack(nn.Module):
    """Layers one above the other, with the embedding and the positions below them."""

    def __init__(
        self,
        embedding: Embedding,
        positions: Positions,
        dropout: Dropout,
        layers: list[EncoderLayer] | list[DecoderLayer],
        *,
        pre_norm: bool,
    ) -> None:
        super().__init__()
        self.embedding = embedding
        self.positions = positions
        self.dropout = dropout
        self.layers = nn.ModuleList(layers)
        self.norm = nn.LayerNorm(embedding.weight.shape[1]) if pre_norm else nn.Identity()

    def forward(self, pieces: Int[Tensor, "b t"], *seen: Tensor) -> Float[Tensor, "b t d"]:
        """Embed the pieces, add their positions, and pass through the layers, each of which is told what it sees."""
        x = self.dropout(self.embedding(pieces) + self.positions(pieces.shape[1]))
        for layer in self.layers:
            x = layer(x, *seen)
        top: Tensor = self.norm(x)
        return top


class Transformer(SequenceToSequence):
    """Every position of a layer at once."""

    encoder: Stack
    decoder: Stack

    def forward(
        self,
        source: Int[Tensor, "b s"],
        visible: Bool[Tensor, "b s"],
        target: Int[Tensor, "b t"],
        given: Bool[Tensor, "b t"] | None = None,
    ) -> Float[Tensor, "b t d"]:
        """Return the decoder's last vectors; `score` turns them into scores for the next piece.

        Target padding needs no hiding: it stands at the end, where causality hides it from all that counts. Where a
        target piece is not `given`, what a first pass found likeliest there is read in its stead (parallel scheduled
        sampling, Mihaylova and Martins 2019).
        """
        memory_visible = visible[:, None, None, :]
        memory = self.encoder(source, memory_visible)
        seen = causal(target.shape[1], target.device), memory, memory_visible
        if given is not None:
            with torch.no_grad():
                guessed = likeliest(self.score, self.decoder(target, *seen))
            target = torch.where(given, target, torch.cat([target[:, :1], guessed[:, :-1]], dim=1))
        decoded: Tensor = self.decoder(target, *seen)
        return decoded
