"""Opening a model directory: what holds together is loaded, what does not is refused before it is used."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import dragoman
from dragoman.checkpoint import ModelDirectory, hash_file, read_arrays, write_arrays, write_json
from dragoman.engine.load import EngineName, alignment_head, load_translator
from dragoman.errors import ModelError
from dragoman.text.tokenizer import train_tokenizer
from tiny_model import ALIGNMENT, MAX_LENGTH, MAX_PIECES, make_tiny_model, tiny_tokenizer

TEXTS = ["I arrived at the bank after crossing the river.", "My sister closed this box.", "", "12 😀"]
FILES = [
    "recipe.toml",
    "tokenizer.model",
    "weights.safetensors",
    "fast/float32/model.bin",
    "fast/float32/config.json",
    "fast/float32/shared_vocabulary.json",
]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_model(tmp_path_factory.mktemp("load") / "model")


@pytest.fixture
def own(model: Path, tmp_path: Path) -> Path:
    """Return a copy that a test may damage."""
    return Path(shutil.copytree(model, tmp_path / "own"))


def load_all(path: Path) -> None:
    """Load everything that a model has."""
    for engine in ("fast", "plain"):
        load_translator(path, engine=engine)


def write_hashes(path: Path) -> None:
    """Make a card agree with files that a test has changed on purpose."""
    card = json.loads((path / "card.json").read_text(encoding="utf-8"))
    card["sha256"] = {name: hash_file(path / name) for name in card["sha256"]}
    write_json(path / "card.json", card)


def change_card(path: Path, **entries: object) -> None:
    card = json.loads((path / "card.json").read_text(encoding="utf-8"))
    write_json(path / "card.json", {**card, **entries})


def test_both_engines_give_the_same_translations(model: Path) -> None:
    fast, plain = (load_translator(model, engine=engine).translate(TEXTS) for engine in ("fast", "plain"))
    assert [t.text for t in fast] == [t.text for t in plain]
    np.testing.assert_allclose([t.score for t in fast], [t.score for t in plain], atol=1e-4)


def test_search_and_lengths_are_the_recipes(model: Path) -> None:
    translator = load_translator(str(model))
    assert translator.search.max_length == MAX_LENGTH
    assert translator.limit == MAX_PIECES


def test_an_opened_directory_will_do_as_well(model: Path) -> None:
    assert load_translator(ModelDirectory(model)).translate(TEXTS) == load_translator(model).translate(TEXTS)


def test_the_card_chooses_the_kind(own: Path) -> None:
    change_card(own, fast={"use": "int8"})
    shutil.rmtree(own / "fast" / "float32")
    assert load_translator(own).translate(TEXTS)[-1].text == TEXTS[-1]
    with pytest.raises(ModelError, match=r"float32/\S+: cannot be read \(No such file"):
        load_translator(own, kind="float32")


def test_a_card_without_a_choice_means_float32(own: Path) -> None:
    change_card(own, fast=None)
    shutil.rmtree(own / "fast" / "int8")
    assert load_translator(own).translate(TEXTS)[-1].text == TEXTS[-1]


def test_an_unknown_kind_is_refused(own: Path) -> None:
    change_card(own, fast={"use": "int4"})
    with pytest.raises(ModelError, match="holds no int4 export") as caught:
        load_translator(own)
    assert "float32" in caught.value.hint


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", ["missing", "cut", "flipped"])
def test_a_damaged_file_is_refused_by_name(own: Path, name: str, damage: str) -> None:
    content = bytearray((own / name).read_bytes())
    if damage == "missing":
        (own / name).unlink()
    elif damage == "cut":
        (own / name).write_bytes(content[: len(content) // 2])
    else:
        content[len(content) // 2] ^= 1
        (own / name).write_bytes(content)
    why = r"cannot be read \(No such file" if damage == "missing" else "is not the file that was written"
    with pytest.raises(ModelError, match=rf"{name}: {why}"):
        load_all(own)


def test_a_missing_directory_and_a_file(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="nowhere: no such model directory"):
        load_translator(tmp_path / "nowhere")
    (tmp_path / "file").write_text("x")
    with pytest.raises(ModelError, match="file: no such model directory"):
        load_translator(tmp_path / "file")


def test_a_directory_without_a_card(own: Path) -> None:
    (own / "card.json").unlink()
    with pytest.raises(ModelError, match=r"holds no finished model \(card.json is missing\)"):
        load_translator(own)


@pytest.mark.parametrize("engine", ["fast", "plain"])
def test_a_vocabulary_of_another_model_is_refused(own: Path, engine: EngineName) -> None:
    (own / "tokenizer.model").write_bytes(train_tokenizer(["one two three four"] * 9, size=300))
    write_hashes(own)
    match = (
        "its vocabulary is not that of" if engine == "fast" else "the weights know 431 pieces, but tokenizer.model has"
    )
    assert len(tiny_tokenizer()) == 431
    with pytest.raises(ModelError, match=match):
        load_translator(own, engine=engine)


def test_weights_that_are_no_numbers_are_refused(own: Path) -> None:
    weights = read_arrays(own / "weights.safetensors")
    weights["decoder.0.self_attention.key.weight"][3, 5] = np.nan
    write_arrays(own / "weights.safetensors", weights)
    write_hashes(own)
    with pytest.raises(ModelError, match=r"decoder.0.self_attention.key.weight holds values that are no numbers"):
        load_translator(own, engine="plain")


def test_weights_of_another_recipe_are_refused(own: Path) -> None:
    weights = read_arrays(own / "weights.safetensors")
    del weights["decoder.2.cross_attention.key.bias"]
    write_arrays(own / "weights.safetensors", weights)
    write_hashes(own)
    with pytest.raises(ModelError, match=r"the weights are not those of the recipe .*cross_attention.key"):
        load_translator(own, engine="plain")


def test_the_alignment_head_is_the_cards(own: Path) -> None:
    assert alignment_head(ModelDirectory(own)) == ALIGNMENT
    change_card(own, alignment=None)
    assert alignment_head(ModelDirectory(own)) is None


@pytest.mark.parametrize(
    "named", [{"layer": 3, "head": 0}, {"layer": 0, "head": 5}, {"layer": -1, "head": 0}, "x", [1]]
)
def test_an_alignment_head_that_is_not_there_is_refused(own: Path, named: object) -> None:
    change_card(own, alignment=named)
    with pytest.raises(ModelError, match="names an alignment head that the model does not have"):
        load_translator(own, engine="plain")


def test_the_package_has_its_names(model: Path) -> None:
    assert dragoman.load(model).translate(["12"])[0].text == "12"
    assert dragoman.DragomanError in ModelError.__mro__
    assert {"load", "train", "DragomanError"} <= set(dir(dragoman))
    with pytest.raises(AttributeError, match="module 'dragoman' has no attribute 'lode'"):
        dragoman.lode  # noqa: B018 -- asking is the test
