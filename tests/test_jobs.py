"""The jobs behind the command line: check, translate, evaluate, look, export, and the recipe's reference."""

import ast
import dataclasses
import gzip
import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.config import Cleaning, Recipe, Search
from dragoman.data.corpus import read_pairs
from dragoman.data.grammar import generate
from dragoman.draw import html_page
from dragoman.engine.flags import Flag
from dragoman.engine.load import load_translator
from dragoman.engine.translator import Sentence, Translation
from dragoman.errors import DataError, ModelError
from dragoman.jobs import look as looking
from dragoman.jobs.check import Corpus, Wishes, check, count_epochs
from dragoman.jobs.evaluate import compare_with, evaluate, read_test_set, worst, write_translations
from dragoman.jobs.export import export_model
from dragoman.jobs.meaning import compare_word
from dragoman.jobs.reference import settings, write_defaults, write_reference
from dragoman.jobs.translate import Asked, Line, argument_lines, read_lines, text_alignment, translate_lines
from dragoman.recipe import parse_recipe
from dragoman.training.sizes import FEWEST_PAIRS
from tiny_model import ALIGNMENT, RECIPE, TINY, make_tiny_model

SENTENCE = "I arrived at the bank after crossing the river."


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_model(tmp_path_factory.mktemp("jobs") / "model")


@pytest.fixture(scope="module")
def opened(model: Path) -> looking.Model:
    return looking.open_model(model)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Write 97 good pairs and one for each of some filters."""
    good = {e.source: f"{e.source}\t{e.target}" for e in generate(311, seed=5)}
    lines = [*list(good.values())[:97], "\tempty", "The same words\tthe same words", "In 1984\tEn 1985"]
    lines.append(lines[0])
    path = tmp_path / "pairs.tsv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_check_counts_what_is_kept_and_dropped(corpus: Path) -> None:
    checked = check(Corpus([corpus]), Recipe())
    assert checked.report.read == 101
    assert checked.report.kept == 97
    assert checked.report.dropped == {"empty-side": 1, "copied": 1, "numbers-disagree": 1, "duplicate": 1}
    words = {w for p in read_pairs([corpus], None, None) for t in p[:2] for w in re.findall(r"\w+", t)}
    assert 0 < len(words) - checked.words <= 8  # those of the dropped pairs


def test_what_is_kept_and_dropped_is_everything(corpus: Path, tmp_path: Path) -> None:
    kept, dropped = tmp_path / "kept.tsv", tmp_path / "dropped.tsv"
    check(Corpus([corpus]), Recipe(), Wishes(clean_to=kept, dropped_to=dropped))
    rows = [line.split("\t") for line in dropped.read_text(encoding="utf-8").splitlines()]
    assert [row[0] for row in rows] == [f"pairs.tsv:{n}" for n in (98, 99, 100, 101)]
    assert [row[1] for row in rows] == ["empty-side", "copied", "numbers-disagree", "duplicate"]
    together = [*kept.read_text(encoding="utf-8").splitlines(), *("\t".join(row[2:]) for row in rows)]
    assert sorted(together) == sorted(corpus.read_text(encoding="utf-8").splitlines())


def test_leaks_are_found(corpus: Path, tmp_path: Path) -> None:
    test = tmp_path / "test.tsv"
    test.write_text("\n".join(corpus.read_text(encoding="utf-8").splitlines()[10:13]).upper() + "\n", encoding="utf-8")
    assert check(Corpus([corpus], test=[test]), Recipe()).report.dropped["test-leak"] == 3
    assert check(Corpus([corpus], dev=[test]), Recipe()).report.dropped["dev-leak"] == 3


def test_the_forecast_has_no_gaps(corpus: Path) -> None:
    forecast = check(Corpus([corpus]), Recipe()).forecast
    assert forecast is not None
    assert (forecast.pairs, forecast.held_out) == (92, 5)
    assert None not in vars(forecast.recipe.model).values()
    assert forecast.parameters > 0
    assert forecast.pieces > forecast.pairs
    assert math.isclose(forecast.seconds_an_epoch, forecast.pieces / forecast.pieces_a_second)
    assert forecast.minutes >= 1


@pytest.mark.parametrize("pairs", [50, 500, 3_001, 20_000, 1_000_000])
def test_a_small_corpus_is_seen_until_there_were_enough_updates(pairs: int, corpus: Path) -> None:
    forecast = check(Corpus([corpus]), Recipe()).forecast
    assert forecast is not None
    updates = forecast.pieces / (forecast.recipe.training.batch_pieces or 0)
    assert forecast.epochs == 500 or forecast.epochs * updates >= 3000
    for an_epoch in (0.5, 5.0, 50.0, 5000.0):
        epochs = count_epochs(pairs, an_epoch)
        assert 3 <= epochs <= 500
        assert epochs == 500 or epochs * an_epoch >= 3000
        assert epochs >= count_epochs(pairs, 2 * an_epoch)


def test_too_few_pairs_have_no_forecast(tmp_path: Path) -> None:
    few = tmp_path / "few.tsv"
    for count in (FEWEST_PAIRS - 1, FEWEST_PAIRS):
        few.write_text("".join(f"word {n}\tpalabra {n}\n" for n in range(count)), encoding="utf-8")
        assert (check(Corpus([few]), Recipe()).forecast is None) == (count < FEWEST_PAIRS)


@pytest.mark.parametrize(
    ("spoken", "start"), [(("en-US", "es"), "en-es"), (("es", "en"), None), (("", ""), None), (("en", "de"), None)]
)
def test_few_pairs_may_start_from_the_box(
    spoken: tuple[str, str], start: str | None, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dragoman.jobs.check.boxed", lambda: ["en-es"])
    recipe = Recipe(source_language=spoken[0], target_language=spoken[1])
    forecast = check(Corpus([corpus]), recipe).forecast
    assert forecast is not None
    assert forecast.start == start
    monkeypatch.setattr("dragoman.jobs.check.START_BELOW", 7)
    forecast = check(Corpus([corpus]), recipe).forecast
    assert forecast is not None
    assert forecast.start is None, "many pairs teach enough"


def test_a_dev_set_leaves_all_pairs_to_training(corpus: Path, tmp_path: Path) -> None:
    dev = tmp_path / "dev.tsv"
    dev.write_text("Unheard of\tInaudito\n", encoding="utf-8")
    forecast = check(Corpus([corpus], dev=[dev]), Recipe()).forecast
    assert forecast is not None
    assert (forecast.pairs, forecast.held_out) == (97, 0)


def test_many_minutes_are_rounded(corpus: Path) -> None:
    forecast = check(Corpus([corpus]), Recipe()).forecast
    assert forecast is not None
    assert forecast._replace(pieces=60_000, pieces_a_second=100.0, epochs=7).minutes == 70
    assert forecast._replace(pieces=60_000, pieces_a_second=100.0, epochs=8).minutes == 80
    assert forecast._replace(pieces=6_000, pieces_a_second=100.0, epochs=7).minutes == 8, "and something beside"
    assert forecast._replace(pieces=61_000, pieces_a_second=100.0, epochs=7).minutes == 80


def test_cleaning_settings_are_heeded(corpus: Path) -> None:
    recipe = Recipe(cleaning=Cleaning(keep_copies=True, deduplicate=False, check_numbers=False))
    assert check(Corpus([corpus]), recipe).report.dropped == {"empty-side": 1}


def test_nothing_left_is_no_forecast(tmp_path: Path) -> None:
    empty = tmp_path / "empty.tsv"
    empty.write_text("\t\n\t\n")
    assert check(Corpus([empty]), Recipe()).forecast is None


def test_an_input_is_never_overwritten(corpus: Path, tmp_path: Path) -> None:
    before = corpus.read_bytes()
    with pytest.raises(DataError, match=r"pairs.tsv is one of the inputs"):
        check(Corpus([corpus]), Recipe(), Wishes(clean_to=corpus.parent / "." / "pairs.tsv"))
    with pytest.raises(DataError, match=r"pairs.tsv is one of the inputs"):
        check(Corpus([Path(f"{corpus}:2,1")]), Recipe(), Wishes(clean_to=corpus))
    with pytest.raises(DataError, match=r"x.tsv cannot hold both the kept and the dropped"):
        check(Corpus([corpus]), Recipe(), Wishes(tmp_path / "x.tsv", tmp_path / "x.tsv"))
    assert corpus.read_bytes() == before


@pytest.mark.parametrize("named", [["text"], ["text.en"], ["text.es.gz", "text.en"]])
def test_neither_half_of_two_files_is_overwritten(named: list[str], tmp_path: Path) -> None:
    halves = {"text.en": b"one\ntwo\n", "text.es.gz": gzip.compress(b"uno\ndos\n")}
    for name, content in halves.items():
        (tmp_path / name).write_bytes(content)
    corpus = Corpus([tmp_path / name for name in named])
    spoken = Recipe(source_language="en", target_language="es")
    for name in halves:
        with pytest.raises(DataError, match=f"{name} is one of the inputs"):
            check(corpus, spoken, Wishes(clean_to=tmp_path / name))
        with pytest.raises(DataError, match=f"{name} is one of the inputs"):
            check(Corpus(corpus.train, test=corpus.train), spoken, Wishes(dropped_to=tmp_path / name))
    assert {name: (tmp_path / name).read_bytes() for name in halves} == halves


def test_a_list_that_cannot_be_written(corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"dropped.tsv cannot be written \(No such file or directory\)"):
        check(Corpus([corpus]), Recipe(), Wishes(dropped_to=tmp_path / "no" / "dropped.tsv"))


@given(st.lists(st.binary(max_size=23), max_size=7))
def test_lines_are_read_as_they_stand(raw: list[bytes]) -> None:
    stream = b"\n".join(raw)
    lines = list(read_lines(stream.splitlines(keepends=True) if stream.count(b"\r") == 0 else _at_feeds(stream)))
    assert "".join(line.text + line.end for line in lines) == stream.decode("utf-8", "replace")
    assert [line.damaged for line in lines] == [not _is_utf8(line) for line in _at_feeds(stream)]


def _at_feeds(stream: bytes) -> list[bytes]:
    return re.findall(rb"[^\n]*\n|[^\n]+\Z", stream)


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def test_arguments_that_were_no_text_are_marked() -> None:
    assert list(argument_lines(["ok", "caf\udce9"])) == [
        Line("ok", "\n", damaged=False),
        Line("caf�", "\n", damaged=True),
    ]


def test_a_damaged_line_is_flagged(model: Path) -> None:
    (answer,) = translate_lines(load_translator(model), read_lines([b"\xff 12\n"]), Asked(Search()))
    assert answer.best.text == "� 12"
    assert answer.flags == {Flag.UNKNOWN_CHARACTERS}


def test_chunks_change_nothing(model: Path) -> None:
    translator = load_translator(model)
    lines = [Line(f"{SENTENCE} {n}", "\n", damaged=False) for n in range(7)]
    whole, small = (list(translate_lines(translator, lines, Asked(RECIPE.search, chunk=n))) for n in (100, 3))
    assert whole == small


def test_the_best_come_in_order_and_begin_with_the_best(model: Path) -> None:
    translator = load_translator(model)
    lines = [Line(text, "\n", damaged=False) for text in (SENTENCE, "We ate. They slept.", "12")]
    one = list(translate_lines(translator, lines, Asked(Search(beam=5, max_length=23))))
    five = list(translate_lines(translator, lines, Asked(Search(beam=5, best=5, max_length=23))))
    assert [a.best for a in one] == [a.best._replace(alternatives=()) for a in five]
    for answer in five[:2]:
        several = (answer.best, *answer.best.alternatives)
        texts, scores = [t.text for t in several], [t.score for t in several]
        assert len(set(texts)) == len(texts) > 1
        assert scores == sorted(scores, reverse=True)
    assert five[2].best.alternatives == ()


def test_a_prefix_begins_every_translation(model: Path) -> None:
    asked = Asked(RECIPE.search, prefix="la puerta")
    answers = translate_lines(load_translator(model), [Line(SENTENCE, "\n", damaged=False)] * 2, asked)
    assert all(answer.best.text.startswith("la puerta") for answer in answers)


def test_a_prefix_that_leaves_no_room(model: Path) -> None:
    asked = Asked(RECIPE.search, prefix="la puerta " * 20)
    with pytest.raises(DataError, match=r"the prefix has \d+ pieces, but a translation has at most 23"):
        list(translate_lines(load_translator(model), [], asked))


def test_a_prefix_that_leaves_no_room_in_the_model(model: Path) -> None:
    translator = load_translator(model)
    asked = Asked(dataclasses.replace(RECIPE.search, max_length=5000), prefix="la puerta " * 700)
    with pytest.raises(DataError, match=r"but a translation has at most 1024") as caught:
        list(translate_lines(translator, [], asked))
    assert caught.value.hint == "shorten the prefix"


def _sentence(source: str, target: str, links: tuple[tuple[int, int], ...]) -> Sentence:
    return Sentence(source, target, 0.0, (), (), links, frozenset())


def test_links_count_the_words_of_the_whole_text() -> None:
    sentences = (
        _sentence("a b", "x", ((0, 0), (1, 0))),
        _sentence("c", "y z", ((0, 1),)),
        _sentence("c", "x", ((0, 0),)),
    )
    translation = Translation(" x\ty z x", sentences, 0.0, frozenset())
    assert text_alignment(" a b\tc c", translation) == [(0, 0), (1, 0), (2, 2), (3, 3)]


def test_links_of_sentences_that_touch() -> None:
    sentences = (_sentence("一。", "One.", ((0, 0),)), _sentence("二。", "Two.", ((0, 0),)))
    translation = Translation("One. Two.", sentences, 0.0, frozenset())
    assert text_alignment("一。二。", translation) == [(0, 0), (0, 1)]


def test_evaluating_its_own_translations_is_perfect(model: Path, tmp_path: Path) -> None:
    translator = load_translator(model)
    sources = [e.source for e in generate(23, seed=9)]
    path = tmp_path / "test.tsv"
    lines = [f"{s}\t{t.text}\n" for s, t in zip(sources, translator.translate(sources), strict=True)]
    path.write_text("".join(lines), encoding="utf-8")
    test = read_test_set([path], "en", "es")
    found = evaluate(translator, test, language="es")
    assert found.scores.ter.value == 0
    assert found.scores.chrf.value > 99
    assert [c.p_value for c in compare_with(found, found, test).lines] == [1.0, 1.0, 1.0]
    write_translations(tmp_path / "out.txt", found)
    assert (tmp_path / "out.txt").read_text(encoding="utf-8").split("\n")[:-1] == found.translations


def test_the_worst_come_first(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "test.tsv"
    path.write_text("12\t12\n34\t56\n7 8\t7 9\n", encoding="utf-8")
    test = read_test_set([path], "en", "es")
    found = worst(evaluate(load_translator(model), test), test, 2)
    assert [one.place for one in found] == ["test.tsv:2", "test.tsv:3"]
    assert found[0].chrf == 0
    assert found[0].faults == ("number missing: 56", "number not in the reference: 34")


def test_an_empty_test_set(tmp_path: Path) -> None:
    (tmp_path / "test.tsv").write_text("")
    with pytest.raises(DataError, match=r"test.tsv holds no pairs"):
        read_test_set([tmp_path / "test.tsv"], "en", "es")


def test_every_head_is_there_and_every_row_is_whole(opened: looking.Model) -> None:
    seen = looking.look(opened, SENTENCE)
    layers = (TINY.encoder_layers or 0) + 2 * (TINY.decoder_layers or 0)
    assert len(seen.maps) == layers * (TINY.heads or 0)
    assert len(seen.steps) == layers
    for one in seen.maps:
        assert one.weights.shape == (len(one.queries), len(one.keys))
        np.testing.assert_allclose(one.weights.sum(axis=1), 1, atol=1e-5)
    assert (seen.best.kind, seen.best.layer, seen.best.head) == ("cross", ALIGNMENT.layer + 1, ALIGNMENT.head + 1)
    assert seen.pieces[-1][0] == "</s>"


@pytest.mark.parametrize(("scores", "formula"), [("linear", "φ(q) · φ(k)"), ("dot", "not divided")])
def test_other_scores_are_explained_by_their_own_arithmetic(
    tmp_path: Path, scores: Literal["linear", "dot"], formula: str
) -> None:
    path = make_tiny_model(tmp_path / "model", model=dataclasses.replace(TINY, scores=scores), kinds=())
    seen = looking.look(looking.open_model(path), SENTENCE)
    for steps in seen.steps:
        assert steps.formula is not None
        assert formula in steps.formula
        hidden = steps.weights == 0
        made = np.where(hidden, 0, np.exp(steps.scores) if steps.powers else steps.scores)
        np.testing.assert_allclose(steps.weights, made / made.sum(axis=-1, keepdims=True), atol=1e-5)
    assert formula in html_page("Inside", SENTENCE, seen.pieces, seen.maps, steps=seen.steps)


def test_it_looks_at_the_models_own_translation(opened: looking.Model, model: Path) -> None:
    assert looking.look(opened, SENTENCE).translation == load_translator(model).translate([SENTENCE])[0].text


def test_a_given_target_is_looked_at_instead(opened: looking.Model) -> None:
    seen = looking.look(opened, SENTENCE, target="Llegué al banco.")
    assert seen.translation == "Llegué al banco."
    assert all(0 <= chance <= 1 for _, chance in seen.pieces)


def test_looking_stays_within_what_the_model_takes(opened: looking.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = opened.engine._limits
    assert opened.engine.max_target == limits.target
    monkeypatch.setattr(opened.engine, "_limits", limits._replace(target=4))
    assert 0 < len(looking.look(opened, SENTENCE).pieces) <= 4
    with pytest.raises(DataError, match=r"the target has \d+ pieces, but the model takes at most 3"):
        looking.look(opened, SENTENCE, target="Llegué al banco después de cruzar el río.")


def test_without_a_card_the_surest_head_is_best(tmp_path: Path) -> None:
    seen = looking.look(looking.open_model(make_tiny_model(tmp_path / "m", alignment=None)), SENTENCE)
    sure = {(m.layer, m.head): m.weights.max(axis=1).mean() for m in seen.maps if m.kind == "cross"}
    assert (seen.best.layer, seen.best.head) == max(sure, key=lambda place: sure[place])


def test_words_gather_their_pieces(opened: looking.Model) -> None:
    seen = looking.look(opened, SENTENCE, target="Llegué al banco.")
    words = looking.by_words(seen.best)
    assert words.queries == ("Llegué", "al", "banco.")
    assert words.keys == tuple(SENTENCE.split())
    ends = seen.best.weights[:-1, -1]
    assert (words.weights.sum(axis=1) <= 1 + 1e-6).all()
    assert words.weights.sum(axis=1).min() >= 1 - ends.max() - 1e-5


def test_a_sentence_is_like_itself(opened: looking.Model) -> None:
    found = compare_word(opened, (SENTENCE, SENTENCE), "bank")
    names = [name for name, _ in found.cosines]
    assert names == ["embedding", "with position", "layer 1", "layer 2", "last norm"]
    np.testing.assert_allclose([value for _, value in found.cosines], 1, atol=1e-5)


def test_context_changes_a_word_but_not_its_embedding(opened: looking.Model) -> None:
    found = compare_word(opened, (SENTENCE, SENTENCE.replace("river", "street")), "bank")
    values = dict(found.cosines)
    assert math.isclose(values["embedding"], 1, abs_tol=1e-5)
    assert math.isclose(values["with position"], 1, abs_tol=1e-5)
    assert values["layer 1"] < 0.9999


@pytest.mark.parametrize("word", ["BANK", "Bank"])
def test_a_word_is_found_whatever_its_case(opened: looking.Model, word: str) -> None:
    assert compare_word(opened, (SENTENCE, SENTENCE), word).cosines[0][1] > 0.999


@pytest.mark.parametrize("typed", ["o'clock", "o\u2019clock"])
@pytest.mark.parametrize("stands", ["o'clock", "o\u2019clock", "\u201co\u2019clock\u201d"])
def test_a_word_is_found_whatever_its_marks(opened: looking.Model, typed: str, stands: str) -> None:
    sentence = f"The bank at two {stands}."
    assert compare_word(opened, (sentence, sentence), typed).cosines[0][1] > 0.999
    words = looking.by_words(looking.look(opened, sentence).maps[0])
    assert looking.find_word(words.queries, typed) == 4


@pytest.mark.parametrize(
    ("sentence", "word", "match"),
    [
        ("The shore is near.", "bank", r"the word 'bank' does not stand in 'The shore is near.'"),
        ("The banks are near.", "bank", r"the word 'bank' does not stand in 'The banks are near.'"),
        ("A bank is a bank.", "bank", r"the word 'bank' stands 2 times in 'A bank is a bank.'"),
        ("A bank.", "", r"the word '' does not stand in 'A bank.'"),
        ("  ", "bank", r"there is nothing to look at: the sentence is empty"),
        ("no " * 1100, "bank", r"the sentence has \d+ pieces, but the model takes at most 1023"),
    ],
)
def test_a_word_that_cannot_be_followed(opened: looking.Model, sentence: str, word: str, match: str) -> None:
    with pytest.raises(DataError, match=match):
        compare_word(opened, (sentence, sentence), word)


def test_heads_that_are_not_there(opened: looking.Model) -> None:
    maps = looking.look(opened, SENTENCE).maps
    with pytest.raises(DataError, match="there is no layer 3") as caught:
        looking.choose(maps, looking.ENCODER, 3, None)
    assert "1 to 2" in caught.value.hint
    with pytest.raises(DataError, match="there is no head 6"):
        looking.choose(maps, looking.CROSS, 3, 6)


def test_the_exports_own_note_translates_like_the_model(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    written = export_model(model, out)
    assert [path.name for path in written] == sorted(
        ["README.md", "config.json", "model.bin", "shared_vocabulary.json", "tokenizer.model"]
    )
    note = (out / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", note, re.DOTALL)
    said = subprocess.run([sys.executable, "-c", code], cwd=out, capture_output=True, text=True, check=True)
    translator = load_translator(model)
    assert said.stdout.rstrip("\n") == translator.translate(["I arrived at the bank."])[0].text
    (marks,) = re.findall(r"`text\.translate\(str\.maketrans\((.*)\)\)`", note)
    text = "\u201cWell\u2026\u201d"
    assert text.translate(str.maketrans(ast.literal_eval(marks))) == translator.tokenizer.familiar(text) != text


def test_a_kind_the_model_lacks_is_made_from_its_weights(tmp_path: Path) -> None:
    model = make_tiny_model(tmp_path / "m", kinds=("float32",))
    export_model(model, tmp_path / "out", kind="int8")
    assert (tmp_path / "out/model.bin").stat().st_size < (model / "fast/float32/model.bin").stat().st_size * 0.6


def test_nothing_is_overwritten_but_an_export(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    export_model(model, out, kind="int8")
    with pytest.raises(ModelError, match="out: is not empty"):
        export_model(model, out)
    small = (out / "model.bin").stat().st_size
    export_model(model, out, force=True)
    assert (out / "model.bin").stat().st_size > small
    (out / "thesis.txt").write_text("years of work")
    with pytest.raises(ModelError, match=r"holds thesis.txt, which is not part of an export"):
        export_model(model, out, force=True)
    with pytest.raises(ModelError, match=r"card.json: is a file"):
        export_model(model, model / "card.json")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


def test_the_reference_is_the_page() -> None:
    page = Path(__file__).parents[1] / "docs" / "recipes.md"
    assert page.read_text(encoding="utf-8") == write_reference(), "run: dragoman recipe --docs > docs/recipes.md"


def test_every_setting_is_documented() -> None:
    assert [one for one in settings() if not one.docs] == []
    assert len(settings()) > 40


def test_the_printed_recipe_is_the_default_one() -> None:
    assert parse_recipe(write_defaults(), where="printed") == Recipe()
