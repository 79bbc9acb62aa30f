"""The training job and its command: what it makes, how it is taken up again, and what it refuses."""

import json
import math
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import dragoman
from dragoman.checkpoint import ModelDirectory, read_arrays
from dragoman.data.grammar import generate
from dragoman.engine.base import Link
from dragoman.errors import (
    DataError,
    DivergedError,
    InterruptedByUserError,
    RecipeError,
    TrainingError,
    UnfinishedError,
)
from dragoman.evaluation.alignment import count_rows, lexical_links
from dragoman.jobs.events import Noted, Ready
from dragoman.jobs.finish import is_int8_good
from dragoman.jobs.train import train
from dragoman.training.events import Updated
from dragoman.training.learner import Learner
from tiny_model import TRAINING

TINY = [*TRAINING, "training.scorings=3"]
STEPS = 60


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "pairs.tsv"
    path.write_text("".join(f"{e.source}\t{e.target}\n" for e in generate(400, seed=7)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def uninterrupted(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("whole") / "model"
    done = run(command(out, corpus))
    assert done.returncode == 0, done.stderr
    return out


def command(out: Path, *inputs: Path, settings: Sequence[str] = (), steps: int = STEPS) -> list[str]:
    words = [sys.executable, "-m", "dragoman", "train", *map(str, inputs), "--out", str(out)]
    if inputs:
        words += ["--from", "en", "--to", "es", "--steps", str(steps)]
        words += [word for setting in (*TINY, *settings) for word in ("--set", setting)]
    else:
        words += ["--resume"]
    return words


def run(words: Sequence[str], **more: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, timeout=200, check=False, **more)  # type: ignore[call-overload,no-any-return]


def test_a_training_makes_a_model(uninterrupted: Path) -> None:
    model = ModelDirectory(uninterrupted)
    assert (model.card["from"], model.card["to"]) == ("en", "es")
    assert model.card["training"]["updates"] == STEPS
    assert model.card["fast"]["use"] in {"float32", "int8"}
    assert model.card["dev"]["chrf"]["signature"].startswith("nrefs:1")
    assert [t.text for t in dragoman.load(uninterrupted).translate([""])] == [""]
    assert {p.name for p in (uninterrupted / "run").iterdir()} == {
        "log.jsonl",
        "curves.svg",
        "request.json",
        "corpus.json",
        "dev.tsv",
    }


def test_a_training_learns(corpus: Path, tmp_path: Path) -> None:
    """More quickly than the others here, which after their few updates have learned to write nothing but spaces."""
    quickly = ("training.warmup_updates=20", "training.peak_rate=0.02", "pieces.sampling=0.0")
    done = run(command(tmp_path / "model", corpus, settings=quickly, steps=600))
    assert done.returncode == 0, done.stderr
    assert ModelDirectory(tmp_path / "model").card["dev"]["chrf"]["score"] > 15
    (translation,) = dragoman.load(tmp_path / "model").translate(["The dog sees the cat."])
    assert translation.text.endswith(".")


def test_no_size_is_left_open_in_the_model(uninterrupted: Path) -> None:
    recipe = ModelDirectory(uninterrupted).recipe
    sections = (recipe.pieces, recipe.model, recipe.training)
    assert [name for section in sections for name, value in vars(section).items() if value is None] == []


def test_the_log_tells_every_scoring_once(uninterrupted: Path) -> None:
    lines = (uninterrupted / "run" / "log.jsonl").read_text(encoding="utf-8").splitlines()
    scored = [event["update"] for event in map(json.loads, lines) if event["event"] == "scored"]
    assert scored == [20, 40, 60]


def test_the_same_seed_trains_the_same_weights(corpus: Path, uninterrupted: Path, tmp_path: Path) -> None:
    out = tmp_path / "again"
    assert run(command(out, corpus)).returncode == 0
    assert (out / "weights.safetensors").read_bytes() == (uninterrupted / "weights.safetensors").read_bytes()


def test_killed_at_any_instant_it_ends_with_the_same_weights(corpus: Path, uninterrupted: Path, tmp_path: Path) -> None:
    out = tmp_path / "killed"
    kills = int(os.environ.get("DRAGOMAN_KILLS", "4"))
    killed, began = kill_and_resume(out, corpus, kills)
    assert killed >= 1, "the training was over before it could be killed"
    assert began >= 1, "no kill came after the first save"
    lines = (out / "run" / "log.jsonl").read_text(encoding="utf-8").splitlines()
    updates = [event["update"] for event in map(json.loads, lines) if event["event"] == "update"]
    assert updates == sorted(set(updates))
    ours, theirs = (read_arrays(path / "weights.safetensors") for path in (out, uninterrupted))
    assert {name for name in theirs if (ours[name] != theirs[name]).any()} == set()


def kill_and_resume(out: Path, corpus: Path, kills: int) -> tuple[int, int]:
    """Start, kill, take up again; return how often it was killed, and how often after a save."""
    seed = random.randrange(2**32)
    print(f"kills drawn with seed {seed}")
    rng = random.Random(seed)
    words = command(out, corpus, settings=["training.save_seconds=0"])
    killed = after_save = 0
    while killed < kills:
        process = subprocess.Popen(words, stderr=subprocess.DEVNULL)
        last = killed == kills - 1 and not after_save
        wanted = "state.json" if last else rng.choice(["lock", "request.json", "state.json", "state.json"])
        deadline = time.monotonic() + 600
        while process.poll() is None and time.monotonic() < deadline and not (out / "run" / wanted).exists():
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 0.4))
        process.kill()
        if process.wait() == 0:
            break
        killed += 1
        after_save += (out / "run" / "state.json").exists()
        words = command(out) if (out / "run" / "request.json").exists() else words
    done = run(command(out))
    assert done.returncode == 0, done.stderr
    return killed, after_save


def test_sigterm_saves_and_says_how_to_go_on(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "model"
    process = subprocess.Popen(command(out, corpus, steps=100_000), stderr=subprocess.PIPE, text=True)
    log = out / "run" / "log.jsonl"
    while process.poll() is None and not (log.exists() and log.stat().st_size):
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "note: saved after update" in told
    assert "error" not in told
    assert f"dragoman train --resume --out {out}" in told
    assert (out / "run" / "state.json").exists()


def test_resume_without_a_training_says_so(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="there is no training to go on with"):
        train(out=tmp_path / "nothing", resume=True)
    assert not (tmp_path / "nothing").exists()


def test_a_finished_training_has_nothing_to_resume(uninterrupted: Path) -> None:
    before = (uninterrupted / "card.json").read_bytes()
    assert train(out=uninterrupted, resume=True) == uninterrupted
    assert (uninterrupted / "card.json").read_bytes() == before


def test_resume_takes_nothing_else(corpus: Path, uninterrupted: Path) -> None:
    with pytest.raises(TrainingError, match="it does not take inputs, --steps"):
        train([corpus], out=uninterrupted, steps=9, resume=True)


def test_a_training_that_goes_on_may_end_later_or_sooner(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "model"

    def interrupt(event: object) -> None:
        if isinstance(event, Updated) and event.update == 10:
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(InterruptedByUserError, match="saved after update 10 of 60"):
        train([corpus], out=out, steps=STEPS, settings=TINY, observe=interrupt)
    with pytest.raises(TrainingError, match="minutes and 10 updates have been used already"):
        train(out=out, resume=True, steps=10)
    with pytest.raises(TrainingError, match="was planned in updates, not in minutes"):
        train(out=out, resume=True, minutes=3)
    with pytest.raises(TrainingError, match="it does not take --set"):
        train(out=out, resume=True, steps=14, settings=["model.width=8"])
    train(out=out, resume=True, steps=14)
    with pytest.raises(TrainingError, match="it does not take --steps") as caught:
        train(out=out, resume=True, steps=20)
    assert f"--start {out}" in caught.value.hint
    card = ModelDirectory(out).card["training"]
    assert (card["updates"], card["steps"]) == (14, 14)


def test_a_sorted_dev_set_is_judged_by_pairs_from_all_over(corpus: Path, tmp_path: Path) -> None:
    lines = sorted((f"{e.source}\t{e.target}\n" for e in generate(80, seed=8)), key=len)
    (tmp_path / "dev.tsv").write_text("".join(lines), encoding="utf-8")
    ready: list[Ready] = []

    def watch(event: object) -> None:
        if isinstance(event, Ready):
            ready.append(event)

    train([corpus], out=tmp_path / "m", dev=[tmp_path / "dev.tsv"], steps=1, settings=TINY, observe=watch)
    found = [f"{source}\t{target}\n" for source, target in ready[0].prepared.dev]
    assert sorted(found) == sorted(lines)
    assert max(map(len, found[:9])) > len(lines[40])
    assert min(map(len, found[:9])) < len(lines[40])


def test_other_pairs_are_mixed_in(corpus: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.tsv"
    other.write_text("".join(f"{e.source}\tX{e.target}\n" for e in generate(900, seed=9)), encoding="utf-8")
    out = train([corpus], out=tmp_path / "m", mix=[other], mix_share=0.25, steps=1, settings=TINY)
    told = ModelDirectory(out).card["corpus"]
    assert told["mixed"]["share"] == pytest.approx(0.25, abs=0.01)
    assert told["mixed"]["used"] == pytest.approx((told["pairs"] - told["mixed"]["used"]) / 3, abs=1)


def test_a_directory_of_other_things_is_left_alone(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work", encoding="utf-8")
    with pytest.raises(TrainingError, match="is not empty, and what it holds is no training"):
        train([corpus], out=tmp_path, steps=9)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize(("int8", "good"), [(60.0, True), (59.71, True), (59.69, False), (61.0, True)])
def test_int8_may_lose_little(int8: float, good: bool) -> None:
    assert is_int8_good(60.0, int8) is good


def test_a_directory_with_a_model_is_not_trained_over(corpus: Path, uninterrupted: Path) -> None:
    with pytest.raises(TrainingError, match="holds a model or an unfinished training already"):
        train([corpus], out=uninterrupted, steps=1)


def test_two_trainings_do_not_share_a_directory(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "model"
    first = subprocess.Popen(command(out, corpus, steps=100_000), stderr=subprocess.DEVNULL)
    try:
        while first.poll() is None and not (out / "run" / "request.json").exists():
            time.sleep(0.05)
        second = run(command(out))
        assert second.returncode == 1
        assert "another training is at work in this directory" in second.stderr
    finally:
        first.kill()
        first.wait()


def test_a_full_disk_leaves_the_last_good_save(corpus: Path, uninterrupted: Path, tmp_path: Path) -> None:
    """A limit on the size of files stands for the full disk: writing fails in the same place and way."""
    out = tmp_path / "model"
    process = subprocess.Popen(command(out, corpus, settings=["training.save_seconds=0"]), stderr=subprocess.DEVNULL)
    while process.poll() is None and not (out / "run" / "state.json").exists():
        time.sleep(0.01)
    process.kill()
    process.wait()
    saved = json.loads((out / "run" / "state.json").read_text(encoding="utf-8"))["update"]
    too_small = (out / "run" / f"state-{saved}.safetensors").stat().st_size // 2

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (too_small, too_small))

    full = run(command(out), preexec_fn=limit)
    assert full.returncode == 1
    assert "the training could not be saved" in full.stderr
    assert "--resume" in full.stderr
    assert not (out / "card.json").exists()
    assert run(command(out)).returncode == 0
    assert (out / "weights.safetensors").read_bytes() == (uninterrupted / "weights.safetensors").read_bytes()


def lines(*pairs: tuple[str, str]) -> str:
    return "".join(f"{a}\t{b}\n" for a, b in pairs)


REFUSED = {
    "three pairs": (lines(("a b", "c d"), ("e f", "g h"), ("i j", "k l")), DataError, "only 3 of 3 pairs are left"),
    "all targets equal": (
        lines(*((f"sentence {chr(97 + n % 26)} {'x' * (n // 26 + 1)}", "always the same") for n in range(78))),
        DataError,
        "every target is the same text: 'always the same'",
    ),
    "one word": (lines(*(("no " * n, "non " * n) for n in range(1, 81))), DataError, "only 2 different words"),
    "nothing": ("", DataError, "only 0 of 0 pairs are left"),
    "one column": ("just text\nmore\n", DataError, "tab|column"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_hopeless_corpus_is_refused(name: str, tmp_path: Path) -> None:
    text, kind, message = REFUSED[name]
    (tmp_path / "pairs.tsv").write_text(text, encoding="utf-8")
    with pytest.raises(kind, match=message) as caught:
        train([tmp_path / "pairs.tsv"], out=tmp_path / "model", steps=3)
    assert caught.value.hint
    assert not (tmp_path / "model").exists()


def test_a_line_of_a_megabyte_is_dropped_and_counted(corpus: Path, tmp_path: Path) -> None:
    long = tmp_path / "long.tsv"
    long.write_text(corpus.read_text(encoding="utf-8") + "x" * 1_000_000 + "\ty\n", encoding="utf-8")
    out = train([long], out=tmp_path / "model", source_language="en", target_language="es", steps=3, settings=TINY)
    assert ModelDirectory(out).card["corpus"]["dropped"]["too-long"] == 1


def test_unequal_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "t.en").write_text("one\ntwo\n", encoding="utf-8")
    (tmp_path / "t.es").write_text("uno\n", encoding="utf-8")
    with pytest.raises(DataError, match="ends after line 1"):
        train(
            [tmp_path / "t.en", tmp_path / "t.es"],
            out=tmp_path / "m",
            source_language="en",
            target_language="es",
            steps=3,
        )
    assert not (tmp_path / "m").exists()


def test_a_directory_is_not_a_corpus(tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").mkdir()
    with pytest.raises(DataError, match="is a directory"):
        train([tmp_path / "pairs.tsv"], out=tmp_path / "m", steps=3)


def test_an_unknown_setting_is_named_with_the_nearest(corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="training has no setting 'warmpu_updates'; did you mean 'warmup_updates'"):
        train([corpus], out=tmp_path / "m", steps=3, settings=["training.warmpu_updates=3"])
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("asked", "message"),
    [({}, "say how long"), ({"steps": 3, "minutes": 1.0}, "say how long"), ({"steps": 0}, "no time")],
)
def test_one_way_to_end_must_be_given(asked: dict[str, float], message: str, corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match=message):
        train([corpus], out=tmp_path / "m", **asked)  # type: ignore[arg-type]


def test_too_few_minutes_are_refused_and_what_was_prepared_is_kept(corpus: Path, tmp_path: Path) -> None:
    text, out = Path(shutil.copy(corpus, tmp_path / "pairs.tsv")), tmp_path / "m"
    begun: dict[str, Any] = {"inputs": [text], "minutes": 0.01, "settings": TINY}
    for asked in (begun, {"resume": True, "minutes": 0.02}):
        with pytest.raises(UnfinishedError, match=r"--minutes .* is too short: preparing took") as caught:
            train(out=out, **asked)
        assert f"dragoman train --resume --out {out} --minutes" in caught.value.hint
        text.unlink(missing_ok=True)  # it is not read again


def test_a_model_that_will_not_know_its_languages_is_told_of_in_time(corpus: Path, tmp_path: Path) -> None:
    told: list[str] = []

    def hear(event: Any) -> None:
        if isinstance(event, Noted | Updated):
            told.append(event.text if isinstance(event, Noted) else "it learns")

    train([corpus], out=tmp_path / "m", steps=1, settings=TINY, observe=hear)
    said = "which languages these are was not said (--from, --to), so the model cannot be served"
    assert told == [said, "it learns"]


def test_a_loss_that_is_no_number_is_told_not_saved(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Learner, "update", lambda *_, **__: math.nan)
    with pytest.raises(DivergedError, match="the loss is not a number any more at update 1") as caught:
        train([corpus], out=tmp_path / "m", source_language="en", target_language="es", steps=9, settings=TINY)
    assert "peak_rate" in caught.value.hint
    assert not (tmp_path / "m" / "card.json").exists()
    assert not (tmp_path / "m" / "run" / "state.json").exists()


def test_an_alignment_is_learned_from_no_more_than_there_is_room_for(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: list[int] = []

    def watched(pairs: Sequence[tuple[list[int], list[int]]]) -> list[set[Link]]:
        rows.extend(count_rows(*pair) for pair in pairs)
        return lexical_links(pairs)

    monkeypatch.setattr("dragoman.jobs.finish.lexical_links", watched)
    monkeypatch.setattr("dragoman.jobs.finish._ALIGNED_ROWS", 700)
    monkeypatch.setattr("dragoman.jobs.finish._LEXICON_ROWS", 3000)
    train([corpus], out=tmp_path / "m", source_language="en", target_language="es", steps=3, settings=TINY)
    assert 3700 <= sum(rows) < 3700 + 2 * max(rows)


def test_a_test_source_is_kept_out_of_training(corpus: Path, tmp_path: Path) -> None:
    leaked = corpus.read_text(encoding="utf-8").splitlines()[:5]
    (tmp_path / "test.tsv").write_text("\n".join(leaked) + "\n", encoding="utf-8")
    out = train(
        [corpus],
        out=tmp_path / "m",
        source_language="en",
        target_language="es",
        test=[tmp_path / "test.tsv"],
        steps=3,
        settings=TINY,
    )
    assert ModelDirectory(out).card["corpus"]["dropped"]["test-leak"] == 5
