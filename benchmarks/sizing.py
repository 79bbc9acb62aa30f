"""What the sizes that `dragoman train` picks by itself come to, from a handful of pairs to half a million.

So many pairs of TATOEBA's training text, drawn at random, are learned with nothing but a promise of minutes: EACH for
the SIZES that are measured (500, 5,000 and 50,000 pairs: 3, 8 and 20), two at a time on half of the cores each. The
largest corpus is only forecast. What is begun and finished is kept in `.bench/sizing`.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks.corpus import need
from benchmarks.figure import Figure
from benchmarks.trained import asked_sizes, card, scored, trained_at_once
from dragoman.config import Recipe
from dragoman.data.corpus import read_pairs, write_pairs
from dragoman.jobs.check import count_epochs
from dragoman.recipe import read_recipe
from dragoman.training.forecast import count_parameters, forecast_speed
from dragoman.training.sizes import CorpusSize, fill, suit

_ROOM = Path(".bench/sizing")
_FORECAST = CorpusSize(pairs=500_000, words=100_000, characters=200)
_PIECES_OF_A_PAIR = 20


def run() -> Iterator[Figure]:
    """Train with every size, and forecast the largest."""
    data = need("TATOEBA", "train.tsv.gz", "test.tsv.gz")
    sizes = asked_sizes("500,5000,50000", "3,8,20")
    for (size, minutes), model in zip(sizes, learn(data, sizes), strict=True):
        yield _measure(model, size, minutes, data / "test.tsv.gz")
    yield _forecast()


def learn(data: Path, sizes: Sequence[tuple[int, str]]) -> list[Path]:
    """Train a model on so many pairs for so many minutes, each on half of the cores; the largest first."""
    _ROOM.mkdir(parents=True, exist_ok=True)
    pairs = list(read_pairs([data / "train.tsv.gz"], "en", "es"))
    order = np.random.default_rng(1).permutation(len(pairs))
    asked: dict[str, list[str | Path]] = {}
    for size, minutes in sorted(sizes, reverse=True):
        text = _ROOM / f"{size}.tsv"
        write_pairs(text, [pairs[n] for n in order[:size]])
        words: list[str | Path] = [text, "--from", "en", "--to", "es", "--test", data / "test.tsv.gz"]
        asked[str(size)] = [*words, "--minutes", minutes]
    models = dict(zip(asked, trained_at_once(_ROOM, asked, at_once=2), strict=True))
    return [models[str(size)] for size, _ in sizes]


def _measure(model: Path, size: int, minutes: str, test: Path) -> Figure:
    training = card(model)["training"]
    return Figure(
        f"{size:,} pairs, --minutes {minutes}: {_told(read_recipe(model / 'recipe.toml'))}, "
        f"{training['parameters'] / 1e6:.1f} million parameters, {training['epochs']} epochs: {scored(model, test)} on "
        f"{test.parent.name}",
        shown=True,
    )


def _forecast() -> Figure:
    filled, total = fill(Recipe(), _FORECAST), _FORECAST.pairs * _PIECES_OF_A_PAIR
    pieces, batch = filled.pieces.size or 0, filled.training.batch_pieces or 1
    epochs = count_epochs(_FORECAST.pairs, total / batch)
    recipe = suit(Recipe(), filled, epochs)
    hours = epochs * total / forecast_speed(recipe, pieces) / 3600
    return Figure(
        f"{_FORECAST.pairs:,} pairs, forecast: {_told(recipe)}, {count_parameters(recipe.model, pieces) / 1e6:.1f} "
        f"million parameters; {epochs} epochs of {_PIECES_OF_A_PAIR} pieces a pair take about {hours:.1f} hours here, "
        "on all cores",
        shown=True,
    )


def _told(recipe: Recipe) -> str:
    model = recipe.model
    return (
        f"{recipe.pieces.size:,} pieces, {model.encoder_layers}+{model.decoder_layers} layers of width {model.width}, "
        f"dropout {model.dropout:g}, sampling {recipe.pieces.sampling:g}, batches of {recipe.training.batch_pieces:,}"
    )
