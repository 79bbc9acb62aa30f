"""Three readings of where a translation looked, side by side, and how far each agrees with a known alignment."""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from jaxtyping import Float

from dragoman.data.grammar import Contrast, lectures, words
from dragoman.engine.base import Head
from dragoman.engine.flow import roll_out, weigh_by_values
from dragoman.engine.layout import Array
from dragoman.engine.links import links_from_attention
from dragoman.engine.plain import PlainEngine
from dragoman.engine.trace import EncoderSteps, RecurrentDecoderSteps, Trace
from dragoman.engine.what_if import output_weights
from dragoman.evaluation.alignment import Link, alignment_error_rate
from dragoman.text.tokenizer import Tokenizer


class Reading(NamedTuple):
    """One way to say where every written piece came from."""

    name: str
    weights: Float[Array, "t s"]
    """Rows are the pieces that were written and the end mark, columns the source and its end mark."""
    error_rate: float | None
    """The alignment error rate, if the right alignment is known."""


def read_flows(engine: PlainEngine, tokenizer: Tokenizer, trace: Trace, head: Head) -> list[Reading]:
    """Read one head's weights raw and weighted by values, and the whole model rolled out."""
    gold = known_links(tokenizer.decode(trace.source[:-1]), tokenizer.decode(trace.predicted[:-1]))
    found = list(_readings(engine, trace, head))
    return [
        Reading(name, weights, None if gold is None else _rate(weights, gold, tokenizer, trace))
        for name, weights in found
    ]


def _readings(engine: PlainEngine, trace: Trace, head: Head) -> Iterator[tuple[str, Array]]:
    if isinstance(trace.decoder, RecurrentDecoderSteps):
        yield "raw weights", trace.decoder.look.weights
        return
    assert isinstance(trace.encoder, EncoderSteps)
    steps = trace.decoder.layers[head.layer].cross_attention.attention
    yield "raw weights", steps.weights[head.head]
    weighted = weigh_by_values(steps, output_weights(engine.weights, "cross", head.layer))
    yield "weighted by values", weighted[head.head]
    yield "rolled out over layers", roll_out(trace.encoder, trace.decoder)


def _rate(weights: Array, gold: frozenset[Link], tokenizer: Tokenizer, trace: Trace) -> float:
    source, target = trace.source[:-1], trace.predicted[:-1]
    found = links_from_attention(
        weights[: len(target), : len(source)],
        [tokenizer.pieces[piece] for piece in source],
        [tokenizer.pieces[piece] for piece in target],
        source_words=words(tokenizer.decode(source)),
        target_words=words(tokenizer.decode(target)),
    )
    return alignment_error_rate([found], [gold])


def known_links(source: str, target: str) -> frozenset[Link] | None:
    """Return which words translate which, if the sentence is one of the lectures' and is translated as they have it."""
    for pair in _lectures():
        for told in (pair.first, pair.second):
            if (told.source, told.target) == (source, target):
                return told.links
    return None


def known_sentences() -> list[tuple[str, str]]:
    """Return the lectures' sentences, in pairs that differ in one deciding word."""
    return [(pair.first.source, pair.second.source) for pair in _lectures()]


@cache
def _lectures() -> tuple[Contrast, ...]:
    return lectures()
