"""Translate a stream of lines: a line in is a line out, whatever the line holds.

Lines are bytes and end at a line feed only; U+2028, U+0085, form feeds and carriage returns are ordinary characters.
Bytes that are not UTF-8 become U+FFFD and the line is flagged.
"""

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from dragoman.config import Search
from dragoman.engine.base import Link
from dragoman.engine.flags import Flag
from dragoman.engine.translator import CHUNK_LINES, Sentence, Translation, Translator
from dragoman.errors import DataError

_WORD = re.compile(r"\S+")


class Line(NamedTuple):
    """One line as it was read."""

    text: str
    end: str
    """A line feed; nothing if the stream ended without one."""
    damaged: bool
    """Whether it held bytes that are not UTF-8."""


class Answer(NamedTuple):
    """A line and its translation."""

    line: Line
    best: Translation

    @property
    def flags(self) -> frozenset[Flag]:
        """What is wrong with the line or its translation."""
        damage = {Flag.UNKNOWN_CHARACTERS} if self.line.damaged else set[Flag]()
        return self.best.flags | damage


class Asked(NamedTuple):
    """How lines are to be translated."""

    search: Search
    prefix: str = ""
    """How every translation must begin."""
    alignments: bool = False
    chunk: int = CHUNK_LINES
    """The most lines that are translated together; 1 answers every line before the next is read."""


def read_lines(stream: Iterable[bytes]) -> Iterator[Line]:
    """Turn the lines of a binary stream into text."""
    for raw in stream:
        end = "\n" if raw.endswith(b"\n") else ""
        yield _decode(raw[: len(raw) - len(end)], end)


def argument_lines(texts: Iterable[str]) -> Iterator[Line]:
    """Turn arguments of a command into lines; bytes that were not UTF-8 are still marked in them."""
    return (_decode(text.encode("utf-8", "surrogateescape"), "\n") for text in texts)


def _decode(raw: bytes, end: str) -> Line:
    try:
        return Line(raw.decode(), end, damaged=False)
    except UnicodeDecodeError:
        return Line(raw.decode("utf-8", "replace"), end, damaged=True)


def translate_lines(translator: Translator, lines: Iterable[Line], asked: Asked) -> Iterator[Answer]:
    """Translate lines as they come, in order, no more than a few chunks of them in memory."""
    check_prefix(translator, asked)
    waiting: deque[Line] = deque()

    def texts() -> Iterator[str]:
        for line in lines:
            waiting.append(line)
            yield line.text

    found = translator.stream(
        texts(), search=asked.search, prefix=asked.prefix, alignments=asked.alignments, chunk=asked.chunk
    )
    for translation in found:
        yield Answer(waiting.popleft(), translation)


def check_prefix(translator: Translator, asked: Asked) -> None:
    """Raise `DataError` for a prefix that leaves no room for a translation."""
    pieces = len(translator.tokenizer.encode(asked.prefix))
    longest = min(asked.search.max_length, translator.engine.max_target)
    if pieces >= longest:
        raise DataError(
            f"the prefix has {pieces} pieces, but a translation has at most {longest}",
            hint="shorten the prefix, or raise --max-length"
            if longest < translator.engine.max_target
            else "shorten the prefix",
        )


def text_alignment(text: str, translation: Translation) -> list[Link]:
    """Join the links of all sentences to links between the words of the whole text, as white space parts them."""
    links: list[Link] = []
    at = [0, 0]
    starts = [[word.start() for word in _WORD.finditer(side)] for side in (text, translation.text)]
    for sentence in translation.sentences:
        sides = ((text, sentence.source), (translation.text, sentence.target))
        firsts = []
        for side, (whole, part) in enumerate(sides):
            found = whole.find(part, at[side])
            begin = at[side] if found < 0 else found
            firsts.append(max(0, bisect_right(starts[side], begin) - 1))
            at[side] = begin + len(part)
        links += [(firsts[0] + s, firsts[1] + t) for s, t in _links(sentence)]
    return links


def _links(sentence: Sentence) -> Sequence[Link]:
    return sentence.alignment or ()
