from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dragoman.config import Search
from dragoman.engine.base import Hypothesis, Limits, check_request
from dragoman.engine.search import Request, Stepped, draw_pieces, find
from dragoman.text.tokenizer import END, START

V, LONGEST, SENTENCES, SOURCE = 7, 3, 2, 5
EVERYTHING = V**LONGEST
seeds = st.integers(0, 2**16)
few = settings(max_examples=20, deadline=None)


class Read(NamedTuple):
    """All that a toy model remembers: the pieces it has read, and for which sentence."""

    pieces: NDArray[np.int64]
    sentences: NDArray[np.int64]

    def select(self, rows: NDArray[np.int64]) -> "Read":
        return Read(self.pieces[rows], self.sentences[rows])


class Toy:
    """A model whose opinion of the next piece depends on all pieces before it, in no particular way."""

    def __init__(self, seed: int, sharpness: float = 2.0) -> None:
        self._seed, self._sharpness = seed, sharpness
        self._opinions: dict[tuple[int, ...], NDArray[np.float32]] = {}

    def start(self, sentences: int = SENTENCES) -> Read:
        return Read(np.zeros((sentences, 0), dtype=np.int64), np.arange(sentences))

    def __call__(self, last: NDArray[np.int64], state: Read) -> Stepped[Read]:
        later = Read(np.column_stack([state.pieces, last]), state.sentences)
        rows = [self.opinion(*row) for row in zip(later.sentences.tolist(), later.pieces.tolist(), strict=True)]
        attention = np.tile(later.pieces[:, -1:], SOURCE).astype(np.float32)
        return Stepped(np.stack(rows), attention, later)

    def opinion(self, sentence: int, pieces: Sequence[int]) -> NDArray[np.float32]:
        key = (self._seed, sentence, *pieces)
        if key not in self._opinions:
            logits = np.random.default_rng(key).standard_normal(V) * self._sharpness
            self._opinions[key] = (logits - np.log(np.exp(logits).sum())).astype(np.float32)
        return self._opinions[key]

    def score(self, sentence: int, pieces: Sequence[int], prefix: int = 0) -> float:
        read = [START, *pieces]
        terms = [self.opinion(sentence, read[:n])[piece] for n, piece in enumerate(pieces, start=1)]
        return float(np.sum(terms[prefix:]))


def run(
    toy: Toy, search: Search, prefixes: Sequence[Sequence[int]] = ((),) * SENTENCES, longest: int = LONGEST
) -> list[list[Hypothesis]]:
    numbers = range(len(prefixes))
    request = Request(search, prefixes, numbers, longest, attention=True)
    return find(toy, toy.start(len(prefixes)), request)


def all_translations() -> list[tuple[int, ...]]:
    """Everything that can be said in `LONGEST` pieces, end mark included where there is one."""
    others = [piece for piece in range(V) if piece != END]
    ended = [(*body, END) for n in range(LONGEST) for body in product(others, repeat=n)]
    return [*ended, *product(others, repeat=LONGEST)]


@few
@given(seed=seeds, penalty=st.sampled_from([0.0, 0.6, 1.0]))
def test_a_beam_that_holds_everything_finds_the_best(seed: int, penalty: float) -> None:
    toy = Toy(seed)
    found = run(toy, Search(beam=EVERYTHING, best=3, length_penalty=penalty))
    for sentence in range(SENTENCES):
        scores = sorted((toy.score(sentence, p) / len(p) ** penalty for p in all_translations()), reverse=True)
        best = found[sentence][0]
        assert best.score == pytest.approx(scores[0], abs=1e-4)
        if penalty:
            assert [one.score for one in found[sentence]] == pytest.approx(scores[:3], abs=1e-4)


@few
@given(seed=seeds)
def test_greedy_takes_the_best_piece_each_time(seed: int) -> None:
    toy = Toy(seed)
    for sentence, (one,) in enumerate(run(toy, Search(beam=1))):
        said = (*one.pieces, END) if one.finished else one.pieces
        for n, piece in enumerate(said):
            assert toy.opinion(sentence, [START, *said[:n]]).argmax() == piece


@few
@given(seed=seeds, beam=st.integers(1, 5), penalty=st.sampled_from([0.0, 0.6, 1.0]))
def test_every_hypothesis_is_what_it_says(seed: int, beam: int, penalty: float) -> None:
    toy = Toy(seed)
    for sentence, hypotheses in enumerate(run(toy, Search(beam=beam, best=beam, length_penalty=penalty))):
        assert len({(one.pieces, one.finished) for one in hypotheses}) == len(hypotheses) == beam
        for one in hypotheses:
            said = (*one.pieces, END) if one.finished else one.pieces
            assert END not in one.pieces
            assert one.finished or len(one.pieces) == LONGEST
            assert one.score == pytest.approx(toy.score(sentence, said) / len(said) ** penalty, abs=1e-4)
            assert one.attention is not None
            read = [START, *one.pieces]
            assert one.attention.tolist() == [[piece] * SOURCE for piece in read[: len(one.pieces)]]


@few
@given(
    seed=seeds,
    beam=st.integers(1, 5),
    prefix=st.lists(st.integers(4, V - 1), min_size=1, max_size=LONGEST - 1),
)
def test_a_prefix_is_kept_and_costs_nothing(seed: int, beam: int, prefix: list[int]) -> None:
    toy = Toy(seed)
    found = run(toy, Search(beam=beam, best=beam, length_penalty=1.0), [prefix, []])
    for one in found[0]:
        assert list(one.pieces[: len(prefix)]) == prefix
        said = (*one.pieces, END) if one.finished else one.pieces
        assert one.score == pytest.approx(toy.score(0, said, len(prefix)) / len(said), abs=1e-4)
    alone = run(toy, Search(beam=beam, best=beam, length_penalty=1.0))
    assert [one.pieces for one in found[1]] == [one.pieces for one in alone[1]]


@few
@given(seed=seeds, beam=st.integers(1, 5))
def test_neighbours_change_nothing(seed: int, beam: int) -> None:
    toy = Toy(seed)
    (alone,) = run(toy, Search(beam=beam), [()])
    together = run(toy, Search(beam=beam), [()] * 3)[0]
    assert [(one.pieces, one.score) for one in alone] == [(one.pieces, one.score) for one in together]


@few
@given(seed=seeds)
def test_the_same_seed_draws_the_same(seed: int) -> None:
    toy = Toy(seed, sharpness=0.5)
    search = Search(top_k=0, best=5, seed=seed)
    first, again = (run(toy, search, longest=11) for _ in range(2))
    assert [[one.pieces for one in several] for several in first] == [
        [one.pieces for one in several] for several in again
    ]
    (alone,) = run(toy, search, [()], longest=11)
    assert [one.pieces for one in alone] == [one.pieces for one in first[0]]
    other = run(toy, replace(search, seed=seed + 1), longest=11)
    assert [[one.pieces for one in several] for several in first] != [
        [one.pieces for one in several] for several in other
    ]


@pytest.mark.parametrize(
    "limit",
    [{"temperature": 0.0, "top_k": 0}, {"temperature": 1e-4, "top_k": 0}, {"top_p": 1e-9, "top_k": 0}],
)
def test_careful_drawing_is_greedy(limit: dict[str, Any]) -> None:
    toy = Toy(seed=3)
    greedy = run(toy, Search(beam=1))
    drawn = run(toy, replace(Search(beam=1), **limit))
    assert [[one.pieces for one in several] for several in drawn] == [
        [one.pieces for one in several] for several in greedy
    ]


@pytest.mark.parametrize(
    ("search", "expected"),
    [
        (Search(top_k=0), [0.4, 0.3, 0.2, 0.1]),
        (Search(top_k=11), [0.4, 0.3, 0.2, 0.1]),
        (Search(top_k=2), [4 / 7, 3 / 7, 0, 0]),
        (Search(top_k=0, temperature=0.5), [16 / 30, 9 / 30, 4 / 30, 1 / 30]),
        (Search(top_k=0, top_p=0.7), [4 / 7, 3 / 7, 0, 0]),
        (Search(top_k=0, top_p=0.71), [4 / 9, 3 / 9, 2 / 9, 0]),
        # The temperature comes before top-p: 16 + 9 of 30 are enough for 0.8; 0.4 + 0.3 would not have been.
        (Search(top_k=0, top_p=0.8, temperature=0.5), [16 / 25, 9 / 25, 0, 0]),
        (Search(top_k=3, top_p=0.75), [4 / 7, 3 / 7, 0, 0]),
    ],
)
def test_drawing_follows_the_probabilities(search: Search, expected: list[float]) -> None:
    draws = 20_000
    opinion = np.log(np.array([[0.4, 0.3, 0.2, 0.1]], dtype=np.float32))
    generator = np.random.default_rng(1)
    rows = draw_pieces(np.repeat(opinion, draws, axis=0), search, [generator] * draws)
    counts = Counter(rows.tolist())
    shares = [counts[piece] / draws for piece in range(4)]
    assert shares == pytest.approx(expected, abs=0.015)
    assert [share > 0 for share in shares] == [share > 0 for share in expected]


LIMITS = Limits(vocabulary=V, source=3, target=11)


@pytest.mark.parametrize(
    ("sources", "prefixes", "search", "message"),
    [
        ([[4], [4, 5, 6, 4]], None, Search(), "source 1 has 4 pieces; this model takes at most 3"),
        ([[4, V]], None, Search(), f"source 0 has pieces from 4 to {V}; the vocabulary has {V}"),
        ([[-1]], None, Search(), "source 0 has pieces from -1 to -1"),
        ([[4]], [[4], [5]], Search(), "2 prefixes for 1 sources"),
        ([[4]], [[4] * 5], Search(max_length=5), "prefix 0 has 5 pieces; a translation has at most 5"),
        ([[4]], [[4] * 11], Search(), "prefix 0 has 11 pieces; a translation has at most 11"),
        ([[4]], [[V]], Search(), "prefix 0 has pieces from 7 to 7"),
        ([[4]], None, Search(beam=2, best=3), "best is 3, but a beam of 2 keeps no more than 2"),
        ([[4]], None, Search(beam=0), "must be at least 1"),
        ([[4]], None, Search(top_k=0, top_p=0.0), r"top_p must be in \(0, 1\]"),
        ([[4]], None, Search(top_k=-1), "must not be negative"),
    ],
)
def test_requests_that_cannot_be_met_are_refused(
    sources: list[list[int]], prefixes: list[list[int]] | None, search: Search, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        check_request(sources, prefixes, search, LIMITS)
