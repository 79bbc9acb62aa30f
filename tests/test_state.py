"""The state of a training on disk: whole or not at all, at any instant."""

import dataclasses
import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from dragoman.config import Training
from dragoman.errors import TrainingError
from dragoman.training.plan import Plan, plan_updates
from dragoman.training.schedule import Schedule
from dragoman.training.state import Position, load_best, load_state, lock, save_best, save_state

PLAN = plan_updates(Training(peak_rate=0.003, warmup_updates=11), 101)


def draw(seed: int) -> dict[str, NDArray[Any]]:
    rng = np.random.default_rng(seed)
    matrix = rng.standard_normal((3, 5)).astype(np.float32)
    return {"weight/a": matrix, "weight/turned": matrix.T, "step/a": np.array(float(seed), np.float32)}


def position(update: int = 7, best_update: int = 0, best_sha256: str = "") -> Position:
    best = 31.5 if best_update else None
    where = Position(PLAN, update, epoch=2, taken=3, elapsed=12.25, best=best, log_bytes=997)
    return dataclasses.replace(where, best_update=best_update, best_sha256=best_sha256)


def check_loaded(run: Path, where: Position, arrays: dict[str, NDArray[Any]]) -> None:
    loaded = load_state(run)
    assert loaded is not None
    assert loaded[0] == where
    assert loaded[1].keys() == arrays.keys()
    for name, array in arrays.items():
        assert loaded[1][name].shape == array.shape
        np.testing.assert_array_equal(loaded[1][name], array)


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    assert load_state(tmp_path) is None
    save_state(tmp_path, position(), draw(1))
    check_loaded(tmp_path, position(), draw(1))


finite = st.floats(allow_nan=False, allow_infinity=False)


@given(
    where=st.builds(
        Position,
        st.builds(
            Plan,
            schedule=st.builds(Schedule, peak=finite, decay_height=finite),
            minutes=st.none() | finite,
            scoring=finite,
            finishing=finite,
            translating=finite,
        ),
        elapsed=finite,
        best=st.none() | finite,
    )
)
def test_every_position_comes_back_to_the_bit(tmp_path_factory: pytest.TempPathFactory, where: Position) -> None:
    run = tmp_path_factory.mktemp("run")
    save_state(run, where, {})
    loaded = load_state(run)
    assert loaded is not None
    assert loaded[0] == where


def test_old_saves_are_taken_away_and_the_best_stays(tmp_path: Path) -> None:
    hashes = {update: save_best(tmp_path, update, draw(update)) for update in (3, 5)}
    save_state(tmp_path, position(5, best_update=3), draw(5))
    save_state(tmp_path, position(7, best_update=3), draw(7))
    (tmp_path / "dev.tsv").touch()
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "best-3.safetensors",
        "dev.tsv",
        "state-7.safetensors",
        "state.json",
    ]
    best = position(7, best_update=3, best_sha256=hashes[3])
    np.testing.assert_array_equal(load_best(tmp_path, best)["weight/a"], draw(3)["weight/a"])


def test_orphans_of_a_kill_do_no_harm(tmp_path: Path) -> None:
    """A kill after new arrays and before their state.json: the old save counts, and the next one sweeps up."""
    save_state(tmp_path, position(5), draw(5))
    (tmp_path / "state-7.safetensors").write_bytes(b"half")
    (tmp_path / ".state.json.part").write_bytes(b"{")
    check_loaded(tmp_path, position(5), draw(5))
    save_state(tmp_path, position(11), draw(11))
    assert sorted(file.name for file in tmp_path.iterdir()) == ["state-11.safetensors", "state.json"]


def fail_at(monkeypatch: pytest.MonkeyPatch, number: int) -> list[int]:
    """Let the disk be full at the given call of fsync or replace, and ever after."""
    calls: list[int] = []

    def failing(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            calls.append(number)
            if len(calls) > number:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return real(*arguments)

        return call

    monkeypatch.setattr(os, "fsync", failing(os.fsync))
    monkeypatch.setattr(os, "replace", failing(os.replace))
    return calls


@pytest.mark.parametrize("number", range(6))
def test_a_full_disk_leaves_a_good_save(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Two files, each synced, renamed, and its directory synced: the disk may be full at any of the six."""
    save_state(tmp_path, position(5), draw(5))
    with monkeypatch.context() as patch:
        calls = fail_at(patch, number)
        with pytest.raises(TrainingError, match=r"the training could not be saved \(the disk is full\)") as caught:
            save_state(tmp_path, position(7), draw(7))
        assert len(calls) == number + 1
    assert str(tmp_path) in caught.value.message
    assert f"dragoman train --resume --out {tmp_path.parent}" in caught.value.hint
    renamed = number == 5  # only the last sync failed, after state.json had its new content
    check_loaded(tmp_path, *((position(7), draw(7)) if renamed else (position(5), draw(5))))
    assert not list(tmp_path.glob(".*.part"))
    save_state(tmp_path, position(11), draw(11))
    check_loaded(tmp_path, position(11), draw(11))


def test_a_full_disk_leaves_the_old_best(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_best(tmp_path, 3, draw(3))
    with monkeypatch.context() as patch:
        fail_at(patch, 0)
        with pytest.raises(TrainingError, match=r"could not be saved \(the disk is full\)"):
            save_best(tmp_path, 5, draw(5))
    assert [file.name for file in tmp_path.iterdir()] == ["best-3.safetensors"]


def test_other_failures_say_what_the_system_says(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match=r"could not be saved \(No such file or directory\)"):
        save_state(tmp_path / "gone", position(), draw(1))


def damage_json(run: Path, text: str) -> None:
    (run / "state.json").write_text(text, encoding="utf-8")


def change_json(run: Path, **changes: object) -> None:
    damage_json(run, json.dumps({**json.loads((run / "state.json").read_text(encoding="utf-8")), **changes}))


def flip(run: Path) -> None:
    file = run / "state-7.safetensors"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda run: damage_json(run, ""), "Expecting value"),
        (lambda run: damage_json(run, '{"update": 7'), "Expecting"),
        (lambda run: damage_json(run, "null"), "NoneType"),
        (lambda run: damage_json(run, "[]"), "'str' object"),
        (lambda run: damage_json(run, "{}"), "sha256"),
        (lambda run: damage_json(run, "[" * 100_000), "recursion"),
        (lambda run: (run / "state.json").write_bytes(b"\xff"), "utf-8"),
        (lambda run: change_json(run, plan=None), "NoneType"),
        (lambda run: change_json(run, plan=5), "int"),
        (lambda run: change_json(run, plan={"schedule": {}}), "kind"),
        (lambda run: change_json(run, epochs=3), "epochs"),
        (lambda run: (run / "state-7.safetensors").unlink(), "No such file"),
        (lambda run: (run / "state-7.safetensors").write_bytes(b""), "is not the file that was saved"),
        (flip, "state-7.safetensors is not the file that was saved"),
    ],
)
def test_damage_is_seen(tmp_path: Path, damage: Callable[[Path], object], message: str) -> None:
    save_state(tmp_path, position(), draw(1))
    damage(tmp_path)
    with pytest.raises(TrainingError, match=rf"the saved state is damaged \(.*{message}") as caught:
        load_state(tmp_path)
    assert str(tmp_path) in caught.value.message
    assert "delete the run/ directory" in caught.value.hint


def test_a_best_that_is_gone_or_another_is_said_to_be(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match=r"best-3\.safetensors: the best weights are missing or damaged"):
        load_best(tmp_path, position(7, best_update=3))
    save_best(tmp_path, 3, draw(3))
    with pytest.raises(TrainingError, match="missing or damaged"):
        load_best(tmp_path, position(7, best_update=3, best_sha256="0" * 64))


def test_a_second_training_is_refused(tmp_path: Path) -> None:
    run = tmp_path / "model" / "run"
    message = "model: another training is at work in this directory"
    with lock(run):
        with pytest.raises(TrainingError, match=message) as caught, lock(run):
            pass
        assert "--out" in caught.value.hint
        with pytest.raises(TrainingError, match=message), lock(run):
            pass
    with lock(run):
        pass


def test_the_lock_dies_with_its_process(tmp_path: Path) -> None:
    program = (
        "import sys, pathlib, dragoman.training.state as s\n"
        "with s.lock(pathlib.Path(sys.argv[1])):\n    print('held', flush=True)\n    sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "run")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        with pytest.raises(TrainingError, match="another training is at work"), lock(tmp_path / "run"):
            pass
        process.kill()
    with lock(tmp_path / "run"):
        pass
