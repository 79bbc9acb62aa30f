"""What the documents show works: the Python runs, and every command and option exists."""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from benchmarks import __main__ as benchmarks
from benchmarks.figure import Figure
from benchmarks.results import RESULTS, Results

from dragoman.cli.main import app
from tiny_model import make_tiny_model

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *(ROOT / "docs" / f"{name}.md" for name in ("training", "tutorial", "box"))]
COMMANDS = sorted(
    {
        line.partition("  #")[0].strip()
        for page in PAGES
        for kind, block in re.findall(
            r"^```([^\n]*)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
        )
        if not kind
        for line in block.splitlines()
        if line.startswith("dragoman ")
    }
)


def test_the_pages_show_commands() -> None:
    assert len(COMMANDS) > 20


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_that_is_shown_exists(line: str) -> None:
    verb, *words = shlex.split(line.partition("<")[0])[1:]
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    assert verb in commands
    known = {option for parameter in commands[verb].params for option in parameter.opts}
    assert {word for word in words if word.startswith("-")} <= known


def test_the_python_of_the_readme_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (snippet,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    make_tiny_model(tmp_path / "demo-model")
    monkeypatch.chdir(tmp_path)
    exec(compile(snippet, "README.md", "exec"), {})  # noqa: S102 -- the page is ours
    assert capsys.readouterr().out.strip()


def test_the_picture_of_the_readme_is_there() -> None:
    for name in re.findall(r"\]\(([^)]+)\)", (ROOT / "README.md").read_text(encoding="utf-8")):
        assert (ROOT / name).exists(), name


def test_the_figures_of_the_readme_are_those_that_were_measured() -> None:
    shown = re.search(
        r"<!-- figures: .*? -->\n(.*?)\n<!-- end", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL
    )
    assert shown is not None
    measured = Results.read(RESULTS)
    assert shown[1] == measured.table(), "put what `python -m benchmarks --table` prints into the README"
    page = (ROOT / "docs" / "figures.md").read_text(encoding="utf-8")
    assert page == measured.page() + "\n", "write what `python -m benchmarks --figures` prints to docs/figures.md"


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
