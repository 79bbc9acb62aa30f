"""Files that are translated whole: plain text, HTML and subtitles; and where they wait to be downloaded.

Files live in memory only, under names that nobody can guess and for some minutes, so there is no path for a name to
lead astray.
"""

import html
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import NamedTuple

from dragoman.server import markup
from dragoman.server.limits import Limits, RefusedError

_LINE_END = re.compile(r"\r\n|\n")
_SRT_NUMBER = re.compile(r"\s*\d+\s*")
_SRT_TIME = re.compile(r"\s*\d+:\d\d:\d\d[,.]\d+\s*-->.*")
_SRT_CODES = re.compile(r"\A(?:\{\\[^{}]*\})+")  # such as {\an8}, which puts a cue at the top
_UNSAFE = re.compile(r"[^\w.() -]+")
_LONGEST_NAME = 100
_KEEPING = 1_000  # bytes that it takes to keep a file, whatever is in it

TranslateAll = Callable[[Sequence[str]], list[str]]
"""Translates texts, each as one."""


class Format(NamedTuple):
    """A kind of file: how it is called, and what becomes of it."""

    suffix: str
    media_type: str
    translate: Callable[[str, TranslateAll], str]
    escape: Callable[[str], Callable[[str], str] | None]
    """Says of a content how text is written among its tags; with nothing, if there are none."""


def translate_text(content: str, translate: TranslateAll) -> str:
    """Translate plain text: lines come apart in the translator and are put together again."""
    return translate([content])[0]


def translate_subtitles(content: str, translate: TranslateAll) -> str:
    """Translate the lines of subtitles that are shown; numbers, times and everything else stay.

    The lines of one cue are translated together, because a sentence may go on from one to the next, and parted again
    at the spaces nearest to where they were. Codes before the first of them stay there.
    """
    lines = _LINE_END.split(content)
    cues = _cues(lines)
    codes = []
    for start, _ in cues:
        bare = _SRT_CODES.sub("", lines[start])
        codes.append(lines[start].removesuffix(bare))
        lines[start] = bare
    spoken = translate([" ".join(line.strip() for line in lines[start:end]) for start, end in cues])
    for (start, end), code, text in zip(cues, codes, spoken, strict=True):
        lines[start:end] = _share_out(text, [len(line) for line in lines[start:end]])
        lines[start] = code + lines[start]
    return ("\r\n" if "\r\n" in content else "\n").join(lines)


def _cues(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Return from where to where each cue's text goes; it follows a line of times, up to an empty one."""
    cues = []
    for number, line in enumerate(lines):
        if _SRT_TIME.fullmatch(line):
            end = number + 1
            while end < len(lines) and lines[end].strip() and not _SRT_TIME.fullmatch(lines[end]):
                end += 1
            if end < len(lines) and lines[end].strip() and _SRT_NUMBER.fullmatch(lines[end - 1]):
                end -= 1  # no empty line before the next cue: the number is its
            if end > number + 1:
                cues.append((number + 1, end))
    return cues


def escape_subtitles(content: str) -> Callable[[str], str]:
    """Return how text is written in subtitles: as HTML where some of it is, and else as it is."""
    return str if html.unescape(content) == content else markup.escape


def _share_out(text: str, lengths: Sequence[int]) -> list[str]:
    """Part a text into as many lines as there were, each about as much of the whole as it was."""
    lines, total = [], max(1, sum(lengths))
    for length in lengths[:-1]:
        wish = round(len(text) * length / total)
        spaces = [at for at in (text.rfind(" ", 0, wish), text.find(" ", wish)) if at >= 0]
        place = min(spaces, key=lambda at: abs(at - wish), default=len(text))
        lines.append(text[:place])
        text, total = text[place + 1 :], max(1, total - length)
    return [*lines, text]


FORMATS = (
    Format(".txt", "text/plain; charset=utf-8", translate_text, lambda _content: None),
    Format(".html", "text/html; charset=utf-8", translate_text, lambda _content: markup.escape),
    Format(".srt", "application/x-subrip; charset=utf-8", translate_subtitles, escape_subtitles),
)


def find_format(name: str) -> Format:
    """Return the format that a file's name says it has."""
    for one in FORMATS:
        if name.lower().endswith(one.suffix):
            return one
    raise RefusedError("Invalid request: file format not supported")


def read_text(content: bytes) -> str:
    """Return the text of a file; nothing in it is guessed at or left out."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RefusedError(f"Invalid request: the file is not UTF-8 (byte {error.start})") from error


class Kept(NamedTuple):
    """A translated file that waits to be downloaded."""

    name: str
    media_type: str
    content: bytes
    until: float


class Store:
    """The translated files; when they grow too many, the oldest go."""

    def __init__(self, limits: Limits, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._clock = clock
        self._files: OrderedDict[str, Kept] = OrderedDict()
        self._bytes = 0

    def put(self, name: str, media_type: str, content: bytes) -> str:
        """Keep a file and return the name under which it can be fetched."""
        safe = _UNSAFE.sub("_", name.replace("\\", "/").rpartition("/")[2])[-_LONGEST_NAME:]
        key = f"{secrets.token_hex(16)}.{safe}"
        self._files[key] = Kept(safe, media_type, content, self._clock() + self._limits.kept_seconds)
        self._bytes += len(content) + _KEEPING
        self._clear()
        return key

    def get(self, key: str) -> Kept:
        """Return a file that is still there."""
        self._clear()
        found = self._files.get(key)
        if found is None:
            raise RefusedError("Invalid filename")
        return found

    def _clear(self) -> None:
        now = self._clock()
        while self._files:
            key, oldest = next(iter(self._files.items()))
            if oldest.until > now and self._bytes <= self._limits.kept:
                return
            del self._files[key]
            self._bytes -= len(oldest.content) + _KEEPING
