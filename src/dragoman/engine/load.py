"""Open a model directory and make a translator of it.

What a model does not hold for CTranslate2 is made from its weights at its first use, and kept in the user's cache.
Whatever is used has been checked: every file against its hash in the card, the vocabulary against the weights, and the
weights, where they are read, for values that are no numbers. What does not hold together is a `ModelError`, not a
translation.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, assert_never

from dragoman.arrays import Array
from dragoman.checkpoint import COPY_AGAIN, ModelDirectory
from dragoman.engine.base import Engine, Head, cross_heads, needs_plain
from dragoman.engine.cache import keep
from dragoman.engine.shortlist import SHORTLIST
from dragoman.engine.translator import Translator
from dragoman.errors import ModelError
from dragoman.text.tokenizer import Tokenizer

if TYPE_CHECKING:  # each engine is loaded only where it is used: a cold start pays for one
    import dragoman.engine.plain

EngineName = Literal["fast", "plain"]
Kind = Literal["float32", "int8"]
PACKED_SHORTLIST = f"{SHORTLIST}.gz"
"""Where a model has its shortlist that holds no form for CTranslate2."""
_EXPORT = 1  # to be raised when `export` writes the same weights otherwise, so that what is kept is made anew


def load_translator(
    model: Path | str | ModelDirectory | None = None,
    *,
    engine: EngineName = "fast",
    kind: Kind | None = None,
    threads: int | None = None,
    sentences: bool = True,
    shortlist: bool = False,
) -> Translator:
    """Load a model and translate with it; without a name, the model of the box from English to Spanish.

    `kind` chooses the weights of the fast engine; without it the card does, which knows what int8 loses. The search
    and the longest sentence are the recipe's. `sentences=False` leaves lines whole where they are short enough, and
    `shortlist` has the fast engine score only the pieces that are likely. A model that the fast engine cannot run is
    given to the plain one.
    """
    directory = model if isinstance(model, ModelDirectory) else ModelDirectory(model)
    tokenizer = load_tokenizer(directory)
    return Translator(
        _load_engine(directory, tokenizer, engine, kind, threads, shortlist=shortlist),
        tokenizer,
        directory.recipe.search,
        max_pieces=directory.recipe.pieces.max_length,
        sentences=sentences,
    )


def load_tokenizer(directory: ModelDirectory) -> Tokenizer:
    """Load the model's vocabulary."""
    return Tokenizer(directory.tokenizer())


def load_plain(directory: ModelDirectory, tokenizer: Tokenizer) -> "dragoman.engine.plain.PlainEngine":
    """Load the engine whose steps can be looked at."""
    from dragoman.engine.plain import PlainEngine

    weights = load_weights(directory, tokenizer)
    with _as_in_recipe(directory):
        return PlainEngine(directory.recipe.model, weights, alignment=alignment_head(directory))


def write_fast(directory: ModelDirectory, tokenizer: Tokenizer, kind: Kind, out: Path) -> None:
    """Write a model's weights for CTranslate2, and its shortlist if it has one."""
    from dragoman.engine.export import export

    weights, head = load_weights(directory, tokenizer), alignment_head(directory)
    with _as_in_recipe(directory):
        export(directory.recipe.model, weights, tokenizer.pieces, out, quantization=kind, alignment=head)
    shortlist = read_shortlist(directory)
    if shortlist is not None:
        (out / SHORTLIST).write_bytes(shortlist)


def load_weights(directory: ModelDirectory, tokenizer: Tokenizer) -> dict[str, Array]:
    """Load a model's weights; all are numbers, and there is a row for every piece."""
    import numpy as np

    weights = directory.weights()
    _check_vocabulary(directory, tokenizer, weights)
    strange = [name for name, array in weights.items() if not np.isfinite(array).all()]
    if strange:
        raise ModelError(
            f"{directory.path}: {strange[0]} holds values that are no numbers",
            hint="train the model anew, with a lower training.peak_rate",
        )
    return weights


def read_shortlist(directory: ModelDirectory) -> bytes | None:
    """Return a model's shortlist, if it has one; it is the same whatever the kind of the weights."""
    for name in directory.card["sha256"]:
        if name == PACKED_SHORTLIST:
            import gzip

            return gzip.decompress(directory.checked(name).read_bytes())
        if Path(name).name == SHORTLIST:
            return directory.checked(name).read_bytes()
    return None


@contextmanager
def _as_in_recipe(directory: ModelDirectory) -> Iterator[None]:
    """Turn complaints about weights into one about the model that they came from."""
    try:
        yield
    except (KeyError, ValueError) as error:
        raise ModelError(
            f"{directory.path}: the weights are not those of the recipe ({error})", hint=COPY_AGAIN
        ) from error


def alignment_head(directory: ModelDirectory) -> Head | None:
    """Return the head that aligns best, if the card names one."""
    named = directory.card.get("alignment")
    if named is None:
        return None
    layers, heads = cross_heads(directory.recipe.model)
    match named:
        case {"layer": int(layer), "head": int(head)} if 0 <= layer < layers and 0 <= head < heads:
            return Head(layer, head)
    raise ModelError(
        f"{directory.path / 'card.json'}: names an alignment head that the model does not have", hint=COPY_AGAIN
    )


def _load_engine(
    directory: ModelDirectory,
    tokenizer: Tokenizer,
    engine: EngineName,
    kind: Kind | None,
    threads: int | None,
    *,
    shortlist: bool,
) -> Engine:
    why = needs_plain(directory.recipe.model)
    match "plain" if why else engine:
        case "plain" if shortlist:
            known, hint = (f": {why}", "leave out --shortlist") if why else ("", "use --shortlist with the fast engine")
            raise ModelError(f"the plain engine scores every piece{known}", hint=hint)
        case "plain":
            return load_plain(directory, tokenizer)
        case "fast":
            return _load_fast(directory, tokenizer, kind, threads, shortlist=shortlist)
        case _:
            assert_never(engine)


def _load_fast(
    directory: ModelDirectory, tokenizer: Tokenizer, kind: Kind | None, threads: int | None, *, shortlist: bool
) -> Engine:
    from dragoman.engine.fast import VOCABULARY, FastEngine

    exported = _fast_directory(directory, tokenizer, kind or _default_kind(directory))
    engine = FastEngine(exported, threads=threads, shortlist=shortlist)
    if json.loads((exported / VOCABULARY).read_bytes()) != tokenizer.pieces:
        raise ModelError(
            f"{exported}: its vocabulary is not that of {directory.path / 'tokenizer.model'}", hint=COPY_AGAIN
        )
    return engine


def _fast_directory(directory: ModelDirectory, tokenizer: Tokenizer, kind: str) -> Path:
    """Return the weights for CTranslate2: the model's own, or made from its weights and kept."""
    match kind:
        case "float32" | "int8" if kind not in directory.kinds():
            return keep(_kept_name(directory, kind), lambda out: write_fast(directory, tokenizer, kind, out))
        case _:
            return directory.exported(kind)


def _kept_name(directory: ModelDirectory, kind: Kind) -> str:
    """Name what is made of a model after everything that goes into it."""
    import ctranslate2

    parts = [_EXPORT, ctranslate2.__version__, directory.card["sha256"], directory.card.get("alignment")]
    return f"{kind}-{hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()}"


def _default_kind(directory: ModelDirectory) -> str:
    """Return what the card says is good enough; float32 always is."""
    fast = directory.card.get("fast")
    use = fast.get("use") if isinstance(fast, Mapping) else None
    return use if isinstance(use, str) else "float32"


def _check_vocabulary(directory: ModelDirectory, tokenizer: Tokenizer, weights: Mapping[str, Any]) -> None:
    rows = len(weights.get("output.bias", ()))
    if rows != len(tokenizer):
        raise ModelError(
            f"{directory.path}: the weights know {rows} pieces, but tokenizer.model has {len(tokenizer)}",
            hint="use the tokenizer.model that was written beside these weights",
        )
