"""Texts to be translated, with whatever in them must come through as it is."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from itertools import accumulate, pairwise
from typing import NamedTuple

from dragoman.config import Search
from dragoman.engine.question import Steps
from dragoman.engine.translator import Translation, Translator
from dragoman.jobs.translate import text_alignment
from dragoman.server import markup, placeholders
from dragoman.server.carry import Mark, put_back
from dragoman.text.segments import Segment, seam, split


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
    """Translate texts as they are; what loses a placeholder again, with the placeholders as marks.

    That is mended sentence by sentence, except where marks may stand around several. Should the model then write a
    placeholder that nobody asked for, the sentence stays as it was.
    """
    done: dict[int, list[str]] = {}
    for has_marks in (True, False):
        numbers = [number for number, text in enumerate(texts) if bool(text.marks) is has_marks]
        found = yield from _find(translator, [texts[n] for n in numbers], manner, alignments=has_marks)
        done.update(zip(numbers, found, strict=True))
    lost = {number: _parts(text) for number, text in enumerate(texts) if not done[number]}
    sentences = [Text(part.text, []) for parts in lost.values() for part in parts if part.is_sentence]
    if sentences:  # the translator still knows them, so the engine is asked for none that has lost nothing
        mended = iter((yield from _translate(translator, sentences, manner)))
        done |= {number: _join(parts, mended) for number, parts in lost.items() if parts}
    whole = [number for number, parts in lost.items() if not parts]
    bare = [_without_placeholders(texts[number], manner) for number in whole]
    found = yield from _find(translator, bare, manner, alignments=True)
    for number, written in zip(whole, found, strict=True):
        done[number] = written or [_untouched(texts[number], manner)]
    return [done[number] for number in range(len(texts))]


def _parts(text: Text) -> list[Segment]:
    """Cut a text into its sentences; into nothing if there are no two, or a mark or placeholder may be in several."""
    parts = [] if text.marks else split(text.text)
    found = Counter(one for part in parts for one in placeholders.find(part.text).elements())
    return parts if sum(part.is_sentence for part in parts) > 1 and found == placeholders.find(text.text) else []


def _join(parts: Sequence[Segment], sentences: Iterator[list[str]]) -> list[str]:
    """Put a text together, taking its sentences from the stream; each rank of its sentences' ranks, or their last."""
    ranks = [next(sentences) if part.is_sentence else [part.text] for part in parts]
    return [
        _assemble(parts, [some[min(rank, len(some) - 1)] for some in ranks]) for rank in range(max(map(len, ranks)))
    ]


def _assemble(parts: Sequence[Segment], written: Sequence[str]) -> str:
    seams = [
        seam(a.text, left, right) if a.is_sentence and b.is_sentence else ""
        for (a, left), (b, right) in pairwise(zip(parts, written, strict=True))
    ]
    return "".join(one for pair in zip(written, [*seams, ""], strict=True) for one in pair)


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


def _without_placeholders(text: Text, manner: Manner) -> Text:
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
        _insert(marks, Mark(one.at, one.at + len(one.word), manner.escape(one.word), free=one.free))
    edges = [0, *(edge for one in taken for edge in (one.start, one.end)), len(text.text)]
    kept = zip(edges[::2], edges[1::2], strict=True)
    return Text("".join(text.text[start:end] for start, end in kept), [_move(mark, moved) for mark in marks])


def _insert(marks: list[Mark], new: Mark) -> None:
    """Put a mark among the others, into the innermost that it stands in."""
    number = bisect_left(marks, new.end, key=lambda mark: mark.start)
    if number:
        last = marks[number - 1]
        if last.after and last.start <= new.start and new.end <= last.end:
            _insert(last.inside, new)
            return
    marks.insert(number, new)


def _move(mark: Mark, moved: Callable[[int], int]) -> Mark:
    inside = [_move(one, moved) for one in mark.inside]
    return Mark(moved(mark.start), moved(mark.end), mark.before, mark.after, mark.free, inside)
