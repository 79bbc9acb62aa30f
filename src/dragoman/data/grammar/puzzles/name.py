"""*She* or *he*: what is said of a person agrees with a name clauses earlier."""

from typing import NamedTuple

from dragoman.data.grammar.lexicon import Gender, lexicon
from dragoman.data.grammar.phrases import (
    EL,
    NOTHING,
    Nominal,
    Phrase,
    Tense,
    copula,
    described,
    finish,
    join,
    named,
    plain,
    predicate,
    pronoun,
    state,
)
from dragoman.data.grammar.puzzles.frame import (
    AND,
    BECAUSE,
    COMMA,
    HANDLING,
    UNGENDERED,
    Puzzle,
    handling,
    meeting,
    met,
    needing,
    standing_for,
    without_doing,
)
from dragoman.data.grammar.writer import OWN, Writer

_FORMS = ("who", "who", "and")
_TITLED = ("old", "young", "famous", "elegant", "kind", "intelligent")
_ARTICLES = (("a", "un", "una"), ("my", "mi", "mi"), ("our", "nuestro", "nuestra"), ("your", "tu", "tu"))


def _act(writer: Writer, form: str, whom: Gender | None) -> Phrase:
    """What somebody did, to a person of a gender or to a thing."""
    tense: Tense = writer.one(("past", "past", "perfect")) if form == "who" else "past"
    if whom:
        verb = writer.one(writer.groups["meeting"])
        return join(predicate(verb, tense, EL), met(writer, verb, whom))
    verb = writer.one(HANDLING)
    lemma = writer.pick("objects", verb, "ways" if verb == "cross" else "handled")
    what = writer.noun(lemma, 0.2).phrase
    more = NOTHING
    if what.source[0] not in OWN and writer.chance(0.4):
        seen = writer.pick("undergoes", lemma, "mentioning")
        speaker = pronoun(writer.one(UNGENDERED))
        more = join(plain("that", "que"), state(speaker, predicate(seen, "perfect", speaker.person)))
    return join(predicate(verb, tense, EL), what, more)


def _deeds(writer: Writer, form: str, genders: tuple[Gender, ...]) -> Phrase:
    """What somebody did, with further clauses; persons of these genders turn up in them."""
    share = 0.9 if writer.chance(0.12) else 0.2
    first, rest = (genders[0], genders[1:]) if genders and writer.chance(0.5) else (None, genders)
    parts = [_act(writer, form, first)]
    if writer.chance(share):
        parts.append(without_doing(writer))
    if rest:
        parts.append(meeting(writer, *rest))
    elif writer.chance(share):
        parts.append(handling(writer))
    if form != "because" and writer.chance(share / 2):
        parts.append(needing(writer))
    return join(*parts)


class _Said(NamedTuple):
    """What is said of somebody: an adjective, or a title with one."""

    adjective: str
    degree: str = ""
    title: str = ""
    article: tuple[str, str, str] = _ARTICLES[0]

    @property
    def copula(self) -> str:
        """Ser with a title, otherwise the adjective's own."""
        return "ser" if self.title else lexicon().adjectives[self.adjective].copula

    def of(self, gender: Gender) -> Phrase:
        """Agree with somebody."""
        if not self.title:
            return described(self.adjective, self.degree, gender, 0)
        masculine, feminine = lexicon().titles[self.title]
        english, for_him, for_her = self.article
        if english == "a" and self.adjective[0] in "aeiou":
            english = "an"
        noun = plain(self.title, feminine if gender == "f" else masculine)
        before = plain(english, for_her if gender == "f" else for_him)
        return join(before, described(self.adjective, "", gender, 0), noun, order=(0, 2, 1))


def _said(writer: Writer, form: str) -> _Said:
    if form == "who" and writer.chance(0.3):
        title = writer.one(tuple(lexicon().titles))
        article = writer.one(_ARTICLES if title in {"friend", "neighbor"} else _ARTICLES[:1])
        return _Said(writer.one(_TITLED), "", title, article)
    adjective = writer.one(writer.gendered if form == "who" else writer.feelings)
    return _Said(adjective, writer.degree(adjective))


def tell(form: str, who: Nominal, deeds: Phrase, said: _Said, tense: Tense) -> Phrase:
    """One telling: who did this and that, and is so."""
    be = copula(said.copula, "past" if form in {"and", "because"} else tense, EL)
    what = said.of(who.gender)
    match form:
        case "who":
            return join(who.phrase, COMMA, plain("who", "que"), deeds, COMMA, be, what)
        case "and":
            return join(who.phrase, deeds, COMMA, AND, be, what)
        case _:
            return join(who.phrase, deeds, BECAUSE, state(standing_for(who), be, what))


def name(writer: Writer, sides: int, *, distractor: bool) -> Puzzle:
    """A puzzle in which a name tells the gender; a person of the other gender distracts.

    Told once, it may also say "she" or "he"; told twice, only the name may differ.
    """
    form = writer.one(_FORMS if sides == 2 else (*_FORMS, "because", "because"))
    genders: list[Gender] = ["f", "m"]
    writer.random.shuffle(genders)
    false: tuple[Gender, ...] = ()
    if distractor:
        false = (genders[1], genders[0]) if writer.chance(0.35) else (genders[1],)
    deciders = tuple(writer.one(writer.groups["women" if g == "f" else "men"]) for g in genders[:sides])
    deeds = _deeds(writer, form, false)
    said = _said(writer, form)
    tense: Tense = writer.one(("past", "past", "present"))
    told = tuple(finish(tell(form, named(who), deeds, said, tense)) for who in deciders)
    return Puzzle("name", said.title or said.adjective, told, deciders, distractor=distractor)
