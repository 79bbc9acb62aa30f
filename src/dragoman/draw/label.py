"""Pieces as a reader wants to see them: "▁bank" is bank, and no label can steer a terminal or break XML."""

import unicodedata
from collections.abc import Sequence
from typing import Final

SPACE_MARK: Final = "▁"
"""Begins a piece that begins a word (sentencepiece's convention)."""

ENDS: Final = frozenset({"<s>", "</s>", "<pad>"})
"""Pieces that mark where a sentence begins and ends, and are no part of its text."""

_TURNERS: Final = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_LEFT_TO_RIGHT: Final = "\u200e"


def show_piece(piece: str) -> str:
    """Return what to print for a piece: a word, or a part of one."""
    text = clean(piece).removeprefix(SPACE_MARK).replace(SPACE_MARK, " ")
    return text if text.strip() else "␣"


def clean(text: str) -> str:
    """Replace what is not text by "�" and drop marks that turn the direction of what follows them.

    Control characters could move a terminal's cursor; neither they nor lone surrogates are allowed in XML.
    """
    kept = (character for character in text if character not in _TURNERS)
    return "".join("�" if _is_unprintable(character) else character for character in kept)


def glued(pieces: Sequence[str]) -> list[bool]:
    """Say for each piece whether it continues the word before it; labels without any "▁" are whole words."""
    if not any(piece.startswith(SPACE_MARK) for piece in pieces):
        return [False] * len(pieces)
    return [
        at > 0 and not piece.startswith(SPACE_MARK) and piece not in ENDS and pieces[at - 1] not in ENDS
        for at, piece in enumerate(pieces)
    ]


def is_right_to_left(text: str) -> bool:
    """Say whether the first letter with a direction is Hebrew, Arabic or the like."""
    for character in text:
        direction = unicodedata.bidirectional(character)
        if direction in ("R", "AL"):
            return True
        if direction == "L":
            return False
    return False


def cells(text: str) -> int:
    """Count the columns a terminal needs for a text: two for wide characters, none for combining ones."""
    return sum(_cells_of(character) for character in text)


def clip(text: str, room: int, mark: str = "…") -> str:
    """Shorten a text to at most `room` columns, saying so with `mark`."""
    if cells(text) <= room:
        return text
    if room <= 0:
        return ""
    taken, used = [], 0
    for character in text:
        used += _cells_of(character)
        if used > room - 1:
            break
        taken.append(character)
    return "".join(taken) + mark


def pad(text: str, room: int, *, right: bool = False) -> str:
    """Fill a text up to `room` columns; `right` puts it at the right.

    Text that runs from right to left is fenced with invisible marks, lest a terminal that knows directions
    turn the whole line around.
    """
    blanks = " " * max(0, room - cells(text))
    if is_right_to_left(text):
        text = f"{_LEFT_TO_RIGHT}{text}{_LEFT_TO_RIGHT}"
    return blanks + text if right else text + blanks


def _cells_of(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def _is_unprintable(character: str) -> bool:
    point = ord(character)
    return unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") or (point & 0xFFFE) == 0xFFFE
