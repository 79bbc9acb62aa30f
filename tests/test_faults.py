"""What is wrong with a translation, as far as counting words can tell."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.engine.flags import Flag
from dragoman.evaluation.faults import find_faults, split_words


@pytest.mark.parametrize(
    ("translation", "reference", "faults"),
    [
        ("El perro duerme.", "El perro duerme.", ()),
        ("  ", "El perro duerme.", ("there is no translation",)),
        ("El gato duerme.", "El perro duerme.", ("missing: perro", "not in the reference: gato")),
        ("Duerme el perro.", "El perro duerme.", ("the same words in another order",)),
        ("el perro duerme", "El perro duerme.", ("only capitals or punctuation differ",)),
        ("En 1985 no.", "En 1984 no.", ("number missing: 1984", "number not in the reference: 1985")),
        ("En 1.984,5 no.", "En no.", ("number not in the reference: 1.984,5",)),
        ("Sí.", "Sí, el perro duerme aquí.", ("1 word, where the reference has 5", "missing: el, perro, duerme, aquí")),
        ("no no sí", "sí", ("not in the reference: no (2 times)",)),
        ("no no no sí", "no sí sí", ("not as often as in the reference: no (3 times, not 1), sí (once, not 2)",)),
        ("Cap. 2, cap. 2", "Cap. 2, cap.", ("number not as often as in the reference: 2 (2 times, not 1)",)),
        ("k l m n o p q r s t", "a b c d e f g h i j", (
            "missing: a, b, c, d, e, f, g, h and 2 more", "not in the reference: k, l, m, n, o, p, q, r and 2 more",
        )),
    ],
)  # fmt: skip
def test_faults_are_told(translation: str, reference: str, faults: tuple[str, ...]) -> None:
    assert find_faults(translation, reference) == faults


@pytest.mark.parametrize("flag", Flag)
def test_every_flag_is_put_into_words(flag: Flag) -> None:
    first, *others = find_faults("a b", "a c", flags=[flag])
    assert first.startswith("it ")
    assert others == ["missing: c", "not in the reference: b"]


def test_without_spaces_characters_are_counted() -> None:
    assert split_words("我是学生。", "zh") == ["我", "是", "学", "生"]
    assert find_faults("我是学生。", "他是学生。", language="zh") == ("missing: 他", "not in the reference: 我")


@pytest.mark.parametrize("word", ["हिन्दी", "தமிழ்", "cafe\u0301", "می\u200cروم", "l'été", "well-known"])
def test_marks_belong_to_the_letter_before_them(word: str) -> None:
    assert split_words(f"{word}, ({word})") == [word, word]
    assert find_faults(f"a {word}", "a") == (f"not in the reference: {word}",)


def test_of_a_language_without_spaces_a_letter_and_its_marks_are_one() -> None:
    assert split_words("เป็น", "th") == ["เ", "ป็", "น"]


@given(st.text(), st.text())
def test_whatever_differs_has_a_fault_and_nothing_else_has(translation: str, reference: str) -> None:
    assert bool(find_faults(translation, reference)) == (translation != reference)
