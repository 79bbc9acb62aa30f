"""Everything that a comparison measures of one trained model, as a tree that JSON can hold."""

import dataclasses
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dragoman.checkpoint import ModelDirectory
from dragoman.data.grammar import Contrast, Example, words
from dragoman.engine.base import has_attention
from dragoman.engine.load import load_plain, load_tokenizer, load_translator
from dragoman.engine.plain import PlainEngine
from dragoman.engine.translator import Translator
from dragoman.evaluation import breakdown
from dragoman.evaluation.breakdown import DISTANCES, Aligned, Bin, in_bins, in_order, lost_by_place
from dragoman.evaluation.scores import bleu, score
from dragoman.jobs.comparison.times import LENGTHS, count_steps
from dragoman.jobs.demo import both_right, measure_alignment
from dragoman.jobs.journal import read_log
from dragoman.text.tokenizer import Tokenizer

_LED = 300
_LEARNED_FROM = 64


class Exam(NamedTuple):
    """What every model of a comparison is judged by; of the built-in corpus more is known than of other text."""

    sources: list[str]
    references: list[str]
    examples: Sequence[Example] = ()
    contrasts: Sequence[Contrast] = ()


def measure(path: Path, exam: Exam) -> dict[str, Any]:
    """Measure a model."""
    directory = ModelDirectory(path)
    recipe = directory.recipe
    translator = load_translator(directory)
    found = [translation.text for translation in translator.translate(exam.sources)]
    scores = score(found, exam.references, language=recipe.target_language)
    plain = load_plain(directory, translator.tokenizer)
    training = directory.card["training"]
    return {
        **{name: training[name] for name in ("updates", "epochs", "seconds", "parameters")},
        "pairs": directory.card["corpus"]["pairs"],
        "language": recipe.target_language,
        "pieces_per_second": _speed(path / "run" / "log.jsonl"),
        "scores": {name: {"score": one.value, "signature": one.signature} for name, one in scores._asdict().items()},
        "exact": _share(a == b for a, b in zip(found, exam.references, strict=True)),
        "same_words": _share(sorted(words(a)) == sorted(words(b)) for a, b in zip(found, exam.references, strict=True)),
        "in_order": in_order([words(a) for a in found], [words(b) for b in exam.references]),
        "length": _listed(_by_length(exam, found, recipe.target_language)),
        "leading": _lead(translator, plain, exam),
        "steps": [{"length": n, **count_steps(recipe.model, n)} for n in LENGTHS],
        "gradients": _gradients(directory, exam),
        **(_against_grammar(plain, translator, exam, found) if exam.examples else {}),
        "translations": found,
    }


def _against_grammar(plain: PlainEngine, translator: Translator, exam: Exam, found: Sequence[str]) -> dict[str, Any]:
    """What can be measured where the grammar knows the truth."""
    right = both_right(translator, exam.contrasts)
    distances = [contrast.distance for contrast in exam.contrasts]
    aligned = [
        Aligned(words(e.source), words(e.target), e.links, words(text))
        for e, text in zip(exam.examples, found, strict=True)
    ]
    return {
        "contrasts": _share(right),
        "distance": _listed(in_bins(distances, DISTANCES, lambda some: 100 * _share(right[n] for n in some))),
        "place": _listed(lost_by_place(aligned)),
        "alignment": measure_alignment(plain, translator).rate if has_attention(plain.model) else None,
    }


def _by_length(exam: Exam, found: Sequence[str], language: str) -> list[Bin]:
    def judge(some: list[int]) -> float:
        return bleu([found[n] for n in some], [exam.references[n] for n in some], language)

    return in_bins([len(words(source)) for source in exam.sources], breakdown.LENGTHS, judge)


def _lead(translator: Translator, engine: PlainEngine, exam: Exam) -> dict[str, float] | None:
    """How often the next piece is right: after what a person wrote, and after what the model wrote itself.

    Running freely, a piece is right if it is the reference's at the same place: after a piece too many or too few,
    all that follow are wrong.
    """
    pairs = _some_pairs(translator.tokenizer, exam, _LED, min(engine.max_source - 1, translator.limit))
    if not pairs:
        return None
    sources, targets = (list(side) for side in zip(*pairs, strict=True))
    forced = engine.force(sources, targets)
    greedy = dataclasses.replace(translator.search, beam=1, best=1, top_k=1)
    free = [list(best.pieces) for best, *_ in engine.translate(sources, greedy)]
    together = [sum(a == b for a, b in zip(f, t, strict=False)) for f, t in zip(free, targets, strict=True)]
    return {
        "loss": float(-np.concatenate([f.log_probabilities for f in forced]).mean()),
        "led": float(np.concatenate([f.right[:-1] for f in forced]).mean()),
        "free": sum(together) / sum(map(len, targets)),
    }


def _some_pairs(tokenizer: Tokenizer, exam: Exam, count: int, limit: int) -> list[tuple[list[int], list[int]]]:
    """Some pairs of the test set in pieces, but for those that are empty or too long for the model.

    They are drawn at random, the same for all models: a test set may be sorted.
    """
    drawn = np.random.default_rng(1).permutation(len(exam.sources))[:count]
    encoded = [(tokenizer.read(exam.sources[n]), tokenizer.encode(exam.references[n])) for n in drawn]
    return [pair for pair in encoded if all(0 < len(side) <= limit for side in pair)]


def _gradients(directory: ModelDirectory, exam: Exam) -> dict[str, dict[str, float]] | None:
    """The length of each layer's gradient for one batch, when the weights are drawn and when they are trained.

    Drawn are all of them, also where some began at zero: through these no gradient comes at first.
    """
    from dragoman.data.batches import make_batch
    from dragoman.nn.weights import from_arrays
    from dragoman.training.gradients import Pupil, build_pupil, find_gradients

    tokenizer = load_tokenizer(directory)
    recipe = directory.recipe
    pairs = _some_pairs(tokenizer, exam, _LEARNED_FROM, recipe.pieces.max_length)
    if not pairs:
        return None
    batch = make_batch(*(list(side) for side in zip(*pairs, strict=True)))
    drawn = dataclasses.replace(recipe, training=dataclasses.replace(recipe.training, initial="glorot"))
    pupil = Pupil(build_pupil(drawn, len(tokenizer)).network)

    def by_layer() -> dict[str, float]:
        find_gradients(pupil, recipe.training, batch, 1, pieces=batch.pieces)
        squares: dict[str, float] = {}
        for name, parameter in pupil.parameters().items():
            layer = ".".join(name.split(".")[:2])
            if parameter.grad is not None and layer.split(".")[-1].isdigit():
                squares[layer] = squares.get(layer, 0.0) + float(parameter.grad.square().sum())
        return {layer: float(np.sqrt(total)) for layer, total in squares.items()}

    fresh = by_layer()
    from_arrays(pupil.network, directory.weights())
    return {"fresh": fresh, "trained": by_layer()}


def _speed(log: Path) -> float:
    """Target pieces a second, by the log of a training."""
    updates = [event for event in read_log(log) if event["event"] == "update"]
    pieces, seconds = (sum(float(event[name]) for event in updates) for name in ("pieces", "seconds"))
    return pieces / seconds if seconds else 0.0


def _share(right: Iterable[bool]) -> float:
    every = list(right)
    return sum(every) / len(every) if every else 0.0


def _listed(bins: Sequence[Bin]) -> list[dict[str, Any]]:
    return [one._asdict() for one in bins]
