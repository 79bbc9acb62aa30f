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
        ("no no no sí", "no sí", ("not in the reference: no (2 times)",)),
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


@given(st.text(), st.text())
def test_whatever_differs_has_a_fault_and_nothing_else_has(translation: str, reference: str) -> None:
    assert bool(find_faults(translation, reference)) == (translation != reference)
