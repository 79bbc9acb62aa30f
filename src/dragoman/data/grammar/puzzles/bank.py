"""*Bank*: orilla if what is crossed or sought belongs to water, banco if it belongs to town or money."""

from typing import NamedTuple

from dragoman.data.grammar.lexicon import Gender
from dragoman.data.grammar.phrases import (
    EL,
    NOTHING,
    Nominal,
    Phrase,
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
from dragoman.data.grammar.puzzles.frame import (
    AFTER,
    AND,
    BECAUSE,
    BEFORE,
    COMMA,
    SPEAKERS,
    WITHOUT,
    Puzzle,
    mention,
    standing_for,
)
from dragoman.data.grammar.writer import TIMES, Writer

_TRAVEL = ("arrive", "go", "return", "walk")
_FORMS = ("after", "after", "after", "led", "led", "sought", "sought", "needed", "needed", "beside")
_OTHER = {"water": "town", "town": "water", "shore": "money", "money": "shore"}
_ALIKE = {"water": "shore", "shore": "water", "town": "money", "money": "town"}
_PLACES = {
    "after": ["lead", "middle"],
    "led": ["middle", "tail"],
    "sought": ["lead", "middle"],
    "needed": ["lead", "middle"],
    "beside": ["middle"],
}
_SEEKING = fixed("to=para", "look for=buscar")
_OPPOSITE = fixed("on the=al", "other=otro", "side=lado")


class _Trip(NamedTuple):
    """What stands around the bank and its deciding word, the same in every telling."""

    verb: str
    who: Nominal
    negated: int
    when: Phrase
    adjective: str
    relative: Phrase
    lead: Phrase
    middle: Phrase
    tail: Phrase


def the_bank(sense: str, adjective: str = "") -> Nominal:
    """The bank of a sense, perhaps described."""
    gender: Gender = "f" if sense in {"water", "shore"} else "m"
    noun = plain("bank", "orilla" if gender == "f" else "banco")
    article = plain("the", "la" if gender == "f" else "el")
    if adjective:
        phrase = join(article, described(adjective, "", gender, 0), noun, order=(0, 2, 1))
    else:
        phrase = join(article, noun)
    return Nominal(phrase, "bank", EL, gender, "thing")


def _distracting(writer: Writer, sense: str) -> Phrase:
    """Talking about, describing or seeing something of a sense."""
    verb = "talk_about" if sense in {"shore", "money"} else writer.one(("talk_about", "describe", "see"))
    lemma = writer.pick("objects", verb, sense)
    return join(doing(verb), complement(verb, noun_phrase("the", lemma)))


def _trip(writer: Writer, form: str, false: tuple[str, ...]) -> _Trip:
    """Choose what stands around the bank, with a distractor for each sense in `false`."""
    verb = writer.one(_TRAVEL)
    if form == "beside" or writer.chance(0.45):
        who = pronoun(writer.one(SPEAKERS))
    elif writer.chance(0.4):
        who = named(writer.one(writer.names))
    else:
        who = writer.noun(writer.pick("subjects", verb, "people"), 0.1)
    places = list(_PLACES[form])
    writer.random.shuffle(places)
    parts = {"lead": NOTHING, "middle": NOTHING, "tail": NOTHING}
    for place, sense in zip(places, false, strict=False):
        distracting = _distracting(writer, sense)
        match place:
            case "lead":
                parts[place] = join(writer.one((AFTER, BEFORE)), distracting, COMMA)
            case "middle":
                parts[place] = join(WITHOUT, distracting)
            case _:
                parts[place] = join(AND, BEFORE, distracting)
    if writer.chance(0.15):
        parts["middle"] = join(parts["middle"], govern("with", "con", named(writer.one(writer.names)).phrase))
    if writer.chance(0.15):
        parts["middle"] = join(parts["middle"], writer.one(TIMES["past"]))
    relative = NOTHING
    if writer.chance(0.25) or form == "beside":
        relative = mention(writer)
    adjective = writer.one(("old", "small", "beautiful", "big")) if writer.chance(0.12) else ""
    when = AFTER if parts["tail"] is not NOTHING else writer.one((AFTER, AFTER, BEFORE))
    negated = int(form != "needed" and not false and writer.chance(0.25))
    return _Trip(verb, who, negated, when, adjective, relative, **parts)


def tell(form: str, trip: _Trip, sense: str, decider: str) -> Phrase:
    """One telling of a trip to the bank."""
    place = the_bank(sense, trip.adjective)
    what = noun_phrase("the", decider).phrase
    if form == "beside":
        where = join(copula("estar", "past", EL), _OPPOSITE, govern("of", "de", what))
        return join(place.phrase, trip.relative, trip.middle, where)
    gone = predicate(trip.verb, "past", trip.who.person, trip.negated)
    going = state(trip.who, gone, complement(trip.verb, place), trip.relative, negated=trip.negated)
    crossing = join(trip.when, doing("cross"), what)
    match form:
        case "after":
            return join(trip.lead, going, trip.middle, crossing, trip.tail)
        case "led":
            return join(crossing, trip.middle, trip.tail, COMMA, going)
        case "sought":
            return join(trip.lead, going, trip.middle, _SEEKING, what)
        case _:
            own = standing_for(trip.who)
            needing = state(own, predicate("need", "past", own.person), what)
            return join(trip.lead, going, trip.middle, BECAUSE, needing)


def bank(writer: Writer, sides: int, *, distractor: bool) -> Puzzle:
    """A puzzle about the bank; a distractor is of the first telling's other sense, often with one of each."""
    form = writer.one(_FORMS)
    pair = ["shore", "money"] if form in {"sought", "needed"} else ["water", "town"]
    writer.random.shuffle(pair)
    senses = tuple(pair[:sides])
    false: tuple[str, ...] = ()
    if distractor:
        false = (_OTHER[senses[0]], senses[0]) if writer.chance(0.35) else (_OTHER[senses[0]],)
        if writer.chance(0.3):
            false = tuple(_ALIKE[sense] for sense in false)
    trip = _trip(writer, form, false)
    if form == "beside":
        deciders = tuple(writer.one(writer.groups[sense]) for sense in senses)
    else:
        act = {"sought": "look_for", "needed": "need"}.get(form, "cross")
        deciders = tuple(writer.pick("objects", act, sense) for sense in senses)
    told = (tell(form, trip, sense, decider) for sense, decider in zip(senses, deciders, strict=True))
    return Puzzle("bank", "bank", tuple(finish(phrase) for phrase in told), deciders, distractor=distractor)
