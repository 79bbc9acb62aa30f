"""Recipes side by side: trained, measured, reported; what is finished is not done again."""

import dataclasses
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from comparing import ENTRIES, figures, write_texts
from dragoman.config import Model
from dragoman.errors import DataError, DivergedError, InterruptedByUserError, TrainingError, UnfinishedError
from dragoman.jobs import compare as job
from dragoman.jobs.compare import compare, plan_runs
from dragoman.jobs.comparison import work
from dragoman.jobs.comparison.contest import Contest, Question
from dragoman.jobs.comparison.figures import Exam
from dragoman.jobs.comparison.findings import Budget, Result, Terms, report
from dragoman.jobs.comparison.measures import MEASURES
from dragoman.jobs.comparison.times import LENGTHS, count_steps
from dragoman.jobs.comparison.work import Data
from dragoman.jobs.events import Observer
from dragoman.training.events import Updated
from run_command import Cli

QUESTIONS = tuple(
    Question(f"What of {name}?", "one thing.", "Another.", name, ("last", "transformer"), ("last > transformer",))
    for name in MEASURES
)
CONTEST = Contest("Two recipes", "transformer", 1.0, ENTRIES, QUESTIONS, {})
BUDGET = Budget(None, 12)
RUNS = plan_runs(CONTEST)


def any_exam(figures: Mapping[str, Any]) -> Exam:
    references = [f"{number}" for number in range(len(figures["translations"]))]
    return Exam(references, references)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Data:
    return write_texts(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def finished(data: Data, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("compared")
    compare(CONTEST, RUNS, out, data, BUDGET)
    return out


def test_every_run_is_measured_and_reported(finished: Path) -> None:
    tree = json.loads((finished / "report.json").read_text(encoding="utf-8"))
    assert [(run["recipe"], run["seed"]) for run in tree["runs"]] == [
        ("transformer", 1),
        ("last", 1),
        ("transformer", 2),
    ]
    for run in tree["runs"]:
        assert run["updates"] == 12
        assert run["pieces_per_second"] > 0
        assert 0 <= run["leading"]["free"] <= 1
        assert run["gradients"]["fresh"] != run["gradients"]["trained"]
        assert all(length > 0 for length in run["gradients"]["fresh"].values())
    text = (finished / "report.md").read_text(encoding="utf-8")
    assert "| LSTM, last | 1 |" in text
    assert "| Transformer | 2 |" in text
    assert "for 12 updates" in text
    assert "p by paired bootstrap" in text
    assert "trained on 200 pairs of train.tsv for 12 updates" in text
    assert "What of steps?" in text
    assert "LSTM, last 64; Transformer 1 (counted): as the lectures say." in text
    assert "| What of steps? | as the lectures say |" in text
    assert text.count("The lectures: one thing.") == text.count("Another.") == len(tree["questions"])
    assert "What of distance?" not in text  # nothing is known of it on other text than the grammar's
    assert "<svg" in (finished / "report.html").read_text(encoding="utf-8")
    plots = re.findall(r"\]\((.+)\)", text)
    assert [name.split("-")[1] for name in plots] == ["length.svg", "steps.svg", "times.svg"]
    assert all((finished / name).read_text(encoding="utf-8").startswith("<svg") for name in plots)


def test_the_tree_holds_what_the_table_and_the_verdicts_say(finished: Path) -> None:
    tree = json.loads((finished / "report.json").read_text(encoding="utf-8"))
    last, transformer = tree["recipes"]
    assert (last["recipe"], last["seeds"], transformer["seeds"]) == ("last", 1, 2)
    bleu = [one["scores"]["bleu"]["score"] for one in tree["runs"]]
    assert transformer["BLEU"] == pytest.approx((bleu[0] + bleu[2]) / 2)
    assert last["against"]["score"] == pytest.approx(bleu[1] - bleu[0])
    assert last["against"]["low"] <= last["against"]["high"]
    assert 0 < last["against"]["p"] <= 1
    assert "against" not in transformer
    (steps,) = (one["verdicts"] for one in tree["questions"] if one["title"] == "What of steps?")
    assert [(one["expected"], one["agrees"]) for one in steps] == [("last > transformer", True)]


def test_a_question_about_recipes_that_are_still_to_be_trained_waits(finished: Path) -> None:
    """The report is written anew after every run, the first too."""
    measure = Question("What of its length?", "", "", "length", ("last", "transformer"), ("last > 0",))
    contest = dataclasses.replace(CONTEST, questions=(*QUESTIONS, measure))
    done = figures(finished, "transformer-1")
    exam = any_exam(done)
    written = report(contest, [Result(ENTRIES[1], 1, done)], Terms(BUDGET, "some text", exam))
    assert "## What of its length?" not in written.markdown  # of two recipes, one alone answers nothing
    assert written.tree["questions"] == []


def test_what_was_not_measured_is_not_claimed(finished: Path) -> None:
    """A recipe that was not trained answers no part of a question, and what nobody can judge is left out."""
    absent = dataclasses.replace(ENTRIES[0], name="absent")
    trained = ("last", "transformer")
    partly = Question("In part?", "", "", "steps", trained, ("last > transformer", "absent > transformer"))
    never = Question("Not at all?", "", "", "steps", trained, ("absent > transformer",))
    contest = dataclasses.replace(CONTEST, entries=(*ENTRIES, absent), questions=(partly, never))
    results = [Result(entry, 1, figures(finished, f"{entry.name}-1")) for entry in ENTRIES]
    exam = any_exam(results[0].figures)
    written = report(contest, results, Terms(BUDGET, "some text", exam)).markdown
    assert "| In part? | as the lectures say (1 of 2 measured) |" in written
    assert "Not at all?" not in written


def test_the_legend_tells_of_what_is_shown(finished: Path) -> None:
    results = [Result(entry, 1, figures(finished, f"{entry.name}-1")) for entry in ENTRIES]
    exam = any_exam(results[0].figures)
    by_updates, by_minutes = (
        report(CONTEST, results, Terms(budget, "some text", exam)).markdown for budget in (BUDGET, Budget(1.5, None))
    )
    assert "Exact: " in by_updates
    assert "Against: " in by_updates
    assert "Contrasts: " not in by_updates
    assert "for 12 updates, and judged" in by_updates
    assert "All had the same time" not in by_updates
    assert "for 1.5 minutes, preparing and finishing included, and judged" in by_minutes
    assert "All had the same time" in by_minutes


def test_every_recipe_is_timed_once_and_all_in_the_end(finished: Path) -> None:
    kept = figures(finished, "times")["times"]
    assert {name: [one["length"] for one in times] for name, times in kept.items()} == {
        "transformer": list(LENGTHS),
        "last": list(LENGTHS),
    }
    assert all(one[way] > 0 for times in kept.values() for one in times for way in ("reading", "writing"))
    tree = json.loads((finished / "report.json").read_text(encoding="utf-8"))
    assert ["times" in run for run in tree["runs"]] == [True, True, False]


def test_a_training_that_was_begun_on_other_terms_does_not_go_on(data: Data, tmp_path: Path) -> None:
    @contextmanager
    def stop_at_once(*_: object) -> Iterator[Observer]:
        def observe(event: object) -> None:
            if isinstance(event, Updated):
                raise InterruptedByUserError("stopped", hint="go on")

        yield observe

    with pytest.raises(InterruptedByUserError):
        compare(CONTEST, RUNS[:1], tmp_path, data, BUDGET, stop_at_once)
    with pytest.raises(TrainingError, match=r"transformer-1\.key: was made with other settings, another budget"):
        compare(CONTEST, RUNS[:1], tmp_path, data, Budget(None, 13))


def test_text_of_the_same_name_and_size_is_other_text(finished: Path, data: Data, tmp_path: Path) -> None:
    other = tmp_path / data.test[0].name
    other.write_bytes(data.test[0].read_bytes().replace(b"e", b"o"))
    with pytest.raises(TrainingError, match="was made with other settings, another budget or other text"):
        compare(CONTEST, RUNS, finished, data._replace(test=[other]), BUDGET)


def test_what_is_finished_is_not_trained_again(finished: Path, data: Data, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("trained again")

    before = json.loads((finished / "report.json").read_text(encoding="utf-8"))
    monkeypatch.setattr(work, "train", refuse)
    monkeypatch.setattr(job, "time_in_turn", refuse)
    compare(CONTEST, RUNS, finished, data, BUDGET)
    after = json.loads((finished / "report.json").read_text(encoding="utf-8"))
    assert {**after, "date": ""} == {**before, "date": ""}


def test_an_interrupted_comparison_goes_on_inside_a_training(finished: Path, data: Data, tmp_path: Path) -> None:
    @contextmanager
    def stop_in_the_middle(*_: object) -> Iterator[Observer]:
        def observe(event: object) -> None:
            if isinstance(event, Updated) and event.update == 7:
                raise InterruptedByUserError("stopped", hint="go on")

        yield observe

    with pytest.raises(InterruptedByUserError):
        compare(CONTEST, RUNS[:1], tmp_path, data, BUDGET, stop_in_the_middle)
    assert not (tmp_path / "figures" / "transformer-1.json").exists()
    assert (tmp_path / "models" / "transformer-1" / "run" / "state.json").exists()
    compare(CONTEST, RUNS[:1], tmp_path, data, BUDGET)
    mine, whole = figures(tmp_path, "transformer-1"), figures(finished, "transformer-1")
    for name in ("scores", "translations", "key"):
        assert mine[name] == whole[name]
    assert mine["leading"] == pytest.approx(whole["leading"])
    for state in ("fresh", "trained"):  # measured after the training, by as many threads as the machine has to spare
        assert mine["gradients"][state] == pytest.approx(whole["gradients"][state], rel=1e-4)


def test_figures_of_something_else_are_not_taken_for_these(finished: Path, data: Data) -> None:
    with pytest.raises(TrainingError, match="was made with other settings, another budget or other text"):
        compare(CONTEST, RUNS, finished, data, Budget(None, 13))


def test_damaged_figures_are_named(data: Data, tmp_path: Path) -> None:
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "transformer-1.json").write_text("{", encoding="utf-8")
    with pytest.raises(TrainingError, match=r"transformer-1\.json: is damaged"):
        compare(CONTEST, RUNS, tmp_path, data, BUDGET)


def test_a_recipe_that_cannot_be_trained_is_a_result_too(
    data: Data, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def diverge(*_: object, **__: object) -> None:
        raise DivergedError("the loss is not a number any more at update 3", hint="")

    monkeypatch.setattr(work, "train", diverge)
    written = compare(CONTEST, RUNS[1:2], tmp_path, data, BUDGET)
    assert "LSTM, last: seed 1: the loss is not a number any more at update 3." in written.markdown


def test_the_built_in_corpus_is_measured_by_what_its_grammar_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, size in (("PAIRS", 200), ("_DEV", 11), ("_TEST", 97), ("_CONTRASTS", 150)):
        monkeypatch.setattr(work, name, size)
    written = compare(CONTEST, RUNS[:2], tmp_path, Data(), BUDGET)
    found = figures(tmp_path, "transformer-1")
    assert 0 <= found["contrasts"] <= 1
    assert 0 < found["alignment"] <= 1
    assert figures(tmp_path, "last-1")["alignment"] is None
    assert [one["name"] for one in found["place"]] == [
        f"{n} fifth" for n in ("first", "second", "third", "fourth", "last")
    ]
    assert "What of distance?" in written.markdown
    assert "pairs of the built-in corpus" in written.markdown


def test_the_command_needs_a_test_set_for_other_text(data: Data, tmp_path: Path, cli: Cli) -> None:
    path = tmp_path / "set.toml"
    path.write_text('[[recipe]]\nname = "a"\nlabel = "A"\n', encoding="utf-8")
    said = cli("compare", path, data.train[0], "--out", tmp_path / "out")
    assert said.code == 1
    assert "a comparison needs a test set" in said.err
    with pytest.raises(DataError, match="a comparison needs a test set"):
        compare(CONTEST, RUNS, tmp_path, data._replace(test=()), BUDGET)
    for words in (("--minutes", 3, "--steps", 5), ("--minutes", 0), ("--minutes", "nan")):
        wrong = cli("compare", path, *words, "--out", tmp_path / "out")
        assert (wrong.code, "a comparison has one budget, above 0" in wrong.err) == (1, True)
    none = cli("compare", path, "--headline", "--out", tmp_path / "out")
    assert none.code == 1
    assert "there is nothing to compare" in none.err


def test_the_command_prints_the_table_and_where_the_report_is(data: Data, tmp_path: Path, cli: Cli) -> None:
    path = tmp_path / "set.toml"
    entry = {"name": "tiny", "label": "A tiny Transformer", "settings": list(ENTRIES[1].settings)}
    lines = [f"{name} = {json.dumps(value)}" for name, value in entry.items()]
    path.write_text('title = "Only one"\n[[recipe]]\n' + "\n".join(lines), encoding="utf-8")
    out = tmp_path / "out"
    words = ("--from", "en", "--to", "es", "--test", data.test[0], "--dev", data.dev[0], "--steps", 3)
    said = cli("compare", path, data.train[0], *words, "--out", out)
    assert said.code == 0, said.err
    assert "1 of 1: A tiny Transformer, seed 1, 3 updates" in said.err
    assert "Only one" in said.out
    assert "A tiny Transformer" in said.out
    assert str(out / "report.html") in said.out.replace("\n", "")


def test_a_transformer_is_given_any_pair_in_as_many_steps_and_writes_one_after_the_other() -> None:
    model = Model(encoder_layers=2, decoder_layers=3)
    assert count_steps(model, 7) == {"reading": 2 * 2 + 3 * 3, "writing": 2 * 2 + 7 * 3 * 3}
    assert count_steps(model, 70)["reading"] == count_steps(model, 7)["reading"]


@pytest.mark.parametrize(
    ("settings", "reading", "writing"),
    [
        ({"look": "mlp", "attend": "before"}, 7 * 2 + 7 * (3 + 1), 7 * 2 + 7 * (3 + 1)),
        ({"look": "mlp", "attend": "after"}, 7 * 2 + (7 + 2) + 1, 7 * 2 + 7 * (3 + 1)),
        ({"look": "mlp", "attend": "after", "input_feeding": True}, 7 * 2 + 7 * (3 + 1), 7 * 2 + 7 * (3 + 1)),
        ({"look": "last"}, 7 * 2 + (7 + 2), 7 * 2 + 7 * 3),
        ({"look": "last", "two_way": False}, (7 + 1) + (7 + 2), (7 + 1) + 7 * 3),
        ({"look": "mean", "input_feeding": True}, 7 * 2 + 7 * 3, 7 * 2 + 7 * 3),
    ],
)
def test_a_recurrent_network_waits_for_every_piece(settings: dict[str, Any], reading: int, writing: int) -> None:
    model = Model(kind="recurrent", encoder_layers=2, decoder_layers=3, **settings)
    assert count_steps(model, 7) == {"reading": reading, "writing": writing}


@pytest.mark.parametrize("saved", [False, True])
def test_a_budget_that_was_too_short_is_not_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, saved: bool
) -> None:
    run = tmp_path / "m" / "run"

    def train(*_: object, **__: object) -> None:
        run.mkdir(parents=True)
        for name in ("request.json", *(["state.json"] if saved else [])):
            (run / name).touch()
        raise UnfinishedError("--minutes 1 is too short", hint="give it more")

    monkeypatch.setattr(work, "train", train)
    asked = work.Work(tmp_path / "m", [], Data([tmp_path / "pairs.tsv"]), Budget(1.0, None))
    with pytest.raises(UnfinishedError, match="too short"):
        work.train_and_measure(asked, Exam([], []), lambda _: None)
    assert run.exists() == saved
