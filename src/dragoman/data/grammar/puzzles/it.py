"""*It*: the creature or the place of the main clause, whichever the adjective fits, and agreeing with it."""

from typing import NamedTuple

from dragoman.data.grammar.lexicon import Gender, combination, lexicon
from dragoman.data.grammar.phrases import (
    EL,
    NOTHING,
    Nominal,
    Phrase,
    Tense,
    complement,
    copula,
    described,
    finish,
    join,
    noun_phrase,
    plain,
    predicate,
    pronoun,
    state,
)
from dragoman.data.grammar.puzzles.frame import (
    ALTHOUGH,
    BECAUSE,
    COMMA,
    Puzzle,
    around_meeting,
    meeting,
    mention,
)
from dragoman.data.grammar.writer import TIMES, Writer

_VERBS = ("cross", "cross", "cross", "cross", "arrive", "return", "walk")
_FORMS = ("because", "because", "because", "although", "led")


class _Scene(NamedTuple):
    """A creature, a place, and what stands around them."""

    verb: str
    form: str
    degree: str
    creature: str
    creature_article: str
    creature_adjective: str
    creature_rest: Phrase
    place: str
    place_article: str
    place_adjective: str
    place_rest: Phrase
    filler: Phrase


def tell(scene: _Scene, adjective: str, *, of_creature: bool) -> Phrase:
    """One telling: did not cross, because it was so."""
    creature = noun_phrase(scene.creature_article, scene.creature, scene.creature_adjective)
    place = noun_phrase(scene.place_article, scene.place, scene.place_adjective)
    meant: Nominal = creature if of_creature else place
    be = copula(lexicon().adjectives[adjective].copula, "past", EL)
    reason = state(pronoun("it", meant.gender), be, described(adjective, scene.degree, meant.gender, 0))
    done = predicate(scene.verb, "past", EL, int(scene.form != "although"))
    where = complement(scene.verb, place)
    main = join(creature.phrase, scene.creature_rest, done, where, scene.place_rest, scene.filler)
    match scene.form:
        case "led":
            return join(plain("because", "como"), reason, COMMA, main)
        case "although":
            return join(main, ALTHOUGH, reason)
        case _:
            return join(main, BECAUSE, reason)


def _scene(writer: Writer) -> _Scene:
    """Choose a creature and a place, bare."""
    verb = writer.one(_VERBS)
    return _Scene(
        verb=verb,
        form=writer.one(_FORMS),
        degree=writer.one(("", "too", "too", "very", "so")),
        creature=writer.pick("subjects", verb, "animals"),
        creature_article=writer.one(("the", "the", "the", "the", "this")),
        creature_adjective="",
        creature_rest=NOTHING,
        place=writer.pick("objects", verb, "ways"),
        place_article=writer.one(("the", "the", "the", "the", "this")),
        place_adjective="",
        place_rest=NOTHING,
        filler=NOTHING,
    )


def _lengthened(writer: Writer, scene: _Scene, share: float) -> _Scene:
    """Add clauses about people, who are never "it"."""
    if scene.creature_rest is NOTHING and writer.chance(share):
        scene = scene._replace(creature_rest=mention(writer, scene.creature))
    if writer.chance(share):
        scene = scene._replace(place_rest=mention(writer, scene.place))
    filler = meeting(writer) if writer.chance(share) else NOTHING
    if filler is not NOTHING and writer.chance(share / 2):
        filler = join(filler, around_meeting(writer))
    if writer.chance(max(0.2, share / 2)):
        filler = join(writer.one(TIMES["past"]), filler)
    return scene._replace(filler=filler)


def _graded(scene: _Scene, adjectives: tuple[str, ...]) -> _Scene:
    """Drop the degree where an adjective takes none."""
    absolute = any("absolute" in lexicon().adjectives[a].classes for a in adjectives)
    return scene._replace(degree="") if absolute else scene


def _different(scene: _Scene) -> bool:
    nouns = lexicon().nouns
    return nouns[scene.creature].gender != nouns[scene.place].gender


def by_adjective(writer: Writer, sides: int, *, distractor: bool) -> Puzzle:
    """The adjective decides; an adjective of the other sense before its own noun distracts."""
    while True:
        mark = len(writer.combinations)
        scene = _scene(writer)
        if _different(scene) or (sides == 1 and writer.chance(0.2)):
            break
        del writer.combinations[mark:]
    scene = _lengthened(writer, scene, 0.15)
    senses = [True, False]
    writer.random.shuffle(senses)
    chosen = tuple(
        writer.pick("adjectives", scene.creature, "creature")
        if of_creature
        else writer.pick("adjectives", scene.place, "path")
        for of_creature in senses[:sides]
    )
    if distractor:
        both = writer.chance(0.35)
        if both or not senses[0]:
            scene = scene._replace(creature_adjective=writer.pick("adjectives", scene.creature, "creature"))
        if both or senses[0]:
            scene = scene._replace(place_adjective=writer.pick("adjectives", scene.place, "path"))
    scene = _graded(scene, chosen)
    told = tuple(
        finish(tell(scene, adjective, of_creature=of_creature))
        for adjective, of_creature in zip(chosen, senses[:sides], strict=True)
    )
    return Puzzle("it", "it", told, chosen, (scene.creature, scene.place), distractor=distractor)


def _chasing(writer: Writer, creature: str, gender: Gender) -> Phrase:
    """That had seen or followed another creature, of a gender."""
    verb = writer.pick("acts", creature, "chasing")
    others = [n for n in writer.partners("objects", verb, "animals").train if lexicon().nouns[n].gender == gender]
    other = writer.one(others)
    writer.combinations.append(combination("objects", verb, other))
    tense: Tense = writer.one(("past", "perfect"))
    whom = complement(verb, noun_phrase("the", other))
    return join(plain("that", "que"), predicate(verb, tense, EL), whom)


def _exchanged(writer: Writer, first: str, group: str) -> str | None:
    """A noun of the other gender that training may put wherever this one stands, if there is one.

    The combinations that it makes are noted beside those of the first.
    """
    nouns = lexicon().nouns
    wanted = [used for used in writer.combinations if first in used]
    fitting = {}
    for noun in writer.groups[group]:
        swapped = [(k, noun if a == first else a, noun if b == first else b) for k, a, b in wanted]
        if nouns[noun].gender != nouns[first].gender and all(map(writer.allows, swapped)):
            fitting[noun] = swapped
    if not fitting:
        return None
    second = writer.one(tuple(fitting))
    writer.combinations += fitting[second]
    return second


def by_noun(writer: Writer, sides: int, *, distractor: bool) -> Puzzle | None:
    """The noun decides, from afar; another creature in a clause of its own distracts.

    None where no noun of the other gender would fit.
    """
    scene = _scene(writer)
    of_creature = writer.chance(0.6)
    first = scene.creature if of_creature else scene.place
    adjective = writer.pick("adjectives", first, "creature" if of_creature else "path")
    if distractor:
        other: Gender = "m" if lexicon().nouns[first].gender == "f" else "f"
        scene = scene._replace(creature_rest=_chasing(writer, scene.creature, other))
    scene = _graded(_lengthened(writer, scene, writer.one((0.2, 0.2, 0.2, 0.95))), (adjective,))
    scenes, deciders = [scene], [first]
    if sides == 2:
        second = _exchanged(writer, first, "animals" if of_creature else "ways")
        if second is None:
            return None
        scenes.append(scene._replace(creature=second) if of_creature else scene._replace(place=second))
        deciders.append(second)
    told = tuple(finish(tell(each, adjective, of_creature=of_creature)) for each in scenes)
    others = (adjective, scene.place if of_creature else scene.creature)
    return Puzzle("it", "it", told, tuple(deciders), others, distractor=distractor)


def it(writer: Writer, sides: int, *, distractor: bool) -> Puzzle | None:
    """A puzzle about "it"."""
    rule = by_adjective if writer.chance(0.5) else by_noun
    return rule(writer, sides, distractor=distractor)
