"""The one who writes: makes every random choice, keeps to the allowed combinations, and notes those used."""

from collections.abc import Sequence
from functools import cache
from random import Random
from typing import TypeVar

from dragoman.data.grammar.lexicon import Combination, Partners, Relation, combination, lexicon
from dragoman.data.grammar.phrases import (
    EL,
    NOTHING,
    Nominal,
    Phrase,
    Tense,
    complement,
    fixed,
    govern,
    join,
    named,
    noun_phrase,
    plain,
    pronoun,
)

T = TypeVar("T")

_ARTICLES = ("the", "the", "the", "the", "the", "a", "a", "a", "this", "my", "your", "his", "her", "our")
_FAMILY = ("my", "my", "my", "your", "his", "her", "our")
_LIVING = ("the", "the", "the", "a", "a", "this")
_UNIQUE = ("the", "the", "the", "the", "this")
_MASS = ("the", "the", "the", "my", "your", "his", "her", "our", "this")
_PLURALS = ("the", "the", "the", "the", "this", "my", "your", "his", "her", "our", "many", "some", "two")
_LIVING_PLURALS = ("the", "the", "the", "the", "this", "many", "some", "two")
_PRONOUNS = ("I", "you", "we", "they", "I", "you", "we", "they", "he", "she")
_ASKED = ("you", "they", "you", "they", "he", "she")  # few ask what they do themselves
_INVARIANT = ("happy", "sad", "strong", "intelligent", "elegant", "kind", "young")
_TENSES: tuple[Tense, ...] = (
    *(("past",) * 6),
    *(("present",) * 10),
    "going",
    "can",
    "wish",
)
TIMES: dict[Tense, tuple[Phrase, ...]] = {
    "past": (
        plain("yesterday", "ayer"),
        Phrase(("last", "week"), ("la", "semana", "pasada"), ((1, 0), (1, 1), (0, 2))),
        fixed("this=esta", "morning=mañana"),
    ),
    "present": (fixed("every=todos los", "day=días"), fixed("on=los", "Sundays=domingos")),
    "going": (plain("tomorrow", "mañana"), plain("today", "hoy")),
    "can": (plain("today", "hoy"),),
    "wish": (plain("today", "hoy"),),
    "perfect": (),
}
_RELATIONS: dict[str, Relation] = {
    "adjective-noun": "nouns",
    "subject-verb": "acts",
    "verb-object": "objects",
}
OWN = frozenset({"my", "your", "his", "her", "our"})
_OPEN = frozenset({"bridge", "beach"})  # nobody is "in" these
_PLACES = (("in", "en"), ("near", "cerca de"), ("behind", "detrás de"))


@cache
def _articles(noun: str, *, plural: bool) -> tuple[str, ...]:
    """The determiners that suit a noun, the usual ones more than once."""
    classes = lexicon().nouns[noun].classes
    living = "animal" in classes or ("person" in classes and "family" not in classes)
    if plural:
        return _LIVING_PLURALS if living else _PLURALS
    if living:
        return _LIVING
    if "family" in classes:
        return _FAMILY
    if "mass" in classes:
        return _MASS
    return _UNIQUE if classes & {"path", "water"} else _ARTICLES


class Writer:
    """Writes sentences from one stream of chance, in training text or with held-out combinations."""

    def __init__(self, seed: int | str, *, held_out: bool = False) -> None:
        self.random = Random(seed)
        self.lexicon = lexicon()
        self.held_out = held_out
        self.combinations: list[Combination] = []
        words = self.lexicon
        self._narrowed: dict[tuple[Relation, str, str], Partners] = {}
        self.verbs = tuple(words.verbs)
        self.states = frozenset(v for v, verb in words.verbs.items() if verb.spanish_past[0].endswith("a"))
        self.names = tuple(words.names)
        self.people = words.of_class("person")
        self.people_adjectives = tuple(a for a, entry in words.adjectives.items() if "person" in entry.classes)
        self.gendered = tuple(a for a in self.people_adjectives if not words.adjectives[a].invariant)
        self.feelings = tuple(a for a in self.gendered if words.adjectives[a].copula == "estar")
        self.describable = tuple(words.partners["adjectives"])
        self.transitive = tuple(v for v, verb in words.verbs.items() if not verb.prepositions)
        self.placed = frozenset(self.transitive) - self.states - {"cross", "visit", "follow"}
        self.deeds = tuple(v for v in self.transitive if v not in self.states)
        self.creature_deeds = tuple(v for v in self.deeds if "animal" in words.verbs[v].subjects)
        self.handling = tuple(v for v in self.transitive if words.verbs[v].objects != {"person"})
        self.groups = words.deciders | {
            "transitive": self.transitive,
            "animals": words.of_class("animal"),
            "ways": words.of_class("path", "water"),
            "mentioning": ("describe", "see", "visit", "find", "buy", "sell", "cross"),
            "chasing": ("see", "follow", "find", "look_for"),
            "meeting": ("call", "help", "visit", "follow", "talk_with"),
            "people": self.people,
            "women": tuple(who for who, gender in words.names.items() if gender == "f"),
            "men": tuple(who for who, gender in words.names.items() if gender == "m"),
            "handled": words.of_class("thing", "furniture", "vehicle", "food", "building"),
        }
        self.inside = tuple(n for n in words.of_class("building", "region", "spot") if n not in _OPEN)
        self.outside = words.of_class("building", "spot")
        self.objects = words.of_class("thing", "vehicle", "furniture", "food", "building")

    def one(self, choices: Sequence[T]) -> T:
        """Choose one."""
        return choices[int(self.random.random() * len(choices))]

    def chance(self, share: float) -> bool:
        """Be true so often."""
        return self.random.random() < share

    def partners(self, relation: Relation, word: str, group: str) -> Partners:
        """The partners of a word that belong to a group."""
        known = self._narrowed.get((relation, word, group))
        if known is None:
            group_words = self.groups[group]
            known = Partners(
                *(tuple(w for w in side if w in group_words) for side in self.lexicon.partners[relation][word])
            )
            self._narrowed[relation, word, group] = known
        return known

    def allows(self, used: Combination) -> bool:
        """Whether a combination makes sense and may stand in training text."""
        kind, first, second = used
        relation = _RELATIONS[kind]
        return second in self.lexicon.partners[relation].get(first, Partners((), ())).train

    def pick(self, relation: Relation, word: str, group: str = "") -> str:
        """Choose a partner for a word and note the combination; a group narrows the choice.

        Outside training a held-out partner is taken now and then, where there is one.
        """
        table = self.lexicon.partners[relation]
        train, held = self.partners(relation, word, group) if group else table[word]
        chosen = self.one(held) if self.held_out and held and self.chance(0.3) else self.one(train)
        self.combinations.append(combination(relation, word, chosen))
        return chosen

    def noun(self, lemma: str, adjectives: float = 0.3, article: str = "", *, single: bool = False) -> Nominal:
        """A noun phrase: determiner, number and perhaps an adjective by chance."""
        entry = self.lexicon.nouns[lemma]
        countable = entry.english_plural and not entry.classes & {"path", "water"}
        plural = bool(countable) and not single and not article and self.chance(0.4)
        article = article or self.one(_articles(lemma, plural=plural))
        adjective = ""
        if lemma in self.lexicon.partners["adjectives"] and self.chance(adjectives):
            adjective = self.pick("adjectives", lemma)
        return noun_phrase(article, lemma, adjective, int(plural))

    def told_apart(self, lemma: str, adjectives: float = 0.15) -> Nominal:
        """A noun phrase that a relative clause can narrow down: nobody's own."""
        while True:
            mark = len(self.combinations)
            what = self.noun(lemma, adjectives)
            if what.phrase.source[0] not in OWN:
                return what
            del self.combinations[mark:]

    def person(self) -> Nominal:
        """Somebody: a name or a noun."""
        return named(self.one(self.names)) if self.chance(0.35) else self.noun(self.one(self.people), 0.15)

    def subject(self, verb: str, pronouns: float = 0.5, *, asked: bool = False) -> Nominal:
        """A subject that makes sense for a verb, in a statement or in a question."""
        if self.chance(pronouns):
            return pronoun(self.one(_ASKED if asked else _PRONOUNS))
        if self.chance(0.25):
            return named(self.one(self.names))
        return self.noun(self.pick("subjects", verb), 0.25)

    def object(self, verb: str, adjectives: float = 0.3) -> Phrase:
        """An object that makes sense for a verb, with what introduces it."""
        chosen = self.pick("objects", verb)
        if self.chance(0.3) and "person" in self.lexicon.nouns[chosen].classes:
            self.combinations.pop()
            return complement(verb, named(self.one(self.names)))
        return complement(verb, self.noun(chosen, adjectives))

    def place(self) -> Phrase:
        """A place where something happens."""
        english, spanish = self.one(_PLACES)
        lemma = self.one(self.inside if english == "in" else self.outside)
        return govern(english, spanish, self.noun(lemma, 0.15, single=True).phrase)

    def tense(self, verb: str) -> Tense:
        """A tense that a verb can have: no "want to need"."""
        tense = self.one(_TENSES)
        return "past" if verb in self.states and tense != "present" else tense

    def circumstances(self, verb: str, tense: Tense) -> Phrase:
        """Where and when, or neither."""
        where = self.place() if verb in self.placed and self.chance(0.25) else NOTHING
        timed = verb not in self.states and TIMES[tense] and self.chance(0.2)
        return join(where, self.one(TIMES[tense])) if timed else where

    def quality(self, subject: Nominal) -> str:
        """An adjective that makes sense for a subject; one form for both genders where none is known."""
        if subject.dropped:
            return self.one(self.people_adjectives if subject.person == EL else _INVARIANT)
        if subject.lemma in self.lexicon.names:
            return self.one(self.people_adjectives)
        return self.pick("adjectives", subject.lemma)

    def degree(self, adjective: str) -> str:
        """How much: nothing, very or too."""
        absolute = "absolute" in self.lexicon.adjectives[adjective].classes
        return "" if absolute else self.one(("", "", "very", "too"))

    def something(self) -> Nominal:
        """Anything that can be described."""
        if self.chance(0.25):
            return pronoun(self.one(_PRONOUNS))
        return self.person() if self.chance(0.35) else self.noun(self.one(self.describable), 0.0)
