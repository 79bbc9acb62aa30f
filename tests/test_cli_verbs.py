"""The other verbs: check, generate, recipe, evaluate, look, export."""

import json
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from run_command import SENTENCE, Cli, write_corpus
from tiny_model import RECIPE, make_tiny_model

pytest_plugins = ["commanding"]


# ---- check, generate, recipe ---------------------------------------------------------------------------


def test_check_shows_the_corpus_and_what_training_would_do(cli: Cli, corpus: Path) -> None:
    said = cli("check", corpus, "--from", "en", "--to", "es")
    assert said.code == 0
    for part in (
        "pairs.tsv  (English → Spanish)",
        "read    55 pairs",
        "empty-side",
        "a side is empty or white space",
        "pairs.tsv:54",
        "numbers-disagree",
        "The year 1984 → El año 1985",
        "Training would",
        "parameters",
        "for an epoch of",
        f"dragoman train {corpus} --from en --to es --out my-model --minutes ",
    ):
        assert part in said.out
    assert re.search(
        r"^About \d+ epochs should do; an estimate, since training measures before it plans:$", said.out, re.MULTILINE
    )
    assert "\x1b" not in said.out
    assert all(line == line.rstrip() for line in said.out.splitlines())
    assert "are very few: a model can learn these sentences, but no language" in said.err


def test_check_lists_what_a_filter_drops(cli: Cli, corpus: Path) -> None:
    said = cli("check", corpus, "--list", "numbers-disagree")
    assert said.out == "pairs.tsv:55\tThe year 1984\tEl año 1985\n"
    assert said.err == "note: numbers-disagree drops 1 pair of 55\n"
    said = cli("check", corpus, "--list", "numbers")
    assert said.code == 1
    assert "error: there is no filter 'numbers'; did you mean 'numbers-disagree'?" in said.err


def test_check_as_json(cli: Cli, corpus: Path) -> None:
    tree = json.loads(cli("check", corpus, "--json").out)
    assert tree["read"] == 55
    assert tree["forecast"]["pairs"] + tree["forecast"]["held_out"] == tree["kept"]
    assert tree["readers"]["units"] == 0


def test_check_lists_or_tells_json_but_not_both(cli: Cli, corpus: Path) -> None:
    said = cli("check", corpus, "--list", "copied", "--json")
    assert (said.code, said.out) == (1, "")
    assert "error: --list and --json cannot be given together\nhint: --dropped writes" in said.err


def test_check_writes_copies_and_heeds_settings(cli: Cli, corpus: Path, tmp_path: Path) -> None:
    kept, dropped = tmp_path / "kept.tsv", tmp_path / "dropped.tsv"
    said = cli("check", corpus, "--clean", kept, "--dropped", dropped, "--set", "cleaning.check_numbers=false")
    assert "El año 1985" in kept.read_text(encoding="utf-8")
    assert dropped.read_text(encoding="utf-8") == "pairs.tsv:54\tempty-side\t\tempty\n"
    assert f"written to {kept}" in said.err
    said = cli("check", corpus, "--set", "cleaning.max_ration=3")
    assert "error: cleaning has no setting 'max_ration'; did you mean 'max_ratio'?" in said.err


def test_check_advises_to_go_on_from_the_box(cli: Cli, corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dragoman.jobs.check.boxed", lambda: ["en-es"])
    said = cli("check", corpus, "--from", "en", "--to", "es")
    assert said.out.endswith(
        "So few pairs do better on top of a model that knows these languages:\n"
        f"  dragoman train {corpus} --from en --to es --out my-model --start en-es\n"
    )
    assert "--start" not in cli("check", corpus, "--from", "es", "--to", "en").out


def test_check_advises_a_training_of_what_was_checked(
    cli: Cli, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dragoman.jobs.check.boxed", lambda: ["en-es"])
    test, recipe = write_corpus(tmp_path / "my test.tsv"), tmp_path / "r.toml"
    test.write_text("Nobody says this.\tNadie dice esto.\n", encoding="utf-8")
    recipe.write_text("[model]\nwidth = 96\n", encoding="utf-8")
    spoken = ("--from", "en", "--to", "es", "--test", test)
    settings = ("--set", "model.heads=2", "--set", "cleaning.max_ratio=3")
    said = cli("check", corpus, *spoken, "--recipe", recipe, *settings)
    begun, left = f"  dragoman train {corpus} --from en --to es --test '{test}'", "--set cleaning.max_ratio=3"
    assert f"{begun} --recipe {recipe} --set model.heads=2 {left} --out my-model --minutes " in said.out
    assert said.out.endswith(f"{begun} {left} --out my-model --start en-es\n"), "the network is the model's"


def test_check_and_evaluate_notice_swapped_columns(cli: Cli, models: Path, corpus: Path) -> None:
    told = "note: the sources look like Spanish and the targets like English, but are read as English to Spanish: "
    spoken = ("--from", "en", "--to", "es")
    assert "swapped" not in cli("check", corpus, *spoken).err
    assert f"{told}are they swapped?" in " ".join(cli("check", f"{corpus}:2,1", *spoken).err.split())
    assert "swapped? pairs.tsv:1,2 reads" in json.loads(cli("check", f"{corpus}:2,1", *spoken, "--json").out)["swapped"]
    words = ("evaluate", "-m", models / "first", "--beam", "1", "--worst", "0")
    assert "swapped" not in cli(*words, corpus).err
    assert f"{told}are they swapped?" in " ".join(cli(*words, f"{corpus}:2,1").err.split())


def test_evaluate_looks_where_it_will_write_before_it_translates(
    cli: Cli, models: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def translated(*_: object, **__: object) -> None:
        raise AssertionError("nothing may be translated yet")

    monkeypatch.setattr("dragoman.jobs.evaluate.evaluate", translated)
    before = corpus.read_bytes()
    for out, message in (
        (corpus, "pairs.tsv is one of the inputs"),
        (tmp_path, "cannot be written (Is a directory)"),
        (tmp_path / "no" / "out.txt", "out.txt cannot be written (No such file or directory)"),
    ):
        said = cli("evaluate", "-m", models / "first", f"{corpus}:1,2", "--out", out)
        assert said.code == 1
        assert message in " ".join(said.err.split())
    assert corpus.read_bytes() == before
    assert list(tmp_path.iterdir()) == [corpus]


def test_evaluate_says_which_languages_are_missing(cli: Cli, models: Path, tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("en,fr\nyes,oui\n", encoding="utf-8")
    said = cli("evaluate", "-m", models / "first", path)
    assert said.err.splitlines() == [
        "error: pairs.csv:1: no es; it has en, fr",
        "hint: the model translates en to es, and there is no such pair; take another file or another model",
    ]


def test_check_of_too_few(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "few.tsv").write_text("a word\tuna palabra\n", encoding="utf-8")
    said = cli("check", tmp_path / "few.tsv")
    assert said.code == 0
    assert "dragoman train" not in said.out
    assert said.err == "note: 1 pair left: too few for `dragoman train`, which takes 50 or more\n"


def test_check_of_nothing(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "empty.tsv").write_text("\n\n")
    said = cli("check", tmp_path / "empty.tsv")
    assert said.code == 1
    assert "empty-side" in said.out
    assert "error: none of 2 pairs is left to learn from" in said.err
    said = cli("check", tmp_path / "none.tsv")
    assert "none.tsv does not exist" in said.err


def test_generate_writes_the_same_to_both(cli: Cli, tmp_path: Path) -> None:
    printed = cli("generate", "--pairs", "17", "--seed", "3").out
    assert cli("generate", "--pairs", "17", "--seed", "3", "--out", tmp_path / "x.tsv").err == (
        f"note: 17 pairs written to {tmp_path / 'x.tsv'}\n"
    )
    assert (tmp_path / "x.tsv").read_text(encoding="utf-8") == printed
    assert [line.count("\t") for line in printed.splitlines()] == [1] * 17
    assert cli("generate", "--pairs", "17", "--seed", "3", "--held-out").out != printed


def test_the_recipe_can_be_read_again(cli: Cli, tmp_path: Path, corpus: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(cli("recipe").out, encoding="utf-8")
    assert cli("check", corpus, "--recipe", path).code == 0
    assert cli("recipe", "--docs").out.startswith("# Recipes\n")


# ---- evaluate, look, export ----------------------------------------------------------------------------


def test_evaluate_shows_scores_with_signatures(cli: Cli, models: Path, corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.txt"
    said = cli("evaluate", "-m", models / "first", corpus, "--beam", "1", "--worst", "2", "--out", out)
    assert said.code == 0
    for part in ("BLEU", "chrF2", "TER", "tok:13a|smooth:exp", "first: 55 lines", "Least like their references"):
        assert part in said.out
    assert re.search(r"metric +score +95 % interval +signature", said.out)
    assert len(re.findall(r"^(?:BLEU|chrF2|TER) +\d+\.\d +\d+\.\d to \d+\.\d +nrefs:1\|", said.out, re.MULTILINE)) == 3
    assert said.out.count("reference  ") == 2
    assert out.read_bytes().count(b"\n") == 55


def test_evaluate_counts_as_papers_do_and_by_source(cli: Cli, models: Path, corpus: Path, tmp_path: Path) -> None:
    twice = tmp_path / "twice.tsv"
    pairs = corpus.read_text(encoding="utf-8")
    twice.write_text(pairs + pairs.replace(".\n", "!\n"), encoding="utf-8")
    words = ("evaluate", "-m", models / "first", twice, "--beam", "1", "--papers")
    said = cli(*words)
    assert "text:lc.norm.moses-es|nrefs:1" in said.out
    assert "Every source once, against all its references" in said.out
    told = json.loads(cli(*words, "--json").out)
    assert told["papers"]["bleu"]["signature"].startswith("text:lc.norm.moses-es|")
    assert told["by_source"]["chrf"]["signature"].startswith("nrefs:2|")
    for scores in (told["scores"], told["by_source"]):
        for one in scores.values():
            assert one["low"] <= one["score"] <= one["high"]
    assert "papers" not in json.loads(cli(*words[:-1], "--json").out)


def test_evaluate_against_another(cli: Cli, models: Path, corpus: Path) -> None:
    said = cli(
        "evaluate", "-m", models / "first", corpus, "--against", models / "second", "--beam", "1", "--worst", "0"
    )
    assert "Against second" in said.out
    assert "paired bootstrap, 1000 draws of lines; p is sacrebleu's" in said.out
    for way in ("nearer to", "farther from"):
        assert f"Where first is {way} the reference than second" in said.out
    assert len(re.findall(r"^  \+\d+\.\d  +pairs.tsv:\d+$", said.out, re.MULTILINE)) == 5
    tree = json.loads(cli("evaluate", "-m", models / "first", corpus, "--against", models / "first", "--json").out)
    assert [(one["p"], one["verdict"]) for one in tree["against"]] == [(1.0, "unsure")] * 3
    assert tree["scores"]["bleu"]["signature"].startswith("nrefs:1|")
    assert tree["differences"] == {"better": [], "worse": []}


def test_evaluate_against_another_is_no_surer_for_more_references(
    cli: Cli, models: Path, corpus: Path, tmp_path: Path
) -> None:
    pairs = corpus.read_text(encoding="utf-8").splitlines(keepends=True)
    once, thrice = tmp_path / "once.tsv", tmp_path / "thrice.tsv"
    once.write_text("".join(pairs[:23]), encoding="utf-8")
    thrice.write_text("".join(pairs[:23] * 3), encoding="utf-8")
    words = ("evaluate", "-m", models / "first", "--against", models / "second", "--beam", "1", "--worst", "0")
    said = cli(*words, thrice, "--differences", "0")
    assert said.out.count("Every source once, against all its references") == 2
    assert "paired bootstrap, 1000 draws of sources; p is sacrebleu's" in said.out
    one, three = (json.loads(cli(*words, path, "--json").out) for path in (once, thrice))
    assert "against_by_source" not in one
    for whole in ("against", "against_by_source"):
        assert [found["p"] for found in three[whole]] == [found["p"] for found in one["against"]]
        for found, alone in list(zip(three[whole], one["against"], strict=True))[1:]:  # BLEU smooths what is zero
            assert found["difference"] == pytest.approx(alone["difference"])


def test_evaluate_tells_models_of_the_same_name_apart(
    cli: Cli, models: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for room, name in (("a", "first"), ("b", "second")):
        shutil.copytree(models / name, tmp_path / room / "model")
    words = ("evaluate", corpus, "--beam", "1", "--worst", "0", "--differences", "1", "-m")
    said = cli(*words, tmp_path / "a" / "model", "--against", tmp_path / "b" / "model")
    assert said.out.startswith("a/model: 55 lines")
    assert "Against b/model\n" in said.out
    assert "Where a/model is nearer to the reference than b/model\n" in said.out
    monkeypatch.chdir(tmp_path / "a" / "model")
    said = cli(*words, ".", "--against", ".")
    assert said.out.startswith("model: 55 lines")
    assert said.out.count("no difference\n") == 3


def test_evaluate_complains_of_what_papers_need_before_it_translates(
    cli: Cli, models: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sacremoses", None)
    monkeypatch.setattr("dragoman.jobs.evaluate.evaluate", lambda *_, **__: pytest.fail("it was translated"))
    said = cli("evaluate", "-m", models / "first", corpus, "--papers")
    assert said.code == 1
    assert "need sacremoses, which is not installed" in said.err


def test_evaluate_refuses_other_languages(cli: Cli, models: Path, corpus: Path, tmp_path: Path) -> None:
    other = make_tiny_model(tmp_path / "other", recipe=replace(RECIPE, target_language="de"))
    said = cli("evaluate", "-m", models / "first", corpus, "--against", other)
    assert said.code == 1
    assert "translates en to es, but" in said.err


def test_look_shows_every_head(cli: Cli, models: Path, tmp_path: Path) -> None:
    page, figure = tmp_path / "page.html", tmp_path / "figure.svg"
    said = cli("look", "-m", models / "first", SENTENCE, "--html", page, "--svg", figure)
    assert said.code == 0
    titles = [
        f"{kind}, layer {n}"
        for kind, most in (("encoder self", 2), ("cross", 3), ("decoder self", 3))
        for n in range(1, most + 1)
    ]
    assert all(title in said.out for title in titles)
    assert "cross · layer 2 · head 4 · aligns best" in said.out
    assert said.err.splitlines() == [f"note: written to {figure}", f"note: written to {page}"]
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "<svg" in figure.read_text(encoding="utf-8")


def test_look_notices_a_sentence_in_the_wrong_language(cli: Cli, models: Path) -> None:
    words = ("look", "-m", models / "first")
    assert "note: this looks like Spanish, but" in cli(*words, "El perro no ve a la gata en la casa.").err
    assert "looks like" not in cli(*words, "The dog does not see the cat in the house.").err


def test_look_enlarges_what_is_asked_for(cli: Cli, models: Path) -> None:
    said = cli("look", "-m", models / "first", "--kind", "encoder", "--layer", "2", "--head", "5", SENTENCE)
    assert "\nencoder self · layer 2 · head 5\n" in said.out
    said = cli("look", "-m", models / "first", "--layer", "4", SENTENCE)
    assert "error: there is no layer 4" in said.err


def test_look_follows_a_word(cli: Cli, models: Path, tmp_path: Path) -> None:
    figure = tmp_path / "word.svg"
    said = cli(
        "look", "-m", models / "first", "--word", "bank", "--svg", figure, "--html", tmp_path / "p.html", SENTENCE
    )
    assert "Where “bank” looks  (encoder self · layer 2 · mean of 5 heads)" in said.out
    assert "Where “bank” looks" in figure.read_text(encoding="utf-8")
    said = cli("look", "-m", models / "first", "--word", "shore", SENTENCE)
    assert "error: the word 'shore' does not stand in 'I arrived at the bank" in said.err
    said = cli("look", "-m", models / "first", "--word", "bank", "--kind", "cross", SENTENCE)
    assert "error: --word follows a word through the encoder, not --kind cross" in said.err


def test_look_compares_a_word(cli: Cli, models: Path, tmp_path: Path) -> None:
    page, figure = tmp_path / "page.html", tmp_path / "figure.svg"
    two = (SENTENCE, SENTENCE.replace("river", "street"))
    said = cli("look", "-m", models / "first", "--compare", *two, "--word", "bank", "--html", page, "--svg", figure)
    assert said.code == 0
    rows = [line.split() for line in said.out.splitlines() if line.startswith(("embedding", "layer"))]
    assert rows[0][-1] == "1.000"
    assert len(rows) == 3
    assert page.exists()
    assert figure.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--compare", SENTENCE, "--word", "bank"), "--compare needs two sentences, not 1"),
        (("--compare", SENTENCE, SENTENCE), "--compare needs a word to compare"),
        ((SENTENCE, SENTENCE), "look takes one sentence, not 2"),
        (("  ",), "there is nothing to look at: the sentence is empty"),
        ((SENTENCE, "--svg", "/no/where.svg"), "/no/where.svg cannot be written (No such file or directory)"),
    ],
)
def test_look_says_what_it_needs(cli: Cli, models: Path, arguments: tuple[str, ...], message: str) -> None:
    said = cli("look", "-m", models / "first", *arguments)
    assert said.code == 1
    assert said.err.startswith(f"error: {message}\nhint: ")


def test_export(cli: Cli, models: Path, tmp_path: Path) -> None:
    said = cli("export", "-m", models / "first", "--to", "ctranslate2", f"{tmp_path}/out/")
    assert said.code == 0
    assert "model.bin" in said.out
    said = cli("export", "-m", models / "first", "--to", "ctranslate2", f"{tmp_path}/out/")
    assert said.err.splitlines() == [
        f"error: {tmp_path}/out: is not empty",
        "hint: name a new directory, or replace an earlier export with --force",
    ]
    assert cli("export", "-m", models / "first", "--force", tmp_path / "out").code == 0
