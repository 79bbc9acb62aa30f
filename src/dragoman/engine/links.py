"""Which word became which: the weights of attention between pieces, read as links between words."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dragoman.engine.base import Link
from dragoman.text.tokenizer import SPECIALS

_BYTE = re.compile("<0x([0-9A-F]{2})>")
_MARK = "\u2581"


class Located(NamedTuple):
    """A text put together from its pieces, and where in it each piece stands."""

    text: str
    spans: list[tuple[int, int]]


def links_from_attention(
    attention: NDArray[np.floating],
    source_pieces: Sequence[str],
    target_pieces: Sequence[str],
    *,
    source_words: Sequence[str] | None = None,
    target_words: Sequence[str] | None = None,
) -> frozenset[Link]:
    """Link every target word with the source word that its pieces looked at most.

    `attention` is [t s], over pieces. Words are what white space parts, unless they are given in the order in
    which they stand in the text.
    """
    wanted = (len(target_pieces), len(source_pieces))
    if attention.shape != wanted:
        raise ValueError(f"attention has the shape {attention.shape}, but the pieces say {wanted}")
    source, target = shares(source_pieces, source_words), shares(target_pieces, target_words)
    if not source.shape[1]:
        return frozenset()
    weights = target.T @ attention.astype(np.float64) @ source
    best = weights.argmax(axis=1)
    return frozenset((int(best[word]), word) for word in range(len(best)) if weights[word, best[word]] > 0)


def shares(pieces: Sequence[str], words: Sequence[str] | None = None) -> NDArray[np.float64]:
    """Return [pieces words]: each piece's share in each word; a space belongs to the word after it."""
    text, spans = locate(pieces)
    ends = list(_word_ends(text, words))
    owner = np.searchsorted(np.array(ends, np.int64), np.arange(len(text)), side="right")
    result = np.zeros((len(pieces), len(ends)))
    for piece, (start, end) in enumerate(spans):
        for word in owner[start:end]:
            if word < len(ends):
                result[piece, word] += 1 / (end - start)
    return result


def locate(pieces: Sequence[str]) -> Located:
    """Put pieces together. All the bytes of a spelt character stand where the character stands."""
    text = ""
    spans: list[tuple[int, int]] = []
    for spelt, run in groupby(pieces, key=lambda piece: _BYTE.fullmatch(piece) is not None):
        if spelt:
            characters, places = _read_bytes(bytes(int(piece[3:5], 16) for piece in run))
            spans.extend((len(text) + start, len(text) + end) for start, end in places)
            text += characters
            continue
        for piece in run:
            surface = "" if piece in SPECIALS else piece.replace(_MARK, " ")
            spans.append((len(text), len(text) + len(surface)))
            text += surface
    return Located(text, spans)


def _read_bytes(run: bytes) -> tuple[str, list[tuple[int, int]]]:
    try:
        characters = run.decode()
    except UnicodeDecodeError:  # a model may write bytes that are no character
        characters = run.decode(errors="replace")
        return characters, [(0, len(characters))] * len(run)
    leads = np.cumsum([not 0x80 <= byte < 0xC0 for byte in run])
    return characters, [(int(lead) - 1, int(lead)) for lead in leads]


def _word_ends(text: str, words: Iterable[str] | None) -> Iterator[int]:
    if words is None:
        yield from (found.end() for found in re.finditer(r"\S+", text))
        return
    at = 0
    for word in words:
        start = text.find(word, at)
        if start < 0:
            raise ValueError(f"the word {word!r} does not stand in {text[at:]!r}")
        at = start + len(word)
        yield at
