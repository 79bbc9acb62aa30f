"""Translate a stream of lines: a line in is a line out, whatever the line holds.

Lines are bytes and end at a line feed only; U+2028, U+0085, form feeds and carriage returns are ordinary characters.
Bytes that are not UTF-8 become U+FFFD and the line is flagged.
"""

import copy
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from dragoman.config import Search
from dragoman.engine.base import Engine, Hypothesis
from dragoman.engine.flags import Flag
from dragoman.engine.links import Link
from dragoman.engine.translator import Sentence, Translation, Translator
from dragoman.errors import DataError

CHUNK_LINES = 2000
_CHUNK_CHARACTERS = 1_000_000
_WORD = re.compile(r"\S+")

_Request = tuple[tuple[int, ...], tuple[int, ...]]


class Line(NamedTuple):
    """One line as it was read."""

    text: str
    end: str
    """A line feed; nothing if the stream ended without one."""
    damaged: bool
    """Whether it held bytes that are not UTF-8."""


class Answer(NamedTuple):
    """A line and its translations, best first; more than one only if the search was asked for more."""

    line: Line
    translations: tuple[Translation, ...]

    @property
    def best(self) -> Translation:
        """The translation."""
        return self.translations[0]

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
    """Translate lines as they come, in order, no more than a chunk of them in memory."""
    check_prefix(translator, asked)
    for chunk in _chunks(lines, asked.chunk):
        found = _translate_chunk(translator, [line.text for line in chunk], asked)
        yield from map(Answer, chunk, found)


def check_prefix(translator: Translator, asked: Asked) -> None:
    """Raise `DataError` for a prefix that leaves no room for a translation."""
    pieces = len(translator.tokenizer.encode(asked.prefix))
    if pieces >= asked.search.max_length:
        raise DataError(
            f"the prefix has {pieces} pieces, but a translation has at most {asked.search.max_length}",
            hint="shorten the prefix, or raise --max-length",
        )


def _chunks(lines: Iterable[Line], most: int) -> Iterator[list[Line]]:
    chunk: list[Line] = []
    characters = 0
    for line in lines:
        chunk.append(line)
        characters += len(line.text)
        if len(chunk) >= most or characters >= _CHUNK_CHARACTERS:
            yield chunk
            chunk, characters = [], 0
    if chunk:
        yield chunk


def _translate_chunk(translator: Translator, texts: Sequence[str], asked: Asked) -> list[tuple[Translation, ...]]:
    """Translate some texts. Rank n of a text is made of the n-th best translation of each of its sentences."""
    ranked = _Ranked(translator.engine)
    teller = copy.copy(translator)
    teller.engine = ranked
    prefixes = [asked.prefix] * len(texts)
    ranks = []
    for ranked.rank in range(asked.search.best):
        ranks.append(teller.translate(texts, search=asked.search, prefixes=prefixes, alignments=asked.alignments))
    return [tuple(_distinct(several)) for several in zip(*ranks, strict=True)]


def _distinct(translations: Iterable[Translation]) -> Iterator[Translation]:
    """Leave out what was there before: where a sentence had fewer translations than others, or two read alike."""
    seen = set()
    for translation in translations:
        if translation.text not in seen:
            seen.add(translation.text)
            yield translation


class _Ranked:
    """An engine that answers with the n-th best, so that a translator puts every rank together in the same way."""

    def __init__(self, engine: Engine) -> None:
        self.rank = 0
        self._engine = engine
        self._known: dict[_Request, list[Hypothesis]] = {}

    @property
    def max_source(self) -> int:
        """The most source pieces it takes."""
        return self._engine.max_source

    def translate(
        self,
        sources: Sequence[Sequence[int]],
        search: Search,
        *,
        prefixes: Sequence[Sequence[int]] | None = None,
        attention: bool = False,
    ) -> list[list[Hypothesis]]:
        """Ask the engine once; later ranks are read from what it answered then."""
        starts = [()] * len(sources) if prefixes is None else [tuple(prefix) for prefix in prefixes]
        requests = list(zip(map(tuple, sources), starts, strict=True))
        if any(request not in self._known for request in requests):
            found = self._engine.translate(sources, search, prefixes=prefixes, attention=attention)
            self._known.update(zip(requests, found, strict=True))
        return [self._known[request][min(self.rank, len(self._known[request]) - 1) :][:1] for request in requests]


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
