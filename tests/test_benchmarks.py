"""What is measured is kept and shown as it is: timings belong to benchmarks, what is made of them is tested here."""

import json
import os
import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from threading import Barrier

import numpy as np
import pytest
from benchmarks import __main__ as benchmarks
from benchmarks import trained
from benchmarks.corpus import Text, need
from benchmarks.figure import Figure
from benchmarks.peers import wanted_peers
from benchmarks.peers.peer import Batch, Clock
from benchmarks.results import Results
from benchmarks.translation_peers import spread

from dragoman.machine import cores


def test_a_missed_figure_is_shown_as_plainly_as_a_reached_one(tmp_path: Path) -> None:
    results = Results.read(tmp_path / "results.json")
    figures = [Figure("fast", met=True), Figure("slow", met=False), Figure("beside", shown=True), Figure("so|so")]
    assert list(results.collect("race", figures)) == figures
    again = Results.read(tmp_path / "results.json")
    rows = ["| race | fast | ✓ |", "| race | slow | ✗ |", "| race | beside |  |"]
    assert again.table().splitlines()[2:5] == rows
    assert "so" not in again.table()
    page = again.page().splitlines()
    assert page[page.index(rows[0]) :][:4] == [*rows, r"| race | so\|so |  |"]
    assert results.missed()


def test_how_scores_were_counted_stands_once_below_the_table(tmp_path: Path) -> None:
    words, letters = "nrefs:1|tok:13a|version:2.6.0", "nrefs:1|nc:6|version:2.6.0"
    results = Results.read(tmp_path / "results.json")
    told = [f"ours: BLEU 1.0 ({words}), chrF 2.0 ({letters}) (3 wanted)", f"theirs: BLEU 4.0 ({words})"]
    list(results.collect("race", [Figure(text, shown=True) for text in told]))
    table = results.table().splitlines()
    assert table[2:4] == [
        "| race | ours: BLEU 1.0 (a), chrF 2.0 (b) (3 wanted) |  |",
        "| race | theirs: BLEU 4.0 (a) |  |",
    ]
    assert table[5] == f"How sacrebleu counted: (a) `{words}`, (b) `{letters}`."
    kept = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert kept["race"]["figures"][0]["text"] == told[0]


def test_a_benchmark_that_fails_is_shown_as_failed_and_leaves_what_was_measured(tmp_path: Path) -> None:
    def failing() -> Iterator[Figure]:
        yield Figure("half", met=True)
        raise ZeroDivisionError("no peers")

    before = Results.read(tmp_path / "results.json")
    list(before.collect("race", [Figure("whole", met=True)]))
    assert not before.missed()
    now = Results.read(tmp_path / "results.json")
    list(now.collect("race", failing()))
    list(now.collect("walk", [Figure("slow")]))
    assert "whole" not in now.table_of_run()
    assert re.search(r"half \| ✓ .*\n.*failed.*no peers \| ✗", now.table_of_run())
    assert now.missed()
    kept = Results.read(tmp_path / "results.json")
    assert "| race | whole | ✓ |" in kept.table()
    assert "failed" not in kept.page()


def test_what_could_not_be_measured_whole_leaves_what_was_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TATOEBA", str(tmp_path / "nowhere"))

    def lacking() -> Iterator[Figure]:
        yield Figure("half", met=True)
        need("TATOEBA", "train.tsv.gz")

    list(Results.read(tmp_path / "results.json").collect("race", [Figure("whole", met=True)]))
    now = Results.read(tmp_path / "results.json")
    told = list(now.collect("race", lacking()))
    missing = tmp_path / "nowhere" / "train.tsv.gz"
    why = f"not kept, for not all could be measured: there is no {missing}; TATOEBA names the directory"
    assert told == [Figure("half", met=True), Figure(why, shown=True)]
    assert why in now.table_of_run()
    assert not now.missed()
    assert "| race | whole | ✓ |" in Results.read(tmp_path / "results.json").table()
    (tmp_path / "nowhere").mkdir()
    (tmp_path / "nowhere" / "train.tsv.gz").touch()
    assert need("TATOEBA", "train.tsv.gz") == tmp_path / "nowhere"


def test_figures_of_different_days_are_told_apart(tmp_path: Path) -> None:
    when = {"a": "Monday", "b": "Tuesday", "c": "Monday"}
    kept = {name: {"measured": day, "figures": []} for name, day in when.items()}
    (tmp_path / "results.json").write_text(json.dumps(kept), encoding="utf-8")
    assert Results.read(tmp_path / "results.json").table().endswith("Measured: a, c: Monday; b: Tuesday.")


@pytest.mark.parametrize(
    ("names", "variable", "kept"),
    [
        (["race"], None, True),
        (["race"], "SECONDS", False),
        (["service"], "MODEL", True),
        (["translation"], "MODEL", False),
    ],
)
def test_a_lesser_measurement_is_not_kept_as_a_whole_one(
    names: list[str], variable: str | None, kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("SECONDS", "MODEL"):
        monkeypatch.delenv(name, raising=False)
    if variable:
        monkeypatch.setenv(variable, "1")
    monkeypatch.setattr(benchmarks, "ALL", {name: lambda: iter([Figure("measured")]) for name in names})
    monkeypatch.setattr(benchmarks, "RESULTS", tmp_path / "results.json")
    assert benchmarks.main(names) == 0
    assert (tmp_path / "results.json").exists() == kept
    assert (tmp_path / ".bench" / "tried.json").exists() != kept


def test_what_trains_many_models_runs_only_when_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []

    def measure(name: str) -> Iterator[Figure]:
        ran.append(name)
        yield Figure("measured")

    monkeypatch.setattr(benchmarks, "ALL", {name: partial(measure, name) for name in benchmarks.ALL})
    monkeypatch.setattr(benchmarks, "_path", lambda _: tmp_path / "results.json")
    assert benchmarks.main([]) == 0
    assert sorted(set(benchmarks.ALL) - set(ran)) == ["finetune", "learning", "longest", "published", "sizing"]
    assert benchmarks.main(["published"]) == 0
    assert ran[-1] == "published"


def test_a_peer_gets_whole_batches_of_like_length_from_short_to_long() -> None:
    lengths = np.random.default_rng(1).permutation(1000).tolist()
    chosen = spread([[7] * length for length in lengths], size=31, limit=200)
    assert len(chosen) == len(set(chosen)) == 6 * 31
    batches = [sorted(lengths[n] for n in chosen[at : at + 31]) for at in range(0, len(chosen), 31)]
    assert all(batch[-1] - batch[0] == 30 for batch in batches)
    assert abs(np.mean([lengths[n] for n in chosen]) - np.mean(lengths)) < 31


def test_a_figure_of_another_text_is_neither_reached_nor_missed() -> None:
    multi30k, other = (Text(name, ("en", "de"), [], []) for name in ("Multi30k", "a poem"))
    for met in (True, False):
        assert multi30k.judged(Figure("fast", met)) == Figure("fast", met)
        assert other.judged(Figure("fast", met)) == Figure("fast (but on a poem)", None, shown=True)


def test_the_plain_program_sees_every_batch_in_every_epoch_but_not_in_the_same_order() -> None:
    batches = [Batch(*(np.full((1, 1), n),) * 3) for n in range(23)]
    endless = Clock({"seconds": 60.0, "warm_up": 0}).feed(batches)
    epochs = [[int(batch.source[0, 0]) for batch in islice(endless, 23)] for _ in range(3)]
    assert epochs[0] == list(range(23))
    assert all(sorted(epoch) == epochs[0] for epoch in epochs)
    assert epochs[0] != epochs[1] != epochs[2]


@pytest.mark.parametrize(("asked", "found"), [("0", []), ("few", ["a"]), ("1", ["a", "b"])])
def test_others_are_left_out_when_asked(asked: str, found: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEERS", asked)
    assert [name for name, _ in wanted_peers([("a", 6.0), ("b", None)])] == found


@pytest.mark.skipif(cores() < 2 or not hasattr(os, "sched_setaffinity"), reason="two shares need two cores")
def test_models_trained_at_once_have_cores_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    both, seen = Barrier(2, timeout=60), {}

    def look(_: Path, name: str, words: Sequence[str | Path]) -> Path:
        both.wait()
        seen[name] = os.sched_getaffinity(0)
        return tmp_path / name / str(words[0])

    monkeypatch.setattr(trained, "trained", look)
    found = trained.trained_at_once(tmp_path, {"first": ["a"], "second": ["b"]})
    assert found == [tmp_path / "first" / "a", tmp_path / "second" / "b"]
    assert seen["first"].isdisjoint(seen["second"])
    assert len(seen["first"]) == len(seen["second"]) == cores() // 2
