"""Reading translation memories: what translators' tools write, and what an attacker would."""

import gzip
from pathlib import Path

import pytest

from dragoman.config import Cleaning
from dragoman.data.cleaning import Report, clean
from dragoman.data.corpus import Pair, Tally, languages_of, read_pairs
from dragoman.data.tmx import read_units
from dragoman.errors import DataError, OtherLanguagesError
from dragoman.text.languages import speaks

HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4"><header/><body>
"""
TAIL = "</body></tmx>\n"


def unit(*variants: tuple[str, str]) -> str:
    return "<tu>" + "".join(f'<tuv xml:lang="{tag}"><seg>{text}</seg></tuv>' for tag, text in variants) + "</tu>\n"


def memory(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def texts(path: Path, tally: Tally | None = None, source: str = "en", target: str = "es") -> list[tuple[str, str]]:
    return [pair[:2] for pair in read_pairs([path], source, target, tally=tally)]


def test_the_place_is_the_line_of_the_unit(tmp_path: Path) -> None:
    path = memory(
        tmp_path / "m.tmx",
        HEAD + unit(("en", "a"), ("es", "b")) + "\n" + unit(("en", "c"), ("es", "d")) + TAIL,
    )
    assert list(read_pairs([path], "en", "es")) == [Pair("a", "b", "m.tmx:4"), Pair("c", "d", "m.tmx:6")]


def test_a_header_without_source_language_and_the_old_attribute_are_read(tmp_path: Path) -> None:
    old = f'<tmx version="1.1"><body>{unit(("EN", "a"), ("ES", "b"))}</body></tmx>'.replace("xml:lang", "lang")
    assert texts(memory(tmp_path / "m.tmx", old)) == [("a", "b")]


@pytest.mark.parametrize(
    ("source", "tags", "guess"),
    [
        ("en-US", ("en-US", "es-ES"), ("en", "es")),
        ("es", ("en", "es-MX"), ("es", "en")),
        ("EN", ("EN_US", "ES"), ("en", "es")),
        ("PT_BR", ("PT_BR", "pt-PT"), ("pt-BR", "pt-PT")),
        ("en", ("en", "es", "fr"), None),
        ("en", ("en-US", "en-GB"), None),
        ("en", ("en", ""), None),
        ("*all*", ("en", "es"), None),
        ("", ("en", "es"), None),
        ("fr", ("en", "es"), None),
    ],
)
def test_two_languages_need_not_be_named_if_the_header_says_which_is_the_source(
    source: str, tags: tuple[str, ...], guess: tuple[str, str] | None, tmp_path: Path
) -> None:
    head = HEAD.replace("<header/>", f'<header srclang="{source}"/>')
    path = memory(tmp_path / "m.tmx", head + unit(*((tag, f"in {tag}") for tag in tags)) + TAIL)
    assert languages_of([path]) == (guess or (None, None))
    if guess:
        (read,) = read_pairs([path], *guess)
        assert all(speaks(text.removeprefix("in "), code) for text, code in zip(read[:2], guess, strict=True))


@pytest.mark.parametrize(
    ("tag", "language", "same"),
    [
        ("en", "en", True),
        ("EN-us", "en", True),
        ("en_GB", "en-gb", True),
        ("en", "en-US", False),
        ("enm", "en", False),
    ],
)
def test_a_regional_tag_speaks_its_language_but_not_the_reverse(tag: str, language: str, same: bool) -> None:
    assert speaks(tag, language) is same


def test_every_variant_is_paired_with_every_other_in_order(tmp_path: Path) -> None:
    tally = Tally()
    several = unit(("en-US", "color"), ("es", "color"), ("en-GB", "colour"), ("fr", "couleur"), ("es-MX", "tono"))
    pairs = texts(memory(tmp_path / "m.tmx", HEAD + several + TAIL), tally)
    assert pairs == [("color", "color"), ("color", "tono"), ("colour", "color"), ("colour", "tono")]
    assert (tally.units, tally.extra_variants) == (1, 3)


def test_native_code_is_dropped_and_counted_and_marked_text_stays(tmp_path: Path) -> None:
    source = (
        'Press <bpt i="1">&lt;b></bpt>the <hi>red</hi><ept i="1">&lt;/b></ept> '
        '<ph>{0}<sub>tip</sub></ph> key<it pos="end"/>'
    )
    tally = Tally()
    assert texts(memory(tmp_path / "m.tmx", HEAD + unit(("en", source), ("es", "b &amp; c")) + TAIL), tally) == [
        ("Press the red key", "b & c")
    ]
    assert tally.inline_tags == 6


def test_unbalanced_inline_tags_are_no_error(tmp_path: Path) -> None:
    path = memory(
        tmp_path / "m.tmx",
        HEAD + unit(("en", '<ept i="7"/>a<bpt i="1">x</bpt>'), ("es", "<bpt>y</bpt>b")) + TAIL,
    )
    assert texts(path) == [("a", "b")]


def test_line_breaks_of_the_layout_become_spaces(tmp_path: Path) -> None:
    path = memory(tmp_path / "m.tmx", HEAD + unit(("en", "\n   a\r\n   b\n"), ("es", "c")) + TAIL)
    assert texts(path) == [("a b", "c")]


def test_units_that_lack_a_language_are_counted(tmp_path: Path) -> None:
    tally = Tally()
    content = HEAD + unit(("en", "a")) + unit(("en", "b"), ("es", "c")) + unit() + TAIL
    assert texts(memory(tmp_path / "m.tmx", content), tally) == [("b", "c")]
    assert (tally.units, tally.units_without_pair) == (3, 2)


def test_a_memory_without_the_languages_lists_those_it_has(tmp_path: Path) -> None:
    path = memory(tmp_path / "m.tmx", HEAD + unit(("en-GB", "a"), ("fr", "b")) + TAIL)
    with pytest.raises(OtherLanguagesError, match=r"m\.tmx: no unit has both en and es; it has en-GB, fr"):
        texts(path)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1", "cp1252"])
def test_the_declared_encoding_is_used(tmp_path: Path, encoding: str) -> None:
    name = encoding.removesuffix("-sig")
    body = unit(("en", "café"), ("es", "año"))
    content = f'<?xml version="1.0" encoding="{name}"?><tmx><body>{body}</body></tmx>'
    assert texts(memory(tmp_path / "m.tmx", content.encode(encoding))) == [("café", "año")]


GOOD = unit(("en", "a"), ("es", "b"))
BOMB = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 9))
ENTITIES = {
    "billion laughs": '<!ENTITY a0 "ha">' + BOMB,
    "a file": '<!ENTITY x SYSTEM "file:///etc/passwd">',
    "a parameter": '<!ENTITY % p SYSTEM "http://localhost/x.dtd">%p;',
    "nothing at all": "",
}


@pytest.mark.parametrize("subset", ENTITIES.values(), ids=ENTITIES)
def test_a_memory_that_declares_entities_is_refused(tmp_path: Path, subset: str) -> None:
    content = f"<!DOCTYPE tmx [{subset}]>\n<tmx><body>{unit(('en', '&a8;&x;'), ('es', 'b'))}</body></tmx>"
    with pytest.raises(DataError, match=r"m\.tmx:1: declares a document type of its own") as caught:
        texts(memory(tmp_path / "m.tmx", content))
    assert "DOCTYPE" in caught.value.hint


def test_an_external_dtd_is_passed_over_and_never_opened(tmp_path: Path) -> None:
    trap = memory(tmp_path / "trap.dtd", '<!ENTITY x "stolen">')
    for doctype in (
        f'<!DOCTYPE tmx SYSTEM "{trap.as_uri()}">',
        f'<!DOCTYPE tmx PUBLIC "-//X" "{trap.name}">',
    ):
        assert texts(memory(tmp_path / "m.tmx", f"{doctype}<tmx><body>{GOOD}</body></tmx>")) == [("a", "b")]
        using = f"{doctype}<tmx><body>{unit(('en', '&x;'), ('es', 'b'))}</body></tmx>"
        with pytest.raises(DataError, match=r"m\.tmx:1: uses the entity &x; which XML does not define"):
            texts(memory(tmp_path / "m.tmx", using))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (HEAD + unit(("en", "a&nbsp;b"), ("es", "c")) + TAIL, r"m\.tmx:4: uses the entity &nbsp; which XML"),
        (HEAD + unit(("en", "\x01"), ("es", "c")) + TAIL, r"m\.tmx:4: not well-formed XML"),
        (HEAD + unit(("en", "&#0;"), ("es", "c")) + TAIL, r"m\.tmx:4: not well-formed XML"),
        (HEAD + GOOD + "<tu><tuv></tu>", r"m\.tmx:5: not well-formed XML \(mismatched tag\)"),
        (HEAD + GOOD, r"m\.tmx:5: not well-formed XML \(no element found\)"),
        ("", r"m\.tmx:1: not well-formed XML \(no element found\)"),
        ((HEAD + unit(("en", "café")) + TAIL).encode("latin-1"), r"m\.tmx:4: not well-formed XML"),
        ('<?xml version="1.0" encoding="utf-16"?><tmx/>', r"m\.tmx:1: not well-formed XML"),
        ('<?xml version="1.0" encoding="no-such"?><tmx/>', r"m\.tmx:1: cannot be decoded"),
        ('<?xml version="1.0" encoding="shift_jis"?><tmx/>', r"m\.tmx:1: cannot be decoded"),
        ('<xliff version="1.2"/>', r"m\.tmx:1: starts with <xliff>, not <tmx>"),
        ("<tmx>" + "<a>" * 100_000, r"m\.tmx:1: nests tags over 64 deep"),
        ("<tmx><!--" + "x" * (10 << 20), r"m\.tmx:1: one tag or comment goes on for megabytes"),
        ('<tmx a="' + "x" * (10 << 20), r"m\.tmx:1: one tag or comment goes on for megabytes"),
        (HEAD + unit(*[("en", "a")] * 101), r"m\.tmx:4: a unit with over 100 variants"),
    ],
    ids=lambda value: None if isinstance(value, bytes) or len(value) > 99 else value,
)
def test_a_broken_memory_is_refused_with_its_line(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        texts(memory(tmp_path / "m.tmx", content))
    assert caught.value.hint


def test_an_endless_segment_is_cut_and_dropped_as_too_long(tmp_path: Path) -> None:
    endless = HEAD + unit(("en", "x \n" * (1 << 20)), ("es", "b")) + GOOD + TAIL
    path = tmp_path / "m.tmx.gz"
    path.write_bytes(gzip.compress(endless.encode()))
    tally, report = Tally(), Report()
    settings = Cleaning(max_characters=10**9, max_ratio=10.0**9)
    assert [pair[:2] for pair in clean(read_pairs([path], "en", "es", tally=tally), settings, report)] == [("a", "b")]
    assert (tally.cut_lines, report.dropped) == (1, {"too-long": 1})


def test_units_stream(tmp_path: Path) -> None:
    """The first units arrive before the last are read: what stands after them may even be broken."""
    path = memory(tmp_path / "m.tmx", HEAD + GOOD * 10_000 + "<broken")
    units = read_units(path)
    assert [next(units).line for _ in range(1000)] == list(range(4, 1004))
