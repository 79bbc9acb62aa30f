"""The built-in corpus: an English-Spanish grammar that makes as many pairs as asked for, from a seed.

It covers agreement in gender and number, adjectives after nouns, dropped subjects, negation, questions,
ser and estar, and relative clauses; and it poses the lectures' three puzzles (`dragoman.data.puzzles`). The translation is a
function of the English sentence. The word alignment is known, for measuring only, never for training.

Two things are held out of training text. Combinations: adjective-noun, subject-verb and verb-object pairs
that never stand together there, chosen by a checksum of the two words (`dragoman.data.lexicon.held_out`).
Frames: a puzzle sentence with its deciding word left open is kept for contrasts, whatever word fills it,
if a checksum of the frame says so (`Puzzle.reserved`).
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from dragoman.data.lexicon import Combination, held_out as is_held_out
from dragoman.data.phrases import Phrase
from dragoman.data.puzzles.bank import bank
from dragoman.data.puzzles.frame import Puzzle
from dragoman.data.puzzles.it import it
from dragoman.data.puzzles.name import name
from dragoman.data.sentences import Writer

PUZZLE_SHARE = 0.4  # of the sentences; the rest are ordinary

_PUZZLES = (bank, it, name)
_WORD = re.compile(r"\w+|[^\w\s]")


class Example(NamedTuple):
    """A sentence, its translation, and which words translate which."""

    source: str
    target: str
    links: frozenset[tuple[int, int]]
    combinations: frozenset[Combination]


class Contrast(NamedTuple):
    """Two sentences that differ, in English, in the deciding word only."""

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
    """Make so many pairs: training text, or text in which every sentence holds a held-out combination."""
    writer = Writer(f"generate {seed} {held_out}", held_out=held_out)
    made = 0
    while made < count:
        writer.combinations.clear()
        phrase = _puzzle(writer) if writer.chance(PUZZLE_SHARE) else writer.ordinary()
        if phrase is None or (held_out and not any(map(is_held_out, writer.combinations))):
            continue
        yield _example(phrase, frozenset(writer.combinations))
        made += 1


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
        used = writer.combinations
        first, second = (
            _example(phrase, frozenset(each for each in used if other not in each))
            for phrase, other in zip(puzzle.sentences, reversed(puzzle.deciders), strict=True)
        )
        yield Contrast(first, second, puzzle.kind, puzzle.word, puzzle.distance, puzzle.distractor)


def _puzzle(writer: Writer) -> Phrase | None:
    """One puzzle sentence for training text, or None if this one is reserved or unsound."""
    puzzle: Puzzle | None = writer.one(_PUZZLES)(writer, 1, distractor=writer.chance(0.5))
    if puzzle is None or not puzzle.sound or puzzle.reserved:
        return None
    return puzzle.sentences[0]


def _example(phrase: Phrase, combinations: frozenset[Combination]) -> Example:
    return Example(_text(phrase.source), _text(phrase.target), frozenset(phrase.links), combinations)


def _text(words: tuple[str, ...]) -> str:
    """Write words as a sentence: a capital, and no space before a mark or after an opening one."""
    start = 1 if words[0] == "¿" else 0
    first = words[start]
    text = " ".join((*words[:start], first[0].upper() + first[1:], *words[start + 1 :]))
    return text.replace(" ,", ",").replace(" .", ".").replace(" ?", "?").replace("¿ ", "¿")
