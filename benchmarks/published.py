"""Published results on Multi30k English–German, and what `recipes/multi30k-en-de.toml` reaches on this machine.

Wu et al. (2021) give 41.02 BLEU on test 2016 for Transformer-Tiny without pictures, of text in lower case, its
punctuation normalised, cut by Moses' rules. The same is counted here, and beside it BLEU of the text as people read it.
SEEDS (1,2,3) are trained for an hour each, and the first for three; finished and begun ones are kept in
`.bench/published`, so that a run of six hours may be interrupted.
"""

import os
import statistics
from collections.abc import Iterator
from pathlib import Path

from benchmarks.corpus import multi30k
from benchmarks.figure import Figure
from benchmarks.trained import card, evaluated, trained
from dragoman.data.corpus import read_pairs
from dragoman.evaluation.moses import tokenise

_ROOM = Path(".bench/published")
_RECIPE = Path("recipes/multi30k-en-de.toml")
_HOUR, _LONG = 60, 180
_WANTED = {_HOUR: 41.0, _LONG: 42.0}
_MOST_PARAMETERS = 5_000_000
_PUBLISHED_WORDS = 12_103


def run() -> Iterator[Figure]:
    """Train and score, if the data is there."""
    data = multi30k()
    if data is None:
        yield Figure("skipped: no Multi30k (set MULTI30K)", met=False)
        return
    yield _count_words(data)
    seeds = os.environ.get("SEEDS", "1,2,3").split(",")
    for minutes, some in ((_HOUR, seeds), (_LONG, seeds[:1])):
        scores = []
        for seed in some:
            model = _train(data, seed, minutes)
            parameters = card(model)["training"]["parameters"]
            yield Figure(f"{minutes} minutes, seed {seed}: {parameters:,} parameters", parameters <= _MOST_PARAMETERS)
            for name in ("val", "test_2016_flickr"):
                told = evaluated(model, data / name, "--papers")
                cased, papers = told["scores"]["bleu"], told["papers"]["bleu"]
                yield Figure(
                    f"{minutes} minutes, seed {seed}, {name}: BLEU {papers['score']:.2f} ({papers['signature']}); "
                    f"BLEU {cased['score']:.2f} ({cased['signature']})"
                )
            scores.append(papers["score"])
        mean, wanted = statistics.mean(scores), _WANTED[minutes]
        yield Figure(
            f"{minutes} minutes, test 2016 as the papers count it: {mean:.2f}, the mean of {len(scores)} "
            f"({wanted:.1f} wanted; published 41.02)",
            mean >= wanted,
        )


def _count_words(data: Path) -> Figure:
    """Whoever counts as the papers do, finds as many words in the references as they did."""
    references = [pair.target for pair in read_pairs([data / "test_2016_flickr"], "en", "de")]
    words = sum(len(line.split()) for line in tokenise(references, "de"))
    return Figure(
        f"words of test 2016's references: {words:,} ({_PUBLISHED_WORDS:,} published)", words == _PUBLISHED_WORDS
    )


def _train(data: Path, seed: str, minutes: int) -> Path:
    kept_out = ("--dev", data / "val", "--test", data / "test_2016_flickr")
    words = (data / "train", "--from", "en", "--to", "de", *kept_out, "--recipe", _RECIPE)
    return trained(_ROOM, f"{minutes}-{seed}", [*words, "--minutes", str(minutes), "--set", f"training.seed={seed}"])
