"""One word in several sentences: how alike its vectors are, layer by layer, and a map of them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

from dragoman.engine.plain import PlainEngine
from dragoman.engine.plain_layers import normalise
from dragoman.engine.trace import EncoderSteps, RecurrentEncoderSteps
from dragoman.errors import DataError
from dragoman.jobs.look import Model, encode, pieces_of
from dragoman.text.tokenizer import Tokenizer

Array = NDArray[np.float32]


class Stage(NamedTuple):
    """The word's vectors after one layer."""

    name: str
    cosines: Float[Array, "n n"]
    """Of every pair of sentences."""
    places: Float[Array, "n 2"]
    """A map: the plane in which the directions of the vectors differ most."""


class Likeness(NamedTuple):
    """How alike one word's vectors are in two sentences, from the embedding to the last layer."""

    word: str
    sentences: tuple[str, str]
    cosines: tuple[tuple[str, float], ...]


def compare_word(model: Model, sentences: tuple[str, str], word: str) -> Likeness:
    """Return the cosine between a word's vectors in two sentences, layer by layer.

    The embedding knows nothing of the sentence, so there the two are the same; from layer to layer each takes in more
    of its own context. A word's vector is the mean over its pieces.
    """
    found = compare(model.engine, model.tokenizer, sentences, word)
    return Likeness(word, sentences, tuple((stage.name, float(stage.cosines[0, 1])) for stage in found))


def compare(engine: PlainEngine, tokenizer: Tokenizer, sentences: Sequence[str], word: str) -> tuple[Stage, ...]:
    """Compare a word's vectors in several sentences; each must have it once.

    Each map is turned towards the one before it, so that whoever looks at one after the other sees the words move and
    not the paper.
    """
    if len(sentences) < 2:
        raise DataError("there is nothing to compare", hint="give two sentences at least")
    read = [_read(engine, tokenizer, sentence, word) for sentence in sentences]
    found: list[Stage] = []
    for versions in zip(*read, strict=True):
        directions = normalise(np.stack([vector for _, vector in versions]))
        places = _plane(directions)
        found.append(
            Stage(versions[0][0], directions @ directions.T, _turn(places, found[-1].places if found else None))
        )
    return tuple(found)


def _read(engine: PlainEngine, tokenizer: Tokenizer, sentence: str, word: str) -> list[tuple[str, Array]]:
    """Return the mean vector of the word's pieces at every stage."""
    source = encode(engine, tokenizer, sentence)
    mine = pieces_of(word, [tokenizer.pieces[piece] for piece in source], tokenizer.familiar(sentence))
    return [(name, vectors[mine].mean(axis=0)) for name, vectors in _stages(engine.trace(source, []).encoder)]


def _stages(encoder: EncoderSteps | RecurrentEncoderSteps) -> list[tuple[str, Array]]:
    """Return the vectors of all pieces at every stage, in order, each with its name."""
    if isinstance(encoder, RecurrentEncoderSteps):
        states = [(f"layer {number}", layer) for number, layer in enumerate(encoder.layers, start=1)]
        return [("embedding", encoder.embedded), *states]
    last = encoder.layers[-1].feed_forward.residual.output
    stages = [("embedding", encoder.embedded), ("with position", encoder.input)]
    for number, layer in enumerate(encoder.layers, start=1):
        stages.append((f"layer {number}", layer.feed_forward.residual.output))
    if not np.array_equal(last, encoder.memory):
        stages.append(("last norm", encoder.memory))
    return stages


def _plane(vectors: Float[Array, "n d"]) -> Float[Array, "n 2"]:
    """Project onto the two directions of greatest variance."""
    centred = vectors - vectors.mean(axis=0)
    left, lengths, _ = np.linalg.svd(centred, full_matrices=False)
    flat = np.zeros((len(vectors), 2), dtype=np.float32)
    flat[:, : min(2, len(lengths))] = (left * lengths)[:, :2]
    return flat


def _turn(places: Float[Array, "n 2"], before: Float[Array, "n 2"] | None) -> Float[Array, "n 2"]:
    """Turn or mirror a map so that it lies as near as can be to the one before."""
    if before is None:
        return places
    left, _, right = np.linalg.svd(places.T @ before)
    return np.asarray(places @ (left @ right), dtype=np.float32)
