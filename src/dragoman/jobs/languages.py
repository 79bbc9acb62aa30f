"""Whether a corpus is in the languages that it is read as.

Where the two sides seem to be swapped, that is told and no more: the detector may be wrong.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from dragoman.checkpoint import ModelDirectory
from dragoman.config import Recipe
from dragoman.data.corpus import Pair, other_way_round
from dragoman.errors import DataError, OtherLanguagesError
from dragoman.text import languages
from dragoman.text.detect import detect, knows

_LOOKED_AT = 200
_LIKELY = 50.0  # of a hundred: more than all other languages together
_FEWEST, _MOST = 5, 2 / 3


class Sample:
    """Some of the pairs that went by, from all over them."""

    def __init__(self) -> None:
        self.pairs: list[Pair] = []
        self._step = 1

    def watching(self, pairs: Iterable[Pair]) -> Iterator[Pair]:
        """Pass pairs on."""
        for number, pair in enumerate(pairs):
            if number % self._step == 0:
                self.pairs.append(pair)
                if len(self.pairs) > 2 * _LOOKED_AT:
                    del self.pairs[1::2]
                    self._step *= 2
            yield pair


def doubt_sides(
    sources: Sequence[str], targets: Sequence[str], spoken: tuple[str, str], paths: Sequence[Path]
) -> str | None:
    """Say so if the sources look like the target language and the targets like the source language.

    A few texts of each side are looked at; nothing is said of languages that the detector does not know.
    """
    source, target = spoken
    if languages.same_language(source, target) or not (knows(source) and knows(target)):
        return None
    if not (_look_like(target, sources, spoken) and _look_like(source, targets, spoken)):
        return None
    one, other = map(languages.name, spoken)
    hint = f" {name} reads the columns the other way round" if (name := other_way_round(paths)) else ""
    return (
        f"the sources look like {other} and the targets like {one}, but are read as {one} to {other}: "
        f"are they swapped?{hint}"
    )


def _look_like(language: str, texts: Sequence[str], spoken: tuple[str, str]) -> bool:
    """Whether most texts of which the language can be told are in this one; a short text may be in any."""
    some = texts[:: 1 + len(texts) // _LOOKED_AT]
    likeliest = [guess for text in some for guess in detect(text, spoken)[:1]]
    found = [guess.language for guess in likeliest if guess.confidence > _LIKELY]
    return found.count(language) >= max(_FEWEST, _MOST * len(found))


@contextmanager
def between_languages_of(model: ModelDirectory, read_as: Recipe) -> Iterator[None]:
    """Where a file has other languages than it is read as for a model, say that these cannot be chosen at will."""
    own, asked = ((one.source_language, one.target_language) for one in (model.recipe, read_as))
    try:
        yield
    except OtherLanguagesError as error:
        told = f"the model translates {own[0]} to {own[1]}"
        raise DataError(
            str(error),
            hint=f"{told}, and there is no such pair; take another file or another model"
            if own == asked
            else f"{told}; leave --from and --to out, and all that is {own[0]} and {own[1]} is read",
        ) from error
