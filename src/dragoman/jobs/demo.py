"""The demonstration: train on the built-in grammar and measure the result against what the grammar knows.

The grammar makes the training text, and three tests that the model has never seen: combinations of words that were held
out of training, pairs of sentences that differ in one deciding word, and the true word alignment.
"""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from dragoman.checkpoint import ModelDirectory
from dragoman.data.corpus import Pair, write_pairs
from dragoman.data.grammar import Contrast, Example, contrasts, generate, lectures, words
from dragoman.engine.base import Head
from dragoman.engine.links import links_from_attention
from dragoman.engine.load import load_plain
from dragoman.engine.plain import Forced, PlainEngine
from dragoman.engine.translator import Translation, Translator
from dragoman.evaluation.alignment import BestHead, alignment_error_rate
from dragoman.jobs.events import Observer, Preparing
from dragoman.jobs.train import train

STEPS = 2450
_ALIGNED = 200  # sentences
CORPUS = "dragoman-demo.tsv"
PAIRS = 85_000
_SETTINGS = (
    "model.encoder_layers=2",
    "model.decoder_layers=2",
    "model.width=80",
    "model.heads=4",
    "model.feed_forward=160",
    "model.dropout=0.0",
    "training.initial=glorot",
    "training.batch_pieces=1152",
    "training.peak_rate=0.008",
    "training.warmup_updates=100",
    "training.decay_share=0.6",
    "training.average=0.99",
    "training.scorings=3",
    "training.score_pairs=100",
    "training.processes=2",
    "pieces.size=2600",
    "pieces.learned_from=1500000",
    "cleaning.dev_pairs=200",
)
TRAIN_SEED, HELD_OUT_SEED, CONTRAST_SEED, DEV_SEED, TEST_SEED = 1, 2, 3, 4, 5


class Wrong(NamedTuple):
    """A translation that is not the grammar's."""

    source: str
    found: str
    right: str


class Verdict(NamedTuple):
    """How the model did on what it has never seen."""

    held_out: float
    """Share of held-out sentences translated exactly right."""
    contrasts: dict[str, tuple[int, int]]
    """For each puzzle: how many contrast pairs were right on both sides, and of how many."""
    distractors: tuple[int, int]
    """The same for the pairs that hold a word of the other sense."""
    alignment: float
    """Alignment error rate on test of the head that aligned best on dev."""
    head: Head
    wrong: list[Wrong]

    @property
    def contrast_share(self) -> float:
        """Share of all contrast pairs that were right on both sides."""
        return sum(right for right, _ in self.contrasts.values()) / sum(count for _, count in self.contrasts.values())


def forget(out: Path) -> None:
    """Take an earlier demonstration away; any other directory is left alone, and training will refuse it."""
    from dragoman.training.state import lock

    try:
        request = json.loads((out / "run" / "request.json").read_text(encoding="utf-8"))
        earlier = [Path(path).name for path in request["train"]] == [CORPUS]
    except (OSError, ValueError, KeyError, TypeError):
        return
    if earlier:
        with lock(out / "run"):
            shutil.rmtree(out)


def learn(corpus: Path, out: Path, steps: int, observe: Observer, *, pairs: int = PAIRS) -> None:
    """Write the training text and train on it.

    The grammar has no noise and its text no end, so nothing needs regularising and small batches learn fastest.
    """
    observe(Preparing("writing the training text", 0))
    write_pairs(corpus, (Pair(e.source, e.target, "") for e in generate(pairs, TRAIN_SEED)))
    train(
        [corpus], out=out, source_language="en", target_language="es", steps=steps, settings=_SETTINGS, observe=observe
    )


def lectures_told(translator: Translator) -> list[tuple[str, Translation]]:
    """Translate the sentences of the lectures, which no training text holds."""
    sources = [side.source for pair in lectures() for side in (pair.first, pair.second)]
    return list(zip(sources, translator.translate(sources), strict=True))


def judge(path: Path, translator: Translator, *, sentences: int = 1000, pairs: int = 200) -> Verdict:
    """Measure a model of the built-in corpus."""
    held_out = list(generate(sentences, HELD_OUT_SEED, held_out=True))
    found = _translate(translator, [e.source for e in held_out])
    wrong = [Wrong(e.source, f, e.target) for e, f in zip(held_out, found, strict=True) if f != e.target]
    puzzles = list(contrasts(pairs, CONTRAST_SEED))
    right = both_right(translator, puzzles)
    head, rate = measure_alignment(load_plain(ModelDirectory(path), translator.tokenizer), translator)
    return Verdict(
        1 - len(wrong) / len(held_out),
        {name: _count(right, [c.puzzle == name for c in puzzles]) for name in ("bank", "it", "name")},
        _count(right, [c.distractor for c in puzzles]),
        rate,
        head,
        wrong,
    )


def _translate(translator: Translator, sources: Sequence[str]) -> list[str]:
    return [translation.text for translation in translator.translate(sources)]


def both_right(translator: Translator, puzzles: Sequence[Contrast]) -> list[bool]:
    """Tell of each contrast whether both its sentences are translated exactly right."""
    sides = [[c.first for c in puzzles], [c.second for c in puzzles]]
    right = [
        [f == e.target for f, e in zip(_translate(translator, [e.source for e in side]), side, strict=True)]
        for side in sides
    ]
    return [a and b for a, b in zip(*right, strict=True)]


def _count(right: Sequence[bool], chosen: Sequence[bool]) -> tuple[int, int]:
    return sum(r and c for r, c in zip(right, chosen, strict=True)), sum(chosen)


def measure_alignment(engine: PlainEngine, translator: Translator) -> BestHead:
    """Choose the cross-attention head that aligns best on dev, and return its error rate on test.

    The grammar's own alignment is only ever a judge: no training sees it.
    """
    dev = _force(engine, translator, list(generate(_ALIGNED, DEV_SEED)))
    layers, heads = dev[0][1].attention.shape[:2]
    every = [Head(layer, head) for layer in range(layers) for head in range(heads)]
    best = min(every, key=lambda head: _rate(translator, dev, head))
    test = _force(engine, translator, list(generate(_ALIGNED, TEST_SEED)))
    return BestHead(best, _rate(translator, test, best))


def _force(engine: PlainEngine, translator: Translator, examples: list[Example]) -> list[tuple[Example, Forced]]:
    encode = translator.tokenizer.encode
    forced = engine.force([encode(e.source) for e in examples], [encode(e.target) for e in examples])
    return list(zip(examples, forced, strict=True))


def _rate(translator: Translator, forced: list[tuple[Example, Forced]], head: Head) -> float:
    tokenizer = translator.tokenizer

    def names(text: str) -> list[str]:
        return [tokenizer.pieces[i] for i in tokenizer.encode(text)]

    found = [
        links_from_attention(
            f.attention[head.layer, head.head],
            names(e.source),
            names(e.target),
            source_words=words(e.source),
            target_words=words(e.target),
        )
        for e, f in forced
    ]
    return alignment_error_rate(found, [e.links for e, _ in forced])
