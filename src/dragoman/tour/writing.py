"""Writing a sentence word by word: what is fed back while learning, and what is searched for afterwards."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import NDArray

from dragoman.config import Search
from dragoman.engine.base import Hypothesis
from dragoman.engine.layout import Array
from dragoman.engine.search import Request, Stepped, find
from dragoman.errors import RecipeError
from dragoman.text.tokenizer import END, SPECIALS, START
from dragoman.tour.fill import Quantities
from dragoman.tour.inputs import Words
from dragoman.training.schedule import teacher_share

_FIRST = len(SPECIALS)
"""The first piece that is a word."""
_LONGEST = 8
_GREEDY = Search(beam=1, best=1, length_penalty=0.0, max_length=_LONGEST)


class Nothing:
    """The state of a model that remembers only the last word, which the search remembers for it."""

    def select(self, rows: Int[NDArray[np.int64], " n"]) -> "Nothing":  # noqa: ARG002 -- there is nothing to take
        """Take some rows."""
        return self


def write(words: Words, chances: Float[Array, "r c"], beam: int, reference: Words, half: int) -> Quantities:
    """Search a table of chances for a sentence; compare what is fed while learning; let the teacher go."""
    log_chances = _log_chances(words, chances)
    greedy = _search(log_chances, _GREEDY)[0]
    found = _search(log_chances, replace(_GREEDY, beam=beam, best=beam))
    start, end = SPECIALS[START], SPECIALS[END]
    steps = _chain(log_chances, greedy.pieces, finished=greedy.finished)
    return {
        "rows": (start, *words),
        "columns": (*words, end),
        "shares": chances / chances.sum(axis=1, keepdims=True),
        "greedy": _sentence(greedy, words),
        "greedy_steps": tuple(_name(piece, words) for piece, _ in steps),
        "greedy_chances": np.array([chance for _, chance in steps]),
        "greedy_chance": math.exp(greedy.score),
        "found": tuple(_sentence(one, words) for one in found),
        "found_chances": np.array([math.exp(one.score) for one in found]),
        "best": _sentence(found[0], words),
        "best_chance": math.exp(found[0].score),
        "beam_wins": found[0].score > greedy.score + 1e-6,
        **_feed(log_chances, words, reference),
        **_let_go(half),
    }


def _log_chances(words: Words, chances: Float[Array, "r c"]) -> Array:
    """Make log-probabilities [last next] over pieces of a table of <s> and words by words and </s>."""
    size = len(words) + 1
    if chances.shape != (size, size):
        raise RecipeError(
            f"chances has {chances.shape[0]} rows and {chances.shape[1]} columns; "
            f"{len(words)} words need {size} of each",
            hint="one row for the start and each word, one column for each word and the end",
        )
    if (chances.sum(axis=1) <= 0).any():
        row = int((chances.sum(axis=1) <= 0).argmax()) + 1
        raise RecipeError(f"row {row} of chances is all 0: nothing could come next", hint="make one of them greater")
    table = np.zeros((_FIRST + len(words),) * 2, dtype=np.float32)
    shares = chances / chances.sum(axis=1, keepdims=True)
    last, following = [START, *range(_FIRST, len(table))], [*range(_FIRST, len(table)), END]
    table[np.ix_(last, following)] = shares
    with np.errstate(divide="ignore"):
        return np.log(table)


def _search(log_chances: Array, search: Search) -> list[Hypothesis]:
    def step(last: Int[NDArray[np.int64], " n"], state: Nothing) -> Stepped[Nothing]:
        return Stepped(log_chances[last], np.zeros((len(last), 0), dtype=np.float32), state)

    return find(step, Nothing(), Request(search, [()], [0], _LONGEST, attention=False))[0]


def _chain(log_chances: Array, pieces: Sequence[int], *, finished: bool) -> list[tuple[int, float]]:
    """Return every piece and how probable it was after the one before it."""
    whole = [START, *pieces, *([END] if finished else [])]
    return [(after, math.exp(log_chances[before, after])) for before, after in pairwise(whole)]


def _name(piece: int, words: Words) -> str:
    return SPECIALS[piece] if piece < _FIRST else words[piece - _FIRST]


def _sentence(found: Hypothesis, words: Words) -> str:
    return " ".join(_name(piece, words) for piece in (*found.pieces, *([END] if found.finished else [])))


def _feed(log_chances: Array, words: Words, reference: Words) -> Quantities:
    """Feed a decoder the reference's words, and its own; see what it thinks of the reference in both cases."""
    strangers = [word for word in reference if word not in words]
    if strangers:
        raise RecipeError(
            f"reference has '{strangers[0]}', which is not among the words", hint=f"use {', '.join(words)}"
        )
    wanted = [*(_FIRST + words.index(word) for word in reference), END]
    taught, alone = [START, *wanted[:-1]], [START]
    for _ in wanted[1:]:
        alone.append(END if alone[-1] == END else int(log_chances[alone[-1]].argmax()))
    forced, free = (
        np.exp([log_chances[fed, right] for fed, right in zip(read, wanted, strict=True)]) for read in (taught, alone)
    )
    return {
        "wanted": tuple(_name(piece, words) for piece in wanted),
        "taught": tuple(_name(piece, words) for piece in taught),
        "alone": tuple(_name(piece, words) for piece in alone),
        "forced": forced,
        "free": free,
        "astray": alone != taught,
        "loss": float(-np.log(np.maximum(forced, 1e-30)).mean()),
    }


def _let_go(half: int) -> Quantities:
    updates = [0, half // 2, half, 2 * half, 4 * half]
    return {
        "updates": tuple(f"{update:,}" for update in updates),
        "linear": np.array([teacher_share("linear", half, update) for update in updates]),
        "exponential": np.array([teacher_share("exponential", half, update) for update in updates]),
        "sigmoid": np.array([teacher_share("inverse-sigmoid", half, update) for update in updates]),
    }
