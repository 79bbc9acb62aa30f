"""What happened inside a model while it translated, as JSON: an overview of all heads, and one head's numbers.

The trace is of the translation that is shown: the plain engine is led along the pieces that the fast one chose.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dragoman.engine.load import alignment_head
from dragoman.engine.trace import VERSION, Trace, to_json
from dragoman.engine.translator import Sentence
from dragoman.jobs.look import CROSS, attentions
from dragoman.server.limits import RefusedError
from dragoman.server.models import Served
from dragoman.text.segments import has_letter, split
from dragoman.text.tokenizer import normalise

_LIKELIEST = 5
_WEIGHT_STEPS = 1000
DIGITS = 5
"""Behind the point, of all numbers that are told."""


class Path(NamedTuple):
    """One sentence, and the pieces that its translation is made of."""

    source: list[int]
    target: list[int]


def check_sentence(text: str, model: Served) -> None:
    """Refuse what cannot be traced: more than a sentence, less than one, or one that is translated in parts."""
    if sum(segment.is_sentence for segment in split(text)) != 1 or not has_letter(text):
        raise RefusedError("Invalid request: a trace is of one sentence, with letters in it")
    _check_length("sentence", len(model.tokenizer.read(text)), model.limit)


def _check_length(what: str, pieces: int, most: int) -> None:
    if pieces > most:
        raise RefusedError(f"Invalid request: the {what} has {pieces} pieces, but a trace has at most {most}")


def path_of(sentence: Sentence, model: Served) -> Path:
    """Return the path that a translation took."""
    return Path(model.tokenizer.read(sentence.source), _ids(sentence.target_pieces, model))


def given_path(text: str, pieces: Sequence[str], model: Served) -> Path:
    """Return a path along given pieces, such as an overview has told."""
    return Path(model.tokenizer.read(text), _ids(pieces, model))


def _ids(pieces: Sequence[str], model: Served) -> list[int]:
    known = model.piece_ids
    unknown = [piece for piece in pieces if piece not in known]
    if unknown:
        raise RefusedError("Invalid request: pieces parameter has a piece that the model does not know")
    return [known[piece] for piece in pieces]


def trace(path: Path, model: Served, most: int) -> Trace:
    """Follow a path through the model, if neither side has more pieces than may be."""
    _check_length("sentence", len(path.source), most)
    _check_length("translation", len(path.target), most)
    return model.plain.trace(path.source, path.target)


def overview(seen: Trace, model: Served) -> dict[str, Any]:
    """Return the pieces, how likely each was and what else was likely, and where every head looked.

    A weight is told in thousandths; a map's rows are queries: the target pieces that were read, or, to the source, the
    ones that were written next.
    """
    names = model.tokenizer.pieces
    log_probabilities = seen.decoder.log_probabilities
    chances = np.exp(log_probabilities[np.arange(len(seen.predicted)), list(seen.predicted)])
    best = alignment_head(model.directory)
    return {
        "version": VERSION,
        "text": normalise(model.tokenizer.decode(seen.target)),
        "sourcePieces": [names[piece] for piece in seen.source],
        "readPieces": [names[piece] for piece in seen.target],
        "pieces": [names[piece] for piece in seen.target[1:]],
        "writtenPieces": [names[piece] for piece in seen.predicted],
        "probabilities": np.round(chances, DIGITS).tolist(),
        "likeliest": [_likeliest(row, names) for row in log_probabilities],
        "attention": [
            {"kind": kind, "layer": layer, "heads": np.rint(steps.weights * _WEIGHT_STEPS).astype(int).tolist()}
            for kind, layer, steps in attentions(seen)
        ],
        "bestHead": None if best is None else {"kind": CROSS, "layer": best.layer + 1, "head": best.head + 1},
    }


def _likeliest(row: NDArray[np.float32], names: Sequence[str]) -> list[tuple[str, float]]:
    top = np.argsort(row)[: -_LIKELIEST - 1 : -1]
    return [(names[piece], round(float(np.exp(row[piece])), DIGITS)) for piece in top]


def head(seen: Trace, kind: str, layer: int, number: int) -> dict[str, Any]:
    """Return the arithmetic of one head: queries, keys, values, scores, weights, context."""
    for its_kind, its_layer, steps in attentions(seen):
        if (its_kind, its_layer) == (kind, layer) and 1 <= number <= len(steps.weights):
            numbers = {name: part[number - 1] for name, part in zip(steps._fields, steps, strict=True)}
            return {name: to_json(np.round(part.astype(float), DIGITS)) for name, part in numbers.items()}
    raise RefusedError(f"Invalid request: the model has no head {number} in layer {layer} of kind {kind}")
