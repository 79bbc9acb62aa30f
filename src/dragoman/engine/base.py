"""What every engine promises: piece ids in, hypotheses out.

An engine knows nothing of text. Sources are lists of piece ids without the end mark, which the engine adds
itself; the ids it returns have no start or end mark either.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from dragoman.arrays import Array
from dragoman.config import Model, Search
from dragoman.text.tokenizer import END, START

Link = tuple[int, int]
"""The number of a source word and of a target word, from 0."""


class Head(NamedTuple):
    """One head of the decoder's attention to the source; layers and heads count from 0."""

    layer: int
    head: int


class Hypothesis(NamedTuple):
    """One translation of one source."""

    pieces: tuple[int, ...]
    score: float
    """The sum of the log-probabilities, end mark included, divided by length ** length_penalty.

    The length counts all pieces and, if the translation is finished, the end mark. A forced prefix was not
    chosen, so its log-probabilities are not in the sum; it does count in the length.
    """
    finished: bool
    """False if the translation was cut off at its greatest length."""
    attention: Array | None = None
    """[t s]: how much target piece t looked at source piece s, in the best-aligning head, end marks left out.

    What went to the source's end mark is missing from a row, so a row sums to at most 1.
    """


@runtime_checkable
class Engine(Protocol):
    """Something that translates pieces into pieces."""

    @property
    def max_source(self) -> int:
        """The most source pieces it takes; a longer source is a programmer's mistake (`ValueError`)."""

    @property
    def max_target(self) -> int:
        """The most pieces of a translation, whatever the search allows; a prefix must leave room for one."""

    def translate(
        self,
        sources: Sequence[Sequence[int]],
        search: Search,
        *,
        prefixes: Sequence[Sequence[int]] | None = None,
        attention: bool = False,
    ) -> list[list[Hypothesis]]:
        """Return for every source its `search.best` hypotheses, best first, each beginning with its prefix.

        There are fewer only if the search found fewer: a tiny vocabulary, or no room after the prefix. An
        empty source is not worth asking a model for: its one translation is its prefix.
        """


class Limits(NamedTuple):
    """What a model can take."""

    vocabulary: int
    source: int
    """The most source pieces, end mark not counted."""
    target: int
    """The most target pieces, whatever the search allows."""


def needs_plain(model: Model) -> str | None:
    """Say why the fast engine cannot run a model, if it cannot."""
    if model.kind == "recurrent":
        return "CTranslate2 has no recurrent layers"
    if model.scores != "scaled-dot":
        return f"CTranslate2 knows no {model.scores} scores"
    if model.positions == "rotary":
        return "rotary positions are not exported to CTranslate2 yet"
    if model.norm == "none" or not model.residual:
        return "CTranslate2 has no layers without normalisation or residual paths"
    return None


class CrossHeads(NamedTuple):
    """How many attentions to the source a model has."""

    layers: int
    heads: int


def cross_heads(model: Model) -> CrossHeads:
    """Count the decoder's attentions to the source; a recurrent decoder looks once a step."""
    if model.kind == "recurrent":
        return CrossHeads(1, 1)
    return CrossHeads(model.decoder_layers or 0, model.heads or 0)


def has_attention(model: Model) -> bool:
    """Say whether the decoder chooses, step by step, where in the source it looks."""
    return model.kind == "transformer" or model.look not in ("last", "mean", "fixed")


def samples(search: Search) -> bool:
    """Say whether pieces are drawn at random, each hypothesis alone, rather than searched for with a beam."""
    return search.top_k != 1 and search.temperature > 0


def is_empty(source: Sequence[int]) -> bool:
    """Say whether there is nothing to translate; start and end marks are nothing."""
    return all(piece in (START, END) for piece in source)


def translate_nothing(source: Sequence[int], prefix: Sequence[int], *, attention: bool) -> list[Hypothesis]:
    """Return the one translation of an empty source, which is certain and has a score of 0."""
    if not attention:
        return [Hypothesis(tuple(prefix), score=0.0, finished=True)]
    import numpy as np

    looked = np.zeros((len(prefix), len(source)), dtype=np.float32)
    return [Hypothesis(tuple(prefix), score=0.0, finished=True, attention=looked)]


def check_request(
    sources: Sequence[Sequence[int]],
    prefixes: Sequence[Sequence[int]] | None,
    search: Search,
    limits: Limits,
) -> None:
    """Raise `ValueError` for a request that cannot be met in full; nothing is ever cut to fit."""
    _check_search(search)
    for number, source in enumerate(sources):
        if len(source) > limits.source:
            raise ValueError(f"source {number} has {len(source)} pieces; this model takes at most {limits.source}")
        _check_pieces(f"source {number}", source, limits.vocabulary)
    if prefixes is None:
        return
    if len(prefixes) != len(sources):
        raise ValueError(f"{len(prefixes)} prefixes for {len(sources)} sources")
    longest = min(search.max_length, limits.target)
    for number, prefix in enumerate(prefixes):
        if len(prefix) >= longest:
            raise ValueError(f"prefix {number} has {len(prefix)} pieces; a translation has at most {longest}")
        _check_pieces(f"prefix {number}", prefix, limits.vocabulary)


def _check_pieces(name: str, pieces: Sequence[int], vocabulary: int) -> None:
    if pieces and not (min(pieces) >= 0 and max(pieces) < vocabulary):
        raise ValueError(f"{name} has pieces from {min(pieces)} to {max(pieces)}; the vocabulary has {vocabulary}")


def _check_search(search: Search) -> None:
    if min(search.beam, search.best, search.max_length) < 1:
        raise ValueError(f"beam, best and max_length must be at least 1: {search}")
    if search.best > search.beam and not samples(search):
        raise ValueError(f"best is {search.best}, but a beam of {search.beam} keeps no more than {search.beam}")
    if search.top_k < 0 or search.temperature < 0 or not 0 < search.top_p <= 1:
        raise ValueError(f"top_k and temperature must not be negative, top_p must be in (0, 1]: {search}")
