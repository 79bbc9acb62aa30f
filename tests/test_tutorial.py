"""The tutorial runs from top to bottom, and prints what it shows."""

import contextlib
import io
import re
from difflib import SequenceMatcher
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

import pytest

PAGE = Path(__file__).parent.parent / "docs" / "tutorial.md"
ALIKE = 0.6  # of the words: a training that comes out a little otherwise translates some of them otherwise
_BLOCK = re.compile(r"^```(?P<kind>[^\n]*)\n(?P<content>.*?)^```$", re.DOTALL | re.MULTILINE)


class Block(NamedTuple):
    """A fenced block: Python, what it prints (`text`), roughly what it prints (`text like`), or commands (no name)."""

    kind: str
    content: str
    line: int


class Run(NamedTuple):
    """What the page's Python printed, block by block, and the directory it wrote its files to."""

    printed: dict[Block, str]
    directory: Path


def read_blocks() -> list[Block]:
    page = PAGE.read_text(encoding="utf-8")
    return [Block(b["kind"], b["content"], page.count("\n", 0, b.start("content"))) for b in _BLOCK.finditer(page)]


def shown_after(blocks: list[Block], kind: str) -> list[tuple[Block, Block]]:
    """Every block of a kind of text, after the Python that prints it."""
    return [(code, text) for code, text in pairwise(blocks) if text.kind == kind and code.kind == "python"]


def likeness(printed: str, shown: str) -> float:
    """Compare the words alone, not the numbers, nor the shades of a picture."""
    printed_words, shown_words = (re.findall(r"[^\W\d_]+", text) for text in (printed, shown))
    return SequenceMatcher(None, printed_words, shown_words, autojunk=False).ratio()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run the page once; a traceback names its lines."""
    directory = tmp_path_factory.mktemp("tutorial")
    names: dict[str, Any] = {"__name__": "tutorial"}
    printed = {}
    with contextlib.chdir(directory):
        for block in read_blocks():
            if block.kind == "python":
                code = compile("\n" * block.line + block.content, str(PAGE), "exec")
                with contextlib.redirect_stdout(io.StringIO()) as out:
                    exec(code, names)  # noqa: S102 -- the page is ours
                printed[block] = out.getvalue()
    return Run(printed, directory)


def test_everything_that_is_printed_is_shown(run: Run) -> None:
    blocks = read_blocks()
    shown = [*shown_after(blocks, "text"), *shown_after(blocks, "text like")]
    assert {code for code, _ in shown} == {code for code, out in run.printed.items() if out}
    assert {text for _, text in shown} == {block for block in blocks if block.kind.startswith("text")}


def test_what_does_not_hang_on_training_is_printed_to_the_letter(run: Run) -> None:
    for code, text in shown_after(read_blocks(), "text"):
        assert run.printed[code] == text.content, f"line {text.line}"


def test_what_hangs_on_training_is_printed_in_much_the_same_words(run: Run) -> None:
    for code, text in shown_after(read_blocks(), "text like"):
        assert likeness(run.printed[code], text.content) >= ALIKE, f"line {text.line}: {run.printed[code]}"


def test_the_picture_is_drawn(run: Run) -> None:
    drawn = ET.fromstring((run.directory / "attention.svg").read_text(encoding="utf-8"))  # noqa: S314 -- ours
    said = {text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")}
    assert {"black", "cat", "gato", "negro"} <= said


def test_likeness_is_of_words_and_not_of_numbers() -> None:
    assert likeness("epoch 1: loss 5.38", "epoch 1: loss 4.02") == 1
    assert likeness("negro <- black", "negro <- cat") < ALIKE
