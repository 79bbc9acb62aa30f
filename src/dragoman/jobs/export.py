"""Hand a model on: to other programs, as a directory that CTranslate2 reads; or in a package, as small as it goes.

A package's model is a model like any other, but for two things: its weights are in half precision, and it holds no form
for CTranslate2, which is made from them at its first use. docs/box.md tells more.
"""

import gzip
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, assert_never

import numpy as np
from numpy.typing import NDArray

from dragoman.checkpoint import ATTRIBUTION, ModelDirectory, save_model, write_bytes, write_json
from dragoman.engine.base import needs_plain
from dragoman.engine.fast import CONFIG, MODEL, VOCABULARY
from dragoman.engine.load import PACKED_SHORTLIST, Kind, load_tokenizer, load_weights, read_shortlist, write_fast
from dragoman.engine.shortlist import SHORTLIST
from dragoman.errors import ModelError
from dragoman.jobs.measure import NamedTest, measure, read_tests
from dragoman.text.tokenizer import Tokenizer

Target = Literal["ctranslate2", "package"]
TOKENIZER, NOTE = "tokenizer.model", "README.md"
_FILES = {
    "ctranslate2": {MODEL, CONFIG, VOCABULARY, SHORTLIST, TOKENIZER, NOTE, ATTRIBUTION},
    "package": {"card.json", "recipe.toml", "weights.safetensors", PACKED_SHORTLIST, TOKENIZER, ATTRIBUTION},
}
_ESSENTIAL = {"ctranslate2": MODEL, "package": "card.json"}
"""What no export is without."""

_TEXT = """\
# {source} → {target}, for CTranslate2

Exported by dragoman from `{name}` ({kind}). Any program that uses CTranslate2 can translate with it:

```python
import ctranslate2
import sentencepiece

pieces = sentencepiece.SentencePieceProcessor(model_file="tokenizer.model")
translator = ctranslate2.Translator(".")
source = [*pieces.encode("{example}", out_type=str), "</s>"]
options = dict(beam_size={beam}, length_penalty={penalty:g}, max_input_length=0, max_decoding_length={most})
options["min_decoding_length"] = 0  # the default forbids what the model was judged with
result = translator.translate_batch([source], **options)[0]
print(" ".join(pieces.decode(result.hypotheses[0]).split()))  # a model may write two spaces
```

* Every source ends in `</s>`, which you append; the target starts with `<s>`, which CTranslate2 adds by itself.
* The model learned from sentences of at most {longest} pieces. Split longer text into sentences first.
* Where there is a `vmap.txt`, `use_vmap=True` scores only the likely pieces, which is faster.
* `tokenizer.model` is a sentencepiece vocabulary for both languages, `shared_vocabulary.json` the same as a list.
"""
_MARKS = """\
* Some typographic marks are not in the vocabulary. dragoman reads them in sources as their like:
  `text.translate(str.maketrans({}))`.
"""


def export_model(
    model: Path | str | None,
    out: Path,
    *,
    to: Target = "ctranslate2",
    kind: Kind | None = None,
    attribution: Path | None = None,
    tests: Sequence[str] = (),
    force: bool = False,
    tell: Callable[[int], None] | None = None,
) -> list[Path]:
    """Write the directory whole or not at all, and return its files.

    `kind` is that of the weights for CTranslate2, float32 if nothing is said. What the model holds is copied, so that
    what was measured is what is handed on; another kind is made from the weights. `attribution` tells from whose text
    the model has learned, and lies beside it; a package must have one, be it the model's own. `tests` are test sets, as
    `read_tests` takes them, that a package is scored on before it is put in its place; `tell` hears of their lines.
    With `force` an earlier export is replaced, but never a directory that holds anything else.
    """
    directory = ModelDirectory(model)
    credit = _read_attribution(directory, attribution)
    match to:
        case "ctranslate2":
            if tests:
                raise ModelError(
                    "only a package has a card to keep scores in", hint="leave out --test, or add --to package"
                )
            if why := needs_plain(directory.recipe.model):
                raise ModelError(
                    f"{directory.path}: cannot be exported: {why}", hint="dragoman itself translates with it, in NumPy"
                )
            _write(out, lambda part: _fill(part, directory, kind or "float32", credit), to, force=force)
        case "package":
            if kind is not None:
                raise ModelError(f"a package is in half precision, not in {kind}", hint="leave out --quantization")
            if credit is None:
                raise ModelError(
                    f"{directory.path}: does not say from whose text it has learned, as a package must",
                    hint="write that and the licences into a file, and name it with --attribution",
                )
            sets = read_tests(tests, directory)
            _write(out, lambda part: _pack(part, directory, credit, sets, tell), to, force=force)
        case _:
            assert_never(to)
    return sorted(out.iterdir())


def _read_attribution(directory: ModelDirectory, given: Path | None) -> bytes | None:
    """Return what was given, or else what came with the model."""
    if given is None:
        return directory.attribution()
    try:
        text = given.read_bytes()
    except OSError as error:
        raise ModelError(
            f"{given}: cannot be read ({error.strerror})", hint="name a text file with --attribution"
        ) from error
    if not text.strip():
        raise ModelError(f"{given}: is empty", hint="write into it from whose text the model has learned")
    return text


def _write(out: Path, fill: Callable[[Path], None], to: Target, *, force: bool) -> None:
    """Fill a directory beside `out`, then put it in its place."""
    _refuse(out, to, force=force)
    part, old = (out.absolute().with_name(f".{out.name}.{os.getpid()}.{suffix}") for suffix in ("part", "old"))
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        fill(part)
        if out.exists():
            out.rename(old)
        part.rename(out)
    except OSError as error:
        raise ModelError(
            f"{out}: cannot be written ({error.strerror})",
            hint="check the directory, its permissions and the free space",
        ) from error
    finally:
        if old.exists() and not out.exists():
            old.rename(out)
        shutil.rmtree(part, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def _refuse(out: Path, to: Target, *, force: bool) -> None:
    if not out.exists():
        return
    if not out.is_dir():
        raise ModelError(f"{out}: is a file", hint="name a new directory")
    inside = {path.name for path in out.iterdir()}
    if inside and not force:
        raise ModelError(f"{out}: is not empty", hint="name a new directory, or replace an earlier export with --force")
    only = "--force replaces an export, nothing else"
    if foreign := sorted(inside - _FILES[to]):
        raise ModelError(f"{out}: holds {foreign[0]}, which is not part of an export", hint=only)
    if inside and _ESSENTIAL[to] not in inside:
        raise ModelError(f"{out}: holds no {_ESSENTIAL[to]}, so it is no export", hint=only)


def _fill(part: Path, directory: ModelDirectory, kind: Kind, credit: bytes | None) -> None:
    tokenizer = load_tokenizer(directory)
    if kind in directory.kinds():
        shutil.copytree(directory.exported(kind), part)
    else:
        write_fast(directory, tokenizer, kind, part)
    write_bytes(part / TOKENIZER, tokenizer.model)
    if credit is not None:
        write_bytes(part / ATTRIBUTION, credit)
    recipe = directory.recipe
    note = _TEXT.format(
        source=recipe.source_language or "source",
        target=recipe.target_language or "target",
        name=directory.path.name,
        kind=kind,
        example="I arrived at the bank." if recipe.source_language == "en" else "…",
        beam=recipe.search.beam,
        penalty=recipe.search.length_penalty,
        most=recipe.search.max_length,
        longest=recipe.pieces.max_length,
    )
    if alike := {chr(mark): familiar for mark, familiar in tokenizer.alike.items()}:
        note += _MARKS.format(alike)
    write_bytes(part / NOTE, note.encode())


def _pack(
    part: Path,
    directory: ModelDirectory,
    credit: bytes,
    tests: Sequence[NamedTest],
    tell: Callable[[int], None] | None,
) -> None:
    tokenizer, shortlist = load_tokenizer(directory), read_shortlist(directory)
    halved = _halve(directory, tokenizer)
    beside = {ATTRIBUTION: credit}
    if shortlist is not None:
        beside[PACKED_SHORTLIST] = gzip.compress(shortlist, mtime=0)
    part.mkdir()
    for name, content in beside.items():
        write_bytes(part / name, content)
    # What the card tells of dev was measured with the weights as they were; a model packed again keeps saying which.
    packed = {"precision": "float16", "of": directory.card["sha256"]["weights.safetensors"]}
    card = {"packed": packed, **{name: told for name, told in directory.card.items() if name != "tests"}}
    save_model(part, directory.recipe, tokenizer.model, halved, card, [part / name for name in beside])
    model = ModelDirectory(part)
    if told := measure(model, tests, tell) if tests else _own_tests(directory, model):
        write_json(part / "card.json", {**model.card, "tests": told})


def _own_tests(directory: ModelDirectory, packed: ModelDirectory) -> Any:
    """Return what a model scored on test sets, unless packing has changed the weights that it was measured with."""
    before, after = (one.card["sha256"]["weights.safetensors"] for one in (directory, packed))
    return directory.card.get("tests") if before == after else None


def _halve(directory: ModelDirectory, tokenizer: Tokenizer) -> dict[str, NDArray[np.float16]]:
    """Return the weights in half precision, which holds about three digits of numbers up to 65,504."""
    with np.errstate(over="ignore"):
        halved = {name: array.astype(np.float16) for name, array in load_weights(directory, tokenizer).items()}
    beyond = [name for name, array in halved.items() if not np.isfinite(array).all()]
    if beyond:
        raise ModelError(
            f"{directory.path}: {beyond[0]} holds values beyond {np.finfo(np.float16).max:,.0f}, too large for half "
            "precision",
            hint="such weights come of a training that went astray: train anew, with a lower training.peak_rate",
        )
    return halved
