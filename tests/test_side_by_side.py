"""Several recipes at once, each in a process of its own: the same results, and nothing lost by Ctrl-C."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

from comparing import ENTRIES, figures, write_texts
from dragoman.checkpoint import ModelDirectory
from dragoman.cli.live import Watched
from dragoman.cli.several import picture
from dragoman.errors import DataError, RecipeError, TrainingError
from dragoman.jobs.compare import compare, plan_runs
from dragoman.jobs.comparison.contest import Contest
from dragoman.jobs.comparison.findings import Budget
from dragoman.jobs.comparison.side_by_side import share_cores
from dragoman.jobs.comparison.work import Data
from dragoman.jobs.events import Finished, Planned, Preparing
from dragoman.machine import cores
from dragoman.training.events import Scored, Updated
from run_command import Cli

CONTEST = Contest("Two recipes", "transformer", 1.0, ENTRIES, (), {})
RUNS = plan_runs(CONTEST)

several = pytest.mark.skipif(
    cores() < 2 or not hasattr(os, "sched_setaffinity"), reason="two at once need two cores that can be shared out"
)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Data:
    return write_texts(tmp_path_factory.mktemp("data"))


@contextmanager
def on_half_of_the_cores() -> Iterator[None]:
    """Train as those do that share the machine: with as many threads, sums are rounded alike."""
    every = os.sched_getaffinity(0)
    os.sched_setaffinity(0, share_cores(2)[0])
    try:
        yield
    finally:
        os.sched_setaffinity(0, every)


@several
def test_what_is_learned_at_once_is_what_is_learned_one_after_the_other(data: Data, tmp_path: Path) -> None:
    seen: dict[str, list[object]] = {run.name: [] for run in RUNS}
    together, alone = tmp_path / "together", tmp_path / "alone"
    written = compare(
        CONTEST, RUNS, together, data, Budget(None, 5, 2), lambda run, *_: nullcontext(seen[run.name].append)
    )
    with on_half_of_the_cores():
        compare(CONTEST, RUNS, alone, data, Budget(None, 5))
    for run in RUNS:
        assert figures(together, run.name)["translations"] == figures(alone, run.name)["translations"]
        told = seen[run.name]
        assert [event.update for event in told if isinstance(event, Updated)] == [1, 2, 3, 4, 5]
        assert isinstance(told[-1], Finished)
        weights = [
            ModelDirectory(out / "models" / run.name).card["sha256"]["weights.safetensors"] for out in (together, alone)
        ]
        assert weights[0] == weights[1]
        assert told[-1].card["training"]["updates"] == 5
    assert "for 5 updates, 2 recipes at once, each on " in written.markdown
    assert [run["seed"] for run in written.tree["runs"]] == [1, 1, 2]
    assert written.tree["budget"] == {"minutes": None, "steps": 5, "at_once": 2}
    with pytest.raises(TrainingError, match="was made with other settings, another budget"):
        compare(CONTEST, RUNS, together, data, Budget(None, 5))


@several
def test_a_mistake_in_one_is_told_as_it_would_be_alone(data: Data, tmp_path: Path) -> None:
    (tmp_path / "empty.tsv").write_text("", encoding="utf-8")
    empty = data._replace(train=[tmp_path / "empty.tsv"])
    said = {}
    for at_once in (1, 2):
        with pytest.raises(DataError, match="only 0 of 0 pairs are left to learn from") as caught:
            compare(CONTEST, RUNS, tmp_path / str(at_once), empty, Budget(None, 5, at_once))
        said[at_once] = (caught.value.message, caught.value.hint)
    assert said[1] == said[2]


@several
def test_a_process_that_ends_without_a_word_is_noticed(
    data: Data, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(TrainingError, match="its process ended with 1 and without a word"):
        compare(CONTEST, RUNS, tmp_path, data, Budget(None, 5, 2))


@several
def test_ctrl_c_saves_all_that_was_begun_and_the_same_command_goes_on(data: Data, tmp_path: Path) -> None:
    contest, out = tmp_path / "set.toml", tmp_path / "out"
    entries = [
        {"name": e.name, "label": e.label, "settings": [*e.settings, "training.save_seconds=60"]} for e in ENTRIES
    ]
    contest.write_text(
        "".join(
            "[[recipe]]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in entry.items())
            for entry in entries
        ),
        encoding="utf-8",
    )
    texts = [data.train[0], "--dev", data.dev[0], "--test", data.test[0], "--from", "en", "--to", "es"]
    words = ["compare", contest, *texts, "--steps", "1500", "--at-once", "2", "--out", out]
    command = [sys.executable, "-m", "dragoman", *map(str, words)]
    states = [out / "models" / f"{entry.name}-1" / "run" for entry in ENTRIES]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 120
        while not all((state / "log.jsonl").exists() and (state / "log.jsonl").stat().st_size for state in states):
            assert process.poll() is None, process.stderr.read() if process.stderr else ""
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=120)[1]
    assert process.returncode == 130, said
    assert "give the same command again, and it goes on" in said
    assert all((state / "state.json").exists() for state in states)
    again = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert again.returncode == 0, again.stderr
    assert "LSTM, last, seed 1: plan: 1,500 updates" in again.stderr
    assert "from update" in again.stderr
    assert "Transformer" in again.stdout


def test_cores_are_shared_equally(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {2, 3, 5, 7, 11}, raising=False)
    monkeypatch.setattr(os, "sched_setaffinity", lambda *_: None, raising=False)
    assert share_cores(1) == [[2, 3, 5, 7, 11]]
    assert share_cores(2) == [[2, 3], [5, 7]]
    assert share_cores(5) == [[2], [3], [5], [7], [11]]
    with pytest.raises(RecipeError, match="6 trainings at once need 6 cores, but there are 5"):
        share_cores(6)


def test_a_system_without_shares_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_setaffinity", raising=False)
    with pytest.raises(RecipeError, match="cannot be given cores of its own"):
        share_cores(1)


def test_the_command_refuses_more_than_there_are(data: Data, tmp_path: Path, cli: Cli) -> None:
    contest = tmp_path / "set.toml"
    contest.write_text('[[recipe]]\nname = "a"\nlabel = "A"\n', encoding="utf-8")
    texts = (data.train[0], "--test", data.test[0], "--from", "en", "--to", "es")
    said = cli("compare", contest, *texts, "--at-once", cores() + 1, "--out", tmp_path / "out")
    assert said.code == 1
    assert "trainings at once need" in said.err


def test_rows_tell_how_far_each_is() -> None:
    from rich.console import Console

    early, late = Watched(Path("early")), Watched(Path("late"))
    early.see(Preparing("encoding the corpus", 1700))
    for event in (
        Planned(20, 2, None, 0, 0.1, 0.0),
        Updated(5, 0, 3.25, 0.001, 100, 0.1),
        Scored(5, 41.27, best=True, sample=("a", "b", "c")),
    ):
        late.see(event)
    console = Console(width=140)
    with console.capture() as captured:
        console.print(picture({"1 of 2: one": early, "2 of 2: two": late}))
    first, second = captured.get().splitlines()
    assert "1 of 2: one" in first
    assert "encoding the corpus, 1,700 pairs …" in first
    assert all(text in second for text in ("2 of 2: two", "5 of 20", "loss 3.250", "dev chrF 41.3"))
