"""How much a training will do, before anything is trained. Needs no torch, so `check` can use it too."""

import math
import time
from typing import NamedTuple

import numpy as np

from dragoman.config import Model, Pieces, Recipe, Training

_ROUGHLY = 1.7  # times as fast with products of bfloat16


class Effort(NamedTuple):
    """How much a training may do; one of the three is given."""

    minutes: float | None = None
    updates: int | None = None
    passes: int | None = None
    """How often the corpus is to be seen."""

    def epochs(self, recipe: Recipe, vocabulary: int, pieces: float) -> float:
        """About how often a corpus of so many target pieces will be seen, with a filled recipe."""
        if self.passes is not None:
            return self.passes
        if self.updates is not None:
            return self.updates * (recipe.training.batch_pieces or 0) / pieces
        assert self.minutes is not None
        speed = forecast_speed(recipe, vocabulary) / count_passes(recipe.training)
        return self.minutes * 60 * speed / pieces


def count_passes(settings: Training) -> int:
    """How often the network goes over each batch: twice where two predictions are to agree."""
    return 2 if settings.agreement else 1


def count_parameters(model: Model, vocabulary: int, max_length: int = Pieces.max_length) -> int:
    """How many numbers the network of a filled recipe learns; `max_length` counts where places are learned."""
    assert model.width is not None
    assert model.encoder_layers is not None
    assert model.decoder_layers is not None
    embeddings = (1 if model.tied else 3) * vocabulary * model.width + vocabulary
    if model.kind == "recurrent":
        return embeddings + _count_recurrent(model, model.encoder_layers, model.decoder_layers, model.width, max_length)
    assert model.feed_forward is not None
    d, f = model.width, model.feed_forward
    compared = {"cosine": model.heads or 1, "additive": d}.get(model.scores, 0)
    attention, inner, norm = 4 * d * (d + 1) + compared, 2 * d * f + f + d, 0 if model.norm == "none" else 2 * d
    encoder = model.encoder_layers * (attention + inner + 2 * norm)
    decoder = model.decoder_layers * (2 * attention + inner + 3 * norm)
    last_norms = 2 * norm if model.norm == "pre" else 0
    positions = 2 * (max_length + 1) * d if model.positions == "learned" else 0
    return encoder + decoder + last_norms + positions + embeddings


def _count_recurrent(model: Model, encoder_layers: int, decoder_layers: int, memory: int, max_length: int) -> int:
    width = model.decoder_width or memory
    gates = 4 if model.cell == "lstm" else 3
    biases = 1 if model.cell == "lstm" else 2

    def cell(read: int, width: int) -> int:
        return gates * width * (read + width + biases)

    ways = 2 if model.two_way else 1
    encoder = encoder_layers * ways * cell(memory, memory // ways)
    first = memory * (1 + (model.attend == "before") + model.input_feeding)
    decoder = cell(first, width) + (decoder_layers - 1) * cell(width, width)
    begin, output = decoder_layers * width * (memory + 1), memory * (width + memory + 1)
    look = {"fixed": max_length + 1, "cosine": 1, "bilinear": memory * width, "mlp": width * (memory + width + 2)}
    return encoder + decoder + begin + output + look.get(model.look, 0)


def forecast_speed(recipe: Recipe, vocabulary: int) -> float:
    """Target pieces a second that training will make on this machine, from how fast it multiplies matrices.

    A source and a target piece cost six operations a weight that they meet; small networks reach about half of
    what a large product does. Right to a third or so; the training itself measures before it plans.
    """
    share = 0.5 * (_ROUGHLY if recipe.training.precision == "bfloat16" else 1.0)
    size = 768
    left = np.ones((size, size), np.float32)
    best = math.inf
    for _ in range(4):
        begun = time.perf_counter()
        left @ left
        best = min(best, time.perf_counter() - begun)
    return share * 2 * size**3 / best / (6 * count_parameters(recipe.model, vocabulary))
