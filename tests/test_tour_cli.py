"""`dragoman tour`, the command: what it prints, in a terminal and elsewhere."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from dragoman import tour
from dragoman.tour.blocks import Note
from run_command import Cli, command

TITLES = [heading.title for heading in tour.table_of_contents("en")]


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_everything_is_printed_where_nobody_waits(cli: Cli, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    said = cli("tour")
    assert (said.code, said.err) == (0, "")
    places = [said.out.index(f"\n{number}/{len(TITLES)}  {title[:20]}") for number, title in enumerate(TITLES, start=1)]
    assert places == sorted(places)
    assert "\x1b" not in said.out
    assert all(line == line.rstrip() for line in said.out.splitlines())
    assert max(map(len, said.out.splitlines())) <= columns


def test_one_chapter_by_number_or_name(cli: Cli) -> None:
    said = cli("tour", "3")
    assert said == cli("tour", "weighted-mean")
    for part in (
        "3/13  From the mean to attention",
        "scores                      13       9       9",
        "weights                 0.9647  0.0177  0.0177",
        "weights, to two digits    0.96    0.02    0.02",
        "What really happens",
        "Try  dragoman tour weighted-mean --set scores=9,9,9",
        "scores  how well each state fits what the decoder looks for: 13,9,9",
    ):
        assert part in said.out


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("similarity", ["cosine       a · b / (|a| |b|) = 0.789, an angle of 37.9°"]),
        (
            "scaling",
            [
                "divided by 8                         14         12",
                "weights                            0.88       0.12",
            ],
        ),
        (
            "query-key-value",
            [
                "1  0  1                  0  0  1                0  2  0",
                "1  0  0                  1  1  0                0  3  0",
                "0  0  1                  0  1  0                1  0  3",
                "0  1  1                  1  1  0                1  1  0",
                "weights, exact     0.0634   0.4683   0.4683",
                "weights, rounded        0      0.5      0.5",
                "with exact weights    1.9366  6.6831  1.5951",
                "with rounded weights       2       7     1.5",
            ],
        ),
        (
            "positions",
            [
                "I          0.00      1.00       0.00       1.00",
                "am         0.84      0.54       0.10       1.00",
                "a          0.91     -0.42       0.20       0.98",
                "robot      0.14     -0.99       0.30       0.96",
            ],
        ),
        ("mask", ["a  2  -1  0          a  2  -∞  -∞", "c  0   2  4          c  0   2   4"]),
        ("heads", ["input 1  1.226  2.233  -0.639   0.378"]),
    ],
)
def test_the_lectures_numbers_are_on_the_page(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, name: str, lines: list[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    said = cli("tour", name).out
    assert [line for line in lines if line not in said] == []


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("mask", "Hidden scores are not multiplied by minus infinity."),
        ("positions", "Positions are added to the words' vectors, not concatenated with them"),
        ("similarity", "The dot product is sometimes called the cosine distance. It is neither"),
        ("residual-norm", "Layer normalisation is not a kind of batch normalisation."),
        ("writing", "Beam search is no alternative to teacher forcing"),
    ],
)
def test_where_the_lectures_are_loose_the_tour_says_what_really_happens(name: str, said: str) -> None:
    (chapter,) = tour.tell([name], [], "en")
    assert any(said in " ".join(block.text.split()) for block in chapter.blocks if isinstance(block, Note))


def test_the_chapters_follow_the_lectures() -> None:
    told = "bottleneck similarity weighted-mean scores query-key-value scaling heads positions residual-norm mask"
    rest = "encoder-decoder writing linear"
    assert [heading.name for heading in tour.table_of_contents("en")] == f"{told} {rest}".split()


def test_numbers_can_be_changed(cli: Cli) -> None:
    said = cli("tour", "weighted-mean", "--set", "scores=9,13,9")
    assert "The greatest weight, 0.96, is that of h2." in said.out
    said = cli("tour", "mask", "--set", "words=a b", "--set", "scores=1,2;3,4")
    assert "    a  1  -∞\n    b  3   4\n" in said.out


def test_the_list(cli: Cli) -> None:
    said = cli("tour", "--list")
    lines = [line.split() for line in said.out.splitlines()]
    assert [(int(line[0]), line[1]) for line in lines if line[0].isdecimal()] == [
        (heading.number, heading.name) for heading in tour.table_of_contents("en")
    ]
    tree = json.loads(cli("tour", "--list", "--json").out)
    assert [one["title"] for one in tree] == TITLES


def test_as_json(cli: Cli) -> None:
    tree = json.loads(cli("tour", "scaling", "--json", "--set", "width=16").out)
    (table,) = (one for one in tree["blocks"] if one["kind"] == "table" and "weights" in one["rows"])
    assert table["cells"][1] == [28, 24]
    assert {"name": "width", "about": "the width of queries and keys", "value": "16", "default": "64"} in tree["inputs"]
    assert [one["title"] for one in json.loads(cli("tour", "--json").out)] == TITLES


def test_mistakes(cli: Cli) -> None:
    said = cli("tour", "scaling", "--set", "witdh=3")
    assert (said.code, said.out) == (1, "")
    assert said.err == (
        "error: the chapter scaling has nothing called 'witdh' to change; did you mean 'width'?\n"
        "hint: it has: words, scores, width, seed\n"
    )
    said = cli("tour", "--language", "xx")
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith("error: the tour is not told in 'xx'\nhint: it is told in: ")
    said = cli("tour", "queries")
    assert said.code == 1
    assert "there is no chapter 'queries'" in said.err


def test_a_wide_table_goes_on_below_itself(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    words = "one two three four five six seven eight"
    said = cli("tour", "positions", "--set", f"words={words}", "--set", "width=8")
    assert said.out.count("P, the positions\n") > 1
    assert max(map(len, said.out.splitlines())) <= 50


def test_what_could_steer_a_terminal_is_not_printed(cli: Cli) -> None:
    said = cli("tour", "positions", "--set", "words=a\x1b[2J b")
    assert said.code == 0
    assert "\x1b" not in said.out


def test_colour_where_it_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[" in command("tour", "5", FORCE_COLOR="1").out
    assert "\x1b" not in command("tour", "5", FORCE_COLOR="1", NO_COLOR="1").out


def test_torch_is_never_imported(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('torch is blocked')")
    said = command("tour", cwd=tmp_path, PYTHONPATH=str(tmp_path))
    assert (said.code, said.err) == (0, "")


@pytest.mark.parametrize(("keys", "chapters"), [(b"q\n", 0), (b"\nq\n", 1), (b"\n\nQ\n", 2), (b"\n\x04", 1)])
def test_in_a_terminal_it_waits_between_chapters(keys: bytes, chapters: int) -> None:
    """Type into a real terminal, all at once: what is not yet read waits."""
    ours, theirs = pty.openpty()
    code = "from dragoman.cli.main import run; run()"
    with subprocess.Popen(
        [sys.executable, "-c", code, "tour"], stdin=theirs, stdout=theirs, env={**os.environ, "NO_COLOR": "1"}
    ) as running:
        os.close(theirs)
        os.write(ours, keys)
        said = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # how Linux says that nobody is there any more
                break
            if not part:
                break
            said += part
    os.close(ours)
    assert running.returncode == 0
    text = said.decode()
    assert "Enter: begin" in text
    assert [title for n, title in enumerate(TITLES, 1) if f"{n}/{len(TITLES)}  {title}" in text] == TITLES[:chapters]
