import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.text.languages import is_code, name
from dragoman.text.segments import has_letter, join, seam, split

TEXTISH = st.text(st.sampled_from("aB .!?…。\"'”)(¿\n\t\r\u2028\u00a0日é1,")) | st.text()


def sentences(text: str) -> list[str]:
    return [segment.text for segment in split(text) if segment.is_sentence]


@given(TEXTISH, st.booleans())
def test_nothing_is_lost(text: str, cut: bool) -> None:
    assert join(split(text, sentences=cut)) == text


@given(TEXTISH)
def test_sentences_hold_something_and_the_rest_is_white_space(text: str) -> None:
    for segment in split(text):
        if segment.is_sentence:
            assert segment.text == segment.text.strip() != ""
        else:
            assert segment.text != ""
            assert segment.text.isspace()


@given(TEXTISH)
def test_no_sentence_crosses_a_line_or_a_tab(text: str) -> None:
    for segment in split(text, sentences=False):
        if segment.is_sentence:
            assert "\t" not in segment.text
            assert len(segment.text.splitlines()) == 1


@given(TEXTISH)
def test_lines_are_made_of_sentences(text: str) -> None:
    """Cutting into sentences only adds cuts to those between lines."""
    pieces = [segment.text for segment in split(text)]
    whole = [segment.text for segment in split(text, sentences=False)]
    joined = ""
    for piece in pieces:
        joined += piece
        if whole and joined == whole[0]:
            whole.pop(0)
            joined = ""
    assert whole == []


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("It rains. We stay.", 2),
        ("“It rains.” She laughed.", 2),
        ("¿Llueve? ¡Sí! No importa…  Vamos.", 4),
        ('Stop! "No," he said.', 2),
        ("It was late. 12 people came.", 2),
        ("今天下雨。我们走吧！好吗？", 3),
        ("他说：「走吧。」然后走了。", 2),
        ("आज बारिश है। हम रुकेंगे।", 2),
        ("Идёт дождь. Мы остаёмся.", 2),
    ],
)
def test_sentences_come_apart(text: str, number: int) -> None:
    assert len(sentences(text)) == number


@pytest.mark.parametrize(
    "text",
    [
        "Mr. Smith met Dr. Jones.",
        "La Sra. García y el Sr. Pérez.",
        "J. R. R. Tolkien wrote it.",
        "The U.S. Army came.",
        "Tiere, z.B. Hunde, bellen.",
        "Some fruit, e.g. Apples, is sweet.",
        "Am 3. Oktober wird gefeiert.",
        "1. First point",
        "It costs 3.50 Euro.",
        "see www.Example.com for more",
        "Well... then we go.",
        "No. 5 is alive",
        "He said (etc.) And so on",
        "Hello   world",
        "",
    ],
)
def test_when_in_doubt_nothing_is_cut(text: str) -> None:
    assert len(sentences(text)) <= 1


def test_lines_and_cells_come_apart_without_sentences_too() -> None:
    found = split(" One. Two.\r\n\n\tthree\tfour ", sentences=False)
    assert [s.text for s in found] == [" ", "One. Two.", "\r\n\n\t", "three", "\t", "four", " "]


@pytest.mark.timeout(60)  # quadratic time would be minutes
@pytest.mark.parametrize("hostile", [".", "。", '."', "a. ", " ", '"', "A.B", "。\n", "\u0301", "...A "])
def test_hostile_text_takes_linear_time(hostile: str) -> None:
    text = hostile * (300_000 // len(hostile))
    assert join(split(text)) == text


def test_what_has_a_letter() -> None:
    assert all(map(has_letter, ["a", "1 é", "日", "ب"]))
    assert not any(map(has_letter, ["", " ", "12,5 %", "🙂", "\u0301", "\ud800", "—!"]))


@pytest.mark.parametrize(
    ("source", "left", "right", "between"),
    [
        ("下雨。", "It rains.", "We stay.", " "),
        ("下雨。", "下雨。", "我们", ""),
        ("aaa", "bbb", "ccc", ""),
        ("雨", "", "We", ""),
        ("ฝน", "rain", "falls", " "),
        ("비", "rain", "falls", ""),
    ],
)
def test_translations_are_joined_as_their_script_demands(source: str, left: str, right: str, between: str) -> None:
    assert seam(source, left, right) == between


@pytest.mark.parametrize("code", ["en", "pt-BR", "zh-Hant-TW", "fil", "es-419", "de-1996", "sr-Latn"])
def test_codes_of_languages(code: str) -> None:
    assert is_code(code)


@pytest.mark.parametrize("code", ["", "e", "english", "EN", "en_US", "en-", "en\n", "e1"])
def test_what_is_no_code(code: str) -> None:
    assert not is_code(code)


def test_names_of_languages() -> None:
    assert name("de") == "German"
    assert name("pt-BR") == "Portuguese (BR)"
    assert name("tlh") == "tlh"
