"""Score weights on the dev set while they are being trained, with the engine that ships."""

import dataclasses
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dragoman.config import Search
from dragoman.engine.shortlist import SMALLEST_VOCABULARY
from dragoman.evaluation.scores import chrf, score
from dragoman.jobs.finish import Weights, in_passing, make_translator
from dragoman.jobs.prepare import Prepared

_TIMED = 20
_SCORED_TO_REPORT, _SCORED_TO_COMPARE = 3, 6
"""How often the scores of all pairs are counted, or what takes as long: with intervals, and of two for a comparison."""


def time_scores(pairs: Sequence[tuple[str, str]], language: str) -> float:
    """Seconds that it takes to score translations of these pairs: long ones take far longer, for TER looks for moves.

    It is measured on some of the pairs, with their references' words, of which every third is not where it was.
    """
    references = [target for _, target in pairs[:: -(-len(pairs) // _TIMED)]]
    like = [" ".join(words[n - 5 * (n % 3 == 2)] for n in range(len(words))) for words in map(str.split, references)]
    score(like[:1], references[:1], language=language)  # which loads what the others find loaded
    begun = time.monotonic()
    score(like, references, language=language)
    return (time.monotonic() - begun) * len(pairs) / len(references)


def time_comparing(pairs: Sequence[tuple[str, str]], language: str) -> float:
    """Seconds that it takes to compare translations of these pairs before and after, with intervals."""
    return _SCORED_TO_COMPARE * time_scores(pairs, language)


class Judge:
    """Scores weights on dev with the engine that ships."""

    def __init__(self, prepared: Prepared, directory: Path) -> None:
        self._prepared, self._directory = prepared, directory
        self._dev = prepared.scored
        self._search = in_passing(prepared)
        self._usual = max(1, self._pieces([target for _, target in self._dev]))
        self._with_beam = 1.0

    def score(self, weights: Weights) -> Any:
        """Translate the dev set greedily; chrF, and one of the translations."""
        return self._score(weights, self._search)

    def _score(self, weights: Weights, search: Search) -> Any:
        from dragoman.training.loop import Judged

        translator = make_translator(self._prepared, weights, self._directory, search)
        found = [t.text for t in translator.translate([source for source, _ in self._dev])]
        source, reference = self._dev[0]
        chrf_found = chrf(found, [target for _, target in self._dev])
        return Judged(chrf_found, (source, found[0], reference), self._pieces(found) / self._usual)

    def _pieces(self, texts: list[str]) -> int:
        return sum(map(len, self._prepared.tokenizer.encode_all(texts)))

    def measure(self) -> float:
        """Seconds that a scoring takes: the network is still fresh, so its translations are cut at the usual length."""
        from dragoman.nn.models import build, initialise
        from dragoman.nn.weights import to_arrays

        recipe = self._prepared.recipe
        network = build(recipe.model, len(self._prepared.tokenizer), recipe.pieces.max_length)
        initialise(network, recipe.training.seed)
        fresh = to_arrays(network)
        greedy = dataclasses.replace(self._search, max_length=max(1, round(self._usual / len(self._dev))))
        self._score(fresh, greedy)  # the first export loads what the later ones find loaded
        self._with_beam = self._time(fresh, dataclasses.replace(greedy, beam=recipe.search.beam))
        return self._time(fresh, greedy)

    def _time(self, weights: Weights, search: Search) -> float:
        begun = time.monotonic()
        self._score(weights, search)
        return time.monotonic() - begun

    def finishing(self) -> float:
        """Seconds to keep for exporting, checking and reporting, translating included."""
        scoring = _SCORED_TO_REPORT * time_scores(self._prepared.judged, self._prepared.recipe.target_language)
        return 1.0 + scoring + (9.0 if self._large else 3.0) + self.translating()

    def translating(self) -> float:
        """Seconds of these that go into translating with the whole beam: by both exports, and with a shortlist."""
        more = len(self._prepared.judged) / len(self._dev)
        return (3 if self._large else 2) * more * self._with_beam

    @property
    def _large(self) -> bool:
        return len(self._prepared.tokenizer) >= SMALLEST_VOCABULARY
