"""Make a model's shortlist from the text it was trained on."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dragoman.engine.shortlist import COMMON, OF_EACH, SHORTLIST, write_shortlist
from dragoman.evaluation.lexicon import likely_targets
from dragoman.jobs.prepare import Prepared

_PAIRS = 100_000
_ROWS = 6_000_000


def add_shortlist(prepared: Prepared, directories: list[Path]) -> None:
    """Write a shortlist into exported directories, learned from pairs that are spread over the corpus."""
    store = prepared.store
    numbers = np.random.default_rng(prepared.recipe.training.seed).permutation(len(store))[:_PAIRS].tolist()
    targets = np.concatenate([store.pieces(number)[1] for number in numbers])
    always = common_pieces(np.bincount(targets), COMMON).tolist()
    likely = likely_targets(map(store.pieces, numbers), most=OF_EACH, rows=_ROWS)
    store.forget()
    of_each = {source: found.tolist() for source, found in likely.items()}
    for directory in directories:
        write_shortlist(directory / SHORTLIST, prepared.tokenizer.pieces, always, of_each)


def common_pieces(counts: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    """Choose the most frequent of the pieces that occur at all."""
    found = np.argsort(-counts, kind="stable")[:most]
    return found[counts[found] > 0]
