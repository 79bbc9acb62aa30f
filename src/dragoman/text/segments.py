"""Text into sentences and the white space around them, and back.

The law is `join(split(text)) == text` for every string, whatever is in it. Lines and tab-separated cells
always come apart; sentences within a line only where that is beyond doubt, because half a sentence translates
worse than two sentences at once. Everything takes time in proportion to the text, also for hostile text.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_SPACES = re.compile(r"\s+")
_BREAKS = re.compile("[^ \\S\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")  # line ends, tabs: all but plain spaces
_WIDE_END = re.compile("[。！？｡]++[」』）】》〉”’\"']*+")

_STOPS = ".!?…؟۔।॥։።。！？｡"
_CLOSERS = "\"'”’»›)]}」』）】》〉*_"
_OPENERS = "\"'“‘„‚«‹([{¿¡「『（【《〈—–-*_"

# Words whose full stop does not end a sentence, in lower case and without it.
_ABBREVIATIONS = (
    # English
    "mr mrs ms dr prof rev hon st sr jr messrs mt ft gen col lt sgt capt cmdr sen rep gov pres no nos "
    "vol vols fig figs pp ch sec art ed eds vs etc al approx est dept inc ltd corp co bros ca cf ibid "
    "jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri "
    # Spanish
    "sra sres srta dra dña ud uds vd vds pág págs núm ej av avda cía gral tte "
    # German
    "hr fr frl nr bzw usw evtl ggf inkl exkl bd hg hrsg jh jhd vgl str tel abs abb abk bspw sog "
    # French, Italian, Portuguese
    "mm mme mlle mgr éd env sig sigg dott ecc pag pagg ing avv geom exmo exma sto sta eng "
)
_ABBREVIATED = frozenset(_ABBREVIATIONS.split())


class Segment(NamedTuple):
    """A stretch of a text: a sentence, or the white space between two."""

    text: str
    is_sentence: bool


def split(text: str, *, sentences: bool = True) -> list[Segment]:
    """Cut a text into sentences and white space; with `sentences=False` into lines and cells only."""
    segments: list[Segment] = []
    start = 0  # of the sentence that is being gathered
    for space in _SPACES.finditer(text):
        plain = space.group() == " " and start < space.start() and space.end() < len(text)
        if plain and text[space.start() - 1].isalnum():
            continue  # after a plain word, as most are: no need to look closer
        if not _parts(text, start, space, sentences=sentences):
            continue
        segments.extend(_sentences(text[start : space.start()], sentences=sentences))
        segments.append(Segment(space.group(), is_sentence=False))
        start = space.end()
    segments.extend(_sentences(text[start:], sentences=sentences))
    return segments


def join(segments: Iterable[Segment]) -> str:
    """Put a text together again."""
    return "".join(segment.text for segment in segments)


def has_letter(text: str) -> bool:
    """Tell whether there is anything in the text that a translation could change: a letter of some script."""
    return any(map(str.isalpha, text))


def _parts(text: str, start: int, space: re.Match[str], *, sentences: bool) -> bool:
    """Tell whether this white space stands between two segments rather than inside one."""
    if space.start() == start or space.end() == len(text) or _BREAKS.search(space.group()):
        return True
    return sentences and _ends_sentence(_word_before(text, space.start())) and _starts(text, space.end())


def _sentences(stretch: str, *, sentences: bool) -> Iterator[Segment]:
    """Cut once more after the full stops of scripts that put no space there."""
    start = 0
    if sentences:
        for stop in _WIDE_END.finditer(stretch):
            if stop.end() < len(stretch) and not stretch[stop.end()].isspace():
                yield Segment(stretch[start : stop.end()], is_sentence=True)
                start = stop.end()
    if start < len(stretch):
        yield Segment(stretch[start:], is_sentence=True)


def _word_before(text: str, end: int) -> str:
    """Return the word that ends here; of a monstrous one only its last characters, which suffice."""
    words = text[max(0, end - 64) : end].split()
    return words[-1] if words else ""


def _ends_sentence(word: str) -> bool:
    bare = word.rstrip(_CLOSERS)
    stem = bare.rstrip(_STOPS)
    stops = bare[len(stem) :]
    if not stops:
        return False
    if stops != ".":
        return True
    stem = stem.lstrip(_OPENERS)
    if len(stem) == 1 or "." in stem:  # an initial, U.S., z.B.
        return False
    if stem.isdigit() and len(stem) <= 2:  # a list's number, or an ordinal as in 3. Oktober
        return False
    return stem.casefold() not in _ABBREVIATED


def _starts(text: str, start: int) -> bool:
    """Tell whether a sentence can start here: a capital, a digit, a letter of a script without capitals."""
    for character in text[start : start + 8]:
        if character in _OPENERS:
            continue
        return character.isdigit() or unicodedata.category(character) in {"Lu", "Lt", "Lo"}
    return False


def is_unspaced(character: str) -> bool:
    """Tell whether this script puts no space between words: Chinese, Japanese, Thai and its neighbours."""
    if "\u0e00" <= character <= "\u0eff" or "\u1000" <= character <= "\u109f" or "\u1780" <= character <= "\u17ff":
        return True
    wide = unicodedata.east_asian_width(character) in {"W", "F"}
    return wide and not unicodedata.name(character, "").startswith("HANGUL")


def seam(source: str, left: str, right: str) -> str:
    """Return what belongs between two translations if their sources touched; `source` is the left one.

    Chinese needs no space after its full stop, but its English translation does.
    """
    if not (source and left and right and is_unspaced(source[-1])):
        return ""
    return "" if is_unspaced(left[-1]) or is_unspaced(right[0]) else " "
