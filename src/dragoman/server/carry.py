"""What stands in a text but is not translated, carried over to where it belongs in the translation.

A mark stands around some words (a pair of tags) or at a place (a tag alone, a placeholder). The links between words say
where it belongs: around the run of target words that are linked with the words it stood around, or at the word that is
linked with the word it stood by. Every mark is written exactly once and marks stay properly nested, whatever the
translation did; only their places can be wrong, if the links are.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from dragoman.engine.base import Link

_WORD = re.compile(r"\S+")
_NEAR = 50  # words; further away nothing says where a mark belongs


@dataclass
class Mark:
    """Something around the characters from start to end of a text, or at a place if they are the same."""

    start: int
    end: int
    before: str
    after: str = ""
    free: bool = False
    """Whether white space stands around it, as around a word."""
    inside: list["Mark"] = field(default_factory=list)

    @property
    def whole(self) -> str:
        """All that is to be written for it where no words are inside."""
        return "".join([self.before, *(mark.whole for mark in self.inside), self.after])

    @property
    def stands_apart(self) -> bool:
        """Whether it needs white space around it where no words are inside."""
        return self.free or any(mark.stands_apart for mark in self.inside)


class _Span(NamedTuple):
    """A word: from where to where."""

    start: int
    end: int


@dataclass
class _Around:
    """What is written around one target word: outside of its punctuation, and between that and its stem."""

    before: list[str] = field(default_factory=list)
    tight_before: list[str] = field(default_factory=list)
    tight_after: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)


def put_back(
    source: str, target: str, links: Sequence[Link], marks: Sequence[Mark], escape: Callable[[str], str] = str
) -> str:
    """Write the marks of a source into its translation; `escape` is for what is not a mark."""
    return _Placing(source, target, links).write(marks, escape)


class _Placing:
    """The marks of one text finding their places."""

    def __init__(self, source: str, target: str, links: Sequence[Link]) -> None:
        self.source, self.target = source, target
        self.source_words, self.target_words = ([_Span(*w.span()) for w in _WORD.finditer(t)] for t in (source, target))
        self._starts = [word.start for word in self.source_words]
        self._ends = [word.end for word in self.source_words]
        self._linked: dict[int, list[int]] = {}
        self._owner: dict[int, int] = {}
        for s, t in links or self._even_links():
            if s < len(self.source_words) and t < len(self.target_words):
                self._linked.setdefault(s, []).append(t)
                self._owner[t] = s
        self._around = [_Around() for _ in self.target_words]
        self._at_end: list[str] = []

    def _even_links(self) -> list[Link]:
        """Link the words by their places alone, where there is no attention to go by."""
        share = len(self.source_words) / max(1, len(self.target_words))
        return [(int(t * share), t) for t in range(len(self.target_words))] if self.source_words else []

    def write(self, marks: Sequence[Mark], escape: Callable[[str], str]) -> str:
        self._place(marks, 0, len(self.target_words))
        return "".join(self._written(escape))

    def _place(self, marks: Sequence[Mark], low: int, high: int) -> None:
        """Place marks within a range of target words; two that stood side by side share none."""
        taken: set[int] = set()
        for mark in marks:
            run = self._run(mark, low, high, taken)
            if run is None:
                self._place_at(mark, low, high)
                continue
            first, last = run
            taken.update(range(first, last + 1))
            self._open(mark, first)
            self._place(mark.inside, first, last + 1)
            self._close(mark, last)

    def _run(self, mark: Mark, low: int, high: int, taken: set[int]) -> tuple[int, int] | None:
        """Find the run of target words that has the most words linked with the mark's, and the fewest others."""
        if mark.start == mark.end:
            return None
        first, last = bisect_right(self._ends, mark.start), bisect_left(self._starts, mark.end)
        wanted = {t for s in range(first, last) for t in self._linked.get(s, ()) if low <= t < high} - taken
        if not wanted:
            return None
        best, found = 0, (0, 0)
        worth = begin = 0
        for t in range(min(wanted), max(wanted) + 1):
            if t in taken or worth <= 0:
                worth, begin = 0, t
            if t not in taken:
                worth += 1 if t in wanted else -int(t in self._owner)
            if worth > best:
                best, found = worth, (begin, t)
        return found

    def _open(self, mark: Mark, word: int) -> None:
        at = bisect_right(self._starts, mark.start) - 1
        lead = self.source[self._starts[at] : mark.start] if at >= 0 else ""
        around = self._around[word]
        tight = bool(around.tight_before) or _is_punctuation(lead)
        (around.tight_before if tight else around.before).append(mark.before)

    def _close(self, mark: Mark, word: int) -> None:
        self._append(word, mark.after, self._tail(mark))

    def _tail(self, mark: Mark) -> str:
        """Return what of its last word stands behind a mark."""
        at = bisect_left(self._ends, mark.end)
        return self.source[mark.end : self._ends[at]] if at < len(self._ends) and self._starts[at] < mark.end else ""

    def _append(self, word: int, written: str, tail: str) -> None:
        """Write something after a word, before its punctuation if it stood before punctuation."""
        around = self._around[word]
        tight = not around.after and _is_punctuation(tail)
        (around.tight_after if tight else around.after).append(written)

    def _place_at(self, mark: Mark, low: int, high: int) -> None:
        """Place a mark without words: before the word that followed it, or after the one it clung to."""
        if low == high:
            self._at_end.append(f" {mark.whole}" if mark.stands_apart and (self._at_end or self.target) else mark.whole)
            return
        next_word, tail = bisect_left(self._starts, mark.start), self._tail(mark)
        if not _is_punctuation(tail):
            for s in range(next_word - bool(tail), min(next_word + _NEAR, len(self._starts))):
                if targets := [t for t in self._linked.get(s, ()) if low <= t < high]:
                    self._around[min(targets)].before.append(f"{mark.whole} " if mark.stands_apart else mark.whole)
                    return
        written = f" {mark.whole}" if mark.stands_apart else mark.whole
        for s in range(next_word - 1, max(-1, next_word - _NEAR), -1):
            if targets := [t for t in self._linked.get(s, ()) if low <= t < high]:
                self._append(max(targets), written, tail)
                return
        self._append(high - 1, written, tail)

    def _written(self, escape: Callable[[str], str]) -> Iterator[str]:
        at = 0
        for (start, end), around in zip(self.target_words, self._around, strict=True):
            word = self.target[start:end]
            stem = word.lstrip(_punctuation(word))
            lead, stem = word[: len(word) - len(stem)], stem.rstrip(_punctuation(word))
            yield escape(self.target[at:start])
            yield from around.before
            yield escape(lead)
            yield from around.tight_before
            yield escape(stem)
            yield from around.tight_after
            yield escape(word[len(lead) + len(stem) :])
            yield from around.after
            at = end
        yield from self._at_end
        yield escape(self.target[at:])


def _is_punctuation(text: str) -> bool:
    return bool(text) and not any(map(str.isalnum, text))


def _punctuation(word: str) -> str:
    """Return what may be cut off the ends of a word; nothing if it is nothing else."""
    return "".join({c for c in word if not c.isalnum()}) if any(map(str.isalnum, word)) else ""
