"""Subtitles: what is shown is translated, and nothing else is touched."""

from collections.abc import Sequence

import pytest

from dragoman.server.files import FORMATS, escape_subtitles, find_format, translate_subtitles
from dragoman.server.limits import RefusedError

CUES = """\
1
00:00:01,000 --> 00:00:02,500 X1:40
The dog sees
the cat.

2
00:00:03,000 --> 00:00:04,000
1984

3
00:00:05,000 --> 00:00:06,000

4
00:00:07,000 --> 00:00:08,000
Good
5
00:00:09,000 --> 00:00:10,000
morning."""


def shout(texts: Sequence[str]) -> list[str]:
    return [text.upper() for text in texts]


def test_only_what_is_shown_is_translated() -> None:
    expected = CUES
    for word in ("The dog sees", "the cat.", "Good", "morning."):
        expected = expected.replace(word, word.upper())
    assert translate_subtitles(CUES, shout) == expected
    assert translate_subtitles(CUES.replace("\n", "\r\n"), shout) == expected.replace("\n", "\r\n")


def test_the_lines_of_a_cue_are_one_sentence() -> None:
    seen: list[str] = []

    def translate(texts: Sequence[str]) -> list[str]:
        seen.extend(texts)
        return ["uno dos tres cuatro cinco seis" for _ in texts]

    cue = "1\n00:00:01,000 --> 00:00:02,000\nThe dog sees\nthe cat.\n"
    assert translate_subtitles(cue, translate) == cue.replace("The dog sees", "uno dos tres cuatro").replace(
        "the cat.", "cinco seis"
    )
    assert seen == ["The dog sees the cat."]


@pytest.mark.parametrize("translation", ["", "word", "a b"])
def test_a_cue_keeps_its_lines_whatever_becomes_of_it(translation: str) -> None:
    cue = "1\n00:00:01,000 --> 00:00:02,000\none\ntwo\nthree\n\n2\n00:00:03,000 --> 00:00:04,000\nfour\n"
    done = translate_subtitles(cue, lambda texts: [translation for _ in texts])
    assert len(done.split("\n")) == len(cue.split("\n"))


def test_codes_before_a_cue_stay_there() -> None:
    seen: list[str] = []

    def translate(texts: Sequence[str]) -> list[str]:
        seen.extend(texts)
        return ["uno dos" for _ in texts]

    cue = "1\n00:00:01,000 --> 00:00:02,000\n{\\an8}{\\i1}The dog\nsees\n"
    assert translate_subtitles(cue, translate) == cue.replace("The dog", "uno").replace("sees", "dos")
    assert seen == ["The dog sees"]


@pytest.mark.parametrize(
    ("content", "written"),
    [("Tom & Jerry: 1 < 2", "a & b < c"), ("Tom &amp; Jerry", "a &amp; b &lt; c"), ("&lt;i&gt;", "a &amp; b &lt; c")],
)
def test_subtitles_are_escaped_if_they_were(content: str, written: str) -> None:
    assert escape_subtitles(content)("a & b < c") == written


@pytest.mark.parametrize("content", ["", "\n", "no cues at all", "00:00:01,000 --> 00:00:02,000"])
def test_what_has_no_cues_stays_as_it_is(content: str) -> None:
    assert translate_subtitles(content, shout) == content


def test_formats_go_by_their_names() -> None:
    assert [find_format(f"A{form.suffix.upper()}") for form in FORMATS] == list(FORMATS)
    with pytest.raises(RefusedError, match="Invalid request: file format not supported"):
        find_format("a.docx")
