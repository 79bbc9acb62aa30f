"""Hand a model to other programs: a directory that CTranslate2 reads, with the vocabulary and a note beside it."""

import os
import shutil
from pathlib import Path
from typing import Literal

from dragoman.checkpoint import ModelDirectory, write_bytes
from dragoman.engine.base import needs_plain
from dragoman.engine.export import export
from dragoman.engine.fast import CONFIG, MODEL, VOCABULARY
from dragoman.engine.load import Kind, alignment_head, load_tokenizer
from dragoman.engine.shortlist import SHORTLIST
from dragoman.errors import ModelError

TOKENIZER, NOTE = "tokenizer.model", "README.md"
_OURS = {MODEL, CONFIG, VOCABULARY, SHORTLIST, TOKENIZER, NOTE}

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
print(pieces.decode(result.hypotheses[0]))
```

* Every source ends in `</s>`, which you append; the target starts with `<s>`, which CTranslate2 adds by itself.
* The model learned from sentences of at most {longest} pieces. Split longer text into sentences first.
* Where there is a `vmap.txt`, `use_vmap=True` scores only the likely pieces, which is faster.
* `tokenizer.model` is a sentencepiece vocabulary for both languages, `shared_vocabulary.json` the same as a list.
"""


def export_model(
    model: Path, out: Path, *, kind: Kind = "float32", to: Literal["ctranslate2"] = "ctranslate2", force: bool = False
) -> list[Path]:
    """Write the directory whole or not at all, and return its files.

    What the model holds is copied, so that what was measured is what is handed on; another kind is made from the
    weights. With `force` an earlier export is replaced, but never a directory that holds anything else.
    """
    assert to == "ctranslate2"
    directory = ModelDirectory(model)
    if why := needs_plain(directory.recipe.model):
        raise ModelError(f"{model}: cannot be exported: {why}", hint="dragoman itself translates with it, in NumPy")
    _refuse(out, force=force)
    part, old = (out.absolute().with_name(f".{out.name}.{os.getpid()}.{suffix}") for suffix in ("part", "old"))
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        _fill(part, directory, kind)
        if out.exists():
            out.rename(old)
        part.rename(out)
    except OSError as error:
        if old.exists() and not out.exists():
            old.rename(out)
        raise ModelError(
            f"{out}: cannot be written ({error.strerror})",
            hint="check the directory, its permissions and the free space",
        ) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)
    return sorted(out.iterdir())


def _refuse(out: Path, *, force: bool) -> None:
    if not out.exists():
        return
    if not out.is_dir():
        raise ModelError(f"{out}: is a file", hint="name a new directory")
    inside = {path.name for path in out.iterdir()}
    foreign = sorted(inside - _OURS)
    if foreign and force:
        raise ModelError(
            f"{out}: holds {foreign[0]}, which is not part of an export",
            hint="--force replaces an export, nothing else",
        )
    if inside and not force:
        raise ModelError(f"{out}: is not empty", hint="name a new directory, or replace an earlier export with --force")


def _fill(part: Path, directory: ModelDirectory, kind: Kind) -> None:
    tokenizer = load_tokenizer(directory)
    if kind in directory.kinds():
        shutil.copytree(directory.exported(kind), part)
    else:
        export(
            directory.recipe.model,
            directory.weights(),
            tokenizer.pieces,
            part,
            quantization=kind,
            alignment=alignment_head(directory),
        )
    write_bytes(part / TOKENIZER, tokenizer.model)
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
    write_bytes(part / NOTE, note.encode())
