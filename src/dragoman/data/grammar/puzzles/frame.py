"""A puzzle's frame, told for one deciding word (training text) or for two (a contrast).

All other words are shared, and what decides is fixed by the structure; other clauses may hold words of
the other sense, the distractors.
"""

from functools import cached_property
from zlib import crc32

from dragoman.data.grammar.lexicon import Gender
from dragoman.data.grammar.phrases import (
    Nominal,
    Phrase,
    Tense,
    complement,
    doing,
    fixed,
    govern,
    join,
    named,
    plain,
    predicate,
    pronoun,
    state,
)
from dragoman.data.grammar.writer import Writer

RESERVED_OF = 10  # one frame in so many is kept for contrasts
FARTHEST = 30  # words between the ambiguous and the deciding word

COMMA = plain(",", ",")
AND = plain("and", "y")
BECAUSE = plain("because", "porque")
ALTHOUGH = plain("although", "aunque")
WHEN = plain("when", "cuando")
AFTER = fixed("after=después de")
BEFORE = fixed("before=antes de")
WITHOUT = plain("without", "sin")
HANDLING = ("open", "close", "clean", "wash", "buy", "sell", "lose", "find", "paint", "cross")
SPEAKERS = ("I", "I", "he", "she", "we", "they")
UNGENDERED = ("I", "I", "you", "we", "they")

_LECTURES = frozenset(
    tuple(frame.split())
    for frame in (
        "I arrived at the bank after crossing the _ .",
        "the animal did not cross the street because it was too _ .",
        "_ , who crossed the river when I called my sister , was tired .",
    )
)


class Puzzle:
    """One frame told for each of its deciding words; `others` could decide in another puzzle."""

    def __init__(
        self,
        kind: str,
        word: str,
        sentences: tuple[Phrase, ...],
        deciders: tuple[str, ...],
        others: tuple[str, ...] = (),
        *,
        distractor: bool,
    ) -> None:
        self.kind, self.word = kind, word
        self.sentences, self.deciders, self.others = sentences, deciders, others
        self.distractor = distractor

    @cached_property
    def frame(self) -> tuple[str, ...]:
        """The English words with the deciding one left open: the same for every telling."""
        return _opened(self.sentences[0], self.deciders[0])

    @property
    def distance(self) -> int:
        """How many words stand between the ambiguous and the deciding word."""
        return abs(self.frame.index(self.word) - self.frame.index("_")) - 1

    @property
    def sound(self) -> bool:
        """Whether the deciding and the ambiguous word stand once, and not too far apart."""
        told = zip(self.sentences, self.deciders, strict=True)
        once = all(phrase.source.count(decider) == 1 for phrase, decider in told)
        return once and self.frame.count(self.word) == 1 and self.distance <= FARTHEST

    @property
    def reserved(self) -> bool:
        """Whether this frame, with whatever deciding word, is kept for contrasts."""
        return _reserved(self.frame)

    @property
    def withheld(self) -> bool:
        """Whether the first telling stands in a reserved frame, whichever of its words is left open."""
        return self.reserved or any(_reserved(_opened(self.sentences[0], word)) for word in self.others)


def _opened(phrase: Phrase, decider: str) -> tuple[str, ...]:
    return tuple(["_" if word == decider else word for word in phrase.source])


def _reserved(frame: tuple[str, ...]) -> bool:
    return crc32(" ".join(frame).encode()) % RESERVED_OF == 0 or frame in _LECTURES


def standing_for(who: Nominal) -> Nominal:
    """The pronoun that stands for somebody."""
    if who.dropped:
        return who
    if who.plural:
        return pronoun("they", who.gender)
    return pronoun("she" if who.gender == "f" else "he")


def somebody(writer: Writer, verb: str, gender: Gender | None = None) -> Nominal:
    """A person who can do something, of a gender if one is given."""
    while True:
        mark = len(writer.combinations)
        if writer.chance(0.5):
            who = named(writer.one(writer.names))
        else:
            who = writer.noun(writer.pick("subjects", verb, "people"), 0.0, single=True)
        if gender is None or who.gender == gender:
            return who
        del writer.combinations[mark:]


def met(writer: Writer, verb: str, gender: Gender | None = None) -> Phrase:
    """A person to whom something is done, of a gender if one is given."""
    while True:
        mark = len(writer.combinations)
        if writer.chance(0.5):
            who = named(writer.one(writer.names))
        else:
            who = writer.noun(writer.pick("objects", verb, "people"), 0.0, single=True)
        if gender is None or who.gender == gender:
            return complement(verb, who)
        del writer.combinations[mark:]


def mention(writer: Writer, lemma: str = "") -> Phrase:
    """That somebody had seen or described: a relative clause for something, or for the bank."""
    verb = writer.pick("undergoes", lemma, "mentioning") if lemma else writer.one(("describe", "see"))
    who = pronoun(writer.one(SPEAKERS)) if writer.chance(0.3) else somebody(writer, verb)
    tense: Tense = writer.one(("past", "perfect", "perfect"))
    return join(plain("that", "que"), state(who, predicate(verb, tense, who.person)))


def meeting(writer: Writer, *genders: Gender) -> Phrase:
    """When somebody met somebody; or, if genders are given, when I met persons of these genders."""
    verb = writer.one(("call", "help", "visit", "follow") if genders[1:] else writer.groups["meeting"])
    who = pronoun(writer.one(UNGENDERED)) if genders or writer.chance(0.4) else somebody(writer, verb)
    whom = met(writer, verb, genders[0] if genders else None)
    company = [_company(writer, gender) for gender in genders[1:]]
    return join(WHEN, state(who, predicate(verb, "past", who.person), whom, *company))


def around_meeting(writer: Writer) -> Phrase:
    """After or before meeting somebody."""
    verb = writer.one(writer.groups["meeting"])
    return join(writer.one((AFTER, BEFORE)), doing(verb), met(writer, verb))


def needing(writer: Writer) -> Phrase:
    """Because I needed something: nobody's gender is heard."""
    who = pronoun(writer.one(UNGENDERED))
    lemma = writer.pick("objects", "need", "handled")
    return join(BECAUSE, state(who, predicate("need", "past", who.person), writer.noun(lemma, 0.3).phrase))


def _company(writer: Writer, gender: Gender) -> Phrase:
    group = writer.groups["women" if gender == "f" else "men"]
    return govern("with", "con", named(writer.one(group)).phrase)


def handling(writer: Writer) -> Phrase:
    """When I did something to a thing: nobody's gender is heard."""
    verb = writer.one(HANDLING)
    who = pronoun(writer.one(UNGENDERED))
    lemma = writer.pick("objects", verb, "ways" if verb == "cross" else "handled")
    return join(WHEN, state(who, predicate(verb, "past", who.person), writer.noun(lemma, 0.15).phrase))


def without_doing(writer: Writer) -> Phrase:
    """After, before or without doing something to a thing."""
    verb = writer.one(HANDLING)
    lemma = writer.pick("objects", verb, "ways" if verb == "cross" else "handled")
    return join(writer.one((AFTER, BEFORE, WITHOUT)), doing(verb), writer.noun(lemma, 0.15).phrase)
