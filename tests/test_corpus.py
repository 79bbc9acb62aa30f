"""Reading and writing parallel text: every format, and every way in which a file can be wrong."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.data.corpus import Pair, Tally, complete_languages, languages_of, read_pairs, write_pairs
from dragoman.data.lines import CUT_CHARACTERS, MAX_LINE_BYTES
from dragoman.errors import DataError, OtherLanguagesError

# What a line may hold: anything but line feeds, tabs, and half characters.
TEXT = st.text(st.characters(exclude_characters="\n\r\t\ufeff", exclude_categories=["Cs"]), max_size=23)
ODD = "one\u2028two\u0085three\x0bfour\x0cfive\u2029six\x1cseven"


def write(path: Path, content: str | bytes) -> Path:
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def texts(paths: Path | Sequence[Path], source: str | None = "en", target: str | None = "es") -> list[tuple[str, str]]:
    listed = [paths] if isinstance(paths, Path) else paths
    return [(pair.source, pair.target) for pair in read_pairs(listed, source, target)]


SAME_PAIRS = {
    "pairs.tsv": "Hello.\tHola.\nBye.\tAdiós.\n",
    "pairs.txt": "Hello.\tHola.\tCC-BY\nBye.\tAdiós.\tCC-BY\n",
    "pairs.csv": 'id,ES,en\n1,Hola.,"Hello."\n2,Adiós.,Bye.\n',
    "semicolons.csv": "source;target\nHello.;Hola.\nBye.;Adiós.\n",
    "pairs.jsonl": '{"en": "Hello.", "es": "Hola."}\n{"id": 2, "es": "Adiós.", "en": "Bye."}\n',
    "nested.ndjson": '{"translation": {"en": "Hello.", "es": "Hola."}}\n'
    '{"translation": {"en": "Bye.", "es": "Adiós."}}\n',
    "pairs.tmx": "<tmx><body>"
    '<tu><tuv xml:lang="en"><seg>Hello.</seg></tuv><tuv xml:lang="es"><seg>Hola.</seg></tuv></tu>'
    '<tu><tuv xml:lang="es"><seg>Adiós.</seg></tuv><tuv xml:lang="en"><seg>Bye.</seg></tuv></tu>'
    "</body></tmx>",
}


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("name", SAME_PAIRS)
def test_every_format_packed_or_not_gives_the_same_pairs(tmp_path: Path, name: str, packed: str) -> None:
    path = write(tmp_path / (name + packed), SAME_PAIRS[name])
    assert texts(path) == [("Hello.", "Hola."), ("Bye.", "Adiós.")]


@pytest.mark.parametrize("given_as", [["train.en", "train.es"], ["train.es", "train.en"], ["train"], ["train.es"]])
@pytest.mark.parametrize("packed", ["", ".gz"])
def test_two_files_are_found_by_names_or_prefix(tmp_path: Path, given_as: list[str], packed: str) -> None:
    write(tmp_path / f"train.en{packed}", "Hello.\nBye.\n")
    write(tmp_path / f"train.es{packed}", "Hola.\nAdiós.")
    paths = [tmp_path / (name + packed if "." in name else name) for name in given_as]
    pairs = list(read_pairs(paths, "en", "es"))
    assert pairs == [
        Pair("Hello.", "Hola.", f"train.en{packed}:1"),
        Pair("Bye.", "Adiós.", f"train.en{packed}:2"),
    ]


def test_inputs_follow_one_another_in_the_order_given(tmp_path: Path) -> None:
    write(tmp_path / "b.en", "3\n")
    write(tmp_path / "b.es", "tres\n")
    paths = [
        write(tmp_path / "c.tsv", "1\tuno\n2\tdos\n"),
        tmp_path / "b",
        write(tmp_path / "a.csv", "en,es\n5,cinco\n"),
    ]
    assert [pair.where for pair in read_pairs(paths, "en", "es")] == [
        "c.tsv:1",
        "c.tsv:2",
        "b.en:1",
        "a.csv:2",
    ]


def test_reading_is_lazy(tmp_path: Path) -> None:
    path = write(tmp_path / "pairs.tsv", "Hello.\tHola.\nthis line is wrong\n")
    assert next(read_pairs([path], None, None)).target == "Hola."


@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("name", ["pairs.tsv", "pairs.csv", "pairs.jsonl"])
def test_byte_order_mark_and_line_ends_are_no_text(tmp_path: Path, start: bytes, end: bytes, name: str) -> None:
    path = write(tmp_path / name, start + SAME_PAIRS[name].encode().replace(b"\n", end))
    assert texts(path) == [("Hello.", "Hola."), ("Bye.", "Adiós.")]


@pytest.mark.parametrize("name", ["pairs.tsv", "pairs.csv", "pairs.jsonl", "pairs"])
def test_only_a_line_feed_ends_a_line(tmp_path: Path, name: str) -> None:
    write(tmp_path / "pairs.tsv", f"{ODD}\t{ODD}\nb\tc\n")
    write(tmp_path / "pairs.csv", f"en,es\n{ODD},{ODD}\nb,c\n")
    write(
        tmp_path / "pairs.jsonl",
        json.dumps({"en": ODD, "es": ODD}, ensure_ascii=False) + '\n{"en":"b","es":"c"}',
    )
    write(tmp_path / "pairs.en", f"{ODD}\nb\n")
    write(tmp_path / "pairs.es", f"{ODD}\nc\n")
    if name == "pairs.jsonl":  # JSON itself forbids raw control characters
        write(tmp_path / name, (tmp_path / name).read_text().replace("\x0b", "").replace("\x0c", ""))
        assert len(texts(tmp_path / name)) == 2
    else:
        assert texts(tmp_path / name) == [(ODD, ODD), ("b", "c")]


def test_a_blank_line_is_an_empty_pair_so_that_nothing_is_lost(tmp_path: Path) -> None:
    for name, content in {
        "a.tsv": "a\tb\n\nc\td\n",
        "a.csv": "en,es\na,b\n\nc,d\n",
        "a.jsonl": '{"en":"a","es":"b"}\n \n',
    }.items():
        assert texts(write(tmp_path / name, content))[:2] == [("a", "b"), ("", "")]


def test_bytes_that_are_not_utf8_are_marked_not_fatal(tmp_path: Path) -> None:
    path = write(tmp_path / "pairs.tsv", "café\tcafé\nb\tc\n".encode("latin-1"))
    assert texts(path) == [("caf\ufffd", "caf\ufffd"), ("b", "c")]


@pytest.mark.parametrize("name", ["long.tsv", "long.csv", "long.jsonl", "long.tsv.gz", "long"])
def test_a_line_over_the_limit_is_cut_counted_and_the_next_is_whole(tmp_path: Path, name: str) -> None:
    endless = "x" * (3 * MAX_LINE_BYTES)
    write(tmp_path / "long.tsv", f"{endless}\tb\nc\td\n")
    write(tmp_path / "long.tsv.gz", f"a\t{endless}\nc\td\n")
    write(tmp_path / "long.csv", f"en,es\n{endless},b\nc,d\n")
    write(tmp_path / "long.jsonl", f'{{"en": "{endless}", "es": "b"}}\n{{"en": "c", "es": "d"}}\n')
    write(tmp_path / "long.en", f"{endless}\nc\n")
    write(tmp_path / "long.es", "b\nd\n")
    tally = Tally()
    long, short = read_pairs([tmp_path / name], "en", "es", tally=tally)
    assert CUT_CHARACTERS <= len(long.source) <= MAX_LINE_BYTES + 1
    assert short[:2] == ("c", "d")
    assert tally.as_dict()["cut_lines"] == 1


def test_a_line_of_four_byte_characters_is_cut_to_what_is_still_too_long(tmp_path: Path) -> None:
    path = write(tmp_path / "long.tsv", "😀" * (MAX_LINE_BYTES // 2) + "\tb\n")
    assert len(next(read_pairs([path], None, None)).source) >= CUT_CHARACTERS


@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
@pytest.mark.parametrize("over", range(-4, 5))
def test_lines_about_the_limit_are_one_line_each(tmp_path: Path, start: bytes, end: bytes, over: int) -> None:
    line = b"x" * (MAX_LINE_BYTES + over)
    path = write(tmp_path / "long.tsv", start + line + end + (b"c\td\n" if end else b""))
    long, *rest = read_pairs([path], None, None)
    assert CUT_CHARACTERS <= len(long.source) <= len(line)
    assert [pair[:2] for pair in rest] == ([("c", "d")] if end else [])


def test_an_empty_file_with_or_without_byte_order_mark_has_no_pairs(tmp_path: Path) -> None:
    assert texts(write(tmp_path / "a.tsv", b"")) == texts(write(tmp_path / "b.tsv", b"\xef\xbb\xbf")) == []


def test_further_columns_are_ignored_and_counted(tmp_path: Path) -> None:
    tally = Tally()
    path = write(tmp_path / "pairs.tsv", "a\tb\tc\td\ne\tf\n")
    assert [pair.target for pair in read_pairs([path], None, None, tally=tally)] == ["b", "f"]
    assert tally.extra_columns == 1


def test_the_columns_of_a_table_can_be_chosen(tmp_path: Path) -> None:
    tally = Tally()
    path = write(tmp_path / "pairs.tsv", "1\ta\t2\tb\textra\n\n3\tc\t4\td\n")
    there, back = (list(read_pairs([Path(f"{path}:{columns}")], None, None, tally=tally)) for columns in ("2,4", "4,2"))
    assert there == [Pair("a", "b", "pairs.tsv:1"), Pair("", "", "pairs.tsv:2"), Pair("c", "d", "pairs.tsv:3")]
    assert [(pair.target, pair.source) for pair in back] == [(pair.source, pair.target) for pair in there]
    assert tally.extra_columns == 0
    packed = write(tmp_path / "pairs.tsv.gz", "a\tb\n")
    assert texts(Path(f"{packed}:2,1")) == [("b", "a")]
    assert languages_of([Path(f"{path}:2,1")]) == (None, None)


def test_a_file_that_is_really_called_so_is_meant(tmp_path: Path) -> None:
    write(tmp_path / "pairs.tsv", "a\tb\n")
    for language in ("en", "es"):
        write(tmp_path / f"pairs.tsv:2,1.{language}", f"{language}\n")
    assert texts(tmp_path / "pairs.tsv:2,1.en") == [("en", "es")]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a.tsv:3,1", r"a\.tsv:1: 2 columns, but column 3 is asked for: 'a\\tb'"),
        ("a.csv:2,1", "only tables have columns by number"),
        ("a.tsv:0,1", "does not exist|no other language"),
        ("gone.tsv:2,1", r"gone\.tsv"),
    ],
)
def test_columns_that_are_not_there_are_refused(tmp_path: Path, name: str, message: str) -> None:
    for suffix in ("tsv", "csv"):
        write(tmp_path / f"a.{suffix}", "a\tb\n")
    with pytest.raises(DataError, match=message):
        texts(tmp_path / name)


def test_a_csv_field_may_hold_line_breaks_and_the_place_is_the_first_line(tmp_path: Path) -> None:
    path = write(tmp_path / "pairs.csv", 'en,es\r\n"two\r\n  lines","dos ""líneas"""\r\nb,c\r\n')
    assert list(read_pairs([path], "en", "es")) == [
        Pair("two lines", 'dos "líneas"', "pairs.csv:2"),
        Pair("b", "c", "pairs.csv:4"),
    ]


def test_half_a_character_in_json_is_a_damaged_one(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", '{"en": "a\\ud800", "es": "\\ud83d\\ude00\\udc00"}')
    assert texts(path) == [("a\ufffd", "😀\ufffd")], "what is read can be written again, as an example or as JSON"


@pytest.mark.parametrize(
    ("name", "content", "message", "hint"),
    [
        ("a.tsv", "a\tb\nno tab\n", r"a\.tsv:2: one column, but a pair needs two: 'no tab'", "a tab"),
        ("a.csv", "en,es\n\"a,b\n", r"a\.csv:2: not a CSV record", "quote left open"),
        ("a.csv", 'en,es\nb,c\n"a"x,b\n', r"a\.csv:3: not a CSV record", "quote"),
        ("a.csv", "en,es\na\n", r"a\.csv:2: 1 columns, but the header has 2", "mend or delete"),
        ("a.csv", "de,es\na,b\n", r"a\.csv:1: no en; it has de, es", "--from and --to"),
        ("a.csv", "", r"a\.csv:1: no en and es; it has no names", "--from and --to"),
        ("a.csv", "en,es\ra,b\r", r"a\.csv:1: not a CSV header", "LF or CRLF"),
        ("a.jsonl", '{"en": "a", "es": "b"}\n{"en": \n', r"a\.jsonl:2: not JSON", "one object"),
        ("a.jsonl", "[" * 100_000, r"a\.jsonl:1: not JSON \(nested too deep\)", "one object"),
        ("a.jsonl", '{"x": ' * 20_000, r"a\.jsonl:1: not JSON \(nested too deep\)", "one object"),
        ("a.jsonl", '["a", "b"]', r"a\.jsonl:1: not a JSON object", "one object"),
        ("a.jsonl", '{"en": "a", "fr": "b"}', r"a\.jsonl:1: no es; it has en, fr", "--from and --to"),
        ("a.jsonl", '{"en": "a", "es": null}', r"a\.jsonl:1: es is 'null', not text", "in quotes"),
        ("a.jsonl", '{"en": "a", "es": %s}' % ("9" * 9999), r"a\.jsonl:1: not JSON", "one object"),
        ("a.tsv", "\ufeffa\tb".encode("utf-16-le"), r"a\.tsv is UTF-16", "iconv"),
        ("a.tsv", "\ufeffa\tb".encode("utf-16-be"), r"a\.tsv is UTF-16", "iconv"),
        ("a.tsv", gzip.compress(b"a\tb"), r"a\.tsv is gzip-compressed", r"rename it to a\.tsv\.gz"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_one_clear_message(
    tmp_path: Path, name: str, content: str | bytes, message: str, hint: str
) -> None:
    path = write(tmp_path / name, content)
    with pytest.raises((DataError, OtherLanguagesError), match=message) as caught:
        texts(path)
    assert hint.replace("\\", "") in caught.value.hint


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "en,es\na,b\n", r"a\.csv:1: which is source, which is target\? it has en, es"),
        (
            "a.jsonl",
            '{"en": "a", "es": "b"}',
            r"a\.jsonl:1: which is source, which is target\? it has en, es",
        ),
        ("a.tmx", SAME_PAIRS["pairs.tmx"], r"a\.tmx: the languages are not known; it has en, es"),
    ],
)
def test_without_languages_the_message_lists_what_the_file_has(
    tmp_path: Path, name: str, content: str, message: str
) -> None:
    path = write(tmp_path / name, content)
    with pytest.raises(DataError, match=message) as caught:
        texts(path, None, None)
    assert caught.value.hint == "pass --from and --to"


def test_two_files_without_languages_list_the_suffixes(tmp_path: Path) -> None:
    write(tmp_path / "train.en", "a\n")
    write(tmp_path / "train.es", "b\n")
    with pytest.raises(DataError, match="train has the suffixes en, es: which is the source"):
        texts(tmp_path / "train", None, None)


@pytest.mark.parametrize(
    ("english", "spanish", "shorter"), [("a\nb\n", "c\n", "train.es"), ("a\n", "c\nd\n", "train.en")]
)
def test_files_of_unequal_length_are_refused(tmp_path: Path, english: str, spanish: str, shorter: str) -> None:
    write(tmp_path / "train.en", english)
    write(tmp_path / "train.es", spanish)
    with pytest.raises(DataError, match=rf"{shorter} ends after line 1, but train\.e[ns] goes on"):
        texts(tmp_path / "train")


def test_a_half_alone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no other language of .*train is beside it"):
        texts(write(tmp_path / "train.en", "a\n"))
    write(tmp_path / "train.fr", "b\n")
    with pytest.raises(DataError, match=r"train\.es does not exist; files of this name have the suffixes en, fr"):
        texts(tmp_path / "train.en")
    write(tmp_path / "train.es", "c\n")
    with pytest.raises(DataError, match=r"train\.fr is in neither en nor es"):
        texts(tmp_path / "train.fr")


@pytest.mark.parametrize("name", ["corpus", "corpus.tsv", "corpus.tmx", "corpus.csv.gz"])
def test_a_directory_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(DataError, match=f"{name} is a directory, not a file"):
        texts(tmp_path / name)


@pytest.mark.parametrize(
    "name", ["no", "no.tsv", "no.tmx", "no.en", "no/such.jsonl.gz", "no\0.tsv", "n" * 999 + ".tsv"]
)
def test_a_missing_file_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match=r"does not exist|cannot be read"):
        texts(tmp_path / name)


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"a\.docx: its name tells no format") as caught:
        texts(write(tmp_path / "a.docx", "a\tb\n"))
    assert ".tsv, .txt, .csv, .jsonl, .ndjson, .tmx" in caught.value.hint


def test_no_input_is_refused() -> None:
    with pytest.raises(DataError, match="no input files"):
        read_pairs([], "en", "es")


@pytest.mark.parametrize("name", ["a.tsv.gz", "a.tmx.gz", "a.csv.gz"])
@pytest.mark.parametrize("damage", ["cut", "flipped", "never packed"])
def test_a_damaged_gzip_file_is_refused(tmp_path: Path, name: str, damage: str) -> None:
    content = SAME_PAIRS["pairs" + Path(name).suffixes[0]].encode()
    packed = bytearray(gzip.compress(content))
    if damage == "flipped":
        packed[-6] ^= 1
    (tmp_path / name).write_bytes({"cut": bytes(packed[:-9]), "flipped": bytes(packed)}.get(damage, content))
    with pytest.raises(DataError, match="is not a whole gzip file") as caught:
        texts(tmp_path / name)
    assert "gzip -t" in caught.value.hint


def test_an_unreadable_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "a.tsv", "a\tb\n")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "open", refuse)  # the tests may run as root, who may read anything
    with pytest.raises(DataError, match=r"a\.tsv may not be read"):
        texts(path)


def test_languages_are_guessed_where_there_is_one_choice(tmp_path: Path) -> None:
    assert languages_of([Path("train.en.gz"), Path("train.es.gz")]) == ("en", "es")
    assert languages_of([write(tmp_path / "a.csv", "de,en\n")]) == ("de", "en")
    assert languages_of([write(tmp_path / "b.csv", "source,target\n")]) == (None, None)
    assert languages_of([write(tmp_path / "c.tsv", "a\tb\n"), write(tmp_path / "d.csv", "id,en,es\n")]) == (
        None,
        None,
    )


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (("", ""), ("de", "en-GB")),
        (("de", ""), ("de", "en-GB")),
        (("en", ""), ("en", "de")),
        (("", "de"), ("en-GB", "de")),
        (("", "en"), ("de", "en")),
        (("fr", ""), ("fr", "en-GB")),
        (("en", "fr"), ("en", "fr")),
    ],
)
def test_one_language_that_is_said_leaves_the_other(
    said: tuple[str, str], meant: tuple[str, str], tmp_path: Path
) -> None:
    assert complete_languages(*said, [write(tmp_path / "a.csv", "de,en-GB\n")]) == meant
    assert complete_languages(*said, [write(tmp_path / "b.tsv", "a\tb\n")]) == said


@pytest.mark.parametrize("name", ["written.tsv", "written.tsv.gz"])
@given(pairs=st.lists(st.tuples(TEXT, TEXT), max_size=11))
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, name: str, pairs: list[tuple[str, str]]
) -> None:
    path = tmp_path_factory.mktemp("round") / name
    assert write_pairs(path, (Pair(*pair, "") for pair in pairs)) == len(pairs)
    assert texts(path) == pairs


def test_tabs_and_line_ends_inside_a_text_are_written_as_spaces(tmp_path: Path) -> None:
    path = tmp_path / "written.tsv"
    write_pairs(path, [Pair("a\tb\nc", "d\r", "")])
    assert path.read_bytes() == b"a b c\td \n"


def test_a_failed_writing_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = write(tmp_path / "written.tsv", "old\tviejo\n")
    source = write(tmp_path / "source.tsv", "new\tnuevo\nwrong\n")
    with pytest.raises(DataError, match="one column"):
        write_pairs(path, read_pairs([source], None, None))
    assert path.read_text() == "old\tviejo\n"
    assert sorted(tmp_path.iterdir()) == [source, path]


def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"written\.tsv cannot be written") as caught:
        write_pairs(tmp_path / "no" / "written.tsv", [])
    assert "free space" in caught.value.hint


def test_equal_pairs_make_equal_packed_files(tmp_path: Path) -> None:
    for name in ("a.tsv.gz", "b.tsv.gz"):
        write_pairs(tmp_path / name, [Pair("a", "b", "")])
    assert (tmp_path / "a.tsv.gz").read_bytes() == (tmp_path / "b.tsv.gz").read_bytes()
