"""Count the distinct words of a corpus as it goes by: sizes follow from them."""

import re
from collections.abc import Iterable, Iterator

from dragoman.data.corpus import Pair

MOST_WORDS = 200_000
"""Distinct words are counted up to here: more would take memory and change nothing."""

_WORD = re.compile(r"\w+")


class Words:
    """The distinct words of both sides, as hashes: a word may be long, and there may be many; and their characters."""

    def __init__(self) -> None:
        self._seen: set[int] = set()
        self.characters: set[str] = set()

    def __len__(self) -> int:
        return min(len(self._seen), MOST_WORDS)

    def counting(self, pairs: Iterable[Pair]) -> Iterator[Pair]:
        """Pass pairs on and gather their words."""
        for pair in pairs:
            if len(self._seen) < MOST_WORDS:
                self._seen.update(map(hash, _WORD.findall(pair.source)))
                self._seen.update(map(hash, _WORD.findall(pair.target)))
                self.characters.update(pair.source, pair.target)
            yield pair
