"""Score weights on the dev set while they are being trained, with the engine that ships."""

import dataclasses
import time
from pathlib import Path
from typing import Any

from dragoman.config import Search
from dragoman.engine.shortlist import SMALLEST_VOCABULARY
from dragoman.evaluation.scores import chrf
from dragoman.jobs.finish import Weights, in_passing, make_translator
from dragoman.jobs.prepare import Prepared
from dragoman.jobs.report import reporting_seconds


class Judge:
    """Scores weights on dev with the engine that ships."""

    def __init__(self, prepared: Prepared, directory: Path) -> None:
        self._prepared, self._directory = prepared, directory
        self._dev = prepared.dev[: prepared.recipe.training.score_pairs]
        self._search = in_passing(prepared)
        self._with_beam = 1.0

    def score(self, weights: Weights) -> Any:
        """Translate the dev set greedily; chrF, and one of the translations."""
        return self._score(weights, self._search)

    def _score(self, weights: Weights, search: Search) -> Any:
        from dragoman.training.loop import Judged

        translator = make_translator(self._prepared, weights, self._directory, search)
        found = [t.text for t in translator.translate([source for source, _ in self._dev])]
        source, reference = self._dev[0]
        return Judged(chrf(found, [target for _, target in self._dev]), (source, found[0], reference))

    def measure(self) -> float:
        """Seconds that a scoring takes: the network is still fresh, so its translations are cut at the usual length."""
        from dragoman.nn.models import build, initialise
        from dragoman.nn.weights import to_arrays

        recipe = self._prepared.recipe
        network = build(recipe.model, len(self._prepared.tokenizer), recipe.pieces.max_length)
        initialise(network, recipe.training.seed)
        fresh = to_arrays(network)
        references = self._prepared.tokenizer.encode_all([target for _, target in self._dev])
        usual = max(1, round(sum(map(len, references)) / len(references)))
        greedy = dataclasses.replace(self._search, max_length=usual)
        self._score(fresh, greedy)  # the first export loads what the later ones find loaded
        self._with_beam = self._time(fresh, dataclasses.replace(greedy, beam=recipe.search.beam))
        return self._time(fresh, greedy)

    def _time(self, weights: Weights, search: Search) -> float:
        begun = time.monotonic()
        self._score(weights, search)
        return time.monotonic() - begun

    def finishing(self) -> float:
        """Seconds to keep for exporting, checking and reporting.

        That is scorings with the whole beam, the best head, the shortlist, and the report.
        """
        large = len(self._prepared.tokenizer) >= SMALLEST_VOCABULARY
        return reporting_seconds(len(self._dev)) + (9.0 if large else 3.0) + (3 if large else 2) * self._with_beam
