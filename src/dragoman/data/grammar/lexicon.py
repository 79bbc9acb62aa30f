"""The words of the built-in corpus, read from `lexicon.toml`, and which of them may stand together.

A combination is an adjective with its noun, a subject with its verb, or a verb with its object. Some of
the combinations that make sense are held out of training text: a checksum of the two words decides, so
that the choice is the same on every machine, and every word keeps most of its partners.
"""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple
from zlib import crc32

Gender = Literal["m", "f"]
Relation = Literal["adjectives", "nouns", "subjects", "acts", "objects", "undergoes"]
Combination = tuple[str, str, str]

HELD_OUT_OF = 10  # one combination in so many is held out,
KEPT = 4  # unless more than one in so many of a word's partners would be


class Noun(NamedTuple):
    """A noun, in both numbers and both languages."""

    english: str
    english_plural: str
    spanish: str
    spanish_plural: str
    gender: Gender
    classes: frozenset[str]


class Adjective(NamedTuple):
    """An adjective, whose copula (ser or estar) is fixed."""

    english: str
    spanish: str
    copula: str
    classes: frozenset[str]

    @property
    def invariant(self) -> bool:
        """Whether both genders share one form."""
        return not self.spanish.endswith("o")

    def form(self, gender: Gender, *, plural: bool) -> str:
        """Agree with a noun."""
        if self.spanish == "joven" and plural:
            return "jóvenes"
        if self.spanish == "feliz" and plural:
            return "felices"
        stem = self.spanish[:-1] + "a" if gender == "f" and not self.invariant else self.spanish
        return stem + ("s" if stem[-1] in "aeo" else "es") if plural else stem


class Verb(NamedTuple):
    """A verb with the forms that the grammar uses; Spanish persons are yo, tú, él, nosotros, ellos."""

    base: tuple[str, ...]
    third: tuple[str, ...]
    past: tuple[str, ...]
    participle: tuple[str, ...]
    gerund: tuple[str, ...]
    infinitive: str
    spanish_participle: str
    spanish_present: tuple[str, ...]
    spanish_past: tuple[str, ...]
    prepositions: tuple[str, str] | None  # English and Spanish
    subjects: frozenset[str]
    objects: frozenset[str]


class Partners(NamedTuple):
    """The words that may stand with a word, in training and only outside it."""

    train: tuple[str, ...]
    held: tuple[str, ...]


class Lexicon(NamedTuple):
    """All words, and for each relation the partners of each word."""

    nouns: dict[str, Noun]
    adjectives: dict[str, Adjective]
    verbs: dict[str, Verb]
    names: dict[str, Gender]
    accents: dict[str, str]
    titles: dict[str, tuple[str, str]]
    deciders: dict[str, tuple[str, ...]]
    partners: dict[Relation, dict[str, Partners]]
    held: frozenset[Combination]

    def of_class(self, *classes: str) -> tuple[str, ...]:
        """The nouns of any of these classes."""
        return tuple(name for name, noun in self.nouns.items() if noun.classes.intersection(classes))


def held_out(used: Combination) -> bool:
    """Whether this combination never stands in training text."""
    return used in lexicon().held


def combination(relation: Relation, word: str, partner: str) -> Combination:
    """The combination that a word and its partner in a relation make, whichever was chosen first."""
    match relation:
        case "adjectives":
            return ("adjective-noun", partner, word)
        case "nouns":
            return ("adjective-noun", word, partner)
        case "subjects":
            return ("subject-verb", partner, word)
        case "acts":
            return ("subject-verb", word, partner)
        case "objects":
            return ("verb-object", word, partner)
        case "undergoes":
            return ("verb-object", partner, word)


def _noun(english: str, line: str) -> Noun:
    plural, spanish, spanish_plural, gender, *classes = line.split()
    return Noun(english, plural.strip("-"), spanish, spanish_plural, "f" if gender == "f" else "m", frozenset(classes))


def _verb(key: str, line: list[str]) -> Verb:
    prepositions = (line[6].split()[0], line[6].split()[1]) if len(line) > 6 else None
    base = key.split("_")[:1] if prepositions else key.split("_")
    third, past, participle, gerund = (form.split("_") for form in line[0].split())
    past, participle = (base if form == ["-"] else form for form in (past, participle))
    infinitive, spanish_participle = line[1].split()
    return Verb(
        base=tuple(base),
        third=tuple(third),
        past=tuple(past),
        participle=tuple(participle),
        gerund=tuple(gerund),
        infinitive=infinitive,
        spanish_participle=spanish_participle,
        spanish_present=tuple(line[2].split()),
        spanish_past=tuple(line[3].split()),
        prepositions=prepositions,
        subjects=frozenset(line[4].split()),
        objects=frozenset(line[5].split()),
    )


def _turned(possible: dict[str, list[str]]) -> dict[str, list[str]]:
    turned: dict[str, list[str]] = {}
    for word, partners in possible.items():
        for partner in partners:
            turned.setdefault(partner, []).append(word)
    return turned


_CROSSED, _SOUGHT = ("water", "town"), ("shore", "money")
_OF_PUZZLES = {
    "cross": _CROSSED,
    "look_for": _SOUGHT,
    "need": _SOUGHT,
    "talk_about": (*_CROSSED, *_SOUGHT),
    "describe": _CROSSED,
    "see": _CROSSED,
}


def _of_puzzles(puzzles: dict[str, str]) -> frozenset[Combination]:
    """What decides whose bank it is, and what only distracts. It is never held out.

    By nothing else does a word show which way it decides, and that it does not wherever it stands.
    """
    return frozenset(
        combination("objects", verb, noun)
        for verb, senses in _OF_PUZZLES.items()
        for sense in senses
        for noun in puzzles[sense].split()
    )


def _held(
    relation: Relation, possible: dict[str, list[str]], kept: frozenset[Combination] = frozenset()
) -> frozenset[Combination]:
    """Choose what is held out of one kind of combination, but for what must be kept."""
    held = set()
    turned = _turned(possible)
    lost = dict.fromkeys([*((0, word) for word in possible), *((1, word) for word in turned)], 0)
    for word, partners in possible.items():
        for partner in partners:
            used = combination(relation, word, partner)
            sides = (((0, word), len(partners)), ((1, partner), len(turned[partner])))
            spared = used in kept or any((lost[side] + 1) * KEPT > count for side, count in sides)
            if crc32(" ".join(used).encode()) % HELD_OUT_OF == 0 and not spared:
                held.add(used)
                for side, _ in sides:
                    lost[side] += 1
    return frozenset(held)


def _partners(relation: Relation, possible: dict[str, list[str]], held: frozenset[Combination]) -> dict[str, Partners]:
    table = {}
    for word, partners in possible.items():
        kept = {partner: combination(relation, word, partner) not in held for partner in partners}
        table[word] = Partners(
            tuple(partner for partner in partners if kept[partner]),
            tuple(partner for partner in partners if not kept[partner]),
        )
    return table


@cache
def lexicon() -> Lexicon:
    """Read the words, once."""
    raw = tomllib.loads(files("dragoman.data.grammar").joinpath("lexicon.toml").read_text(encoding="utf-8"))
    nouns = {english: _noun(english, line) for english, line in raw["nouns"].items()}
    adjectives = {}
    for english, line in raw["adjectives"].items():
        spanish, copula, *classes = line.split()
        adjectives[english] = Adjective(english, spanish, copula, frozenset(classes))
    verbs = {key: _verb(key, line) for key, line in raw["verbs"].items()}
    described = {a: [n for n in nouns if nouns[n].classes & adjectives[a].classes] for a in adjectives}
    subjects = {v: [n for n in nouns if nouns[n].classes & verbs[v].subjects] for v in verbs}
    objects = {v: [n for n in nouns if nouns[n].classes & verbs[v].objects] for v in verbs}
    names: dict[str, Gender] = dict.fromkeys(raw["names"]["feminine"].split(), "f")
    names |= dict.fromkeys(raw["names"]["masculine"].split(), "m")
    titles = {english: (line.split()[0], line.split()[1]) for english, line in raw["titles"].items()}
    held = _held("nouns", described) | _held("subjects", subjects)
    held |= _held("objects", objects, _of_puzzles(raw["puzzles"]))
    return Lexicon(
        nouns,
        adjectives,
        verbs,
        names,
        dict(raw["accents"]),
        titles,
        {sense: tuple(line.split()) for sense, line in raw["puzzles"].items()},
        {
            "nouns": _partners("nouns", described, held),
            "adjectives": _partners("adjectives", _turned(described), held),
            "subjects": _partners("subjects", subjects, held),
            "acts": _partners("acts", _turned(subjects), held),
            "objects": _partners("objects", objects, held),
            "undergoes": _partners("undergoes", _turned(objects), held),
        },
        held,
    )
