"""The command itself: what it prints, what it exits with, and that a line in is a line out."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from dragoman import __version__, checkpoint
from dragoman.cli import show
from dragoman.engine.load import load_translator
from dragoman.errors import InterruptedByUserError
from run_command import SENTENCE, Cli, Said, command
from tiny_model import RECIPE, make_tiny_model

VERBS = [
    "check",
    "train",
    "translate",
    "serve",
    "evaluate",
    "compare",
    "look",
    "tour",
    "about",
    "export",
    "generate",
    "recipe",
    "demo",
]


pytest_plugins = ["commanding"]


# ---- the whole -----------------------------------------------------------------------------------------


def test_a_text_in_the_wrong_language_is_noticed(
    cli: Cli, models: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(checkpoint, "BOX", tmp_path)
    words = ("translate", "-m", models / "first", "--beam", "1")
    said = cli(*words, "El perro no ve a la gata en la casa.")
    assert said.code == 0
    assert "note: this looks like Spanish, but the model translates from English to Spanish\n" in said.err
    (tmp_path / "es-en").mkdir()
    (tmp_path / "es-en" / "card.json").touch()
    assert "Spanish; -m es-en translates from it\n" in cli(*words, "El perro no ve a la gata en la casa.").err
    assert "looks like" not in cli(*words, "The dog does not see the cat in the house.").err
    assert "looks like" not in cli(*words, "--quiet", "El perro no ve a la gata en la casa.").err


def test_help_names_every_verb(cli: Cli) -> None:
    said = cli("--help")
    assert said.code == 0
    listed = said.out.partition("Commands:")[2]
    assert [line.split()[0] for line in listed.strip().splitlines()] == VERBS
    assert "..." not in listed


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb != "demo"])
def test_every_verb_has_help_with_examples(cli: Cli, verb: str) -> None:
    said = cli(verb, "--help")
    assert said.code == 0
    assert "Examples:" in said.out
    assert f"dragoman {verb} " in said.out.partition("Examples:")[2]


def test_the_version(cli: Cli) -> None:
    assert cli("--version") == Said(0, f"dragoman {__version__}\n", "")


def test_a_misspelt_verb_and_option(cli: Cli) -> None:
    said = cli("translat")
    assert said.code == 2
    assert "No such command 'translat'. Did you mean 'translate'" in said.err
    said = cli("translate", "--bem", "3")
    assert said.code == 2
    assert "No such option: --bem" in said.err


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys\nfrom dragoman.cli.main import run\n"
        "try: run()\nfinally: print(sorted({'torch', 'numpy', 'rich', 'ctranslate2'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code, "--help"], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "pairs.tsv"),
        ("translate", "-m", "first", SENTENCE),
        ("evaluate", "-m", "first", "pairs.tsv"),
        ("look", "-m", "first", SENTENCE),
        ("export", "-m", "first", "--quantization", "int8", "out"),
        ("generate", "--pairs", "3"),
    ],
    ids=lambda arguments: str(arguments[0]),
)
def test_torch_is_never_imported(models: Path, corpus: Path, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('torch is blocked')")
    (tmp_path / "first").symlink_to(models / "first")
    said = command(*arguments, cwd=tmp_path, PYTHONPATH=str(tmp_path))
    assert said.code == 0, said.err
    assert said.out


def test_an_error_is_two_lines_and_an_exit_code(tmp_path: Path) -> None:
    assert command("translate", "-m", "nowhere", "x", cwd=tmp_path) == Said(
        1,
        "",
        "error: nowhere: no such model directory\n"
        "hint: give the directory that `dragoman train --out` wrote, "
        f"or a model of the box: {', '.join(checkpoint.boxed())}\n",
    )


def test_interrupted(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop() -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("dragoman.jobs.reference.write_defaults", stop)
    said = cli("recipe")
    assert (said.code, said.err) == (130, "")


def test_what_was_stopped_on_purpose_is_no_error(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop() -> str:
        raise InterruptedByUserError("saved after update 5 of 7", hint="go on with --resume")

    monkeypatch.setattr("dragoman.jobs.reference.write_defaults", stop)
    assert cli("recipe") == Said(130, "", "note: saved after update 5 of 7\nhint: go on with --resume\n")


def test_a_mistake_of_ours_shows_no_traceback(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> str:
        raise ValueError("3 is not 4")

    monkeypatch.setattr("dragoman.jobs.reference.write_defaults", fail)
    said = cli("recipe")
    assert said.code == 70
    assert said.err.splitlines() == [
        "error: a mistake in dragoman itself (ValueError: 3 is not 4)",
        "hint: please report it with what DRAGOMAN_TRACEBACK=1 prints",
    ]
    monkeypatch.setenv("DRAGOMAN_TRACEBACK", "1")
    assert "Traceback" in cli("recipe").err


def test_a_reader_that_leaves_early_is_no_complaint() -> None:
    code = "from dragoman.cli.main import run; run()"
    with subprocess.Popen(
        [sys.executable, "-c", code, "generate", "--pairs", "30000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() != 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_is_an_error() -> None:
    code = "from dragoman.cli.main import run; run()"
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-c", code, "recipe"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    assert done.stderr.splitlines()[0] == "error: No space left on device"
    assert len(done.stderr.splitlines()) == 2


def test_messages_stay_on_their_line_and_steer_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    show.complain("bad\n\x1b[31mname", "mend\tit")
    assert capsys.readouterr().err == "error: bad  [31mname\nhint: mend it\n"


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 %"), (1, "< 0.1 %"), (5000, "50.0 %"), (9999, "> 99.9 %"), (10000, "100.0 %")]
)
def test_shares_do_not_lie(number: int, said: str) -> None:
    assert show.share(number, 10000) == said


def test_no_color_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert show.has_colour(sys.stdout)
    monkeypatch.setenv("NO_COLOR", "1")
    assert not show.has_colour(sys.stdout)


# ---- translate -----------------------------------------------------------------------------------------

HOSTILE = [
    b"",
    b"   ",
    b"\t\t",
    b"A line with a carriage return.\r",
    b"x" * 100_000,
    b"e" + "\u0301".encode() * 10_000,
    "\u202egnirts\u202c \u200b\ufeffzero".encode(),
    "😀🎉👩‍👩‍👧".encode(),
    "Ein Wort, 一個詞, слово, كلمة.".encode(),
    b">>fra<< <s> </s> <unk> <pad> <0x41>",
    "▁bank￨noun".encode(),
    "before\u2028after\u2029and\u0085more\x0b\x0c\x1c\x1d\x1e".encode(),
    b"\xff\xfe\x00not text",
    b"\xed\xa0\x80 a lone surrogate",
    b"nul\x00inside",
    b"a\tb\tc",
    b"{{{{{{{{ %%%%%%%% <<<<<<<<" * 100,
    b"last",
]


@pytest.mark.parametrize("end", [b"\n", b""])
def test_a_line_in_is_a_line_out(models: Path, end: bytes) -> None:
    lines = [line for line in HOSTILE if b"\n" not in line]
    said = subprocess.run(
        [
            sys.executable,
            "-c",
            "from dragoman.cli.main import run; run()",
            "translate",
            "-m",
            models / "first",
            "--beam",
            "1",
        ],
        input=b"\n".join(lines) + end,
        capture_output=True,
        check=True,
    )
    assert said.stdout.count(b"\n") == len(lines) - (not end)
    out = said.stdout.split(b"\n")
    assert out[0] == b""
    assert out[1] == b"   "
    assert out[3].endswith(b"\r")
    assert out[7].decode() == "😀🎉👩‍👩‍👧"
    said.stdout.decode()
    assert b"lines flagged" in said.stderr


def test_an_empty_stdin_is_empty(cli: Cli, models: Path) -> None:
    assert cli("translate", "-m", models / "first") == Said(0, "", "")


def test_texts_are_translated_like_the_library_does(cli: Cli, models: Path) -> None:
    texts = [SENTENCE, "", "12 and\n34."]
    found = load_translator(models / "first").translate(texts)
    said = cli("translate", "-m", models / "first", "-q", *texts)
    assert (said.code, said.err) == (0, "")
    assert said.out == "".join(t.text + "\n" for t in found)


def test_both_engines_print_the_same(cli: Cli, models: Path) -> None:
    fast, plain = (
        cli("translate", "-m", models / "first", "--engine", engine, SENTENCE) for engine in ("fast", "plain")
    )
    assert fast == plain


def test_flags_are_counted_and_strict_makes_them_an_error(cli: Cli, models: Path) -> None:
    lines = b"12\n\xff\n\xfe 3\n"
    said = cli("translate", "-m", models / "first", stdin=lines)
    assert (said.code, said.err) == (0, "note: 2 of 3 lines flagged: 2 unknown-characters\n")
    strict = cli("translate", "-m", models / "first", "--strict", stdin=lines)
    assert strict.out == said.out
    assert strict.code == 3
    assert strict.err.splitlines() == [
        "error: 2 of 3 lines flagged: 2 unknown-characters",
        "hint: --json says which; without --strict this is not an error",
    ]
    assert cli("translate", "-m", models / "first", "--strict", "12").code == 0


def test_a_missing_line_is_always_an_error(cli: Cli, models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lose(translator: object, lines: object, asked: object) -> object:
        list(lines)  # type: ignore[call-overload]
        return iter(())

    monkeypatch.setattr("dragoman.jobs.translate.translate_lines", lose)
    said = cli("translate", "-m", models / "first", "x")
    assert said.code == 1
    assert "error: 1 lines were read, but 0 written" in said.err


def test_json_lines(cli: Cli, models: Path) -> None:
    said = cli(
        "translate", "-m", models / "first", "--json", "--alignments", "--best", "3", stdin=b"We ate. 12\n\n\xff"
    )
    trees = [json.loads(line) for line in said.out.splitlines()]
    assert [tree["source"] for tree in trees] == ["We ate. 12", "", "�"]
    first = trees[0]
    assert first["text"] == " ".join(one["text"] for one in first["sentences"])
    assert [one["source"] for one in first["sentences"]] == ["We ate.", "12"]
    assert first["alignment"].endswith("2-" + str(len(first["text"].split()) - 1))
    assert first["sentences"][0]["source_pieces"]
    assert first["alternatives"]
    assert first["score"] < 0
    assert trees[1]["flags"] == []
    assert trees[2]["flags"] == ["unknown-characters"]


def test_columns(cli: Cli, models: Path) -> None:
    plain = cli("translate", "-m", models / "first", "-q", SENTENCE).out.rstrip("\n")
    said = cli("translate", "-m", models / "first", "-q", "--scores", "--alignments", SENTENCE)
    text, score, links = said.out.rstrip("\n").split("\t")
    assert text == plain
    assert float(score) < 0
    assert all(part.count("-") == 1 for part in links.split())


def test_the_best_have_no_column_for_alignments(cli: Cli, models: Path) -> None:
    said = cli("translate", "-m", models / "first", "--best", "2", "--alignments", "x")
    assert (said.code, said.out) == (1, "")
    assert said.err == "error: --best has no column for --alignments\nhint: --json has both\n"


def test_without_a_text_and_without_stdin_there_is_nothing_to_read(models: Path) -> None:
    words = [sys.executable, "-m", "dragoman", "translate", "-m", str(models / "first")]
    closed = subprocess.run(["/bin/sh", "-c", f"{shlex.join(words)} <&-"], capture_output=True, text=True, check=False)
    assert closed.returncode == 1
    assert closed.stderr == "error: there is nothing to read\nhint: give a text, or lines on stdin\n"


def test_who_reads_no_errors_gets_the_exit_code_all_the_same(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    words = [sys.executable, "-m", "dragoman", "about", "-m", str(tmp_path / "nowhere")]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=writing, check=False)
    os.close(writing)
    assert (done.returncode, done.stdout) == (1, b"")


def test_the_best_in_moses_form(cli: Cli, models: Path) -> None:
    said = cli("translate", "-m", models / "first", "-q", "--best", "7", SENTENCE, "We ate.")
    rows = [line.split(" ||| ") for line in said.out.splitlines()]
    assert {row[0] for row in rows} == {"0", "1"}
    for number in "01":
        scores = [float(row[2]) for row in rows if row[0] == number]
        assert len(scores) > 5  # more than the recipe's beam holds
        assert scores == sorted(scores, reverse=True)
    assert RECIPE.search.beam == 5


def test_drawing_follows_the_seed(cli: Cli, models: Path) -> None:
    drawn = [cli("translate", "-m", models / "first", "-q", "--seed", seed, SENTENCE).out for seed in (1, 1, 2, 3, 4)]
    assert drawn[0] == drawn[1]
    assert len(set(drawn)) > 1


def test_a_search_that_cannot_be(cli: Cli, models: Path) -> None:
    said = cli("translate", "-m", models / "first", "--beam", "0", "x")
    assert said.code == 1
    assert "search.beam is 0, but must be at least 1" in said.err
    said = cli("translate", "-m", models / "first", "--beam", "2", "--best", "3", "x")
    assert "search.best is greater than search.beam" in said.err
    said = cli("translate", "-m", models / "first", "--prefix", "la " * 30, "x")
    assert "error: the prefix has" in said.err


def test_no_split_keeps_a_line_whole(cli: Cli, models: Path) -> None:
    said = cli("translate", "-m", models / "first", "--json", "--no-split", "We ate. They slept.")
    assert len(json.loads(said.out)["sentences"]) == 1


def test_line_by_line_gives_the_same(cli: Cli, models: Path) -> None:
    whole, single = (
        cli("translate", "-m", models / "first", *options, stdin=b"We ate.\n12\n")
        for options in ((), ("--line-by-line",))
    )
    assert whole == single


def test_a_damaged_model_is_an_error(cli: Cli, tmp_path: Path) -> None:
    model = make_tiny_model(tmp_path / "m")
    (model / "fast/float32/model.bin").write_bytes(b"")
    said = cli("translate", "-m", model, "x")
    assert said.code == 1
    assert "model.bin: is not the file that was written (its hash differs)" in said.err
