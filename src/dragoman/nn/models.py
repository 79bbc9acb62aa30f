"""From a recipe to a network with fresh weights: the one place that unpacks the settings."""

import math
from typing import assert_never

import torch
from torch import nn

from dragoman.config import Model
from dragoman.nn.attention import MultiHead
from dragoman.nn.dropout import Dropout, Noise
from dragoman.nn.layers import DecoderLayer, EncoderLayer, FeedForward, Residual
from dragoman.nn.positions import LearnedPositions, NoPositions, SinusoidalPositions
from dragoman.nn.recurrent import GRU, LSTM, Decoder, Encoder, Look, Recurrent
from dragoman.nn.sequence import Embedding
from dragoman.nn.transformer import Positions, Stack, Transformer

Network = Transformer | Recurrent
_SHARP = 5.0


def build(model: Model, vocabulary: int, max_length: int) -> Network:
    """Build the network that the settings describe, all sizes filled in; the weights are still to be set."""
    match model.kind:
        case "transformer":
            return _build_transformer(model, vocabulary, max_length)
        case "recurrent":
            return _build_recurrent(model, vocabulary, max_length)
        case _:
            assert_never(model.kind)


def _build_transformer(model: Model, vocabulary: int, max_length: int) -> Transformer:
    width, heads, inner = _given(model.width), _given(model.heads), _given(model.feed_forward)
    dropout, (embedding, reading, output) = _dropout(model), _embeddings(model, vocabulary)
    pre_norm = model.norm == "pre"

    def path() -> Residual:
        return Residual(width, dropout, model.norm, around=model.residual)

    def looking(*, turned: bool) -> MultiHead:
        base = model.position_base if turned and model.positions == "rotary" else None
        return MultiHead(width, heads, model.scores, base)

    def feeding() -> FeedForward:
        return FeedForward(width, inner, dropout)

    encoder_layers, decoder_layers = range(_given(model.encoder_layers)), range(_given(model.decoder_layers))
    encoder = Stack(
        embedding,
        _positions(model, width, max_length),
        dropout,
        [EncoderLayer(looking(turned=True), feeding(), path) for _ in encoder_layers],
        pre_norm=pre_norm,
    )
    decoder = Stack(
        reading,
        _positions(model, width, max_length),
        dropout,
        [DecoderLayer(looking(turned=True), looking(turned=False), feeding(), path) for _ in decoder_layers],
        pre_norm=pre_norm,
    )
    return Transformer(encoder, decoder, output, dropout.noise)


def _positions(model: Model, width: int, max_length: int) -> Positions:
    match model.positions:
        case "sinusoidal":
            return SinusoidalPositions(width, model.position_base)
        case "learned":
            return LearnedPositions(width, max_length + 1)
        case "rotary" | "none":
            return NoPositions()
        case _:
            assert_never(model.positions)


def _build_recurrent(model: Model, vocabulary: int, max_length: int) -> Recurrent:
    memory = _given(model.width)
    width = model.decoder_width or memory
    dropout, (embedding, reading, output) = _dropout(model), _embeddings(model, vocabulary)
    cell = LSTM if model.cell == "lstm" else GRU
    ways = 2 if model.two_way else 1
    encoder = [[cell(memory, memory // ways) for _ in range(ways)] for _ in range(_given(model.encoder_layers))]
    before = model.attend == "before"
    read = memory * (1 + before + model.input_feeding)
    decoder = Decoder(
        reading,
        dropout,
        [cell(width if number else read, width) for number in range(_given(model.decoder_layers))],
        Look(model.look, width, memory, max_length + 1),
        memory,
        before=before,
        feeding=model.input_feeding,
    )
    return Recurrent(Encoder(embedding, dropout, encoder), decoder, output, dropout.noise)


def _dropout(model: Model) -> Dropout:
    return Dropout(0.0 if model.dropout is None else model.dropout, Noise())


def _embeddings(model: Model, vocabulary: int) -> list[Embedding]:
    """The embeddings of source, target and output, which may be the same one."""
    first = Embedding(vocabulary, _given(model.width))
    return [first if model.tied or not number else Embedding(vocabulary, _given(model.width)) for number in range(3)]


def initialise(network: nn.Module, seed: int) -> None:
    """Set fresh weights, the same for the same seed.

    Matrices are drawn after Glorot and Bengio (2010); embeddings and learned positions with variance 1/d, so that the
    scaled embedding has variance 1 and so have the first scores. Cosine scores begin sharp enough to tell states apart.
    """
    generator = torch.Generator().manual_seed(seed)
    for module in network.modules():
        match module:
            case nn.Linear():
                nn.init.xavier_uniform_(module.weight, generator=generator)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
            case nn.LayerNorm():
                nn.init.ones_(module.weight)
                nn.init.zeros_(module.bias)
            case Embedding():
                _draw(module.weight, generator)
            case LearnedPositions():
                _draw(module.table, generator)
            case Look(kind="cosine") | MultiHead(scores="cosine"):
                nn.init.constant_(module.sharpness, _SHARP)
            case MultiHead(scores="additive"):
                _draw(module.mix, generator)
            case Transformer() | Recurrent():
                nn.init.zeros_(module.bias)


def silence(network: nn.Module) -> None:
    """Let no layer add anything to its residual path at first: what leads back to it begins at zero."""
    for layer in network.modules():
        if isinstance(layer, EncoderLayer | DecoderLayer) and layer.feed_forward_path.around:
            for part in layer.children():
                match part:
                    case MultiHead():
                        nn.init.zeros_(part.output.weight)
                    case FeedForward():
                        nn.init.zeros_(part.outer.weight)


def _draw(weight: nn.Parameter, generator: torch.Generator) -> None:
    nn.init.normal_(weight, std=1 / math.sqrt(weight.shape[1]), generator=generator)


def _given(size: int | None) -> int:
    if size is None:
        raise ValueError("a size is still open: fill the recipe in with dragoman.training.sizes first")
    return size
