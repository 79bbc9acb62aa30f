"""Look inside one translation: where every head of every layer looked."""

import dataclasses
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dragoman.checkpoint import ModelDirectory
from dragoman.config import Search
from dragoman.draw.attention import KINDS, AttentionMap, HeadSteps
from dragoman.engine.base import Head
from dragoman.engine.links import locate, shares
from dragoman.engine.load import alignment_head, load_plain, load_tokenizer
from dragoman.engine.plain import PlainEngine
from dragoman.engine.trace import AttentionSteps, EncoderSteps, RecurrentDecoderSteps, Trace
from dragoman.errors import DataError
from dragoman.text.segments import is_unspaced
from dragoman.text.tokenizer import Tokenizer, as_typed, normalise

ENCODER, CROSS, DECODER = KINDS
_SHOWN = 60
_SHARP = "sharpness · (q · k) / (|q| |k|), the sharpness learned"
_SCORES = {
    "scaled-dot": None,
    "dot": "q · k, not divided by anything",
    "cosine": _SHARP,
    "additive": "w · tanh(q + k), w learned",
    "linear": "φ(q) · φ(k), where φ(x) is x + 1 above zero and exp(x) below",
}
_LOOKS = {
    "mean": "0 for every word: this model has no attention, and sees the mean of all states",
    "fixed": "one number for every place, learned, whatever stands there",
    "dot": "q · k: the decoder's state and an encoder's state",
    "bilinear": "q · k, where k is W times the encoder's state, W learned",
    "mlp": "w · tanh(U q + k), where k is W times the encoder's state; w, U and W learned",
    "cosine": _SHARP,
}


class Words(NamedTuple):
    """A map between words instead of pieces; end marks left out."""

    queries: tuple[str, ...]
    keys: tuple[str, ...]
    weights: NDArray[np.float64]
    """[q k]: the mean over a query's pieces of the sum over a key's pieces."""


class Look(NamedTuple):
    """One sentence, its translation, and where every head looked while it was made."""

    source: str
    translation: str
    pieces: tuple[tuple[str, float], ...]
    """The pieces of the translation and its end mark, and how probable the model thought each."""
    maps: tuple[AttentionMap, ...]
    """Layers and heads count from 1, as people do. A cross map's rows are the pieces that were written next."""
    steps: tuple[HeadSteps, ...]
    """The arithmetic behind the maps."""
    best: AttentionMap
    """The cross-attention head that aligns best."""


class Arithmetic(NamedTuple):
    """How the attention of a model comes about."""

    formula: str | None
    """How scores are made, if they are no scaled dot products."""
    powers: bool
    """Whether softmax makes weights of them."""


class Model(NamedTuple):
    """A model that can be looked into."""

    engine: PlainEngine
    tokenizer: Tokenizer
    search: Search
    alignment: Head | None
    arithmetic: Arithmetic | None
    """None if it has no attention whose arithmetic could be shown."""


def open_model(path: Path) -> Model:
    """Open a model with the engine that keeps its steps."""
    directory = ModelDirectory(path)
    tokenizer = load_tokenizer(directory)
    engine = load_plain(directory, tokenizer)
    shape = directory.recipe.model
    arithmetic: Arithmetic | None = Arithmetic(_SCORES[shape.scores], powers=shape.scores != "linear")
    if shape.kind == "recurrent":
        arithmetic = None if shape.look == "last" else Arithmetic(_LOOKS[shape.look], powers=True)
    return Model(engine, tokenizer, directory.recipe.search, alignment_head(directory), arithmetic)


def look(model: Model, text: str, *, target: str | None = None) -> Look:
    """Follow a sentence through the model: as the model translates it, or to a given `target`."""
    source = encode(model.engine, model.tokenizer, text)
    longest = model.engine.max_target - 1
    if target is None:
        search = dataclasses.replace(model.search, max_length=min(model.search.max_length, longest))
        written: Sequence[int] = model.engine.translate([source], search)[0][0].pieces
    elif len(written := model.tokenizer.encode(target)) > longest:
        raise DataError(
            f"the target has {len(written)} pieces, but the model takes at most {longest}",
            hint="give a shorter --target",
        )
    trace = model.engine.trace(source, written)
    names = model.tokenizer.pieces
    chances = np.exp(trace.decoder.log_probabilities[np.arange(len(trace.predicted)), list(trace.predicted)])
    maps = tuple(_maps(trace, names))
    return Look(
        model.tokenizer.familiar(text),
        normalise(model.tokenizer.decode(written)),
        tuple((names[piece], float(chance)) for piece, chance in zip(trace.predicted, chances, strict=True)),
        maps,
        _steps(model, trace),
        _best(maps, model.alignment),
    )


def _steps(model: Model, trace: Trace) -> tuple[HeadSteps, ...]:
    if model.arithmetic is None:
        return ()
    return tuple(HeadSteps(kind, layer, *steps, *model.arithmetic) for kind, layer, steps in attentions(trace))


def encode(engine: PlainEngine, tokenizer: Tokenizer, text: str) -> list[int]:
    """Cut a sentence into pieces, if it has some and not too many."""
    source = tokenizer.read(text)
    if not source:
        raise DataError("there is nothing to look at: the sentence is empty", hint="give a sentence with words in it")
    if len(source) > engine.max_source:
        raise DataError(
            f"the sentence has {len(source)} pieces, but the model takes at most {engine.max_source}",
            hint="give one sentence, or a part of it",
        )
    return source


def attentions(trace: Trace) -> Iterable[tuple[str, int, AttentionSteps]]:
    """Yield kind, layer and steps of every attention; a recurrent decoder's look at the source is one of one head."""
    if isinstance(trace.decoder, RecurrentDecoderSteps):
        yield CROSS, 1, _as_attention(trace.decoder, trace.encoder.memory)
        return
    assert isinstance(trace.encoder, EncoderSteps)
    for number, encoder in enumerate(trace.encoder.layers, start=1):
        yield ENCODER, number, encoder.attention.attention
    for number, decoder in enumerate(trace.decoder.layers, start=1):
        yield CROSS, number, decoder.cross_attention.attention
        yield DECODER, number, decoder.self_attention.attention


def _as_attention(decoder: RecurrentDecoderSteps, memory: NDArray[np.float32]) -> AttentionSteps:
    """A recurrent decoder's look at the source, as attention with one head."""
    look = decoder.look
    return AttentionSteps(*(part[np.newaxis] for part in (look.queries, look.keys, memory, *look[2:])))


def _maps(trace: Trace, names: Sequence[str]) -> Iterable[AttentionMap]:
    read, given, written = (
        tuple(names[piece] for piece in pieces) for pieces in (trace.source, trace.target, trace.predicted)
    )
    labels = {ENCODER: (read, read), CROSS: (written, read), DECODER: (given, given)}
    for kind, layer, steps in attentions(trace):
        for head, weights in enumerate(steps.weights, start=1):
            name = f"{kind} · layer {layer} · head {head}"
            yield AttentionMap(name, kind, layer, head, weights, *labels[kind], steps.scores[head - 1])


def _best(maps: Sequence[AttentionMap], alignment: Head | None) -> AttentionMap:
    """Return the head that the card names, or failing that the cross-attention that is surest of itself."""
    cross = [one for one in maps if one.kind == CROSS]
    if alignment is None:
        return max(cross, key=lambda one: float(one.weights.max(axis=1).mean()))
    return next(one for one in cross if (one.layer - 1, one.head - 1) == alignment)


def choose(maps: Sequence[AttentionMap], kind: str, layer: int | None, head: int | None) -> list[AttentionMap]:
    """Return the maps of a kind, of one layer or head if these are given."""
    mine = [one for one in maps if one.kind == kind]
    if not mine:
        raise DataError(
            f"this model has no {kind} attention", hint="a recurrent model looks at the source alone: cross"
        )
    layers, heads = max(one.layer for one in mine), max(one.head for one in mine)
    if layer is not None and not 1 <= layer <= layers:
        raise DataError(f"there is no layer {layer}", hint=f"{kind} attention has the layers 1 to {layers}")
    if head is not None and not 1 <= head <= heads:
        raise DataError(f"there is no head {head}", hint=f"every layer has the heads 1 to {heads}")
    return [one for one in mine if layer in (None, one.layer) and head in (None, one.head)]


def average(maps: Sequence[AttentionMap], name: str) -> AttentionMap:
    """Return the mean of some maps with the same labels."""
    weights = np.mean([one.weights for one in maps], axis=0)
    return maps[0]._replace(name=name, weights=weights, scores=None)


def by_words(attention: AttentionMap) -> Words:
    """Join the pieces of a map to words; marks are no words, and what went to them is left out."""
    queries, keys = (_words(labels) for labels in (attention.queries, attention.keys))
    spread, gathered = shares(attention.queries), shares(attention.keys)
    sizes = np.maximum(spread.sum(axis=0), 1e-9)[:, np.newaxis]
    return Words(queries, keys, spread.T @ attention.weights.astype(np.float64) @ gathered / sizes)


def _words(labels: Sequence[str]) -> tuple[str, ...]:
    return tuple(locate(labels).text.split())


def find_word(words: Sequence[str], word: str) -> int:
    """Return where a word stands among words, whatever punctuation is attached to it; it must stand there once."""
    bare = [_bare(one) for one in words]
    wanted = _bare(word)
    places = [at for at, one in enumerate(bare) if one == wanted]
    places = places or [at for at, one in enumerate(bare) if one.casefold() == wanted.casefold()]
    _check_once(word, " ".join(words), len(places))
    return places[0]


def _bare(word: str) -> str:
    return as_typed(re.sub(r"^\W+|\W+$", "", word) or word)


def piece_of(seen: Look, word: str) -> int:
    """Return the first source piece of a word of the sentence."""
    source = next(one.keys for one in seen.maps if one.kind == ENCODER)
    return pieces_of(word, source, seen.source)[0]


def pieces_of(word: str, pieces: Sequence[str], sentence: str) -> list[int]:
    """Return which pieces a word is made of; it must stand in the sentence once."""
    text, spans = locate(pieces)
    text, wanted = as_typed(text), as_typed(normalise(word))
    whole = re.escape(wanted) if wanted and is_unspaced(wanted[0]) else rf"(?<!\w){re.escape(wanted)}(?!\w)"
    places = list(re.finditer(whole, text)) if wanted else []
    places = places or (list(re.finditer(whole, text, re.IGNORECASE)) if wanted else [])
    _check_once(word, sentence, len(places))
    start, end = places[0].span()
    return [number for number, (first, last) in enumerate(spans) if first < end and last > start]


def _check_once(word: str, sentence: str, times: int) -> None:
    shown = sentence if len(sentence) <= _SHOWN else sentence[: _SHOWN - 1] + "…"
    if times == 0:
        raise DataError(f"the word {word!r} does not stand in {shown!r}", hint="give a word as it stands there")
    if times > 1:
        raise DataError(f"the word {word!r} stands {times} times in {shown!r}", hint="give a sentence that has it once")
