"""The lectures' three puzzles: which bank, what "it" stands for, and whether a name is hers or his.

A puzzle is made once and told for one deciding word (training text) or for two (a contrast): all other
words are shared. What decides is fixed by the structure: the bank is the river's if what is crossed or
sought belongs to water; "it" is the creature or the place of the main clause, whichever the adjective
fits; an adjective agrees with the name that is its subject. Other clauses may hold words of the other
sense: the distractors.
"""

from typing import NamedTuple
from zlib import crc32

from dragoman.data.lexicon import Gender, lexicon
from dragoman.data.phrases import (
    EL,
    NOTHING,
    Nominal,
    Phrase,
    Tense,
    complement,
    copula,
    described,
    doing,
    finish,
    fixed,
    govern,
    join,
    linked,
    named,
    noun_phrase,
    plain,
    predicate,
    pronoun,
    state,
)
from dragoman.data.sentences import Writer

RESERVED_OF = 10  # one frame in so many is kept for contrasts
FARTHEST = 30  # words between the ambiguous and the deciding word

_COMMA = plain(",", ",")
_AND = plain("and", "y")
_BECAUSE = plain("because", "porque")
_ALTHOUGH = plain("although", "aunque")
_WHEN = plain("when", "cuando")
_AFTER = fixed("after=después de")
_BEFORE = fixed("before=antes de")
_WITHOUT = plain("without", "sin")
_LAST_WEEK = Phrase(("last", "week"), ("la", "semana", "pasada"), ((1, 0), (1, 1), (0, 2)))
_TIMES = (plain("yesterday", "ayer"), _LAST_WEEK, fixed("this=esta", "morning=mañana"))
_TRAVEL = ("arrive", "go", "return", "walk")
_OTHER = {"water": "town", "town": "water", "shore": "money", "money": "shore"}
_PRONOUNS = ("I", "I", "he", "she", "we", "they")


class Puzzle(NamedTuple):
    """One frame told for each of its deciding words."""

    kind: str
    word: str
    sentences: tuple[Phrase, ...]
    deciders: tuple[str, ...]
    distractor: bool

    @property
    def frame(self) -> tuple[str, ...]:
        """The English words with the deciding one left open: the same for every telling."""
        decider = self.deciders[0]
        return tuple("_" if word == decider else word for word in self.sentences[0].source)

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
        """Whether this frame, with whatever deciding word, is kept out of training text."""
        return self.frame in _lecture_frames() or crc32(" ".join(self.frame).encode()) % RESERVED_OF == 0


def _his(who: Nominal) -> Nominal:
    """The pronoun that stands for somebody."""
    if who.dropped:
        return who
    if who.plural:
        return pronoun("they", who.gender)
    return pronoun("she" if who.gender == "f" else "he")


def _traveller(writer: Writer, verb: str) -> Nominal:
    if writer.chance(0.45):
        return pronoun(writer.one(_PRONOUNS))
    if writer.chance(0.4):
        return named(writer.one(writer.names))
    return writer.noun(writer.pick("subjects", verb, "people"), 0.1)


def _somebody(writer: Writer, verb: str, gender: Gender | None = None) -> Nominal:
    """A person who can do something, of a gender if one is given."""
    while True:
        if writer.chance(0.5):
            who = named(writer.one(writer.names))
        else:
            mark = len(writer.combinations)
            who = writer.noun(writer.pick("subjects", verb, "people"), 0.0, single=True)
            if gender not in {None, who.gender}:
                del writer.combinations[mark:]
        if gender in {None, who.gender}:
            return who


def _mentioned(writer: Writer, what: Phrase, lemma: str) -> Phrase:
    """Something, that somebody had seen or described."""
    verb = writer.pick("undergoes", lemma, "mentioning") if lemma else writer.one(("describe", "see"))
    who = pronoun(writer.one(_PRONOUNS)) if writer.chance(0.3) else _somebody(writer, verb)
    tense: Tense = writer.one(("past", "perfect", "perfect"))
    return join(what, plain("that", "que"), state(who, predicate(verb, tense, who.person)))


# --- bank -------------------------------------------------------------------------------------------


def _bank(sense: str, adjective: str) -> Nominal:
    gender: Gender = "f" if sense in {"water", "shore"} else "m"
    noun = plain("bank", "orilla" if gender == "f" else "banco")
    article = plain("the", "la" if gender == "f" else "el")
    if adjective:
        phrase = join(article, described(adjective, "", gender, 0), noun, order=(0, 2, 1))
    else:
        phrase = join(article, noun)
    return Nominal(phrase, "bank", EL, gender, human=False)


def _spoken_of(writer: Writer, sense: str) -> Phrase:
    """Talking about, or seeing, a word of some sense: a distractor."""
    verb = "talk_about" if sense in {"shore", "money"} else writer.one(("talk_about", "describe", "see"))
    lemma = writer.pick("objects", verb, sense)
    return join(doing(verb), complement(verb, noun_phrase("the", lemma)))


class _Trip(NamedTuple):
    """The parts around a bank that all tellings share."""

    lead: Phrase
    adjective: str
    relative: Phrase
    filler: Phrase
    tail: Phrase


def _trip(writer: Writer, senses: tuple[str, ...]) -> _Trip:
    """Choose fillers; each of `senses` becomes a distractor somewhere."""
    lead = filler = tail = NOTHING
    for sense in senses:
        place = writer.random.random()
        spoken = _spoken_of(writer, sense)
        if place < 0.4 and lead is NOTHING:
            lead = join(writer.one((_AFTER, _BEFORE)), spoken, _COMMA)
        elif place < 0.75 and filler is NOTHING:
            filler = join(_WITHOUT, spoken)
        else:
            tail = join(tail, writer.one((_BEFORE, _WITHOUT)), spoken)
    relative = NOTHING
    if writer.chance(0.35):
        relative = _mentioned(writer, NOTHING, "")
    if writer.chance(0.3):
        filler = join(filler, govern("with", "con", named(writer.one(writer.names)).phrase))
    if writer.chance(0.25):
        filler = join(filler, writer.one(_TIMES))
    adjective = writer.one(("old", "small", "beautiful", "big")) if writer.chance(0.12) else ""
    return _Trip(lead, adjective, relative, filler, tail)


def bank(writer: Writer, sides: int, *, distractor: bool) -> Puzzle:
    """"Bank" is orilla or banco by what is crossed, sought, needed, or lies on this side of it."""
    form = writer.one(("after", "after", "after", "led", "led", "sought", "sought", "needed", "needed", "beside"))
    pair = ["shore", "money"] if form in {"sought", "needed"} else ["water", "town"]
    writer.random.shuffle(pair)
    senses = tuple(pair[:sides])
    other = _OTHER[senses[0]]
    false = () if not distractor else (other, senses[0]) if writer.chance(0.3) else (other,)
    if distractor and writer.chance(0.3):
        swap = {"water": "shore", "shore": "water", "town": "money", "money": "town"}
        false = tuple(swap[sense] for sense in false)
    trip = _trip(writer, false)
    verb = writer.one(_TRAVEL)
    who = _traveller(writer, verb)
    negated = int(writer.chance(0.15))
    when = writer.one((_AFTER, _AFTER, _BEFORE))
    act = {"sought": "look_for", "needed": "need"}.get(form, "cross")
    deciders = tuple(
        writer.one(writer.groups[s]) if form == "beside" else writer.pick("objects", act, s) for s in senses
    )
    made = []
    for sense, decider in zip(senses, deciders, strict=True):
        place = _bank(sense, trip.adjective)
        there = complement(verb, place)
        going = state(who, predicate(verb, "past", who.person, negated), there, trip.relative, negated=negated)
        what = noun_phrase("the", decider)
        crossing = join(when, doing("cross"), what.phrase)
        match form:
            case "after":
                made.append(join(trip.lead, going, trip.filler, crossing, trip.tail))
            case "led":
                made.append(join(crossing, trip.filler, _COMMA, going, trip.tail))
            case "sought":
                seeking = join(plain("to look for", "para buscar"), what.phrase)
                made.append(join(trip.lead, going, trip.filler, seeking, trip.tail))
            case "needed":
                own = _his(who)
                needing = state(own, predicate("need", "past", own.person), what.phrase)
                made.append(join(trip.lead, going, trip.filler, _BECAUSE, needing, trip.tail))
            case _:
                side = govern("on the other side of", "al otro lado de", what.phrase)
                be = copula("estar", "past", EL)
                made.append(join(place.phrase, trip.relative, trip.filler, be, side))
    return Puzzle("bank", "bank", tuple(finish(phrase) for phrase in made), deciders, distractor)
