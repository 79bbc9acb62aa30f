"""What can be changed in the tour, how it is written, and what a mistake is answered with."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman import tour
from dragoman.errors import RecipeError
from dragoman.tour.inputs import LONGEST, MOST, Input, write_value

CHAPTERS = [heading.name for heading in tour.table_of_contents("en")]


def tell(name: str, *changes: str) -> tour.Chapter:
    (chapter,) = tour.tell([name], changes, "en")
    return chapter


@given(st.lists(st.integers(-MOST, MOST), min_size=1, max_size=LONGEST))
def test_a_value_is_written_as_it_is_read(row: list[int]) -> None:
    (scores,) = (one for one in tell("weighted-mean", *_of_size(row)).inputs if one.name == "scores")
    assert write_value(scores.value) == ",".join(map(str, row))


def _of_size(row: list[int]) -> tuple[str, ...]:
    return (
        f"words={' '.join('w' * len(row))}",
        f"states={';'.join('1' * len(row))}",
        f"scores={','.join(map(str, row))}",
    )


@pytest.mark.parametrize(
    ("name", "changes", "message", "hint"),
    [
        (
            "scaling",
            ("witdh=3",),
            "chapter scaling has nothing called 'witdh' to change; did you mean 'width'",
            "it has",
        ),
        ("scaling", ("width",), "--set width: there is no value", "write --set name=value"),
        ("scaling", ("width=x",), "width: 'x' is not a number", "--set width=64, for example"),
        ("scaling", ("width=2.5",), "width is 2.5, not a whole number", "--set width=64"),
        ("scaling", ("width=0",), "width: 0 is not from 1 to 10000", "--set width=64"),
        ("scaling", ("scores=nan,1",), "scores: nan is no number to compute with", "--set scores=112,96"),
        ("scaling", ("scores=-inf,1",), "scores: -inf is no number to compute with", "--set scores=112,96"),
        ("scaling", ("scores=1e30,1",), r"scores: 1e\+30 is not from -10000 to 10000", "--set scores=112,96"),
        ("scaling", ("scores=",), "scores: '' is not a number", "--set scores=112,96"),
        ("scaling", ("scores=1,2,3",), "scores has 3 numbers, but words has 2 words", "change both"),
        ("scaling", ("scores=1,2,3,4,5,6,7,8,9",), "scores has 9 numbers, more than can be shown", "at most 8"),
        ("scaling", ("words=",), "words has no words", 'write --set words="I am a robot"'),
        ("scaling", ("words=" + "x" * 17,), "words: 'x{17}' is too long to be shown", "at most 16 letters"),
        ("mask", ("scores=1,2;3",), "scores has rows of 2, 1 numbers", "a semicolon ends a row"),
        ("mask", ("scores=1,2;3,4",), "scores has 2 rows, but words has 3 words", "change both"),
        ("mask", ("scores=1,2;3,4;5,6",), "scores has 2 columns, but words has 3 words", "change both"),
        ("heads", ("x=1,2,3",), "query_weights has 4 rows, but x has 3 columns", "change both"),
        ("scores", ("bilinear=1,2;3,4;5,6",), "bilinear has 3 rows, but states has 2 columns", "change both"),
        ("heads", ("heads=3",), "heads is 3, but x has 4 columns, which 3 heads cannot share", "divides 4"),
        ("positions", ("width=3",), "width is 3, but sines and cosines come in pairs", "even"),
        ("writing", ("words=a",), "chances has 5 rows and 5 columns; 1 words need 2 of each", "one row for the start"),
        ("writing", ("reference=cat",), "reference has 'cat', which is not among the words", "use nice, dog"),
        ("writing", ("words=a", "chances=1,0;0,0", "reference=a"), "row 2 of chances is all 0", "make one of them"),
        ("writing", ("chances=-1",), "chances: -1 is not from 0 to 10000", "for example"),
        ("scaling", ("mask.words=a",), "is for the chapter mask, which is not told now", "leave it out"),
        ("scaling", ("maks.words=a",), "there is no chapter 'maks'; did you mean 'mask'", "there are: bottleneck"),
    ],
)
def test_a_mistake_is_explained(name: str, changes: tuple[str, ...], message: str, hint: str) -> None:
    with pytest.raises(RecipeError, match=message) as raised:
        tell(name, *changes)
    assert hint in raised.value.hint


def test_where_all_are_told_a_setting_says_which() -> None:
    with pytest.raises(RecipeError, match="3 chapters have something called 'scores': weighted-mean") as raised:
        tour.tell(CHAPTERS, ["scores=1,2,3"], "en")
    assert raised.value.hint == "say which: --set weighted-mean.scores=1,2,3"
    with pytest.raises(
        RecipeError, match="no chapter has anything called 'decimal' to change; did you mean 'decimals'"
    ):
        tour.tell(CHAPTERS, ["decimal=1"], "en")
    told = tour.tell(CHAPTERS, ["decimals=3", "3.scores=1,2,3", "scaling.scores=4,5"], "en")
    values = {(chapter.name, one.name): one for chapter in told for one in chapter.inputs}
    assert _written(values["query-key-value", "decimals"]) == "3"
    assert _written(values["weighted-mean", "scores"]) == "1,2,3"
    assert _written(values["scaling", "scores"]) == "4,5"


def _written(one: Input) -> str:
    return write_value(one.value)
