"""Ordinary sentences: statements, questions, descriptions, relative clauses, reports and joined clauses.

A `Writer` makes every random choice, keeps to the allowed combinations, and notes those it used.
"""

from collections.abc import Callable, Sequence
from functools import cache
from random import Random
from typing import TypeVar

from dragoman.data.lexicon import Combination, Partners, Relation, combination, lexicon
from dragoman.data.phrases import (
    EL,
    ELLOS,
    NOTHING,
    Nominal,
    Phrase,
    Tense,
    ask,
    ask_state,
    complement,
    copula,
    described,
    doing,
    finish,
    fixed,
    govern,
    join,
    named,
    noun_phrase,
    plain,
    predicate,
    pronoun,
    state,
)

T = TypeVar("T")

_ARTICLES = ("the", "the", "the", "the", "the", "a", "a", "a", "this", "my", "your", "his", "her", "our")
_FAMILY = ("my", "my", "my", "your", "his", "her", "our", "the")
_LIVING = ("the", "the", "the", "a", "a", "this")
_UNIQUE = ("the", "the", "the", "the", "this")
_MASS = ("the", "the", "the", "my", "your", "his", "her", "our", "this")
_PLURALS = ("the", "the", "the", "the", "this", "my", "your", "his", "her", "our", "many", "some", "two", "three")
_LIVING_PLURALS = ("the", "the", "the", "the", "this", "many", "some", "two", "three")
_PRONOUNS = ("I", "I", "you", "you", "he", "she", "we", "they")
_INVARIANT = ("happy", "sad", "strong", "intelligent", "elegant", "kind", "young")
_TENSES: tuple[Tense, ...] = (
    *(("past",) * 9),
    *(("present",) * 5),
    *(("going",) * 2),
    *(("can",) * 2),
    *(("wish",) * 2),
)
_TIMES: dict[Tense, tuple[Phrase, ...]] = {
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
_HANDLING = ("buy", "sell", "see", "read", "write", "eat", "drink", "paint", "open", "close", "clean", "break",
             "find", "lose", "look_for", "carry", "describe", "wash", "need", "want", "have")
_RELATIONS: dict[str, Relation] = {"adjective-noun": "nouns", "subject-verb": "acts", "verb-object": "objects"}
_COMMA = plain(",", ",")
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
        self.inside = words.of_class("building", "region", "spot")
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
        classes = entry.classes
        plural = bool(entry.english_plural) and not single and not article and self.chance(0.25)
        article = article or self.one(_articles(lemma, plural=plural))
        adjective = ""
        if lemma in self.lexicon.partners["adjectives"] and self.chance(adjectives):
            adjective = self.pick("adjectives", lemma)
        return noun_phrase(article, lemma, adjective, int(plural))

    def person(self) -> Nominal:
        """Somebody: a name or a noun."""
        return named(self.one(self.names)) if self.chance(0.35) else self.noun(self.one(self.people), 0.15)

    def subject(self, verb: str, pronouns: float = 0.35) -> Nominal:
        """A subject that makes sense for a verb."""
        if self.chance(pronouns):
            return pronoun(self.one(_PRONOUNS))
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
        where = self.place() if self.chance(0.2) and not self.lexicon.verbs[verb].prepositions else NOTHING
        timed = verb not in self.states and _TIMES[tense] and self.chance(0.2)
        return join(where, self.one(_TIMES[tense])) if timed else where

    def clause(self, tense: Tense | None = None, pronouns: float = 0.35, negation: float = 0.2) -> Phrase:
        """Somebody does something, or does not."""
        verb = self.one(self.verbs)
        when = tense or self.tense(verb)
        subject = self.subject(verb, pronouns)
        negated = int(self.chance(negation))
        done = predicate(verb, when, subject.person, negated)
        return state(subject, done, self.object(verb), self.circumstances(verb, when), negated=negated)

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

    def description(self, past: bool | None = None, subject: Nominal | None = None) -> Phrase:
        """Somebody or something is so, or is not."""
        who = subject or self.something()
        adjective = self.quality(who)
        tense: Tense = "past" if (self.chance(0.5) if past is None else past) else "present"
        negated = int(self.chance(0.2))
        be = copula(self.lexicon.adjectives[adjective].copula, tense, who.person, negated)
        what = described(adjective, self.degree(adjective), who.gender, int(who.plural))
        return state(who, be, what, negated=negated)

    def relative_subject(self, who: Nominal) -> Phrase:
        """Who or that does something; between commas after one's own family, who need no telling apart."""
        verb = self.pick("acts", who.lemma)
        tense: Tense = self.one(("past", "past", "present", "perfect"))
        tense = "past" if tense == "perfect" and verb in self.states else tense
        that = plain("who" if who.kind == "person" else "that", "que")
        clause = join(that, predicate(verb, tense, who.person), self.object(verb, 0.2))
        return join(_COMMA, clause, _COMMA) if "family" in self.lexicon.nouns[who.lemma].classes else clause

    def relative_object(self, what: Nominal) -> Phrase:
        """That somebody does something to."""
        verb = self.pick("undergoes", what.lemma, "transitive")
        subject = self.subject(verb, 0.3)
        tense: Tense = self.one(("past", "past", "perfect"))
        tense = "past" if verb in self.states else tense
        return join(plain("that", "que"), state(subject, predicate(verb, tense, subject.person)))

    def qualified(self) -> Nominal:
        """A noun with a relative clause."""
        if self.chance(0.5):
            who = self.noun(self.one(self.people), 0.1)
            return who._replace(phrase=join(who.phrase, self.relative_subject(who)))
        what = self.noun(self.one(self.objects), 0.15)
        return what._replace(phrase=join(what.phrase, self.relative_object(what)))

    def long(self) -> Phrase:
        """A described or acting noun that carries a relative clause, and its object perhaps another."""
        if self.chance(0.5):
            return self.description(subject=self.qualified())
        who = self.noun(self.one(self.people), 0.1)
        relative = self.relative_subject(who)
        verb = self.pick("acts", who.lemma)
        negated = int(self.chance(0.2))
        done = predicate(verb, self.tense(verb), who.person, negated)
        what = self.noun(self.pick("objects", verb), 0.2)
        more = self.relative_object(what) if what.kind == "thing" and self.chance(0.3) else NOTHING
        return join(who.phrase, relative, done, complement(verb, what), more)

    def pursued(self) -> Phrase:
        """Something done to, after, before or without doing something else."""
        verb = self.one(self.verbs)
        subject = self.subject(verb)
        second = self.one(self.transitive)
        how = self.one((
            plain("to", "para"),
            fixed("after=después de"),
            fixed("before=antes de"),
            plain("without", "sin"),
        ))
        bare = how.source == ("to",)
        entry = self.lexicon.verbs[second]
        act = plain(" ".join(entry.base), entry.infinitive) if bare else doing(second)
        done = predicate(verb, "past", subject.person)
        return state(subject, done, self.object(verb, 0.15), how, act, self.object(second, 0.2))

    def reported(self) -> Phrase:
        """Somebody says, thinks or knows something."""
        who = self.person()
        many = who.person == ELLOS
        past = self.chance(0.5)
        if past:
            said = self.one((
                plain("said", "dijeron" if many else "dijo"),
                plain("thought", "pensaban" if many else "pensaba"),
                plain("knew", "sabían" if many else "sabía"),
            ))
        else:
            said = self.one((
                plain("say" if many else "says", "dicen" if many else "dice"),
                plain("think" if many else "thinks", "piensan" if many else "piensa"),
                plain("know" if many else "knows", "saben" if many else "sabe"),
            ))
        if self.chance(0.5):
            same = pronoun("they", who.gender) if many else pronoun("she" if who.gender == "f" else "he")
            other = same if self.chance(0.6) else None
            what = self._described_person(same, past=past) if other else self.description(past=past)
        else:
            what = self.clause("perfect" if past else self.one(("present", "past")))
        return join(who.phrase, said, plain("that", "que"), what)

    def _described_person(self, who: Nominal, *, past: bool) -> Phrase:
        adjective = self.one(self.people_adjectives)
        be = copula(self.lexicon.adjectives[adjective].copula, "past" if past else "present", who.person)
        what = described(adjective, self.degree(adjective), who.gender, int(who.plural))
        return state(who, be, what)

    def joined(self) -> Phrase:
        """Two clauses."""
        how = self.one((
            plain("because", "porque"),
            join(plain(",", ","), plain("but", "pero")),
            plain("when", "cuando"),
            plain("although", "aunque"),
        ))
        first = join(self.clause("past"), how)
        kind = self.random.random()
        if kind < 0.4:
            return join(first, self.description(past=True))
        return join(first, self.clause("past") if kind < 0.8 else self.description(past=True, subject=self.qualified()))

    def question(self) -> Phrase:
        """A question, with or without a question word."""
        kind = self.random.random()
        if kind < 0.3:
            who = self.something()
            adjective = self.quality(who)
            tense: Tense = self.one(("present", "present", "past"))
            be = copula(self.lexicon.adjectives[adjective].copula, tense, who.person)
            what = described(adjective, "", who.gender, int(who.plural))
            asked = ask_state(who, be, what)
            return join(fixed("why=por qué"), asked) if self.chance(0.3) else asked
        if kind < 0.4:
            what_ = self.noun(self.one(self.objects), 0.3)
            where = copula("estar", "present", what_.person)
            return join(plain("where", "dónde"), where, what_.phrase)
        verb = self.one(self.verbs)
        tense = self.tense(verb)
        if kind < 0.55:
            return join(plain("who", "quién"), predicate(verb, tense, EL), self.object(verb))
        tense = "past" if tense in {"can", "wish"} else tense
        if kind < 0.7:
            verb = self.one(_HANDLING)
            tense = self.one(("past", "present"))
            return join(plain("what", "qué"), ask(self.subject(verb), verb, tense))
        asked = ask(self.subject(verb), verb, tense, self.object(verb))
        if self.chance(0.5):
            return asked
        where = plain("when", "cuándo") if self.lexicon.verbs[verb].prepositions else plain("where", "dónde")
        word = where if self.chance(0.6) else fixed("why=por qué")
        return join(word, asked)

    def ordinary(self) -> Phrase:
        """One finished sentence of any ordinary kind."""
        kind = self.random.random()
        if kind < 0.18:
            return finish(self.question(), "?")
        rule: Callable[[], Phrase]
        if kind < 0.48:
            rule = self.clause
        elif kind < 0.62:
            rule = self.description
        elif kind < 0.76:
            rule = self.long
        elif kind < 0.84:
            rule = self.pursued
        elif kind < 0.92:
            rule = self.reported
        else:
            rule = self.joined
        return finish(rule())
