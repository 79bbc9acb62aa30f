"""Texts to be translated, with whatever in them must come through as it is."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from copy import deepcopy
from itertools import accumulate
from typing import NamedTuple

from dragoman.config import Search
from dragoman.engine.question import Steps
from dragoman.engine.translator import Translation, Translator
from dragoman.jobs.translate import text_alignment
from dragoman.server import markup, placeholders
from dragoman.server.carry import Mark, put_back


class Text(NamedTuple):
    """A text and its marks."""

    text: str
    marks: list[Mark]


class Manner(NamedTuple):
    """How texts are translated and written."""

    search: Search
    aligns: bool
    """Whether the model can say which word became which; without that, marks are placed by count."""
    escape: Callable[[str], str] = str
    """How text is written among tags."""


def translate_texts(translator: Translator, texts: Sequence[str], manner: Manner) -> Steps[list[list[str]]]:
    """Return for every text its translation and then the alternatives, placeholders kept."""
    return _translate(translator, [Text(text, []) for text in texts], manner)


def translate_pages(translator: Translator, pages: Sequence[str], manner: Manner) -> Steps[list[str]]:
    """Translate HTML: tags are put around the words that became those they stood around."""
    parsed = [markup.parse(page) for page in pages]
    blocks = [Text(*part) for parts in parsed for part in parts if isinstance(part, markup.Block)]
    done = iter((yield from _translate(translator, blocks, manner)))
    return ["".join(part if isinstance(part, str) else next(done)[0] for part in parts) for parts in parsed]


def _translate(translator: Translator, texts: Sequence[Text], manner: Manner) -> Steps[list[list[str]]]:
    """Translate texts as they are; those that lose a placeholder again, with the placeholders as marks.

    Should the model then write one that nobody asked for, the text stays as it was.
    """
    done: dict[int, list[str]] = {}
    for has_marks in (False, True):
        numbers = [number for number, text in enumerate(texts) if bool(text.marks) is has_marks]
        found = yield from _find(translator, [texts[n] for n in numbers], manner, alignments=has_marks)
        done.update(zip(numbers, found, strict=True))
    lost = [number for number in range(len(texts)) if not done[number]]
    bare = [_without_placeholders(texts[number]) for number in lost]
    found = yield from _find(translator, bare, manner, alignments=True)
    for number, written in zip(lost, found, strict=True):
        done[number] = written or [_untouched(texts[number], manner)]
    return [done[number] for number in range(len(texts))]


def _find(translator: Translator, texts: Sequence[Text], manner: Manner, *, alignments: bool) -> Steps[list[list[str]]]:
    """Translate texts and write them; see `_written`."""
    if not texts:
        return []
    found = yield from translator.steps(
        [one.text for one in texts], search=manner.search, alignments=alignments and manner.aligns
    )
    return [_written(text, translation, manner) for text, translation in zip(texts, found, strict=True)]


def _written(text: Text, translation: Translation, manner: Manner) -> list[str]:
    """Write the best translation and the alternatives; none if the best has lost or won a placeholder."""
    if not placeholders.survive(text.text, translation.text):
        return []
    return [
        put_back(text.text, one.text, text_alignment(text.text, one), text.marks, manner.escape)
        if text.marks
        else manner.escape(one.text)
        for one in (translation, *translation.alternatives)
        if placeholders.survive(text.text, one.text)
    ]


def _untouched(text: Text, manner: Manner) -> str:
    """Write a text as it was."""
    words = range(len(text.text.split()))
    return put_back(text.text, text.text, [(word, word) for word in words], text.marks, manner.escape)


def _without_placeholders(text: Text) -> Text:
    """Take the placeholders out of a text and put them among its marks."""
    taken = placeholders.take_out(text.text)
    gone = [0, *accumulate(one.end - one.start for one in taken)]
    starts = [one.start for one in taken]

    def moved(at: int) -> int:
        before = bisect_right(starts, at)
        inside = max(0, taken[before - 1].end - at) if before else 0
        return at - gone[before] + inside

    marks = deepcopy(text.marks)
    for one in taken:
        _insert(marks, Mark(one.at, one.at + len(one.word), one.word, free=one.free))
    edges = [0, *(edge for one in taken for edge in (one.start, one.end)), len(text.text)]
    kept = zip(edges[::2], edges[1::2], strict=True)
    return Text("".join(text.text[start:end] for start, end in kept), [_move(mark, moved) for mark in marks])


def _insert(marks: list[Mark], new: Mark) -> None:
    """Put a mark among the others, into the innermost that it stands in."""
    for number, mark in enumerate(marks):
        if mark.after and mark.start <= new.start and new.end <= mark.end:
            _insert(mark.inside, new)
            return
        if mark.start >= new.end:
            marks.insert(number, new)
            return
    marks.append(new)


def _move(mark: Mark, moved: Callable[[int], int]) -> Mark:
    inside = [_move(one, moved) for one in mark.inside]
    return Mark(moved(mark.start), moved(mark.end), mark.before, mark.after, mark.free, inside)
