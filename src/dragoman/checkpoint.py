"""The model directory: NumPy arrays in and out, hashes, format version, atomic writes.

    recipe.toml           every setting, none left open
    tokenizer.model       sentencepiece
    weights.safetensors   docs/weights.md names them
    fast/float32/, …      the same weights for CTranslate2; a model that was packed to be shipped has none
    card.json             what the model is, how it scored, and a SHA-256 of every other file; written last
    run/                  the training's log, curves, and, until it has ended, its state

A directory without `card.json` is not a model. Every file is checked against its hash before it is used. Models that
ship with the package are in the box, one for each direction, and can be named by it.
"""

import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from dragoman.arrays import Array
from dragoman.config import Recipe
from dragoman.errors import DataError, ModelError
from dragoman.recipe import parse_recipe, write_recipe

FORMAT = 1
BOX = Path(__file__).parent / "models"
"""Where the models are that ship with the package."""
DEFAULT = "en-es"
"""The model of the box that is taken if none is named."""
Arrays = Mapping[str, Array]
ATTRIBUTION = "ATTRIBUTION.md"
"""The file that says from whose text a model has learned, if it has one."""
COPY_AGAIN = "copy the model directory again from where it was trained, or train it anew"
"""The hint where a model directory is not as it was written."""


def write_atomically(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file so that it is either whole and on disk, or not there: temporary file, fsync, rename.

    A link leads to the file that is written, one that is there keeps its permissions, and what is no file, such as
    /dev/stdout, is written to as it is.
    """
    path = Path(os.path.realpath(path))
    mode = path.stat().st_mode if path.exists() else None
    if mode is not None and not stat.S_ISREG(mode):
        with path.open("wb") as file:
            write(file)
        return
    temporary = path.with_name(f".{path.name}.part")
    try:
        with temporary.open("wb") as file:
            if mode is not None:
                os.fchmod(file.fileno(), stat.S_IMODE(mode))
            write(file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        sync_directory(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def write_bytes(path: Path, content: bytes) -> None:
    """Write bytes atomically."""
    write_atomically(path, lambda file: file.write(content))


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Say what to do if a file that a person asked for cannot be written."""
    try:
        yield
    except OSError as error:
        raise DataError(
            f"{path} cannot be written ({error.strerror})",
            hint="check the directory, its permissions and the free space",
        ) from None


def write_json(path: Path, tree: Any) -> None:
    """Write JSON atomically, for people to read."""
    write_bytes(path, (json.dumps(tree, indent=2, ensure_ascii=False) + "\n").encode())


def write_arrays(path: Path, arrays: Arrays) -> None:
    """Write safetensors atomically."""
    import numpy as np
    import safetensors.numpy

    whole = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    write_bytes(path, safetensors.numpy.save(whole))


def read_arrays(path: Path) -> dict[str, Array]:
    """Read safetensors."""
    import safetensors
    import safetensors.numpy

    try:
        arrays: dict[str, Array] = safetensors.numpy.load(path.read_bytes())
    except (OSError, safetensors.SafetensorError) as error:
        raise ModelError(f"{path}: cannot be read as safetensors ({error})", hint=COPY_AGAIN) from error
    return arrays


def sync_directory(path: Path) -> None:
    """Make renames inside a directory durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def hash_file(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def save_model(
    path: Path, recipe: Recipe, tokenizer: bytes, weights: Arrays, card: Mapping[str, Any], exported: Iterable[Path]
) -> None:
    """Complete a model directory; `exported` are files already written below it, named in the card with the rest."""
    (path / "card.json").unlink(missing_ok=True)
    write_bytes(path / "recipe.toml", write_recipe(recipe).encode())
    write_bytes(path / "tokenizer.model", tokenizer)
    write_arrays(path / "weights.safetensors", weights)
    own = [path / name for name in ("recipe.toml", "tokenizer.model", "weights.safetensors")]
    hashes = {str(file.relative_to(path)): hash_file(file) for file in [*own, *sorted(exported)]}
    write_json(path / "card.json", {"format": FORMAT, **card, "sha256": hashes})


def boxed() -> list[str]:
    """Name the models in the box."""
    return sorted(card.parent.name for card in BOX.glob("*/card.json"))


def find_model(model: Path | str | None = None) -> Path:
    """Return where a model lies: a path, or if there is none, the model of the box with that name.

    If none is named it is the default one, whatever lies in the working directory.
    """
    names = boxed()
    if model is not None:
        path = Path(model)
        return BOX / path if str(path) in names and not path.exists() else path
    if DEFAULT not in names:
        others = f" (in the box: {', '.join(names)})" if names else ""
        train = "dragoman train pairs.tsv --from en --to es --out my-model"
        raise ModelError(
            f"no model was named, and none for {DEFAULT} came with dragoman",
            hint=f"name one with -m{others}, or train one: {train}",
        )
    return BOX / DEFAULT


class ModelDirectory:
    """A model that has been trained: opened, its card read; every file is checked when it is asked for."""

    def __init__(self, model: Path | str | None = None) -> None:
        """Open a model by its path or, if it is in the box, by its name; without either the default one."""
        self.path = find_model(model)
        self.card = _read_card(self.path)
        self.recipe = parse_recipe(
            self.checked("recipe.toml").read_text(encoding="utf-8"), where=str(self.path / "recipe.toml")
        )

    def checked(self, name: str) -> Path:
        """Return the path of a file of the model after comparing it with its hash."""
        file = self.path / name
        expected = self.card["sha256"].get(name)
        if expected is None:
            raise ModelError(f"{self.path}: the card names no file {name}", hint=COPY_AGAIN)
        try:
            actual = hash_file(file)
        except OSError as error:
            raise ModelError(f"{file}: cannot be read ({error.strerror})", hint=COPY_AGAIN) from error
        if actual != expected:
            raise ModelError(f"{file}: is not the file that was written (its hash differs)", hint=COPY_AGAIN)
        return file

    def tokenizer(self) -> bytes:
        """The vocabulary's file."""
        return self.checked("tokenizer.model").read_bytes()

    def attribution(self) -> bytes | None:
        """From whose text the model has learned, if it says so."""
        return self.checked(ATTRIBUTION).read_bytes() if ATTRIBUTION in self.card["sha256"] else None

    def weights(self) -> dict[str, Array]:
        """The weights, under the names of docs/weights.md; what lies there in half precision is made single."""
        stored = read_arrays(self.checked("weights.safetensors"))
        return {name: array.astype("float32", copy=False) for name, array in stored.items()}

    def exported(self, kind: str) -> Path:
        """The directory of the weights exported for CTranslate2 (float32 or int8), its files checked."""
        names = [name for name in self.card["sha256"] if name.startswith(f"fast/{kind}/")]
        if not names:
            raise ModelError(
                f"{self.path}: holds no {kind} export", hint=f"use another kind: {', '.join(self.kinds()) or 'none'}"
            )
        for name in names:
            self.checked(name)
        return self.path / "fast" / kind

    def kinds(self) -> list[str]:
        """The kinds of export that are there, the one to use first."""
        kinds = {name.split("/")[1] for name in self.card["sha256"] if name.startswith("fast/")}
        fast = self.card.get("fast")
        use = fast.get("use") if isinstance(fast, dict) else None
        return sorted(kinds, key=lambda kind: (kind != use, kind))


def _read_card(path: Path) -> dict[str, Any]:
    if not path.is_dir():
        box = f", or a model of the box: {', '.join(boxed())}" if boxed() else ""
        raise ModelError(
            f"{path}: no such model directory", hint=f"give the directory that `dragoman train --out` wrote{box}"
        )
    try:
        card = json.loads((path / "card.json").read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        unfinished = (path / "run").is_dir()
        raise ModelError(
            f"{path}: holds no finished model (card.json is missing)",
            hint=f"go on training it: dragoman train --resume --out {path}" if unfinished else COPY_AGAIN,
        ) from error
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(f"{path / 'card.json'}: cannot be read ({error})", hint=COPY_AGAIN) from error
    hashes = card.get("sha256") if isinstance(card, dict) else None
    if not isinstance(hashes, dict) or not all(_is_safe(name) for name in hashes):
        raise ModelError(f"{path / 'card.json'}: is not the card of a model", hint=COPY_AGAIN)
    if card.get("format") != FORMAT:
        raise ModelError(
            f"{path}: the model has format {card.get('format')!r}, this program reads format {FORMAT}",
            hint="use the version of dragoman that the card names, or train the model anew",
        )
    checked: dict[str, Any] = card
    return checked


def _is_safe(name: str) -> bool:
    """Tell whether a name stays inside the model directory."""
    parts = Path(name).parts
    return bool(parts) and not Path(name).is_absolute() and ".." not in parts
