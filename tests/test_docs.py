"""What the documents show works: the Python runs, and every command and option exists."""

import re
import shlex
from pathlib import Path

import pytest
import typer
from benchmarks.results import RESULTS, Results

from dragoman.cli.main import app
from tiny_model import make_tiny_model

ROOT = Path(__file__).parent.parent
PAGES = [
    ROOT / "README.md",
    *(ROOT / "docs" / f"{name}.md" for name in ("training", "tutorial", "box", "comparison", "comparison/tatoeba")),
]
COMMANDS = sorted(
    {
        line.partition("  #")[0].strip()
        for page in PAGES
        for kind, block in re.findall(
            r"^```([^\n]*)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
        )
        if not kind
        for line in block.replace("\\\n", " ").splitlines()
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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_page_points_at_is_there(page: Path) -> None:
    """Pictures and other pages; what is elsewhere is not ours to check."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    named = [name.partition("#")[0] for name in re.findall(r"\]\(([^)\s]+)\)", text)]
    assert [name for name in named if "://" not in name and not (page.parent / name).exists()] == []


def test_the_figures_of_the_readme_are_those_that_were_measured() -> None:
    shown = re.search(
        r"<!-- figures: .*? -->\n(.*?)\n<!-- end", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL
    )
    assert shown is not None
    measured = Results.read(RESULTS)
    assert shown[1] == measured.table(), "put what `python -m benchmarks --table` prints into the README"
    page = (ROOT / "docs" / "figures.md").read_text(encoding="utf-8")
    assert page == measured.page() + "\n", "write what `python -m benchmarks --figures` prints to docs/figures.md"
