"""Published results on Multi30k English–German, and what `recipes/multi30k-en-de.toml` reaches on this machine.

Wu et al. (2021) give 41.02 BLEU on test 2016 for Transformer-Tiny without pictures, of text in lower case, its
punctuation normalised, cut by Moses' rules. The same is counted here, and beside it BLEU of the text as people read it.
SEEDS (1,2,3) are trained for 44 minutes each, and beside them the first for 134, with R-Drop, for which there is time
then. Each has half of the cores: two at a time learn more than one after the other, and what is reached so is reached
on all cores in less time. Finished and begun ones are kept in `.bench/published`, so that it may be interrupted.
"""

import os
import statistics
from collections.abc import Generator, Iterator
from pathlib import Path

from benchmarks.corpus import multi30k, multi30k_words
from benchmarks.figure import Figure
from benchmarks.trained import card, score_both_ways, trained_at_once
from dragoman.data.corpus import read_pairs
from dragoman.evaluation.moses import tokenise

_ROOM = Path(".bench/published")
RECIPE = Path("recipes/multi30k-en-de.toml")
_SHORT, _LONG = 44, 134
_WANTED = {_SHORT: (41.0, "an hour"), _LONG: (42.0, "three hours")}
"""BLEU on test 2016 as papers count it, and in which time on two cores."""
_RIGOUR = ("training.agreement=5", "model.dropout=0.2")
"""What the long training has time for."""
_MOST_PARAMETERS = 5_000_000
_PUBLISHED_WORDS = 12_103


def run() -> Iterator[Figure]:
    """Train and score, if the data is there."""
    data = multi30k()
    if data is None:
        yield Figure("skipped: no Multi30k (set MULTI30K)", met=False)
        return
    yield _count_words(data)
    first, *others = os.environ.get("SEEDS", "1,2,3").split(",")
    asked = {
        f"{_LONG}-{first}-long": _words(data, first, _LONG, *_RIGOUR),
        **{f"{_SHORT}-{seed}": _words(data, seed, _SHORT) for seed in (first, *others)},
    }
    long, *short = trained_at_once(_ROOM, asked, at_once=2)
    found = []
    for seed, model in zip((first, *others), short, strict=True):
        found.append((yield from _score(data, model, f"{_SHORT} minutes, seed {seed}")))
    yield _judge(_SHORT, found)
    yield _judge(_LONG, [(yield from _score(data, long, f"{_LONG} minutes, R-Drop, seed {first}"))])


def _words(data: Path, seed: str, minutes: int, *settings: str) -> list[str | Path]:
    words = [*multi30k_words(data), "--recipe", RECIPE, "--minutes", str(minutes)]
    for setting in (f"training.seed={seed}", *settings):
        words += ["--set", setting]
    return words


def _score(data: Path, model: Path, name: str) -> Generator[Figure, None, float]:
    """Score a model on val and on test 2016; return what it has there as papers count it."""
    about = card(model)
    training, parameters = about["training"], about["training"]["parameters"]
    yield Figure(
        f"{name}: {parameters:,} parameters, {training['updates']:,} updates in {training['seconds'] / 60:.1f} minutes "
        f"on half of the cores, {about['created'][:10]}",
        parameters <= _MOST_PARAMETERS,
    )
    for text in ("val", "test_2016_flickr"):
        scores = score_both_ways(model, data / text)
        yield Figure(f"{name}, {text}, {'; '.join(scores.told)}", shown=text != "val")
    return scores.counted.value


def _judge(minutes: int, found: list[float]) -> Figure:
    mean, (wanted, time) = statistics.mean(found), _WANTED[minutes]
    seeds = f"the mean of {len(found)} seeds" if len(found) > 1 else "one seed"
    return Figure(
        f"{minutes} minutes on half of the cores, test 2016 as papers count it: BLEU {mean:.2f}, {seeds} "
        f"({wanted:.1f} wanted after {time} on two cores; published 41.02)",
        mean >= wanted,
    )


def _count_words(data: Path) -> Figure:
    """Whoever counts as the papers do, finds as many words in the references as they did."""
    references = [pair.target for pair in read_pairs([data / "test_2016_flickr"], "en", "de")]
    words = sum(len(line.split()) for line in tokenise(references, "de"))
    return Figure(
        f"words of test 2016's references: {words:,} ({_PUBLISHED_WORDS:,} published)", words == _PUBLISHED_WORDS
    )
