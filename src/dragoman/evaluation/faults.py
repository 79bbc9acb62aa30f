"""What is wrong with a translation, beside its reference: as far as counting words can tell.

A word that is missing may have been said in another way. So these are places to look at, not verdicts.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Sequence
from functools import cache
from typing import Final

from dragoman.engine.flags import Flag
from dragoman.text.languages import has_no_spaces

_TOLD: Final = {
    Flag.TRUNCATED: "it was stopped at its greatest length",
    Flag.REPEATED: "it says the same thing over and over",
    Flag.COPIED: "it is the source, untranslated",
    Flag.LENGTH_RATIO: "it is absurdly longer or shorter than the source",
    Flag.UNKNOWN_CHARACTERS: "it has to do with characters that the vocabulary does not know",
}
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_SHORT, _LONG, _FEW_WORDS = 0.7, 1.4, 2
_MOST_WORDS = 8


def split_words(text: str, language: str = "") -> list[str]:
    """Return the words of a text without its punctuation; of a language without spaces, the characters."""
    letter, word = _patterns()
    words = word.findall(text)
    return letter.findall("".join(words)) if has_no_spaces(language) else words


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    r"""Compile what a letter is, and a word.

    Vowel signs and accents of their own, and the joiners between letters, belong to the letter before them; to `\w`
    they are none, and would cut a word of Hindi into pieces.
    """
    marks = "".join(c for c in map(chr, range(0x300, 0x20000)) if unicodedata.category(c).startswith("M"))
    letter = rf"[^\W_][{marks}\u200c\u200d]*"
    return re.compile(letter), re.compile(rf"\d+(?:[.,:]\d+)+|(?:{letter})+(?:['’-](?:{letter})+)*")


def find_faults(
    translation: str, reference: str, *, flags: Collection[Flag] = (), language: str = ""
) -> tuple[str, ...]:
    """Say what sets a translation apart from its reference, the gravest first; nothing if nothing does."""
    if translation == reference:
        return ()
    if not translation.strip():
        return ("there is no translation",)
    faults = [_TOLD[flag] for flag in Flag if flag in flags]
    found, wanted = (split_words(text.casefold(), language) for text in (translation, reference))
    faults += _length(len(found), len(wanted), "characters" if has_no_spaces(language) else "words")
    numbers = [_NUMBER.findall(text) for text in (translation, reference)]
    words = [[word for word in side if _NUMBER.fullmatch(word) is None] for side in (found, wanted)]
    for kind, (mine, theirs) in (("number ", numbers), ("", words)):
        faults += _compare_counts(kind, Counter(mine), Counter(theirs))
    if faults:
        return tuple(faults)
    if found != wanted:
        return ("the same words in another order",)
    return ("only capitals or punctuation differ",)


def _length(found: int, wanted: int, unit: str) -> list[str]:
    if abs(found - wanted) <= _FEW_WORDS or _SHORT * wanted <= found <= _LONG * wanted:
        return []
    return [f"{found} {unit if found != 1 else unit.removesuffix('s')}, where the reference has {wanted}"]


def _compare_counts(kind: str, mine: Counter[str], theirs: Counter[str]) -> list[str]:
    """Name what only one side has, and what both have but not as often, in the order in which it stands there."""
    uneven = [
        f"{word} ({'once' if n == 1 else f'{n} times'}, not {theirs[word]})"
        for word, n in mine.items()
        if theirs[word] not in (0, n)
    ]
    told = {
        "missing": [_times(word, n) for word, n in theirs.items() if word not in mine],
        "not in the reference": [_times(word, n) for word, n in mine.items() if word not in theirs],
        "not as often as in the reference": uneven,
    }
    return [f"{kind}{what}: {_list(words)}" for what, words in told.items() if words]


def _times(word: str, count: int) -> str:
    return word if count == 1 else f"{word} ({count} times)"


def _list(words: Sequence[str]) -> str:
    told = ", ".join(words[:_MOST_WORDS])
    return told if len(words) <= _MOST_WORDS else f"{told} and {len(words) - _MOST_WORDS} more"
