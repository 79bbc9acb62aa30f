"""Phrases that carry both languages and the links between their words, and the rules that make them.

Every rule returns both sides at once, so agreement, word order and alignment cannot drift apart.
Rules without chance are cached: a sentence is mostly joined from phrases made before.
"""

from collections.abc import Callable
from functools import cache
from typing import Literal, NamedTuple

from dragoman.data.grammar.lexicon import Gender, Verb, lexicon

Tense = Literal["present", "past", "perfect", "going", "can", "wish"]

YO, TU, EL, NOSOTROS, ELLOS = range(5)
_BE_PRESENT = ("am", "are", "is", "are", "are")
_BE_PAST = ("was", "were", "was", "were", "were")
_COPULAS = {
    ("ser", "present"): ("soy", "eres", "es", "somos", "son"),
    ("ser", "past"): ("era", "eras", "era", "éramos", "eran"),
    ("estar", "present"): ("estoy", "estás", "está", "estamos", "están"),
    ("estar", "past"): ("estaba", "estabas", "estaba", "estábamos", "estaban"),
}
_GO = ("voy", "vas", "va", "vamos", "van")
_CAN = ("puedo", "puedes", "puede", "podemos", "pueden")
_WISH = ("quiero", "quieres", "quiere", "queremos", "quieren")
_HAVE = ("había", "habías", "había", "habíamos", "habían")
_DETERMINERS = {  # masculine, feminine, plural masculine, plural feminine
    "the": ("el", "la", "los", "las"),
    "a": ("un", "una", "", ""),
    "this": ("este", "esta", "estos", "estas"),
    "my": ("mi", "mi", "mis", "mis"),
    "your": ("tu", "tu", "tus", "tus"),
    "his": ("su", "su", "sus", "sus"),
    "her": ("su", "su", "sus", "sus"),
    "our": ("nuestro", "nuestra", "nuestros", "nuestras"),
    "many": ("", "", "muchos", "muchas"),
    "some": ("", "", "algunos", "algunas"),
    "two": ("", "", "dos", "dos"),
}
_GOODS = frozenset({"buy", "sell", "have"})
DEGREES = {"": "", "very": "muy", "too": "demasiado", "so": "tan"}
PRONOUNS: dict[str, tuple[int, Gender]] = {
    "I": (YO, "m"),
    "you": (TU, "m"),
    "he": (EL, "m"),
    "she": (EL, "f"),
    "it": (EL, "m"),
    "we": (NOSOTROS, "m"),
    "they": (ELLOS, "m"),
}


class Phrase(NamedTuple):
    """Words that translate each other; links pair a source position with a target position."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    links: tuple[tuple[int, int], ...]


class Nominal(NamedTuple):
    """A phrase with what others must agree with; a dropped one is heard in its verb only."""

    phrase: Phrase
    lemma: str
    person: int
    gender: Gender
    kind: Literal["person", "animal", "thing"]
    dropped: bool = False

    @property
    def plural(self) -> bool:
        """Whether adjectives that agree with it are plural."""
        return self.person >= NOSOTROS


NOTHING = Phrase((), (), ())


@cache
def plain(english: str, spanish: str) -> Phrase:
    """A fixed expression, each word linked to each."""
    source, target = tuple(english.split()), tuple(spanish.split())
    return Phrase(source, target, tuple((s, t) for s in range(len(source)) for t in range(len(target))))


@cache
def fixed(*pairs: str) -> Phrase:
    """A fixed expression, word group by word group, each written "english=spanish"."""
    return join(*(plain(*pair.split("=")) for pair in pairs))


def join(*parts: Phrase, order: tuple[int, ...] = ()) -> Phrase:
    """Put phrases one after another; `order` is the order of the target side, where it differs."""
    if order:
        return _join_crossing(parts, order)
    source: list[str] = []
    target: list[str] = []
    links: list[tuple[int, int]] = []
    for english, spanish, pairs in parts:
        if pairs:
            left, right = len(source), len(target)
            links += [(s + left, t + right) for s, t in pairs]
        source += english
        target += spanish
    return Phrase(tuple(source), tuple(target), tuple(links))


def _join_crossing(parts: tuple[Phrase, ...], order: tuple[int, ...]) -> Phrase:
    source: list[str] = []
    starts = []
    for part in parts:
        starts.append(len(source))
        source += part.source
    target: list[str] = []
    links: list[tuple[int, int]] = []
    for place in order:
        _, spanish, pairs = parts[place]
        left, right = starts[place], len(target)
        links += [(s + left, t + right) for s, t in pairs]
        target += spanish
    return Phrase(tuple(source), tuple(target), tuple(links))


def linked(phrase: Phrase, *links: tuple[int, int]) -> Phrase:
    """Add links, as when a word is rendered by a word that also renders another."""
    return Phrase(phrase.source, phrase.target, phrase.links + links)


def _english_article(following: str) -> str:
    return "an" if following[0] in "aeiou" else "a"


@cache
def determiner(english: str, noun: str, gender: Gender, *, plural: bool) -> str:
    """The Spanish determiner; "el" and "un" before a stressed a: el agua, un águila."""
    stressed = noun and "stressed" in lexicon().nouns[noun].classes
    if stressed and not plural and english in {"the", "a"}:
        return _DETERMINERS[english][0]
    return _DETERMINERS[english][2 * plural + (gender == "f")]


@cache
def noun_phrase(article: str, noun: str, adjective: str = "", plural: int = 0) -> Nominal:
    """Determiner, adjective, noun: the adjective follows its noun in Spanish, and all three agree."""
    entry = lexicon().nouns[noun]
    english = entry.english_plural if plural else noun
    spanish = entry.spanish_plural if plural else entry.spanish
    spanish_article = determiner(article, noun, entry.gender, plural=bool(plural))
    first = adjective or english
    if article == "a":
        english_article = _english_article(first)
    else:
        english_article = "these" if article == "this" and plural else article
    parts = [plain(english_article, spanish_article)]
    if adjective:
        form = lexicon().adjectives[adjective].form(entry.gender, plural=bool(plural))
        phrase = join(*parts, plain(adjective, form), plain(english, spanish), order=(0, 2, 1))
    else:
        phrase = join(*parts, plain(english, spanish))
    kind: Literal["person", "animal", "thing"] = "thing"
    if "person" in entry.classes:
        kind = "person"
    elif "animal" in entry.classes:
        kind = "animal"
    return Nominal(phrase, noun, ELLOS if plural else EL, entry.gender, kind)


@cache
def named(name: str) -> Nominal:
    """A person's name, with the accent that Spanish gives it."""
    words = lexicon()
    return Nominal(plain(name, words.accents.get(name, name)), name, EL, words.names[name], "person")


@cache
def pronoun(english: str, gender: Gender | None = None) -> Nominal:
    """A subject pronoun, which Spanish drops; its gender is its own unless it stands for something."""
    person, own = PRONOUNS[english]
    kind: Literal["person", "thing"] = "thing" if english == "it" else "person"
    return Nominal(Phrase((english,), (), ()), english, person, gender or own, kind, dropped=True)


@cache
def _preposition(english: str, spanish: str) -> Phrase:
    return plain(english, spanish)


def govern(english: str, spanish: str, phrase: Phrase) -> Phrase:
    """Put a preposition before a phrase: a and de melt with a following el."""
    before = _preposition(english, spanish)
    last = before.target[-1]
    if phrase.target[0] != "el" or last not in {"a", "de"}:
        return join(before, phrase)
    shift, melted = len(before.source), len(before.target) - 1
    target = (*before.target[:-1], "al" if last == "a" else "del", *phrase.target[1:])
    links = before.links + tuple((s + shift, t + melted) for s, t in phrase.links)
    return Phrase(before.source + phrase.source, target, links)


def complement(verb: str, what: Nominal) -> Phrase:
    """A verb's object, after its preposition if it has one, or after the personal a.

    Persons always take it; animals too, except as goods: vio a la vaca, but compró la vaca.
    """
    prepositions = lexicon().verbs[verb].prepositions
    if prepositions:
        return govern(*prepositions, what.phrase)
    if what.kind == "person" or (what.kind == "animal" and verb not in _GOODS):
        return govern("", "a", what.phrase)
    return what.phrase


def _do(person: int) -> str:
    return "does" if person == EL else "do"


def _simple(verb: Verb, tense: Tense, person: int, *, negated: bool) -> Phrase:
    past = tense == "past"
    spanish = (verb.spanish_past if past else verb.spanish_present)[person]
    if negated:
        helper = "did" if past else _do(person)
        return join(plain(f"{helper} not", "no"), plain(" ".join(verb.base), spanish))
    present = verb.third if person == EL else verb.base
    return plain(" ".join(verb.past if past else present), spanish)


def _helped(verb: Verb, tense: Tense, person: int, *, negated: bool) -> Phrase:
    """A tense made with a helping verb in both languages."""
    no = plain("not", "no") if negated else NOTHING
    base = plain(" ".join(verb.base), verb.infinitive)
    order = (1, 0, 2, 3)
    match tense:
        case "perfect":
            helper = plain("had", _HAVE[person])
            return join(helper, no, plain(" ".join(verb.participle), verb.spanish_participle), order=(1, 0, 2))
        case "going":
            going = Phrase(("going", "to"), ("a",), ((1, 0),))
            made = join(plain(_BE_PRESENT[person], _GO[person]), no, going, base, order=order)
            return linked(made, (1 + negated, int(negated)))
        case "can":
            no = plain("cannot", "no") if negated else NOTHING
            able = Phrase((), (_CAN[person],), ()) if negated else plain("can", _CAN[person])
            made = join(no, able, base)
            return linked(made, (0, 1)) if negated else made
        case _:
            if negated:
                wish = join(plain(f"{_do(person)} not", "no"), plain("want to", _WISH[person]))
            else:
                wish = plain("wants to" if person == EL else "want to", _WISH[person])
            return join(wish, base)


@cache
def predicate(verb: str, tense: Tense, person: int, negated: int = 0) -> Phrase:
    """A verb in its tense and person, perhaps negated; the finite word is the target's first after "no".

    "I read" could be either tense and is always past, so that the translation stays a function.
    """
    entry = lexicon().verbs[verb]
    if tense == "present" and entry.past == entry.base and person != EL and not negated:
        tense = "past"
    rule: Callable[..., Phrase] = _simple if tense in {"present", "past"} else _helped
    return rule(entry, tense, person, negated=bool(negated))


@cache
def copula(which: str, tense: Literal["present", "past"], person: int, negated: int = 0) -> Phrase:
    """To be, as ser or estar."""
    be = plain((_BE_PRESENT if tense == "present" else _BE_PAST)[person], _COPULAS[which, tense][person])
    return join(be, plain("not", "no"), order=(1, 0)) if negated else be


@cache
def described(adjective: str, degree: str, gender: Gender, plural: int) -> Phrase:
    """An adjective as a predicate, perhaps with a degree: "too tired"."""
    form = plain(adjective, lexicon().adjectives[adjective].form(gender, plural=bool(plural)))
    return join(plain(degree, DEGREES[degree]), form) if degree else form


def state(subject: Nominal, rest: Phrase, *more: Phrase, negated: int = 0) -> Phrase:
    """Subject before predicate; a dropped subject is linked to the finite verb."""
    if not subject.dropped:
        return join(subject.phrase, rest, *more)
    return linked(join(subject.phrase, rest, *more), (0, negated))


@cache
def _asked(verb: str, tense: Tense, person: int) -> tuple[str, Phrase]:
    entry = lexicon().verbs[verb]
    base = " ".join(entry.base)
    if tense == "going":
        return _BE_PRESENT[person], join(
            Phrase(("going", "to"), (_GO[person], "a"), ((0, 0), (1, 1))), plain(base, entry.infinitive)
        )
    if tense == "past":
        return "did", plain(base, entry.spanish_past[person])
    return _do(person), plain(base, entry.spanish_present[person])


def ask(subject: Nominal, verb: str, tense: Tense, *rest: Phrase) -> Phrase:
    """Turn a clause into a question's order: helper, subject, verb against verb, subject."""
    helper, asked = _asked(verb, tense, subject.person)
    order = (2, 1, *range(3, 3 + len(rest)))
    made = join(Phrase((helper,), (), ()), subject.phrase, asked, *rest, order=order)
    return linked(made, (0, 0), (1, 0)) if subject.dropped else linked(made, (0, 0))


def ask_state(subject: Nominal, be: Phrase, what: Phrase) -> Phrase:
    """Ask whether something is so: "is the house big", "es grande la casa"."""
    made = join(be, subject.phrase, what, order=(0, 2, 1))
    return linked(made, (1, 0)) if subject.dropped else made


@cache
def doing(verb: str) -> Phrase:
    """A gerund after a preposition, which is an infinitive in Spanish: "after crossing"."""
    entry = lexicon().verbs[verb]
    return plain(" ".join(entry.gerund), entry.infinitive)


def finish(phrase: Phrase, mark: str = ".") -> Phrase:
    """Add the final mark, and the opening one that Spanish needs."""
    source, target, links = phrase
    end = (len(source), len(target))
    if mark == ".":
        return Phrase((*source, "."), (*target, "."), (*links, end))
    shifted = tuple((s, t + 1) for s, t in links)
    ends = ((end[0], 0), (end[0], end[1] + 1))
    return Phrase((*source, mark), ("¿", *target, mark), shifted + ends)
