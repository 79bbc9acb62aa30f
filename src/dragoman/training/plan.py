"""Sizes from the corpus, and a plan of the run from the time there is. Needs no torch, so `check` can use it too."""

import dataclasses
import math
import time
from typing import NamedTuple, TypeVar

import numpy as np

from dragoman.config import Model, Pieces, Recipe, Training
from dragoman.machine import cores
from dragoman.recipe import check
from dragoman.training.schedule import Schedule, make_schedule


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
_MOST_PROCESSES = 4
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
    """Fewer layers, twice as wide: about as many parameters, and steps that cannot be done at once are kept few."""
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
    return round(least + min(1.0, share) * (most - least), 2)


def suit(asked: Recipe, filled: Recipe, epochs: float) -> Recipe:
    """Give a filled recipe the dropout that suits so many epochs, unless another was asked for."""
    if asked.model.dropout is not None or filled.model.dropout is None:
        return filled
    model = dataclasses.replace(filled.model, dropout=suit_dropout(filled.model.dropout, epochs))
    return dataclasses.replace(filled, model=model)


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
        speed = forecast_speed(recipe.model, vocabulary) / count_passes(recipe.training)
        return self.minutes * 60 * speed / pieces


def count_passes(settings: Training) -> int:
    """How often the network goes over each batch: twice where two predictions are to agree."""
    return 2 if settings.agreement else 1


def default_processes(device: str) -> int:
    """Processes that share each batch, unless the recipe says otherwise; a graphics card needs one."""
    return min(_MOST_PROCESSES, cores()) if device == "cpu" else 1


def _fill(given: _Section, chosen: _Section) -> _Section:
    names = [f.name for f in dataclasses.fields(given) if getattr(given, f.name) is None]
    return dataclasses.replace(given, **{name: getattr(chosen, name) for name in names})


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


def forecast_speed(model: Model, vocabulary: int) -> float:
    """Target pieces a second that training will make on this machine, from how fast it multiplies matrices.

    A source and a target piece cost six operations a weight that they meet; small networks reach about half of
    what a large product does. Right to a third or so; the training itself measures before it plans.
    """
    size = 768
    left = np.ones((size, size), np.float32)
    best = math.inf
    for _ in range(4):
        begun = time.perf_counter()
        left @ left
        best = min(best, time.perf_counter() - begun)
    return 0.5 * 2 * size**3 / best / (6 * count_parameters(model, vocabulary))


class Speed(NamedTuple):
    """What was measured before planning, in seconds."""

    update: float
    scoring: float
    finishing: float


class Plan(NamedTuple):
    """The run as it was fixed before its first update."""

    schedule: Schedule
    scorings: int
    minutes: float | None
    """The promise; None if the number of updates was given."""
    scoring: float = 0.0
    """Seconds that a scoring was measured to take."""
    finishing: float = 0.0
    """Seconds kept for what comes after the last update."""
    stopping: bool = False
    """More updates would not help: the plan was cut and is not lengthened again."""

    def is_scoring(self, update: int) -> bool:
        """Tell whether the dev set is scored after this update."""
        updates = self.schedule.updates
        return update * self.scorings // updates > (update - 1) * self.scorings // updates


def plan_updates(settings: Training, updates: int) -> Plan:
    """Plan a run of a given number of updates."""
    return Plan(_schedule(settings, updates), min(settings.scorings, updates), None)


def plan_minutes(settings: Training, minutes: float, elapsed: float, speed: Speed) -> Plan:
    """Plan a run that ends just before the promised time.

    Scoring may take a sixteenth of what is left; where that is not enough for all scorings, there are fewer.
    """
    left = minutes * 60 - margin(minutes) - elapsed - speed.finishing
    scorings = max(1, min(settings.scorings, int(left / 16 / speed.scoring)))
    updates = max(1, int((left - scorings * speed.scoring) / speed.update))
    return Plan(_schedule(settings, updates), min(scorings, updates), minutes, speed.scoring, speed.finishing)


def margin(minutes: float) -> float:
    """Seconds by which a plan aims to end before the promised time."""
    return min(0.025 * 60 * minutes, 20.0)


def _schedule(settings: Training, updates: int) -> Schedule:
    assert settings.peak_rate is not None
    assert settings.warmup_updates is not None
    return make_schedule(settings.schedule, settings.peak_rate, settings.warmup_updates, updates, settings.decay_share)
