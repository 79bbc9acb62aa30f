"""The models that ship: packed in half precision, opened anywhere, found without a path; and what is kept of them."""

import dataclasses
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import tomllib
from collections.abc import Callable
from fnmatch import fnmatch
from pathlib import Path

import numpy as np
import pytest

import dragoman
from dragoman import checkpoint
from dragoman.checkpoint import (
    ATTRIBUTION,
    ModelDirectory,
    boxed,
    find_model,
    hash_file,
    read_arrays,
    save_model,
    write_arrays,
    write_json,
)
from dragoman.data.grammar import generate
from dragoman.engine import cache, load
from dragoman.engine.export import export
from dragoman.engine.load import EngineName, Kind, alignment_head, load_plain, load_translator
from dragoman.engine.shortlist import SHORTLIST, write_shortlist
from dragoman.errors import DataError, ModelError
from dragoman.jobs.export import Target, export_model
from dragoman.recipe import read_recipe
from run_command import SENTENCE, Cli, command, write_corpus
from serving import TALKATIVE
from tiny_model import ALIGNMENT, TINY, make_tiny_model, tiny_tokenizer

ROOT = Path(__file__).parent.parent
MOST_BYTES = 16_000_000
"""Of one model in the box; what people pack for themselves may be as large as they like."""
CREDIT = "Learned from the built-in grammar.\n"
TEXTS = [SENTENCE, *(example.source for example in generate(17, seed=13))]
PACKED = {"card.json", "recipe.toml", "tokenizer.model", "weights.safetensors", "vmap.txt.gz", ATTRIBUTION}


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a model as training leaves it, with a shortlist and scores in its card."""
    model = make_tiny_model(
        tmp_path_factory.mktemp("box") / "original",
        seed=TALKATIVE,
        card={"fast": {"use": "float32"}, "dev": {"bleu": {"score": 31.7}}},
    )
    for kind in ("float32", "int8"):
        write_shortlist(model / "fast" / kind / SHORTLIST, tiny_tokenizer().pieces, range(4, 400), {300: [400, 401]})
    change_card(
        model,
        sha256={
            str(file.relative_to(model)): hash_file(file)
            for file in sorted(model.rglob("*"))
            if file.is_file() and file.name != "card.json"
        },
    )
    return model


@pytest.fixture(scope="module")
def credit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("credit") / "sources.md"
    path.write_text(CREDIT, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def packed(original: Path, credit: Path) -> Path:
    out = original.with_name("packed")
    export_model(original, out, to="package", attribution=credit)
    return out


@pytest.fixture(scope="module")
def unpacked(packed: Path) -> Path:
    """A model as training leaves it, with the very weights of the packed one."""
    model, out = ModelDirectory(packed), packed.with_name("unpacked")
    (out / "fast").mkdir(parents=True)
    weights, pieces = model.weights(), tiny_tokenizer().pieces
    kinds: tuple[Kind, Kind] = ("float32", "int8")
    for kind in kinds:
        export(TINY, weights, pieces, out / "fast" / kind, quantization=kind, alignment=ALIGNMENT)
    files = [file for file in out.rglob("*") if file.is_file()]
    save_model(out, model.recipe, model.tokenizer(), weights, {"alignment": ALIGNMENT._asdict()}, files)
    return out


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give every test a cache of its own."""
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a test a box of its own, which is empty."""
    path = tmp_path / "box"
    path.mkdir()
    monkeypatch.setattr(checkpoint, "BOX", path)
    return path


@pytest.fixture
def full_box(box: Path, packed: Path) -> Path:
    """A box with two models, and an empty working directory."""
    for name in ("en-es", "es-en"):
        shutil.copytree(packed, box / name)
    return box


@pytest.fixture
def empty_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def turn_round(model: Path) -> None:
    """Have a model say that it translates the other way."""
    recipe = model / "recipe.toml"
    text = recipe.read_text(encoding="utf-8").replace('target_language = "es"', 'target_language = "en"')
    recipe.write_text(text.replace('source_language = "en"', 'source_language = "es"'), encoding="utf-8")
    hashes = json.loads((model / "card.json").read_text(encoding="utf-8"))["sha256"]
    change_card(model, sha256={**hashes, recipe.name: hash_file(recipe)})


def change_card(model: Path, **entries: object) -> None:
    card = json.loads((model / "card.json").read_text(encoding="utf-8"))
    write_json(model / "card.json", {**card, **entries})


def made(room: Path) -> list[Path]:
    """What a cache holds, but for its lock."""
    return sorted(path for path in room.iterdir() if path.name != ".lock")


# ---- packing -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("engine", "kind"), [("fast", "float32"), ("fast", "int8"), ("plain", None)])
def test_a_packed_model_translates_like_the_same_weights_unpacked(
    packed: Path, unpacked: Path, engine: EngineName, kind: Kind | None
) -> None:
    ours, theirs = (load_translator(path, engine=engine, kind=kind).translate(TEXTS) for path in (packed, unpacked))
    assert ours == theirs
    assert len({t.text for t in ours}) > len(TEXTS) / 2, "a model that always says the same proves nothing"


def test_half_precision_changes_no_probability_that_one_would_see(original: Path, packed: Path) -> None:
    """Weights of chance have ties, in which a hair decides: so the probabilities are compared, not what is chosen."""
    tokenizer = tiny_tokenizer()
    ours, theirs = (load_plain(ModelDirectory(path), tokenizer) for path in (packed, original))
    for example in generate(17, seed=13):
        pair = tokenizer.encode(example.source), tokenizer.encode(example.target)
        before, after = (one.trace(*pair).decoder.log_probabilities for one in (theirs, ours))
        np.testing.assert_allclose(after, before, rtol=0, atol=0.03)


def test_both_engines_agree_on_a_packed_model(packed: Path) -> None:
    """What CTranslate2 gets is made of the very weights that NumPy reads."""
    fast = load_translator(packed, kind="float32").translate(TEXTS, alignments=True)
    plain = load_translator(packed, engine="plain").translate(TEXTS, alignments=True)
    assert [t.text for t in fast] == [t.text for t in plain]
    assert [t.sentences[0].alignment for t in fast] == [t.sentences[0].alignment for t in plain]
    np.testing.assert_allclose([t.score for t in fast], [t.score for t in plain], atol=1e-4)


def test_weights_are_stored_half_and_read_single(original: Path, packed: Path) -> None:
    stored, read, before = (
        read_arrays(packed / "weights.safetensors"),
        ModelDirectory(packed).weights(),
        ModelDirectory(original).weights(),
    )
    assert {array.dtype for array in stored.values()} == {np.dtype("float16")}
    assert {array.dtype for array in read.values()} == {np.dtype("float32")}
    assert read.keys() == before.keys()
    for name, array in before.items():
        np.testing.assert_allclose(read[name], array, rtol=2.0**-11, atol=2.0**-25)


def test_the_card_is_kept_and_names_every_file(original: Path, packed: Path) -> None:
    before, after = ModelDirectory(original), ModelDirectory(packed)
    assert after.recipe == before.recipe
    assert alignment_head(after) == ALIGNMENT
    assert {name: after.card[name] for name in before.card if name != "sha256"} == {
        name: entry for name, entry in before.card.items() if name != "sha256"
    }
    assert after.card["packed"] == {"precision": "float16", "of": before.card["sha256"]["weights.safetensors"]}
    assert {path.name for path in packed.iterdir()} == PACKED
    assert after.card["sha256"] == {name: hash_file(packed / name) for name in PACKED - {"card.json"}}
    assert (packed / ATTRIBUTION).read_text(encoding="utf-8") == CREDIT


def test_the_shortlist_is_kept(original: Path, packed: Path, kept: Path) -> None:
    ours, theirs = (load_translator(path, shortlist=True).translate(TEXTS[:3]) for path in (packed, original))
    assert [t.text for t in ours] == [t.text for t in theirs]
    (place,) = made(kept)
    assert (place / SHORTLIST).read_bytes() == (original / "fast/float32" / SHORTLIST).read_bytes()


def test_packing_again_changes_nothing(packed: Path, tmp_path: Path) -> None:
    export_model(packed, tmp_path / "again", to="package")
    for name in PACKED:
        assert (tmp_path / "again" / name).read_bytes() == (packed / name).read_bytes()


def test_a_model_for_the_plain_engine_alone_can_be_packed(credit: Path, tmp_path: Path, kept: Path) -> None:
    model = make_tiny_model(
        tmp_path / "model", model=dataclasses.replace(TINY, scores="dot"), kinds=(), card={"fast": {"use": None}}
    )
    export_model(model, tmp_path / "packed", to="package", attribution=credit)
    ours, theirs = (load_translator(path).translate(TEXTS[:3]) for path in (tmp_path / "packed", model))
    assert [t.text for t in ours] == [t.text for t in theirs]
    assert not kept.exists()


def test_weights_too_large_for_half_precision_are_refused(original: Path, credit: Path, tmp_path: Path) -> None:
    model = shutil.copytree(original, tmp_path / "model")
    weights = read_arrays(model / "weights.safetensors")
    weights["decoder.1.feed_forward.inner.bias"][3] = 65_600
    write_arrays(model / "weights.safetensors", weights)
    hashes = ModelDirectory(model).card["sha256"]
    change_card(model, sha256={**hashes, "weights.safetensors": hash_file(model / "weights.safetensors")})
    with pytest.raises(ModelError, match=r"decoder\.1\.feed_forward\.inner\.bias holds values beyond 65,504") as caught:
        export_model(model, tmp_path / "packed", to="package", attribution=credit)
    assert "lower training.peak_rate" in caught.value.hint
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_an_export_that_is_interrupted_leaves_the_earlier_one(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    export_model(packed, out, to="package")
    rename = Path.rename

    def interrupt(path: Path, target: Path) -> Path:
        if path.name.endswith(".part") and path.is_dir():
            raise KeyboardInterrupt
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", interrupt)
    with pytest.raises(KeyboardInterrupt):
        export_model(packed, out, to="package", force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert {path.name for path in out.iterdir()} == PACKED


def test_a_package_says_whose_text_it_learned_from(original: Path, packed: Path, tmp_path: Path) -> None:
    out, empty = tmp_path / "out", tmp_path / "empty"
    empty.write_text(" \n")
    with pytest.raises(ModelError, match="does not say from whose text it has learned") as caught:
        export_model(original, out, to="package")
    assert "--attribution" in caught.value.hint
    with pytest.raises(ModelError, match="empty: is empty"):
        export_model(original, out, to="package", attribution=empty)
    with pytest.raises(ModelError, match=r"nowhere: cannot be read \(No such file"):
        export_model(original, out, to="package", attribution=tmp_path / "nowhere")
    assert not out.exists()
    export_model(packed, out, kind="int8")
    assert (out / ATTRIBUTION).read_text(encoding="utf-8") == CREDIT
    assert (out / SHORTLIST).is_file()


def test_a_package_has_one_precision(original: Path, credit: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="a package is in half precision, not in int8") as caught:
        export_model(original, tmp_path / "out", to="package", kind="int8", attribution=credit)
    assert caught.value.hint == "leave out --quantization"


@pytest.mark.parametrize(("first", "second"), [("package", "ctranslate2"), ("ctranslate2", "package")])
def test_force_replaces_an_export_of_the_same_form(packed: Path, tmp_path: Path, first: Target, second: Target) -> None:
    out = tmp_path / "out"
    export_model(packed, out, to=first)
    export_model(packed, out, to=first, force=True)
    with pytest.raises(ModelError, match="which is not part of an export"):
        export_model(packed, out, to=second, force=True)


@pytest.mark.parametrize(("to", "own"), [("package", ATTRIBUTION), ("ctranslate2", "README.md")])
def test_force_leaves_what_only_looks_like_an_export(packed: Path, tmp_path: Path, to: Target, own: str) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / own).write_text("mine\n", encoding="utf-8")
    with pytest.raises(ModelError, match="so it is no export") as caught:
        export_model(packed, out, to=to, force=True)
    assert caught.value.hint == "--force replaces an export, nothing else"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (out / own).read_text(encoding="utf-8") == "mine\n"


def test_the_command_packs_and_tells_the_size(cli: Cli, original: Path, credit: Path, tmp_path: Path) -> None:
    out = tmp_path / "en-es"
    said = cli("export", "-m", original, "--to", "package", "--attribution", credit, out)
    assert said.code == 0
    assert f"{out}  (half precision, for dragoman)" in said.out
    assert f"in all               {sum(path.stat().st_size for path in out.iterdir()):,} bytes" in said.out


def test_a_training_can_start_from_a_packed_model(packed: Path, tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "pairs.tsv")
    small = ["training.batch_pieces=512", "training.scorings=1", "training.score_pairs=3", "training.processes=1"]
    measured = shutil.copytree(packed, tmp_path / "measured")
    change_card(measured, tests=[{"name": "News"}])
    out = dragoman.train([corpus], out=tmp_path / "model", start=measured, steps=1, settings=small)
    assert {array.dtype for array in ModelDirectory(out).weights().values()} == {np.dtype("float32")}
    assert ModelDirectory(out).card["start"]["name"] == "measured"
    assert "tests" not in ModelDirectory(out).card, "which were measured with other weights"


# ---- what is kept --------------------------------------------------------------------------------------


def test_the_first_use_makes_and_the_second_reuses(packed: Path, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = load_translator(packed).translate(TEXTS)
    (place,) = made(kept)
    monkeypatch.setattr(load, "write_fast", None)
    assert load_translator(packed).translate(TEXTS) == first
    assert made(kept) == [place]


def test_a_copy_of_a_model_shares_what_is_kept_and_another_does_not(
    packed: Path, kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_translator(packed)
    copied = shutil.copytree(packed, tmp_path / "copy")
    load_translator(copied)
    assert len(made(kept)) == 1
    change_card(copied, fast={"use": "int8"})
    load_translator(copied)
    assert sorted(place.name.partition("-")[0] for place in made(kept)) == ["float32", "int8"]
    change_card(copied, alignment=None)
    load_translator(copied)
    assert len(made(kept)) == 3
    monkeypatch.setattr(load, "_EXPORT", load._EXPORT + 1)
    load_translator(packed)
    assert len(made(kept)) == 4


def flip(place: Path) -> None:
    content = bytearray((place / "model.bin").read_bytes())
    content[len(content) // 2] ^= 1
    (place / "model.bin").write_bytes(content)


def cut(place: Path) -> None:
    (place / "model.bin").write_bytes((place / "model.bin").read_bytes()[:-1])


def unlist(place: Path) -> None:
    (place / "sha256.json").write_text("{")


def forget_all(place: Path) -> None:
    for file in place.iterdir():
        file.unlink()
    (place / "sha256.json").write_text("{}")


def add(place: Path) -> None:
    (place / "more").touch()


@pytest.mark.parametrize("damage", [flip, cut, unlist, forget_all, add, shutil.rmtree])
def test_what_is_damaged_is_made_anew(packed: Path, kept: Path, damage: Callable[[Path], None]) -> None:
    first = load_translator(packed).translate(TEXTS[:3])
    (place,) = made(kept)
    before = {file.name: hash_file(file) for file in place.iterdir()}
    damage(place)
    assert load_translator(packed).translate(TEXTS[:3]) == first
    assert made(kept) == [place]
    assert {file.name: hash_file(file) for file in place.iterdir()} == before


def test_what_could_not_be_finished_leaves_nothing(kept: Path) -> None:
    def fail(out: Path) -> None:
        out.mkdir()
        (out / "half").touch()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cache.keep("thing", fail)
    assert made(kept) == []


def test_who_comes_at_once_waits_and_shares(kept: Path) -> None:
    """However many come, one of them makes it, and all get it whole."""
    times, begun = [], threading.Barrier(5)

    def make(out: Path) -> None:
        times.append(out)
        out.mkdir()
        for number in range(200):
            (out / str(number)).write_text(str(number))

    def come() -> None:
        begun.wait()
        found.append(len(list(cache.keep("thing", make).iterdir())))

    found: list[int] = []
    threads = [threading.Thread(target=come) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [201] * 5
    assert len(times) == 1


def test_two_commands_at_once_get_the_same(packed: Path, kept: Path, original: Path) -> None:
    program = [sys.executable, "-m", "dragoman", "translate", "-m", str(packed), SENTENCE]
    both = [subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    expected = load_translator(original).translate([SENTENCE])[0].text
    for one in both:
        out, err = one.communicate(timeout=120)
        assert (one.returncode, out.rstrip("\n")) == (0, expected), err
    assert len(made(kept)) == 1


def test_where_nothing_can_be_kept_it_is_made_for_the_process(packed: Path, original: Path, tmp_path: Path) -> None:
    """A file where the cache should be cannot be written into, not even by root."""
    (tmp_path / "file").touch()
    (tmp_path / "temporary").mkdir()
    rooms = {"DRAGOMAN_CACHE": str(tmp_path / "file" / "cache"), "TMPDIR": str(tmp_path / "temporary")}
    said = command("translate", "--quiet", "-m", packed, SENTENCE, stdin=b"", cwd=None, **rooms)
    assert (said.code, said.err) == (0, "")
    assert said.out.rstrip("\n") == load_translator(original).translate([SENTENCE])[0].text
    assert list((tmp_path / "temporary").iterdir()) == []


def test_the_process_makes_it_once(packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "file"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    cache._own_room.cache_clear()
    try:
        first = load_translator(packed).translate(TEXTS[:3])
        monkeypatch.setattr(load, "write_fast", None)
        assert load_translator(packed).translate(TEXTS[:3]) == first
        (room,) = (tmp_path / "temporary").iterdir()
        assert len(made(room)) == 1
    finally:
        cache._own_room.cache_clear()


def test_where_nothing_can_be_written_at_all(packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "file"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    cache._own_room.cache_clear()
    message = r"there is no room for what must be made of the model \(No such file"
    with pytest.raises(ModelError, match=message) as caught:
        load_translator(packed)
    assert cache.VARIABLE in caught.value.hint
    assert load_translator(packed, engine="plain").translate(["12"])[0].text == "12"


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, "/home/ann/.cache/dragoman"),
        ({"XDG_CACHE_HOME": "/var/ann"}, "/var/ann/dragoman"),
        ({"XDG_CACHE_HOME": "relative"}, "/home/ann/.cache/dragoman"),
        ({"XDG_CACHE_HOME": "/var/ann", cache.VARIABLE: "/scratch/x"}, "/scratch/x"),
        ({cache.VARIABLE: ""}, "/home/ann/.cache/dragoman"),
    ],
)
def test_where_things_are_kept(variables: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_CACHE_HOME", cache.VARIABLE):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/home/ann")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert cache.cache_directory() == Path(expected)


def test_a_cache_without_a_home(kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("XDG_CACHE_HOME", cache.VARIABLE):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    cache._own_room.cache_clear()
    try:
        assert cache.keep("thing", lambda out: out.mkdir()).parent.parent == tmp_path
    finally:
        cache._own_room.cache_clear()


def test_the_first_use_needs_no_torch_and_the_second_no_numpy(packed: Path) -> None:
    """Making takes as long as it takes; a cold start afterwards pays for nothing but CTranslate2."""
    program = (
        "import sys; sys.modules['torch'] = None\nfrom dragoman.cli.main import run\n"
        "try: run()\nfinally: print(sorted({'numpy', 'ctranslate2.specs', 'gzip'} & set(sys.modules)))"
    )
    for expected in ("['ctranslate2.specs', 'gzip', 'numpy']", "[]"):
        words = [sys.executable, "-c", program, "translate", "--quiet", "-m", str(packed), SENTENCE]
        done = subprocess.run(words, capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "100"})
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[-1] == expected


# ---- the box -------------------------------------------------------------------------------------------


def test_without_a_name_it_is_the_default_one(full_box: Path, empty_place: Path) -> None:
    (empty_place / "en-es").mkdir()
    assert find_model() == full_box / "en-es"
    assert dragoman.load().translate(["12"])[0].text == "12"
    assert ModelDirectory().path == full_box / "en-es"


def test_a_direction_names_a_model_and_a_path_wins(full_box: Path, packed: Path, empty_place: Path) -> None:
    assert find_model("es-en") == find_model(Path("es-en/")) == full_box / "es-en"
    assert dragoman.load("es-en").translate(["12"])[0].text == "12"
    shutil.copytree(packed, empty_place / "es-en")
    assert find_model("es-en") == Path("es-en")
    assert find_model(empty_place / "en-es") == empty_place / "en-es", "only a bare name is looked for in the box"


@pytest.mark.parametrize("name", ["..", ".", "de-en", "README.md", "en-es/card.json", ""])
def test_nothing_else_is_found_in_the_box(full_box: Path, empty_place: Path, name: str) -> None:
    (full_box / "README.md").touch()
    (full_box / "de-en").mkdir()
    assert find_model(name) == Path(name)


@pytest.mark.parametrize(
    "words", [["translate", SENTENCE], ["look", SENTENCE], ["evaluate", "x.tsv"], ["serve"], ["export", "out"]]
)
def test_an_empty_box_says_what_to_do(cli: Cli, box: Path, empty_place: Path, words: list[str]) -> None:
    said = cli(*words)
    assert said.code == 1
    assert said.out == ""
    assert said.err.splitlines() == [
        "error: no model was named, and none for en-es came with dragoman",
        "hint: name one with -m, or train one: dragoman train pairs.tsv --from en --to es --out my-model",
    ]


def test_what_else_is_in_the_box_is_said(box: Path, packed: Path, empty_place: Path) -> None:
    shutil.copytree(packed, box / "es-en")
    with pytest.raises(ModelError, match="none for en-es came with dragoman") as caught:
        find_model()
    assert caught.value.hint.startswith("name one with -m (in the box: es-en), or train one: ")
    with pytest.raises(ModelError, match="fr-en: no such model directory") as caught:
        ModelDirectory("fr-en")
    assert caught.value.hint.endswith("`dragoman train --out` wrote, or a model of the box: es-en")


def test_the_commands_take_the_model_in_the_box(
    cli: Cli, full_box: Path, empty_place: Path, original: Path, tmp_path: Path
) -> None:
    corpus = write_corpus(tmp_path / "pairs.tsv")
    expected = load_translator(original).translate([SENTENCE])[0].text
    assert cli("translate", SENTENCE).out.rstrip("\n") == expected
    assert cli("translate", "-m", "es-en", SENTENCE).out.rstrip("\n") == expected
    assert cli("look", "--html", "page.html", SENTENCE).code == 0
    assert "en-es" in Path("page.html").read_text(encoding="utf-8")
    said = cli("evaluate", corpus, "--beam", "1", "--against", "es-en", "--worst", "0", "--differences", "0")
    assert "en-es: 55 lines" in said.out
    assert "Against es-en" in said.out
    assert cli("export", "out").code == 0
    assert Path("out", ATTRIBUTION).read_text(encoding="utf-8") == CREDIT


@pytest.mark.parametrize(("words", "names"), [([], ["en-es", "es-en"]), (["-m", "es-en"], ["es-en"])])
def test_serving_takes_the_models_in_the_box(
    cli: Cli, full_box: Path, empty_place: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], names: list[str]
) -> None:
    served: list[Path] = []
    turn_round(full_box / "es-en")

    def stop(models: list[object], *_: object) -> None:
        served.extend(one.directory.path for one in models)  # type: ignore[attr-defined]
        raise DataError("this is enough", hint="go on")

    monkeypatch.setattr("dragoman.server.app.create_app", stop)
    assert "this is enough" in cli("serve", "--port", "0", *words).err
    assert served == [full_box / name for name in names]


def test_a_training_can_start_from_the_box(
    cli: Cli, full_box: Path, empty_place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []

    def stop(*_: object, start: Path, **__: object) -> None:
        asked.append(start)
        raise DataError("this is enough", hint="go on")

    monkeypatch.setattr("dragoman.jobs.train.train", stop)
    cli("train", "x.tsv", "--start", "es-en", "--quiet")
    assert asked == [full_box / "es-en"]


@pytest.mark.parametrize("verb", ["translate", "look", "serve", "evaluate", "export", "train"])
def test_help_tells_of_the_box(cli: Cli, verb: str) -> None:
    said = " ".join(cli(verb, "--help").out.split())
    assert "in the box" in said.partition("Examples:")[2]
    usual = {"train": "", "serve": "[default: (all in the box)]"}.get(verb, "[default: (en-es, in the box)]")
    assert usual in said


# ---- what ships ----------------------------------------------------------------------------------------


def test_english_to_spanish_is_in_the_box_and_translates() -> None:
    """With the weights that ship, not with some that a test has made."""
    (said,) = dragoman.load().translate(["Where did you buy those red shoes?"])
    assert "zapatos rojos" in said.text
    assert not said.flags


@pytest.mark.parametrize("name", ["en-es", "es-en"])
def test_what_ships_is_of_the_recipe_that_ships(name: str) -> None:
    """The recipe and the other settings' defaults: if one of these changes, the recipe must say what it was."""
    recipe, shipped = read_recipe(ROOT / "recipes" / "en-es-box.toml"), ModelDirectory(name).recipe
    source, target = name.split("-")
    judged = dataclasses.replace(recipe.training, judge_pairs=shipped.training.judge_pairs)  # which teaches nothing
    assert dataclasses.replace(recipe, source_language=source, target_language=target, training=judged) == shipped


@pytest.mark.parametrize("name", boxed())
def test_a_model_that_ships_is_small_whole_and_says_where_it_comes_from(name: str) -> None:
    model = checkpoint.BOX / name
    directory = ModelDirectory(model)
    files = {str(file.relative_to(model)): file for file in model.rglob("*") if file.is_file()}
    assert sum(file.stat().st_size for file in files.values()) <= MOST_BYTES
    assert files.keys() == {"card.json", *directory.card["sha256"]}
    assert all(directory.checked(file).stat().st_size for file in directory.card["sha256"])
    assert ATTRIBUTION in files
    assert {one["name"] for one in directory.card["tests"]} == {"Tatoeba test", "Flores dev"}
    assert not directory.kinds(), "what CTranslate2 needs is made at the first use"
    assert {array.dtype for array in read_arrays(files["weights.safetensors"]).values()} == {np.dtype("float16")}
    assert name == f"{directory.recipe.source_language}-{directory.recipe.target_language}"


def test_what_is_in_the_box_is_packed_into_wheel_and_sdist() -> None:
    """The whole package is taken, but for what git ignores: nothing of a model may be among that."""
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]
    assert build["wheel"] == {"packages": ["src/dragoman"]}
    assert "src" in build["sdist"]["include"]
    assert build["sdist"].keys() == {"include"}
    ignored = [line.strip().strip("/") for line in (ROOT / ".gitignore").read_text().splitlines() if line.strip()]
    for part in ("src", "dragoman", "models", *boxed(), *PACKED):
        assert not [pattern for pattern in ignored if fnmatch(part, pattern)]
    assert checkpoint.BOX == ROOT / "src" / "dragoman" / "models"
    assert checkpoint.BOX.is_dir()
