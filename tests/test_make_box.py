"""The models of the box in one command: from text to packages that say whom they owe and what they score.

Training itself takes an hour; here a tiny model stands for what comes of it.
"""

import dataclasses
import gzip
import re
from pathlib import Path

import pytest
from benchmarks import make_box
from benchmarks.attribution import Learned, attribution, read_people
from benchmarks.corpus import directory

from dragoman.checkpoint import ATTRIBUTION, BOX, ModelDirectory, boxed, hash_file
from dragoman.data.grammar import generate
from dragoman.engine import cache
from tiny_model import RECIPE, make_tiny_model

PAIRS = [(e.source, e.target) for e in generate(12, seed=5)]
PROSE = [("Call `f(x)`.", "Llame a `f(x)`."), ("It is empty.", "Está vacío.")]
READ = len(PAIRS) + 1 + 2
"""All pairs but the one with markup, and two of TICO-19's."""
CREDITS = (
    "CC-BY 2.0 (France) Attribution: tatoeba.org #28 (CM) & #49 (_anna)",
    "CC-BY 2.0 (France) Attribution: tatoeba.org #28 (CM) & #50 (al_ex__)",
    "CC-BY 2.0 (France) Attribution: tatoeba.org #29 (arh) & #51 (ARH)",
)
LEARNED = Learned(136_868, 10_368, 2_100)
"""Of the models that ship."""
PEOPLE = "# The people of Tatoeba"


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with all the text, and a training that has read it, or so its card says."""
    for variable, name, pairs in (
        ("TATOEBA", "train", PAIRS),
        ("TATOEBA", "val", PAIRS[5:9]),
        ("TATOEBA", "test", PAIRS[:5]),
        ("PYTHON_DOCS", "pairs", PROSE),
        ("TICO19", "pairs", PAIRS[:2]),
    ):
        (tmp_path / variable).mkdir(exist_ok=True)
        write(tmp_path / variable / f"{name}.tsv.gz", [f"{source}\t{target}" for source, target in pairs])
    write(tmp_path / "TATOEBA" / "attribution.tsv.gz", CREDITS)
    (tmp_path / "FLORES").mkdir()
    for side, language in enumerate(("en", "es")):
        write(tmp_path / "FLORES" / f"dev.{language}.gz", [pair[side] for pair in PAIRS[:3]])
    for variable in ("TATOEBA", "PYTHON_DOCS", "TICO19", "FLORES"):
        monkeypatch.setenv(variable, str(tmp_path / variable))
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    make_tiny_model(tmp_path / "model", card={"corpus": {"read": READ}})
    monkeypatch.setattr(make_box, "trained", lambda *_: tmp_path / "model")
    return tmp_path


def write(path: Path, lines: tuple[str, ...] | list[str]) -> None:
    path.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode()))


def test_models_are_made_and_packed_in_one_command(
    room: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, list[str]] = {}

    def train(_room: Path, name: str, words: list[str | Path]) -> Path:
        asked[name] = list(map(str, words))
        source, target = name.split("-")
        recipe = dataclasses.replace(RECIPE, source_language=source, target_language=target)
        return make_tiny_model(room / name, recipe=recipe, card={"corpus": {"read": READ}})

    monkeypatch.setattr(make_box, "trained", train)
    assert make_box.main(["en-es", "es-en", "--into", "made"]) == 0
    assert asked["en-es"][0] == f"{room / 'TATOEBA'}/train.tsv.gz"
    assert asked["es-en"][0] == f"{room / 'TATOEBA'}/train.tsv.gz:2,1"
    said = capsys.readouterr().out
    for name in asked:
        model = ModelDirectory(room / "made" / name)
        assert [(one["name"], one["pairs"]) for one in model.card["tests"]] == [("Tatoeba test", 5), ("Flores dev", 3)]
        told = (room / "made" / name / ATTRIBUTION).read_text(encoding="utf-8")
        assert told == attribution(name, Learned(len(PAIRS), 1, 2), ["_anna", "al_ex__", "ARH", "arh", "CM"])
        assert f"made/{name}  (half precision, for dragoman)" in said
    assert said.count("Flores dev: BLEU") == 2


def test_what_is_there_is_neither_trained_nor_replaced_unless_asked_for(
    room: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    make_box.main(["en-es", "--into", "made"])
    there = room / "made" / "en-es"
    monkeypatch.setattr(make_box, "trained", None)
    with pytest.raises(SystemExit) as left:
        make_box.main(["es-en", "en-es", "--into", "made"])
    assert left.value.code == 2
    assert "made/en-es is there already; see --into, --replace and --repack" in capsys.readouterr().err
    before = hash_file(there / "weights.safetensors")
    write(room / "TATOEBA" / "test.tsv.gz", ["\t".join(PAIRS[7])])
    assert make_box.main(["en-es", "--into", "made", "--repack"]) == 0
    assert [one["pairs"] for one in ModelDirectory(there).card["tests"]] == [1, 3]
    assert hash_file(there / "weights.safetensors") == before
    monkeypatch.setattr(
        make_box, "trained", lambda *_: make_tiny_model(room / "new", seed=3, card={"corpus": {"read": READ}})
    )
    assert make_box.main(["en-es", "--into", "made", "--replace"]) == 0
    assert hash_file(there / "weights.safetensors") != before


def test_a_model_of_other_text_is_not_credited_to_this(room: Path) -> None:
    write(room / "TICO19" / "pairs.tsv.gz", ["one\tuno"])
    with pytest.raises(SystemExit, match=f"model has read {READ} pairs, but here are {READ - 1}: other text"):
        make_box.main(["en-es", "--into", "made"])
    assert not (room / "made").exists()


def test_text_that_is_missing_is_noticed_at_once(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make_box, "trained", None)
    for variable, file in (("TATOEBA", "attribution.tsv.gz"), ("TATOEBA", "val.tsv.gz"), ("FLORES", "dev.es.gz")):
        kept = (room / variable / file).rename(room / "kept")
        with pytest.raises(SystemExit, match=rf"there is no .*{re.escape(file)}; {variable} names the directory"):
            make_box.main(["en-es", "--into", "made"])
        kept.rename(room / variable / file)


def test_only_what_is_there_is_packed_anew(room: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        make_box.main(["en-es", "--into", "made", "--repack"])
    assert "there is no made/en-es to pack anew" in capsys.readouterr().err


@pytest.mark.parametrize("words", [[], ["de-en"]])
def test_other_models_are_not_of_the_box(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        make_box.main(words)
    assert "NAME" in capsys.readouterr().err


def test_everybody_is_named_once_and_markdown_leaves_the_names_alone(room: Path) -> None:
    """The licence's country is nobody's name."""
    people = read_people(room / "TATOEBA" / "attribution.tsv.gz")
    assert people == ["_anna", "al_ex__", "ARH", "arh", "CM"]
    told = attribution("en-es", Learned(1, 2, 3), people)
    assert told.endswith("\n# The people of Tatoeba\n\n\\_anna, al_ex\\_\\_, ARH, arh, CM.\n")


@pytest.mark.parametrize(("name", "unsaid"), [("en-es", "a friend or a stranger"), ("es-en", "or says *su*")])
def test_each_direction_tells_its_own_limits_and_no_scores(name: str, unsaid: str) -> None:
    told = attribution(name, LEARNED, [])
    assert unsaid in told
    assert "136,868 pairs of everyday sentences" in told
    assert f"dragoman about -m {name}" in told
    assert f"--start {name}`" in told
    assert "BLEU" not in told, "that is in the card"
    assert not re.search(r"[{}]", told)


@pytest.mark.parametrize("name", boxed())
def test_what_ships_says_what_is_said_now(name: str) -> None:
    model = ModelDirectory(BOX / name)
    assert sum(LEARNED) == model.card["corpus"]["read"]
    told = (model.attribution() or b"").decode()
    assert told.partition(PEOPLE)[:2] == attribution(name, LEARNED, []).partition(PEOPLE)[:2]


@pytest.mark.parametrize("name", boxed())
def test_what_ships_names_everybody(name: str) -> None:
    listed = directory("TATOEBA") / "attribution.tsv.gz"
    if not listed.exists():
        pytest.skip("Tatoeba's list of names is not here; TATOEBA names the directory that holds attribution.tsv.gz")
    people = read_people(listed)
    assert len(people) > 1000
    assert (BOX / name / ATTRIBUTION).read_text(encoding="utf-8") == attribution(name, LEARNED, people)
