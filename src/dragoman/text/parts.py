"""A sentence longer than the model knows, cut into parts that it does know.

The law: the parts and what stood between them give the normalised sentence back, and no part has too many
pieces.
"""

import math
import re
import unicodedata
from bisect import bisect_left
from itertools import accumulate
from typing import NamedTuple

from dragoman.text.tokenizer import Tokenizer, normalise

SMALLEST_LIMIT = 8
"""A part must have room for at least one character, which may be spelt in four bytes after a space."""

_BYTE = re.compile("<0x[0-9A-F]{2}>")
_WIDE_STOPS, _WIDE_COMMAS = frozenset("。！？；："), frozenset("、，")
_STOPS, _COMMAS = _WIDE_STOPS.union(".!?…;:"), _WIDE_COMMAS.union(",،")
_JOINER = "\u200d"


class Part(NamedTuple):
    """A stretch of a sentence, short enough for the model."""

    text: str
    ids: list[int]
    after: str
    """The white space between this part and the next one; none if the cut went through a word."""


def cut(sentence: str, ids: list[int], tokenizer: Tokenizer, limit: int) -> list[Part]:
    """Cut a sentence, whose pieces are given, into parts of at most `limit` pieces, about even ones.

    A good place is, best first, after a stop, after a comma, at a space, between two characters.
    """
    if limit < SMALLEST_LIMIT:
        raise ValueError(f"parts of at most {limit} pieces are too small; the least is {SMALLEST_LIMIT}")
    if len(ids) <= limit:
        return [Part(sentence, ids, "")]
    text = normalise(sentence)
    stretches = _stretches(text, _ends(ids, tokenizer), limit - 1)
    bare = [stretch.strip() for stretch in stretches]
    parts: list[Part] = []
    for stretch, inner, pieces in zip(stretches, bare, tokenizer.encode_all(bare), strict=True):
        # Cut out of its surroundings, a stretch may need a piece more than it did within them.
        parts.extend(cut(inner, pieces, tokenizer, limit))
        parts[-1] = parts[-1]._replace(after=stretch[len(inner) :])
    return parts


def _stretches(text: str, ends: list[int], limit: int) -> list[str]:
    """Cut a normalised text; a space belongs to the stretch before it."""
    stretches = []
    start = piece = 0
    while len(ends) - piece > limit:
        left = len(ends) - piece
        ideal = left / math.ceil(left / limit)
        low = max(ends[piece + int(ideal / 2)], start + 1)
        high = max(ends[piece + limit - 1], low)
        wish = ends[piece + int(ideal) - 1]
        place = min(range(low, high + 1), key=lambda at: (_badness(text, at), abs(at - wish)))
        place += text[place] == " "
        stretches.append(text[start:place])
        start = place
        piece = bisect_left(ends, place)
        piece += ends[piece] == place
    if start < len(text):
        stretches.append(text[start:])
    return stretches


def _badness(text: str, at: int) -> int:
    """Rate a cut before this character: 0 is best."""
    before, after = text[at - 1], text[at : at + 1]
    if before == " " and at > 1:
        last = text[at - 2]
        return 0 if last in _STOPS else 1 if last in _COMMAS else 2
    if before in _WIDE_STOPS or before in _WIDE_COMMAS:
        return 0 if before in _WIDE_STOPS else 1
    clinging = after in {_JOINER, " "} or before == _JOINER or unicodedata.category(after or " ").startswith("M")
    return 4 if clinging else 3


def _ends(ids: list[int], tokenizer: Tokenizer) -> list[int]:
    """Return for every piece its end in the normalised text; a spelt character ends with its last byte."""
    names = [tokenizer.pieces[i] for i in ids]
    bytes_ = [int(name[3:5], 16) if _BYTE.fullmatch(name) else None for name in names]
    goes_on = [byte is not None and 0x80 <= byte < 0xC0 for byte in [*bytes_[1:], None]]
    lengths = [
        len(name) if byte is None else int(not more) for name, byte, more in zip(names, bytes_, goes_on, strict=True)
    ]
    # The space with which the first piece begins is not in the text.
    return [max(0, end - 1) for end in accumulate(lengths)]
