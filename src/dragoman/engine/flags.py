"""What can be seen to be wrong with a translation without knowing the right one."""

import re
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum

from dragoman.text.segments import has_letter

_SHORT_CHARACTERS, _GREATEST_RATIO = 24, 4.0
_PUNCTUATION = re.compile(r"[^\w\s]+|_+")
_WORDS_IN_A_ROW = 4
_GRAM, _GRAM_TIMES, _GRAM_SHARE = 4, 4, 0.25


class Flag(StrEnum):
    """One thing that is wrong with a translation."""

    TRUNCATED = "truncated"
    """It was stopped at its greatest length."""
    REPEATED = "repeated"
    """It says the same thing over and over, and the source does not."""
    COPIED = "copied"
    """It is the source, though that holds two words or more."""
    LENGTH_RATIO = "length-ratio"
    """It is absurdly longer or shorter than the source."""
    UNKNOWN_CHARACTERS = "unknown-characters"
    """The source or the translation has characters that the vocabulary does not know, or that are none."""


def is_copied(source: str, target: str) -> bool:
    """Tell whether a normalised source came back as it was; one word, a name perhaps, may."""
    return source == target and sum(has_letter(word) for word in source.split()) >= 2


def has_absurd_length(source: str, target: str) -> bool:
    """Tell whether one side is many times as long as the other, with slack for short ones, or missing."""
    shorter, longer = sorted([len(source), len(target)])
    return longer > _SHORT_CHARACTERS + _GREATEST_RATIO * shorter or (shorter == 0 < longer)


def is_repeated(source: str, target: str, source_ids: Sequence[int], target_ids: Sequence[int]) -> bool:
    """Tell whether the translation loops: one word in a row, or a few pieces that take up much of it.

    The source is asked too, because a chorus must be translated as a chorus.
    """
    row = _longest_row(target)
    if row >= _WORDS_IN_A_ROW and row > 2 * _longest_row(source):
        return True
    if len(target_ids) - len(set(target_ids)) < _GRAM_TIMES - 1:  # no piece begins a run so often
        return False
    times = _most_frequent_gram(target_ids)
    covered = min(times * _GRAM, len(target_ids)) / max(1, len(target_ids))
    return times >= _GRAM_TIMES and covered >= _GRAM_SHARE and times > 2 * _most_frequent_gram(source_ids)


def _longest_row(text: str) -> int:
    """Return how often the same word stands in a row at most; punctuation alone is no word."""
    longest = row = 0
    last = ""
    for word in _PUNCTUATION.sub("", text).casefold().split():
        row = row + 1 if word == last else 1
        longest, last = max(longest, row), word
    return longest


def _most_frequent_gram(ids: Sequence[int]) -> int:
    """Return how often the most frequent run of a few pieces occurs."""
    grams = Counter(zip(*(ids[start:] for start in range(_GRAM)), strict=False))
    return max(grams.values(), default=0)
