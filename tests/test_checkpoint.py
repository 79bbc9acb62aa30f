"""The model directory: written whole or not at all, and every file checked before it is used."""

import errno
import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from dragoman.checkpoint import (
    FORMAT,
    ModelDirectory,
    hash_file,
    read_arrays,
    write_arrays,
    write_atomically,
    write_bytes,
    write_json,
)
from dragoman.errors import ModelError, RecipeError
from dragoman.recipe import write_recipe
from tiny_model import RECIPE, make_tiny_model, tiny_tokenizer

AGAIN = "copy the model directory again"


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_model(tmp_path_factory.mktemp("checkpoint") / "model")


@pytest.fixture
def model(pristine: Path, tmp_path: Path) -> Path:
    return shutil.copytree(pristine, tmp_path / "model")


def full_disk(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def write_half(file: BinaryIO) -> None:
    file.write(b"half")
    full_disk()


@pytest.mark.parametrize("existed", [True, False])
@pytest.mark.parametrize("failing", ["write", "fsync", "replace"])
def test_a_failing_write_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str, existed: bool
) -> None:
    if existed:
        write_bytes(tmp_path / "file", b"old")
    with monkeypatch.context() as patch:
        if failing != "write":
            patch.setattr(os, failing, full_disk)
        with pytest.raises(OSError, match="No space left on device"):
            write_atomically(tmp_path / "file", write_half if failing == "write" else lambda file: file.write(b"new"))
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == ({"file": b"old"} if existed else {})


def test_a_link_stays_and_what_it_leads_to_is_written(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    file, link = tmp_path / "far" / "file", tmp_path / "link"
    file.write_bytes(b"old")
    link.symlink_to(file)
    write_bytes(link, b"new")
    assert (link.is_symlink(), file.read_bytes()) == (True, b"new")
    assert [path.name for path in file.parent.iterdir()] == ["file"]


def test_a_file_keeps_its_permissions(tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.touch(mode=0o600)
    write_bytes(private, b"nobody's business")
    assert (private.stat().st_mode & 0o777, private.read_bytes()) == (0o600, b"nobody's business")


def test_what_is_no_file_is_written_to_as_it_is(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_bytes(pipe, b"through")
        assert os.read(reader, 100) == b"through"
    finally:
        os.close(reader)
    assert pipe.is_fifo()
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_a_file_is_on_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def noted(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            calls.append(name)
            return real(*arguments)

        return call

    for name in ("fsync", "replace"):
        monkeypatch.setattr(os, name, noted(name, getattr(os, name)))
    write_bytes(tmp_path / "file", b"new")
    assert calls == ["fsync", "replace", "fsync"]  # the file, its name, and the directory that holds the name


def test_json_is_for_people_to_read(tmp_path: Path) -> None:
    write_json(tmp_path / "card.json", {"to": "čeština", "format": 1})
    assert (tmp_path / "card.json").read_text(encoding="utf-8") == '{\n  "to": "čeština",\n  "format": 1\n}\n'


@given(
    arrays=st.dictionaries(
        st.text(st.characters(codec="ascii", categories=["L"]), min_size=1, max_size=5),
        arrays_of.arrays(
            st.sampled_from([np.float32, np.float64, np.int64]), arrays_of.array_shapes(min_dims=0, max_dims=3)
        ),
        max_size=5,
    ),
    turned=st.booleans(),
)
def test_arrays_come_back_to_the_bit(
    tmp_path_factory: pytest.TempPathFactory, arrays: dict[str, Any], turned: bool
) -> None:
    """Whatever their shape, nothing-dimensional included, and whatever their order in memory."""
    if turned:
        arrays = {name: array.T for name, array in arrays.items()}
    file = tmp_path_factory.mktemp("arrays") / "arrays.safetensors"
    write_arrays(file, arrays)
    found = read_arrays(file)
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert (found[name].shape, found[name].dtype) == (array.shape, array.dtype)
        assert found[name].tobytes() == array.tobytes()


@pytest.mark.parametrize("content", [b"", b"no safetensors", b"\xff" * 100])
def test_what_is_no_safetensors_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "weights.safetensors").write_bytes(content)
    with pytest.raises(ModelError, match=r"weights\.safetensors: cannot be read as safetensors") as caught:
        read_arrays(tmp_path / "weights.safetensors")
    assert AGAIN in caught.value.hint


def test_a_model_is_what_was_saved(model: Path) -> None:
    opened = ModelDirectory(model)
    assert opened.recipe.source_language == RECIPE.source_language
    assert write_recipe(opened.recipe) == (model / "recipe.toml").read_text(encoding="utf-8")
    assert opened.tokenizer() == tiny_tokenizer().model
    assert opened.weights().keys() == read_arrays(model / "weights.safetensors").keys()
    assert opened.card["format"] == FORMAT
    assert opened.kinds() == ["float32", "int8"]
    assert opened.exported("int8") == model / "fast" / "int8"


def test_the_card_names_every_file_but_itself(model: Path) -> None:
    files = {str(file.relative_to(model)): hash_file(file) for file in model.rglob("*") if file.is_file()}
    del files["card.json"]
    assert ModelDirectory(model).card["sha256"] == files


@pytest.mark.parametrize("use", ["float32", "int8"])
def test_the_kind_to_use_comes_first(model: Path, use: str) -> None:
    change_card(model, fast={"use": use})
    assert ModelDirectory(model).kinds()[0] == use


@pytest.mark.parametrize("fast", [None, ["int8"], {}, {"use": 5}])
def test_a_card_without_a_choice_names_the_kinds_in_order(model: Path, fast: object) -> None:
    change_card(model, fast=fast)
    assert ModelDirectory(model).kinds() == ["float32", "int8"]


def change_card(model: Path, **changes: object) -> None:
    card = json.loads((model / "card.json").read_text(encoding="utf-8"))
    (model / "card.json").write_text(json.dumps({**card, **changes}), encoding="utf-8")


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])


USES: dict[str, Callable[[Path], object]] = {
    "recipe.toml": ModelDirectory,
    "tokenizer.model": lambda path: ModelDirectory(path).tokenizer(),
    "weights.safetensors": lambda path: ModelDirectory(path).weights(),
    "fast/float32/model.bin": lambda path: ModelDirectory(path).exported("float32"),
    "fast/int8/config.json": lambda path: ModelDirectory(path).exported("int8"),
    "fast/int8/shared_vocabulary.json": lambda path: ModelDirectory(path).exported("int8"),
}


@pytest.mark.parametrize("name", USES)
@pytest.mark.parametrize("damage", [flip, cut], ids=["flipped", "cut"])
def test_a_damaged_file_is_seen_when_it_is_used(model: Path, name: str, damage: Callable[[Path], None]) -> None:
    damage(model / name)
    message = re.escape(f"{model / name}: is not the file that was written (its hash differs)")
    with pytest.raises(ModelError, match=message) as caught:
        USES[name](model)
    assert AGAIN in caught.value.hint


@pytest.mark.parametrize("name", USES)
def test_a_missing_file_is_seen_when_it_is_used(model: Path, name: str) -> None:
    (model / name).unlink()
    with pytest.raises(ModelError, match=re.escape(f"{model / name}: cannot be read (No such file or directory)")):
        USES[name](model)


@pytest.mark.parametrize("name", ["recipe.toml", "tokenizer.model", "weights.safetensors"])
def test_a_file_that_the_card_does_not_name_is_not_used(model: Path, name: str) -> None:
    hashes = ModelDirectory(model).card["sha256"]
    del hashes[name]
    change_card(model, sha256=hashes)
    with pytest.raises(ModelError, match=re.escape(f"{model}: the card names no file {name}")):
        USES[name](model)


def test_an_export_that_is_not_there_is_refused_with_those_that_are(model: Path) -> None:
    with pytest.raises(ModelError, match="holds no int4 export") as caught:
        ModelDirectory(model).exported("int4")
    assert caught.value.hint == "use another kind: float32, int8"


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "fast/../../x", "..", "", "."])
def test_a_card_cannot_name_what_lies_outside(model: Path, name: str) -> None:
    change_card(model, sha256={**ModelDirectory(model).card["sha256"], name: "0" * 64})
    with pytest.raises(ModelError, match=r"card\.json: is not the card of a model"):
        ModelDirectory(model)


@pytest.mark.parametrize("changes", [{"sha256": None}, {"sha256": []}, {"sha256": "x"}])
def test_a_card_of_another_make_is_refused(model: Path, changes: dict[str, object]) -> None:
    change_card(model, **changes)
    with pytest.raises(ModelError, match=r"card\.json: is not the card of a model") as caught:
        ModelDirectory(model)
    assert AGAIN in caught.value.hint


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"cannot be read \(Expecting value"),
        (b'{"format": 1', r"cannot be read \(Expecting"),
        (b"\xff\xfe", r"cannot be read \('utf-8' codec"),
        (b"[" * 100_000, r"cannot be read \(maximum recursion depth"),
        (b"[]", "is not the card of a model"),
        (b"null", "is not the card of a model"),
        (b"{}", "is not the card of a model"),
    ],
)
def test_a_card_that_is_no_card_is_refused(model: Path, content: bytes, message: str) -> None:
    (model / "card.json").write_bytes(content)
    with pytest.raises(ModelError, match=rf"card\.json: {message}"):
        ModelDirectory(model)


@pytest.mark.parametrize("version", [FORMAT + 1, 0, "1", None])
def test_another_format_is_refused(model: Path, version: object) -> None:
    change_card(model, format=version)
    message = f"the model has format {version!r}, this program reads format {FORMAT}"
    with pytest.raises(ModelError, match=re.escape(message)) as caught:
        ModelDirectory(model)
    assert "use the version of dragoman that the card names" in caught.value.hint


def test_a_directory_without_a_card_is_no_model(model: Path) -> None:
    (model / "card.json").unlink()
    message = r"holds no finished model \(card\.json is missing\)"
    with pytest.raises(ModelError, match=message) as caught:
        ModelDirectory(model)
    assert AGAIN in caught.value.hint
    (model / "run").mkdir()
    with pytest.raises(ModelError, match=message) as caught:
        ModelDirectory(model)
    assert caught.value.hint == f"go on training it: dragoman train --resume --out {model}"


def test_no_directory_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for name in ("gone", "file"):
        with pytest.raises(ModelError, match=rf"{name}: no such model directory") as caught:
            ModelDirectory(tmp_path / name)
        assert "dragoman train --out" in caught.value.hint


def test_a_setting_that_this_program_does_not_know_is_refused(model: Path) -> None:
    (model / "recipe.toml").write_text("[model]\nmagic = 1\n", encoding="utf-8")
    change_card(
        model,
        sha256={
            **json.loads((model / "card.json").read_text())["sha256"],
            "recipe.toml": hash_file(model / "recipe.toml"),
        },
    )
    with pytest.raises(RecipeError, match="model has no setting 'magic'"):
        ModelDirectory(model)


def test_saving_again_has_no_card_until_all_is_written(
    pristine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill in the middle leaves a directory that is no model, not a model with another one's files."""
    from dragoman import checkpoint

    model = shutil.copytree(pristine, tmp_path / "model")
    opened = ModelDirectory(model)
    monkeypatch.setattr(checkpoint, "write_arrays", full_disk)
    with pytest.raises(OSError, match="No space left"):
        checkpoint.save_model(model, opened.recipe, opened.tokenizer(), opened.weights(), {}, [])
    with pytest.raises(ModelError, match="holds no finished model"):
        ModelDirectory(model)
