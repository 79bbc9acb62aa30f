"""What a corpus holds, what cleaning would drop and why, and what training on it would do.

One pass, in bounded memory, without torch. The forecast is an estimate: training measures the machine before it plans.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from dragoman.checkpoint import boxed, write_atomically, writing
from dragoman.config import Recipe
from dragoman.data.cleaning import HELD_OUT_SHARE, Dropped, Report, clean, source_keys
from dragoman.data.corpus import TO_SPACES, Pair, Tally, read_pairs, refuse_overwriting, write_pairs
from dragoman.data.words import Words
from dragoman.errors import DataError
from dragoman.jobs.languages import Sample, doubt_sides
from dragoman.text.languages import language_of
from dragoman.training.forecast import count_parameters, count_passes, forecast_speed
from dragoman.training.sizes import FEWEST_PAIRS, CorpusSize, fill, suit

_TOLD_EVERY = 10_000
_BESIDE_MINUTES = 0.5  # of a training, for what is not learning
_ENOUGH_UPDATES, _MOST_EPOCHS = 3000, 500
START_BELOW = 5_000  # pairs
_SPEED_TRIES = 5  # other work on the machine makes it look slower, never faster

OnDropped = Callable[[Dropped], None]


class Corpus(NamedTuple):
    """The files of a corpus: what is learned from, and what must not stand in it."""

    train: Sequence[Path]
    dev: Sequence[Path] = ()
    test: Sequence[Path] = ()


class Wishes(NamedTuple):
    """What a check does besides counting."""

    clean_to: Path | None = None
    """Where the pairs that are kept are written, as TSV."""
    dropped_to: Path | None = None
    """Where the pairs that are dropped are written, as TSV: place, filter, source, target."""
    on_dropped: OnDropped | None = None
    on_read: Callable[[int], None] | None = None
    """Hears from time to time how many pairs have been read."""


class Forecast(NamedTuple):
    """What training would do; all of it but the sizes is an estimate."""

    recipe: Recipe
    """With every size filled in."""
    pairs: int
    held_out: int
    """Pairs taken out of the corpus to judge the model by."""
    parameters: int
    pieces: int
    """Target pieces in one epoch."""
    pieces_a_second: float
    epochs: int
    """How often training should see the corpus."""
    start: str | None
    """The model in the box that so few pairs would better start from, if there is one."""

    @property
    def seconds_an_epoch(self) -> float:
        """How long one pass over the corpus takes here."""
        return self.pieces / self.pieces_a_second

    @property
    def minutes(self) -> int:
        """How many minutes to give the training; of many, the last digit would be a pretence."""
        learning = self.epochs * self.seconds_an_epoch / 60
        return math.ceil(learning + _BESIDE_MINUTES) if learning <= 20 else math.ceil(learning / 10) * 10


class Checked(NamedTuple):
    """The result of a check."""

    report: Report
    tally: Tally
    words: int
    """Distinct words of both sides, counted up to `dragoman.data.words.MOST_WORDS`."""
    forecast: Forecast | None
    """None if too little is left to learn from."""
    doubt: str | None
    """What seems wrong with the languages."""


def check(corpus: Corpus, recipe: Recipe, wishes: Wishes | None = None) -> Checked:
    """Read a corpus once and say what it holds and what training would make of it."""
    wishes = wishes or Wishes()
    languages = recipe.source_language or None, recipe.target_language or None
    _refuse_overwriting(corpus, languages, wishes)
    report, tally, words, sample = Report(), Tally(), Words(), Sample()
    kept_out = {
        name: source_keys(read_pairs(paths, *languages))
        for name, paths in (("dev", corpus.dev), ("test", corpus.test))
        if paths
    }
    pairs = read_pairs(corpus.train, *languages, tally=tally)

    def run(on_dropped: OnDropped | None) -> None:
        told = _told(pairs, wishes.on_read)
        kept = clean(told, recipe.cleaning, report, on_dropped=on_dropped, kept_out=kept_out)
        counted = sample.watching(words.counting(kept))
        if wishes.clean_to is None:
            for _ in counted:
                pass
        else:
            write_pairs(wishes.clean_to, counted)

    if wishes.dropped_to is None:
        run(wishes.on_dropped)
    else:
        _write_dropped(wishes.dropped_to, run, wishes.on_dropped)
    forecast = _forecast(recipe, report, words, has_dev=bool(corpus.dev)) if report.kept >= FEWEST_PAIRS else None
    sides = [pair.source for pair in sample.pairs], [pair.target for pair in sample.pairs]
    doubt = doubt_sides(*sides, (recipe.source_language, recipe.target_language), corpus.train)
    return Checked(report, tally, len(words), forecast, doubt)


def _refuse_overwriting(corpus: Corpus, languages: tuple[str | None, str | None], wishes: Wishes) -> None:
    for out in filter(None, (wishes.clean_to, wishes.dropped_to)):
        for paths in corpus:
            refuse_overwriting(out, paths, *languages)
    if wishes.clean_to is not None and wishes.clean_to == wishes.dropped_to:
        raise DataError(f"{wishes.clean_to} cannot hold both the kept and the dropped", hint="name two files")


def _told(pairs: Iterable[Pair], on_read: Callable[[int], None] | None) -> Iterator[Pair]:
    for number, pair in enumerate(pairs, start=1):
        if on_read is not None and number % _TOLD_EVERY == 0:
            on_read(number)
        yield pair


def _write_dropped(path: Path, run: Callable[[OnDropped], None], also: OnDropped | None) -> None:
    """Write what is dropped while the corpus is read; the file appears whole or not at all."""

    def write(file: BinaryIO) -> None:
        def note(dropped: Dropped) -> None:
            where, reason, pair = dropped
            texts = (text.translate(TO_SPACES) for text in (where, reason, pair.source, pair.target))
            file.write(("\t".join(texts) + "\n").encode("utf-8", "replace"))
            if also is not None:
                also(dropped)

        run(note)

    with writing(path):
        write_atomically(path, write)


def _forecast(recipe: Recipe, report: Report, words: Words, *, has_dev: bool) -> Forecast:
    held_out = 0 if has_dev else min(recipe.cleaning.dev_pairs, round(report.kept * HELD_OUT_SHARE))
    pairs = report.kept - held_out
    filled = fill(recipe, CorpusSize(pairs, len(words), len(words.characters)))
    size = filled.pieces.size or 0
    characters = report.target_characters * pairs / report.kept
    pieces = round(characters / _characters_a_piece(size) + pairs)  # and an end mark each
    speed = max(forecast_speed(filled, size) for _ in range(_SPEED_TRIES))
    forecast = Forecast(
        recipe=filled,
        pairs=pairs,
        held_out=held_out,
        parameters=count_parameters(filled.model, size, filled.pieces.max_length),
        pieces=pieces,
        pieces_a_second=speed / count_passes(filled.training),
        epochs=count_epochs(pairs, pieces / (filled.training.batch_pieces or 1)),
        start=_find_start(recipe) if pairs < START_BELOW else None,
    )
    epochs = 60 * forecast.minutes / forecast.seconds_an_epoch
    return forecast._replace(recipe=suit(recipe, filled, epochs, forecast.minutes))


def _characters_a_piece(size: int) -> float:
    """Guess how long pieces are, from how many there are; between what Spanish and German showed."""
    return max(1.5, 2.5 + 0.48 * math.log2(max(1, size) / 1000))


def count_epochs(pairs: int, updates: float) -> int:
    """Of large corpora every pair says something new; small ones must be seen until there were enough updates.

    An epoch has so many `updates`.
    """
    often = min(20, max(3, round(1_200_000 / pairs)))
    return min(_MOST_EPOCHS, max(often, math.ceil(_ENOUGH_UPDATES / updates)))


def _find_start(recipe: Recipe) -> str | None:
    """Name the model of the box that translates between these languages."""
    name = "-".join(map(language_of, (recipe.source_language, recipe.target_language)))
    return name if name in boxed() else None
