"""Pairs of sentences of the built-in corpus, to learn from, and contrasts, which differ in one deciding word."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from dragoman.data.grammar.lexicon import Combination, lexicon
from dragoman.data.grammar.lexicon import held_out as is_held_out
from dragoman.data.grammar.phrases import (
    EL,
    YO,
    Nominal,
    Phrase,
    complement,
    copula,
    described,
    doing,
    finish,
    join,
    named,
    noun_phrase,
    plain,
    predicate,
    pronoun,
    state,
)
from dragoman.data.grammar.puzzles.bank import bank, the_bank
from dragoman.data.grammar.puzzles.frame import AFTER, BECAUSE, COMMA, WHEN, Puzzle
from dragoman.data.grammar.puzzles.it import it
from dragoman.data.grammar.puzzles.name import name
from dragoman.data.grammar.sentences import ordinary
from dragoman.data.grammar.writer import Writer

PUZZLE_SHARE = 0.4  # of the sentences; the rest are ordinary

_PUZZLES = (bank, it, name)
_TRAINING_PUZZLES = (bank, bank, it, name)  # the bank has the most guises and is the hardest to learn
_WORD = re.compile(r"\w+|[^\w\s]")


class Example(NamedTuple):
    """A sentence, its translation, which words translate which, and the combinations it holds."""

    source: str
    target: str
    links: frozenset[tuple[int, int]]
    combinations: frozenset[Combination]


class Contrast(NamedTuple):
    """Two sentences that differ, in English, in the deciding word only.

    The distance is the number of words between the ambiguous word and the deciding one.
    """

    first: Example
    second: Example
    puzzle: str
    word: str
    distance: int
    distractor: bool


def words(text: str) -> list[str]:
    """Split a text into the words that links count; a punctuation mark is a word."""
    return _WORD.findall(text)


def generate(count: int, seed: int, *, held_out: bool = False) -> Iterator[Example]:
    """Make so many pairs: training text, or text in which every sentence holds a held-out combination.

    The kind of a sentence is chosen first, and written until it holds one; so both texts have the same shares of kinds.
    """
    writer = Writer(f"generate {seed} {held_out}", held_out=held_out)
    for _ in range(count):
        rule = _puzzle if writer.chance(PUZZLE_SHARE) else ordinary(writer)
        phrase = _write(writer, rule)
        while held_out and not any(map(is_held_out, writer.combinations)):
            phrase = _write(writer, rule)
        yield _example(phrase, frozenset(writer.combinations))


def _write(writer: Writer, rule: Callable[[Writer], Phrase]) -> Phrase:
    writer.combinations.clear()
    return rule(writer)


def contrasts(count: int, seed: int) -> Iterator[Contrast]:
    """Make so many contrasts, each puzzle in turn, half of them with a distractor.

    Their frames are reserved: no sentence of training text has one, with this deciding word or another.
    All their combinations stand in training text.
    """
    writer = Writer(f"contrasts {seed}")
    for number in range(count):
        rule = _PUZZLES[number % len(_PUZZLES)]
        distractor = number // len(_PUZZLES) % 2 == 1
        puzzle = None
        while puzzle is None or not puzzle.sound or not puzzle.reserved:
            writer.combinations.clear()
            puzzle = rule(writer, 2, distractor=distractor)
        yield _contrast(puzzle, writer.combinations)


def lectures() -> tuple[Contrast, ...]:
    """The lectures' own sentences, one contrast for each puzzle; none of them stands in training text."""
    speaker, animal = pronoun("I"), noun_phrase("the", "animal")

    def at_the_bank(sense: str, crossed: str) -> Phrase:
        arrived = state(speaker, predicate("arrive", "past", YO), complement("arrive", the_bank(sense)))
        return join(arrived, AFTER, doing("cross"), noun_phrase("the", crossed).phrase)

    def too(adjective: str, meant: Nominal) -> Phrase:
        street = noun_phrase("the", "street").phrase
        be = copula(lexicon().adjectives[adjective].copula, "past", EL)
        reason = state(pronoun("it"), be, described(adjective, "too", meant.gender, 0))
        return join(animal.phrase, predicate("cross", "past", EL, 1), street, BECAUSE, reason)

    def tired(who: str) -> Phrase:
        sister = complement("call", noun_phrase("my", "sister"))
        called = join(WHEN, state(speaker, predicate("call", "past", YO), sister))
        crossed = join(predicate("cross", "past", EL), noun_phrase("the", "river").phrase, called)
        what = join(copula("estar", "past", EL), described("tired", "", named(who).gender, 0))
        return join(named(who).phrase, COMMA, plain("who", "que"), crossed, COMMA, what)

    told = (
        ("bank", "bank", ("river", "street"), (at_the_bank("water", "river"), at_the_bank("town", "street"))),
        ("it", "it", ("tired", "wide"), (too("tired", animal), too("wide", noun_phrase("the", "street")))),
        ("name", "tired", ("Rashonda", "Roberto"), (tired("Rashonda"), tired("Roberto"))),
    )
    return tuple(
        _contrast(Puzzle(kind, word, tuple(map(finish, pair)), deciders, distractor=False), [])
        for kind, word, deciders, pair in told
    )


def _contrast(puzzle: Puzzle, used: list[Combination]) -> Contrast:
    """A contrast of a puzzle told twice; a combination with the other telling's word is not in this one."""
    first, second = (
        _example(phrase, frozenset(each for each in used if other not in each))
        for phrase, other in zip(puzzle.sentences, reversed(puzzle.deciders), strict=True)
    )
    return Contrast(first, second, puzzle.kind, puzzle.word, puzzle.distance, puzzle.distractor)


def _puzzle(writer: Writer) -> Phrase:
    """One puzzle sentence for training text, never in a reserved frame."""
    rule = writer.one(_TRAINING_PUZZLES)
    while True:
        writer.combinations.clear()
        puzzle = rule(writer, 1, distractor=writer.chance(0.65))
        if puzzle is not None and puzzle.sound and not puzzle.withheld:
            return puzzle.sentences[0]


def _example(phrase: Phrase, combinations: frozenset[Combination]) -> Example:
    return Example(_text(phrase.source), _text(phrase.target), frozenset(phrase.links), combinations)


def _text(words: tuple[str, ...]) -> str:
    """Write words as a sentence: a capital, and no space before a mark or after an opening one."""
    start = 1 if words[0] == "¿" else 0
    first = words[start]
    text = " ".join((*words[:start], first[0].upper() + first[1:], *words[start + 1 :]))
    return text.replace(" ,", ",").replace(" .", ".").replace(" ?", "?").replace("¿ ", "¿")
