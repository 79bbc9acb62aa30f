"""Text in, text out, with every line and the white space around sentences kept.

A sentence longer than the model knows is cut into parts, never cut off. A sentence without a letter (numbers,
emoji) is passed through as it is. Whatever looks wrong with a translation is said by its flags; nothing is
lost silently.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from dragoman.config import Search
from dragoman.engine.base import Engine, Hypothesis, Link
from dragoman.engine.flags import Flag, has_absurd_length, is_copied, is_repeated
from dragoman.engine.memory import Memory
from dragoman.engine.question import Answers, Manner, Question, Request, Steps, finish
from dragoman.text.parts import SMALLEST_LIMIT, Part, cut
from dragoman.text.segments import Segment, has_letter, seam, split
from dragoman.text.tokenizer import Tokenizer, loses, normalise

CHUNK_LINES = 2000
_CHUNK_CHARACTERS = 1_000_000
_AHEAD = 2  # chunks that are with the engine while the next is read and the last one written
_REMEMBERED = 20_000


class Sentence(NamedTuple):
    """One sentence and its translation."""

    source: str
    target: str
    score: float
    """The engine's; of a sentence translated in parts the mean by length, of one passed through 0."""
    source_pieces: tuple[str, ...]
    """Empty, like the target's, for a sentence passed through."""
    target_pieces: tuple[str, ...]
    alignment: tuple[Link, ...] | None
    """If asked for: pairs of source word and target word, as white space parts them, from 0, in order."""
    flags: frozenset[Flag]


class Translation(NamedTuple):
    """One text and what became of it."""

    text: str
    sentences: tuple[Sentence, ...]
    score: float
    """Of its worst sentence; 0 if there is none."""
    flags: frozenset[Flag]
    """Of all its sentences."""
    alternatives: tuple["Translation", ...] = ()
    """If the search was asked for more than one: rank n is made of the n-th best translation of each sentence."""


class _Draft(NamedTuple):
    """A sentence on its way: the parts that go to the engine, none if it is passed through."""

    source: str
    parts: list[Part]
    prefix: list[int]

    def requests(self) -> Iterator[Request]:
        """Yield what is asked of the engine; a forced prefix begins the first part."""
        for number, part in enumerate(self.parts):
            yield tuple(part.ids), tuple(self.prefix) if number == 0 else ()


class _Finished(NamedTuple):
    """A part and the hypothesis that was chosen for it."""

    part: Part
    best: Hypothesis


class _Drafted(NamedTuple):
    """Some texts whose sentences are known: what is to be asked of the engine, and what has been answered before."""

    segments: list[list[Segment]]
    drafts: list[_Draft]
    requests: list[Request]
    known: Answers


class Translator:
    """An engine with its vocabulary: texts to translations."""

    def __init__(
        self,
        engine: Engine,
        tokenizer: Tokenizer,
        search: Search | None = None,
        *,
        max_pieces: int | None = None,
        sentences: bool = True,
        remember: int = _REMEMBERED,
    ) -> None:
        """Take `max_pieces` from the length of the sentences that the model was trained on.

        `sentences=False` leaves lines whole if they are short enough; `remember` is how many sentences are kept to be
        answered at once if they come again.
        """
        self.engine = engine
        self.tokenizer = tokenizer
        self.search = search or Search()
        self.limit = min(engine.max_source, max_pieces or engine.max_source)
        if self.limit < SMALLEST_LIMIT:
            raise ValueError(f"sources of at most {self.limit} pieces are too small; the least is {SMALLEST_LIMIT}")
        self._sentences = sentences
        self._memory = Memory(remember)

    def translate(
        self,
        texts: Sequence[str],
        *,
        search: Search | None = None,
        prefixes: Sequence[str] | None = None,
        alignments: bool = False,
    ) -> list[Translation]:
        """Translate texts; the result has as many, in the same order.

        A text may hold several lines and sentences. Its prefix is how the translation of its first sentence
        (the first with a letter, if there is one) must begin; an empty prefix asks for nothing.
        """
        if isinstance(texts, str):
            raise TypeError("translate takes a list of texts, not one text")
        if prefixes is not None and len(prefixes) != len(texts):
            raise ValueError(f"{len(prefixes)} prefixes for {len(texts)} texts")
        if len(texts) <= CHUNK_LINES:
            return finish(self.steps(texts, search=search, prefixes=prefixes, alignments=alignments))
        manner = Manner(search or self.search, alignments)
        forced = prefixes or [""] * len(texts)
        # Texts of like length share a chunk, so that hardly anything is padded; the long ones are not left for the end.
        order = sorted(range(len(texts)), key=lambda number: -len(texts[number]))
        some = (order[at : at + CHUNK_LINES] for at in range(0, len(order), CHUNK_LINES))
        chunks = (([texts[n] for n in numbers], [forced[n] for n in numbers]) for numbers in some)
        done = dict(zip(order, self._flow(chunks, manner, ahead=_AHEAD), strict=True))
        return [done[number] for number in range(len(texts))]

    def steps(
        self,
        texts: Sequence[str],
        *,
        search: Search | None = None,
        prefixes: Sequence[str] | None = None,
        alignments: bool = False,
    ) -> Steps[list[Translation]]:
        """Translate some texts as `translate` does, but leave it to the caller to ask the engine."""
        manner = Manner(search or self.search, alignments)
        drafted = self._draft(texts, prefixes or [""] * len(texts), manner)
        answers = (yield self._question(drafted, manner)) if drafted.requests else {}
        return self._collect(drafted, answers, manner)

    def stream(
        self,
        lines: Iterable[str],
        *,
        search: Search | None = None,
        prefix: str = "",
        alignments: bool = False,
        chunk: int = CHUNK_LINES,
    ) -> Iterator[Translation]:
        """Translate lines as they come, in order, with no more than a few chunks of them in memory.

        The engine works on some lines while others are read, cut, put together and taken away. A chunk of 1 answers
        every line before the next is read.
        """
        manner = Manner(search or self.search, alignments)
        chunks = ((texts, [prefix] * len(texts)) for texts in _chunks(lines, chunk))
        return self._flow(chunks, manner, ahead=0 if chunk == 1 else _AHEAD)

    def _flow(
        self, chunks: Iterable[tuple[Sequence[str], Sequence[str]]], manner: Manner, *, ahead: int
    ) -> Iterator[Translation]:
        """Translate chunks of texts and their prefixes, so many of them with the engine at a time."""
        engine = ThreadPoolExecutor(max(1, ahead), thread_name_prefix="engine")
        try:
            underway: deque[tuple[_Drafted, Future[Answers]]] = deque()
            for texts, prefixes in chunks:
                drafted = self._draft(texts, prefixes, manner)
                underway.append((drafted, engine.submit(self._question(drafted, manner).ask)))
                if len(underway) > ahead:
                    first, found = underway.popleft()
                    yield from self._collect(first, found.result(), manner)
            for rest, found in underway:
                yield from self._collect(rest, found.result(), manner)
        finally:
            engine.shutdown(cancel_futures=True)

    def _draft(self, texts: Sequence[str], prefixes: Sequence[str], manner: Manner) -> _Drafted:
        """Split texts into sentences, and find what is to be asked about them."""
        segments = [split(text, sentences=self._sentences) for text in texts]
        drafts = self._draft_sentences(segments, prefixes)
        wanted = {request for draft in drafts for request in draft.requests()}
        return _Drafted(segments, drafts, *self._memory.recall(wanted, manner))

    def _draft_sentences(self, texts: list[list[Segment]], prefixes: Sequence[str]) -> list[_Draft]:
        """Decide for every sentence of every text, in order, what goes to the engine."""
        sources: list[str] = []
        forced: list[str] = []
        for segments, prefix in zip(texts, prefixes, strict=True):
            inside = [segment.text for segment in segments if segment.is_sentence]
            starts = [""] * len(inside)
            if prefix and inside:
                starts[next((i for i, text in enumerate(inside) if has_letter(text)), 0)] = prefix
            sources.extend(inside)
            forced.extend(starts)
        wanted = [bool(prefix) or has_letter(source) for source, prefix in zip(sources, forced, strict=True)]
        read = [self.tokenizer.familiar(source) for source, want in zip(sources, wanted, strict=True) if want]
        encoded = zip(read, self.tokenizer.encode_all(read), strict=True)
        return [
            _Draft(
                source,
                cut(*next(encoded), self.tokenizer, self.limit) if want else [],
                self.tokenizer.encode(prefix) if prefix else [],
            )
            for source, want, prefix in zip(sources, wanted, forced, strict=True)
        ]

    def _question(self, drafted: _Drafted, manner: Manner) -> Question:
        """Ask for everything that is not known yet."""
        return Question(self.engine, drafted.requests, manner)

    def _collect(self, texts: _Drafted, found: Answers, manner: Manner) -> list[Translation]:
        """Put texts together from what the engine answered, once for every rank that was asked for."""
        answers = texts.known | found
        self._memory.keep(answers, manner)
        ranks = []
        for rank in range(manner.search.best):
            done = (self._finish(draft, answers, rank, alignments=manner.alignments) for draft in texts.drafts)
            ranks.append([_assemble(parts, done) for parts in texts.segments])
        if len(ranks) == 1:
            return ranks[0]
        return [best._replace(alternatives=_distinct(best, others)) for best, *others in zip(*ranks, strict=True)]

    def _finish(self, draft: _Draft, answers: Answers, rank: int, *, alignments: bool) -> Sentence:
        """Put a sentence together from the answers for its parts, each of a rank, or the last there is."""
        if not draft.parts:
            return _pass_through(draft.source, alignments=alignments)
        answered = [answers[request] for request in draft.requests()]
        finished = [
            _Finished(part, hypotheses[min(rank, len(hypotheses) - 1)])
            for part, hypotheses in zip(draft.parts, answered, strict=True)
        ]
        best = [part.best for part in finished]
        spoken = list(self._speak(finished))
        links = _between_words_of(draft.source, self._link(finished, spoken)) if alignments else None
        target = normalise("".join(between + text for between, text in spoken))  # so that no model writes a line end
        lengths = [len(hypothesis.pieces) + 1 for hypothesis in best]
        score = sum(h.score * length for h, length in zip(best, lengths, strict=True)) / sum(lengths)
        return Sentence(
            draft.source,
            target,
            score,
            self._names(chain.from_iterable(part.ids for part in draft.parts)),
            self._names(chain.from_iterable(hypothesis.pieces for hypothesis in best)),
            links,
            self._flags(draft.source, target, finished, [text for _, text in spoken]),
        )

    def _speak(self, finished: list[_Finished]) -> Iterator[tuple[str, str]]:
        """Yield for every part what stands between it and the one before, and its translation."""
        before: Part | None = None
        last = ""
        for part, best in finished:
            target = normalise(self.tokenizer.decode(best.pieces))
            between = "" if before is None else before.after or seam(before.text, last, target)
            yield between, target
            before, last = part, target[-1:] or between[-1:] or last

    def _names(self, ids: Iterable[int]) -> tuple[str, ...]:
        return tuple(map(self.tokenizer.pieces.__getitem__, ids))

    def _flags(self, source: str, target: str, finished: list[_Finished], spoken: list[str]) -> frozenset[Flag]:
        bare = self.tokenizer.familiar(source)
        best = [hypothesis for _, hypothesis in finished]
        raised = {
            Flag.TRUNCATED: not all(hypothesis.finished for hypothesis in best),
            Flag.REPEATED: any(
                is_repeated(part.text, text, part.ids, hypothesis.pieces)
                for (part, hypothesis), text in zip(finished, spoken, strict=True)
            ),
            Flag.COPIED: is_copied(bare, target),
            Flag.LENGTH_RATIO: has_absurd_length(bare, target),
            Flag.UNKNOWN_CHARACTERS: loses(source)
            or any(map(self.tokenizer.is_spelt, [part.ids for part, _ in finished]))
            or any(self.tokenizer.is_spelt(hypothesis.pieces) for hypothesis in best),
        }
        return frozenset(flag for flag, is_raised in raised.items() if is_raised)

    def _link(self, finished: list[_Finished], spoken: list[tuple[str, str]]) -> tuple[Link, ...] | None:
        """Link the words of all parts; None if the engine gave no attention.

        A cut through a word leaves its halves in two parts, which are one word again once the parts are
        joined.
        """
        from dragoman.engine.links import links_from_attention

        links: set[Link] = set()
        source, target = _Words(), _Words()
        for (part, best), (between, text) in zip(finished, spoken, strict=True):
            if best.attention is None:
                return None
            target.add(between)
            words = len(text.split())
            found = links_from_attention(best.attention, self._names(part.ids), self._names(best.pieces))
            links.update((source.next + s, target.next + t) for s, t in found if t < words)
            source.add(part.text + part.after)
            target.add(text)
        return tuple(sorted(links))


def _between_words_of(source: str, links: tuple[Link, ...] | None) -> tuple[Link, ...] | None:
    """Count the source's words as they stand in it, also those of which nothing is left to translate."""
    words = [number for number, word in enumerate(source.split()) if normalise(word)]
    return links and tuple((words[s], t) for s, t in links)


@dataclass
class _Words:
    """Counts the words of a text that grows at its end."""

    number: int = 0
    goes_on: bool = False

    def add(self, text: str) -> None:
        if text:
            self.number += len(text.split()) - (self.goes_on and not text[0].isspace())
            self.goes_on = not text[-1].isspace()

    @property
    def next(self) -> int:
        """The number of the word that comes next, or of the one that goes on."""
        return self.number - self.goes_on


def _pass_through(source: str, *, alignments: bool) -> Sentence:
    """Leave a sentence as it is, except for lone surrogates, which no file could hold."""
    target = source.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    links = tuple((word, word) for word in range(len(source.split()))) if alignments else None
    flags = frozenset({Flag.UNKNOWN_CHARACTERS}) if loses(source) else frozenset[Flag]()
    return Sentence(source, target, 0.0, (), (), links, flags)


def _chunks(lines: Iterable[str], most: int) -> Iterator[list[str]]:
    texts: list[str] = []
    characters = 0
    for line in lines:
        texts.append(line)
        characters += len(line)
        if len(texts) >= most or characters >= _CHUNK_CHARACTERS:
            yield texts
            texts, characters = [], 0
    if texts:
        yield texts


def _distinct(best: Translation, others: list[Translation]) -> tuple[Translation, ...]:
    """Leave out what was there before: where a sentence had fewer translations than others, or two read alike."""
    seen = {best.text: best}
    for other in others:
        seen.setdefault(other.text, other)
    return tuple(seen.values())[1:]


def _assemble(segments: list[Segment], done: Iterator[Sentence]) -> Translation:
    """Put a text together, taking from the stream of sentences as many as it has."""
    texts: list[str] = []
    sentences: list[Sentence] = []
    before: Segment | None = None
    for segment in segments:
        if segment.is_sentence:
            sentence = next(done)
            if before is not None and before.is_sentence:
                texts.append(seam(before.text, sentences[-1].target, sentence.target))
            sentences.append(sentence)
            texts.append(sentence.target)
        else:
            texts.append(segment.text)
        before = segment
    return Translation(
        "".join(texts),
        tuple(sentences),
        min((sentence.score for sentence in sentences), default=0.0),
        frozenset[Flag]().union(*(sentence.flags for sentence in sentences)),
    )
