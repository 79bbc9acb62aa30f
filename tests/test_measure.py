"""Scores on test sets in a packed model's card: measured with the weights as packed, and kept as long as these are."""

import datetime as dt
import json
import re
import shutil
from pathlib import Path

import pytest

from dragoman.checkpoint import ATTRIBUTION, ModelDirectory, write_json
from dragoman.data.grammar import generate
from dragoman.engine import cache
from dragoman.engine.load import load_translator
from dragoman.errors import DataError, ModelError
from dragoman.jobs.evaluate import evaluate, read_test_set
from dragoman.jobs.export import export_model
from dragoman.jobs.measure import measured_in_words, read_tests, signatures_in_words
from run_command import Cli
from serving import TALKATIVE
from tiny_model import make_tiny_model

PAIRS = [(e.source, e.target) for e in generate(13, seed=5)]
SEVERAL = [*PAIRS, (PAIRS[0][0], "Es otra cosa.")]
"""The first source has two references."""


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every test a cache of its own."""
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model as training leaves it, its attribution, and test sets of several forms."""
    path = tmp_path_factory.mktemp("measure")
    make_tiny_model(path / "original", seed=TALKATIVE)
    (path / "sources.md").write_text("Learned from the built-in grammar.\n", encoding="utf-8")
    for name, pairs in (("test", PAIRS), ("several", SEVERAL), ("turned", [pair[::-1] for pair in PAIRS])):
        lines = "".join(f"{source}\t{target}\n" for source, target in pairs)
        (path / f"{name}.tsv").write_text(lines, encoding="utf-8")
    for language, side in (("en", 0), ("es", 1)):
        (path / f"dev.{language}").write_text("".join(pair[side] + "\n" for pair in PAIRS), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def packed(room: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = room / "packed"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(cache.VARIABLE, str(tmp_path_factory.mktemp("cache")))
        tests = [f"Several={room / 'several.tsv'}", str(room / "test.tsv")]
        export_model(room / "original", out, to="package", attribution=room / "sources.md", tests=tests)
    return out


def test_the_card_tells_what_the_packed_model_scores(room: Path, packed: Path) -> None:
    model = ModelDirectory(packed)
    test = read_test_set([room / "several.tsv"], "en", "es")
    found = evaluate(load_translator(model), test, language="es")
    assert found.by_source is not None
    assert len(set(found.translations)) > len(PAIRS) / 2, "a model that always says the same proves nothing"
    several, single = model.card["tests"]
    assert list(several) == ["name", "pairs", "date", "bleu", "chrf", "ter", "by_source"]
    assert (several["name"], several["pairs"]) == ("Several", len(SEVERAL))
    assert abs(dt.datetime.now(dt.UTC).date() - dt.date.fromisoformat(several["date"])) <= dt.timedelta(days=1)
    for told, scores in ((several, found.scores), (several["by_source"], found.by_source)):
        for name, one in scores._asdict().items():
            assert told[name] == {"score": round(one.value, 2), "signature": one.signature}
    assert several["by_source"]["pairs"] == len(PAIRS)
    assert (single["name"], single["pairs"], "by_source" in single) == ("test.tsv", len(PAIRS), False)


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("test.tsv", "test.tsv"),
        ("turned.tsv:2,1", "turned.tsv:2,1"),
        ("dev", "dev"),
        ("dev.es", "dev.es"),
        ("a=b.tsv", "a=b.tsv"),
        ("The grammar=1=test.tsv", "The grammar"),
        ("./lang=en/turned.tsv:2,1", "turned.tsv:2,1"),
    ],
)
def test_a_test_set_has_its_files_name_or_its_own(
    room: Path, packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str, name: str
) -> None:
    """Whatever the form, it is the same test set; a file that is really called a=b.tsv is taken for one."""
    shutil.copytree(room, tmp_path / "here", ignore=shutil.ignore_patterns("original", "packed"))
    monkeypatch.chdir(tmp_path / "here")
    Path("lang=en").mkdir()
    shutil.copy("turned.tsv", "lang=en")
    for copied in ("a=b.tsv", "1=test.tsv"):
        shutil.copy("test.tsv", copied)
    ((found, test),) = read_tests([asked], ModelDirectory(packed))
    assert found == name
    assert list(zip(test.sources, test.references, strict=True)) == PAIRS


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (["x/a.tsv", "b.tsv", "y/a.tsv"], "2 test sets are called a.tsv"),
        (["=a.tsv"], "--test =a.tsv lacks a name or a file"),
        (["News="], "--test News= lacks a name or a file"),
        (["News=nowhere.tsv"], "nowhere.tsv does not exist"),
    ],
)
def test_a_test_set_that_cannot_be_told_is_refused(packed: Path, asked: list[str], message: str) -> None:
    with pytest.raises(DataError, match=re.escape(message)) as caught:
        read_tests(asked, ModelDirectory(packed))
    if "nowhere" not in message:
        assert "NAME=FILE" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "text", "message", "hint"),
    [
        (
            "t.tsv",
            "".join(f"{b}\t{a}\n" for a, b in PAIRS),
            r"t\.tsv: .* swapped\? t\.tsv:2,1 reads",
            "other way round",
        ),
        ("t.csv", "en,fr\nyes,oui\n", r"t\.csv:1: no es; it has en, fr", "the model translates en to es"),
    ],
)
def test_a_test_set_of_other_languages_is_refused(
    packed: Path, tmp_path: Path, name: str, text: str, message: str, hint: str
) -> None:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message) as caught:
        read_tests([str(file)], ModelDirectory(packed))
    assert hint in caught.value.hint


def test_nothing_is_packed_if_a_test_set_is_missing(packed: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nowhere\.tsv does not exist"):
        export_model(packed, tmp_path / "out", to="package", tests=[str(tmp_path / "nowhere.tsv")])
    assert list(tmp_path.iterdir()) == []


def test_only_a_package_keeps_scores(packed: Path, room: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="only a package has a card to keep scores in") as caught:
        export_model(packed, tmp_path / "out", tests=[str(room / "test.tsv")])
    assert caught.value.hint == "leave out --test, or add --to package"


def test_scores_are_kept_while_the_weights_are(packed: Path, tmp_path: Path) -> None:
    export_model(packed, tmp_path / "again", to="package")
    for file in packed.iterdir():
        assert (tmp_path / "again" / file.name).read_bytes() == file.read_bytes()


def test_scores_go_with_the_weights_that_they_were_measured_with(packed: Path, room: Path, tmp_path: Path) -> None:
    """Packing halves the weights of a model that says it has been measured: these are no longer the ones."""
    model = shutil.copytree(room / "original", tmp_path / "model")
    write_json(model / "card.json", {**ModelDirectory(model).card, "tests": ModelDirectory(packed).card["tests"]})
    export_model(model, tmp_path / "out", to="package", attribution=room / "sources.md")
    assert "tests" not in ModelDirectory(tmp_path / "out").card


def test_what_is_measured_anew_replaces_what_was_measured(packed: Path, room: Path, tmp_path: Path) -> None:
    export_model(packed, tmp_path / "out", to="package", tests=[f"Other={room / 'dev'}"])
    before, after = ModelDirectory(packed).card, ModelDirectory(tmp_path / "out").card
    (other,) = after["tests"]
    single = before["tests"][1]
    assert other == {**single, "name": "Other", "date": other["date"]}
    assert {**after, "tests": None} == {**before, "tests": None}


def test_a_model_can_be_measured_in_its_place(packed: Path, room: Path, tmp_path: Path) -> None:
    """Packed over itself, as one does with a model of the box that is to be measured on another test set."""
    model = shutil.copytree(packed, tmp_path / "model")
    export_model(model, model, to="package", tests=[f"Other={room / 'dev'}"], force=True)
    assert [one["name"] for one in ModelDirectory(model).card["tests"]] == ["Other"]
    assert [path.name for path in tmp_path.iterdir() if path.name != "cache"] == ["model"]


def test_lines_are_counted_over_all_test_sets(packed: Path, room: Path, tmp_path: Path) -> None:
    told: list[int] = []
    tests = [str(room / "several.tsv"), str(room / "test.tsv")]
    export_model(packed, tmp_path / "out", to="package", tests=tests, tell=told.append)
    assert told == list(range(1, len(SEVERAL) + len(PAIRS) + 1))


def test_the_command_tells_the_scores(cli: Cli, packed: Path, room: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ["export", "-m", room / "original", "--to", "package", "--attribution", room / "sources.md"]
    said = cli(*words, "--test", f"Several={room / 'several.tsv'}", "--test", room / "test.tsv", out)
    assert said.code == 0, said.err
    tests = ModelDirectory(out).card["tests"]
    assert [{**one, "date": ""} for one in tests] == [
        {**one, "date": ""} for one in json.loads((packed / "card.json").read_text(encoding="utf-8"))["tests"]
    ]
    facts = [f"{name} {told}" for name, told in measured_in_words(tests)]
    assert " ".join(said.out.split()).endswith(" ".join(facts))
    assert (out / ATTRIBUTION).is_file()
    said = cli("export", "-m", out, "--to", "package", tmp_path / "again")
    assert "test set" not in said.out, "nothing was measured"


def test_help_tells_how_test_sets_are_named(cli: Cli) -> None:
    said = " ".join(cli("export", "--help").out.split())
    assert "--test NAME=FILE A test set, under the name that people know it by, to score a package on" in said
    assert "named as for `dragoman evaluate` (two files by what their names begin with)" in said


def scores(value: float, signature: str) -> dict[str, object]:
    return {name: {"score": value, "signature": signature} for name in ("bleu", "chrf", "ter")}


def test_scores_are_told_with_what_they_were_counted_on() -> None:
    every = {"pairs": 1723, **scores(49.72, "many")}
    one = {"name": "Tatoeba test", "pairs": 2000, "date": "2026-11-18", **scores(46.74, "one"), "by_source": every}
    ((title, told),) = measured_in_words([one])
    assert title == "test set"
    assert told == (
        "Tatoeba test: BLEU 46.7, chrF 46.7, TER 46.7; 2,000 pairs, measured 2026-11-18; every source once "
        "(1,723), against all its references: BLEU 49.7, chrF 49.7, TER 49.7"
    )
    dev = scores(44.97, "one")
    assert list(signatures_in_words({"dev": dev})) == [("BLEU", "one"), ("chrF", "one"), ("TER", "one")]
    counted = list(signatures_in_words({"dev": dev, "tests": [one]}))
    assert counted[:2] == [("BLEU", "one (dev; Tatoeba test)"), ("BLEU", "many (Tatoeba test, every source once)")]
    assert len(counted) == 6
