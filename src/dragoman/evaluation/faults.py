"""What is wrong with a translation, beside its reference: as far as counting words can tell.

A word that is missing may have been said in another way. So these are places to look at, not verdicts.
"""

import re
from collections import Counter
from collections.abc import Collection, Sequence
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
_WORD = re.compile(r"\d+(?:[.,:]\d+)+|[^\W_]+(?:['’-][^\W_]+)*")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_SHORT, _LONG, _FEW_WORDS = 0.7, 1.4, 2
_MOST_WORDS = 8


def split_words(text: str, language: str = "") -> list[str]:
    """Return the words of a text without its punctuation; of a language without spaces, the characters."""
    words = _WORD.findall(text)
    return list("".join(words)) if has_no_spaces(language) else words


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
        faults += [f"{kind}missing: {_list(theirs, mine)}"] if _lacks(mine, theirs) else []
        faults += [f"{kind}not in the reference: {_list(mine, theirs)}"] if _lacks(theirs, mine) else []
    if faults:
        return tuple(faults)
    if found != wanted:
        return ("the same words in another order",)
    return ("only capitals or punctuation differ",)


def _length(found: int, wanted: int, unit: str) -> list[str]:
    if abs(found - wanted) <= _FEW_WORDS or _SHORT * wanted <= found <= _LONG * wanted:
        return []
    return [f"{found} {unit if found != 1 else unit.removesuffix('s')}, where the reference has {wanted}"]


def _lacks(side: Sequence[str], other: Sequence[str]) -> bool:
    return bool(Counter(other) - Counter(side))


def _list(has: Sequence[str], lacks: Sequence[str]) -> str:
    """Name what the one has and the other lacks, in the order in which it stands there."""
    surplus = [word if n == 1 else f"{word} ({n} times)" for word, n in (Counter(has) - Counter(lacks)).items()]
    told = ", ".join(surplus[:_MOST_WORDS])
    return told if len(surplus) <= _MOST_WORDS else f"{told} and {len(surplus) - _MOST_WORDS} more"
