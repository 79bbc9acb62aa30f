"""From a recipe to a network with fresh weights: the one place that unpacks the settings."""

import math

import torch
from torch import nn

from dragoman.config import Model
from dragoman.nn.layers import DecoderLayer, Dropout, EncoderLayer, Noise
from dragoman.nn.positions import LearnedPositions, SinusoidalPositions
from dragoman.nn.transformer import Embedding, Positions, Stack, Transformer


def build(model: Model, vocabulary: int, max_length: int) -> Transformer:
    """Build the network that the settings describe, all sizes filled in; the weights are still to be set."""
    width, heads, inner = _given(model.width), _given(model.heads), _given(model.feed_forward)
    pre_norm = model.norm == "pre"
    noise = Noise()
    dropout = Dropout(0.0 if model.dropout is None else model.dropout, noise)

    def positions() -> Positions:
        if model.positions == "learned":
            return LearnedPositions(width, max_length + 1)
        return SinusoidalPositions(width)

    embedding = Embedding(vocabulary, width)
    encoder = Stack(
        embedding,
        positions(),
        dropout,
        [EncoderLayer(width, heads, inner, dropout, pre_norm=pre_norm) for _ in range(_given(model.encoder_layers))],
        pre_norm=pre_norm,
    )
    decoder = Stack(
        embedding if model.tied else Embedding(vocabulary, width),
        positions(),
        dropout,
        [DecoderLayer(width, heads, inner, dropout, pre_norm=pre_norm) for _ in range(_given(model.decoder_layers))],
        pre_norm=pre_norm,
    )
    output = embedding if model.tied else Embedding(vocabulary, width)
    return Transformer(encoder, decoder, output, noise)


def initialise(network: Transformer, seed: int) -> None:
    """Set fresh weights, the same for the same seed.

    Matrices are drawn after Glorot and Bengio (2010); embeddings and learned positions with variance 1/d, so that the
    scaled embedding has variance 1 and so have the first scores.
    """
    generator = torch.Generator().manual_seed(seed)
    for module in network.modules():
        match module:
            case nn.Linear():
                nn.init.xavier_uniform_(module.weight, generator=generator)
                nn.init.zeros_(module.bias)
            case nn.LayerNorm():
                nn.init.ones_(module.weight)
                nn.init.zeros_(module.bias)
            case Embedding():
                _draw(module.weight, generator)
            case LearnedPositions():
                _draw(module.table, generator)
    nn.init.zeros_(network.bias)


def _draw(weight: nn.Parameter, generator: torch.Generator) -> None:
    nn.init.normal_(weight, std=1 / math.sqrt(weight.shape[1]), generator=generator)


def _given(size: int | None) -> int:
    if size is None:
        raise ValueError("a size is still open: fill the recipe in with dragoman.training.plan first")
    return size
