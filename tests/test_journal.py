"""The log of a training: what is in it after a crash, and what is drawn from it."""

import json
from pathlib import Path

import pytest

from dragoman.jobs.journal import Journal, read_log
from dragoman.training.events import Replanned, Saved, Scored


def told(run: Path, size: int) -> Journal:
    return Journal(run, size, lambda _: None)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A log of four events, of which three stood in it when it was saved."""
    journal = told(tmp_path, 0)
    for update in (7, 11, 13):
        journal.observe(Scored(update, 50.0 + update, best=True, sample=("a", "b", "ç")))
    saved = journal.size()
    journal.observe(Replanned(17, 23, 19, "it takes longer than planned"))
    (tmp_path / "saved").write_text(str(saved), encoding="ascii")
    return tmp_path


def saved_at(run: Path) -> int:
    return int((run / "saved").read_text(encoding="ascii"))


def test_what_came_after_the_save_did_not_happen(run: Path) -> None:
    assert len(read_log(run / "log.jsonl")) == 4
    journal = told(run, saved_at(run))
    assert journal.size() == saved_at(run)
    assert [event["update"] for event in read_log(run / "log.jsonl")] == [7, 11, 13]


@pytest.mark.parametrize("lost", ["some of its end", "half a line", "all of it"])
def test_a_log_that_is_shorter_than_it_was_saved_ends_with_a_whole_line(run: Path, lost: str) -> None:
    log = run / "log.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    match lost:
        case "some of its end":
            log.write_bytes(b"".join(lines[:2]))
        case "half a line":
            log.write_bytes(b"".join(lines[:2]) + lines[2][:23])
        case _:
            log.unlink()
    journal = told(run, saved_at(run))
    left = [] if lost == "all of it" else [7, 11]
    assert [event["update"] for event in read_log(log)] == left
    journal.observe(Scored(29, 61.0, best=True, sample=("a", "b", "c")))
    journal.observe(Saved(29))
    assert [json.loads(line)["update"] for line in log.read_bytes().splitlines()] == [*left, 29]
    assert (run / "curves.svg").read_text(encoding="utf-8").startswith("<svg")
