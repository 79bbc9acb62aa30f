"""Sizes from the corpus. Needs no torch, so `check` can use it too."""

import dataclasses
import math
from typing import Final, Literal, NamedTuple, TypeVar

from dragoman.config import Model, Pieces, Recipe, Training
from dragoman.machine import cores, multiplies_bfloat16
from dragoman.recipe import check

FEWEST_PAIRS: Final = 50
"""From fewer nothing is learned."""


class CorpusSize(NamedTuple):
    """What the sizes follow from."""

    pairs: int
    words: int
    """Distinct words of both sides; a vocabulary larger than that has pieces nobody needs."""
    characters: int = 0
    """Distinct characters of both sides; a vocabulary smaller than that cannot be learned."""


class Shape(NamedTuple):
    """The default sizes for corpora of up to so many pairs."""

    pairs: int
    pieces: int
    layers: int
    width: int
    heads: int
    feed_forward: int
    dropout: float
    """When the corpus is seen very often; see `suit_dropout`."""
    batch: int
    rate: float


# Few pairs: a small, strongly regularised network; many: a wider one that the text can fill.
_SHAPES = (
    Shape(3_000, 1_000, 2, 64, 4, 256, 0.3, 1024, 4e-3),
    Shape(15_000, 3_000, 3, 128, 4, 256, 0.3, 2048, 4e-3),
    Shape(60_000, 6_000, 4, 128, 4, 256, 0.3, 2048, 4e-3),
    Shape(300_000, 8_000, 4, 192, 6, 768, 0.1, 4096, 2.5e-3),
    Shape(2**62, 12_000, 4, 256, 8, 1024, 0.1, 6144, 2e-3),
)
_FEWEST_PIECES = 400
_FEW_EPOCHS, _MANY_EPOCHS, _LITTLE_DROPOUT = 8, 100, 0.1
_OFTEN, _SAMPLING = 12, 0.5
_MOST_PROCESSES = 4
_JUDGE_PAIRS, _JUDGE_PAIRS_A_MINUTE, _JUDGE_PAIRS_LEAST = 1000, 100, 300
_Section = TypeVar("_Section", Pieces, Model, Training)


def fill(recipe: Recipe, corpus: CorpusSize) -> Recipe:
    """Fill in every size that the recipe leaves open."""
    shape = next(shape for shape in _SHAPES if corpus.pairs <= shape.pairs)
    pieces = Pieces(
        size=max(_FEWEST_PIECES, min(shape.pieces, 260 + corpus.words), 300 + corpus.characters),
        sampling=0.0,
    )
    model = (
        _recurrent_sizes(recipe.model, shape)
        if recipe.model.kind == "recurrent"
        else _transformer_sizes(recipe.model, shape)
    )
    width = recipe.model.width or model.width or shape.width
    training = Training(
        batch_pieces=shape.batch,
        peak_rate=shape.rate * math.sqrt(shape.width / width),
        warmup_updates=400,
        judge_pairs=_JUDGE_PAIRS,
        precision=default_precision(recipe.training.device),
        processes=default_processes(recipe.training.device),
    )
    filled = dataclasses.replace(
        recipe,
        pieces=_fill(recipe.pieces, pieces),
        model=_fill(recipe.model, model),
        training=_fill(recipe.training, training),
    )
    return check(filled)


def _transformer_sizes(given: Model, shape: Shape) -> Model:
    heads = given.heads or shape.heads
    step = 2 if given.positions == "rotary" else 1  # which turns pairs of a head's numbers
    width = given.width or -(-shape.width // (heads * step)) * heads * step  # rounded up to what the heads divide
    return Model(
        encoder_layers=shape.layers,
        decoder_layers=shape.layers,
        width=width,
        heads=shape.heads if width % (shape.heads * step) == 0 else 1,
        feed_forward=shape.feed_forward * width // shape.width,
        dropout=shape.dropout,
    )


def _recurrent_sizes(given: Model, shape: Shape) -> Model:
    """Fewer layers, twice as wide, with up to twice the parameters: steps that cannot be done at once are kept few."""
    layers = 1 if shape.layers < 4 else 2
    alike = given.look in ("dot", "cosine") and given.decoder_width
    width = given.decoder_width if alike else 2 * shape.width
    return Model(encoder_layers=layers, decoder_layers=layers, width=width, dropout=shape.dropout)


def suit_dropout(most: float, epochs: float) -> float:
    """The dropout for a training that sees its corpus so often.

    Dropping keeps a network from learning by heart, and makes it learn more slowly: whoever has little time has no use
    for much of it. Between few epochs and many it grows with their logarithm.
    """
    share = math.log(max(epochs, _FEW_EPOCHS) / _FEW_EPOCHS) / math.log(_MANY_EPOCHS / _FEW_EPOCHS)
    least = min(most, _LITTLE_DROPOUT)
    return round(most if share >= 1 else least + share * (most - least), 2)


def suit_sampling(epochs: float) -> float:
    """The subword sampling for a training that sees its corpus so often.

    A sentence that is cut otherwise each time cannot be learned by heart so soon; one that is seen a few times only is
    learned faster as it will be cut later.
    """
    return _SAMPLING if epochs >= _OFTEN else 0.0


def suit(asked: Recipe, filled: Recipe, epochs: float, minutes: float | None = None) -> Recipe:
    """Give a filled recipe what suits so many epochs, and minutes if they are promised, unless it was asked for."""
    model, pieces, training = filled.model, filled.pieces, filled.training
    if asked.model.dropout is None and model.dropout is not None:
        model = dataclasses.replace(model, dropout=suit_dropout(model.dropout, epochs))
    if asked.pieces.sampling is None:
        pieces = dataclasses.replace(pieces, sampling=suit_sampling(epochs))
    if asked.training.judge_pairs is None and minutes is not None:
        some = max(_JUDGE_PAIRS_LEAST, min(_JUDGE_PAIRS, int(_JUDGE_PAIRS_A_MINUTE * minutes)))
        training = dataclasses.replace(training, judge_pairs=some)
    return dataclasses.replace(filled, model=model, pieces=pieces, training=training)


def default_processes(device: str) -> int:
    """Processes that share each batch, unless the recipe says otherwise; a graphics card needs one."""
    return min(_MOST_PROCESSES, cores()) if device == "cpu" else 1


def default_precision(device: str) -> Literal["float32", "bfloat16"]:
    """What products are computed with, unless the recipe says otherwise; a graphics card has both."""
    return "bfloat16" if device != "cpu" or multiplies_bfloat16() else "float32"


def _fill(given: _Section, chosen: _Section) -> _Section:
    names = [f.name for f in dataclasses.fields(given) if getattr(given, f.name) is None]
    return dataclasses.replace(given, **{name: getattr(chosen, name) for name in names})
