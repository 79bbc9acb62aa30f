"""Whether a corpus is in the languages that it is read as."""

from itertools import pairwise
from pathlib import Path

import pytest

from dragoman.data.corpus import Pair
from dragoman.data.grammar import generate
from dragoman.jobs.languages import Sample, doubt_sides
from dragoman.text.languages import same_language

EXAMPLES = list(generate(41, seed=3))
ENGLISH, SPANISH = [e.source for e in EXAMPLES], [e.target for e in EXAMPLES]
TABLE = [Path("some/pairs.tsv")]


def test_swapped_sides_are_told_and_right_ones_are_not() -> None:
    assert doubt_sides(ENGLISH, SPANISH, ("en", "es"), TABLE) is None
    assert doubt_sides(SPANISH, ENGLISH, ("en", "es"), TABLE) == (
        "the sources look like Spanish and the targets like English, but are read as English to Spanish: "
        "are they swapped? pairs.tsv:2,1 reads the columns the other way round"
    )
    assert doubt_sides(SPANISH, ENGLISH, ("es", "en"), TABLE) is None


@pytest.mark.parametrize(
    ("sources", "targets"), [(SPANISH, SPANISH), (ENGLISH, ENGLISH), (["12", "Bo!"] * 20, ENGLISH), ([], [])]
)
def test_one_side_alone_is_no_swap(sources: list[str], targets: list[str]) -> None:
    assert doubt_sides(sources, targets, ("en", "es"), TABLE) is None


@pytest.mark.parametrize("spoken", [("en", "qu"), ("qu", "es"), ("", ""), ("en", ""), ("es-ES", "es-MX")])
def test_nothing_is_said_of_languages_that_are_not_known_or_the_same(spoken: tuple[str, str]) -> None:
    for sides in ((ENGLISH, SPANISH), (SPANISH, ENGLISH)):
        assert doubt_sides(*sides, spoken, TABLE) is None


@pytest.mark.parametrize(
    ("name", "hint"),
    [("a.tsv.gz", "a.tsv.gz:2,1 reads"), ("a.txt:3,5", "a.txt:5,3 reads"), ("a.tmx", None), ("a.csv", None)],
)
def test_only_a_table_has_columns_to_swap(name: str, hint: str | None) -> None:
    told = doubt_sides(SPANISH, ENGLISH, ("en-US", "es"), [Path(name)])
    assert told is not None
    assert "like English (US), but" in told
    assert (hint in told) if hint else told.endswith("are they swapped?")


def test_however_a_code_is_written_its_language_is_known() -> None:
    assert doubt_sides(SPANISH, ENGLISH, ("EN_us", "es_MX"), TABLE) is not None


@pytest.mark.parametrize("count", [0, 7, 400, 401, 5003])
def test_a_sample_is_small_and_from_all_over(count: int) -> None:
    pairs, sample = [Pair(str(n), "", "") for n in range(count)], Sample()
    assert list(sample.watching(iter(pairs))) == pairs
    found = [int(pair.source) for pair in sample.pairs]
    assert min(count, 200) <= len(found) <= 400
    steps = {b - a for a, b in pairwise(found)}
    assert len(steps) <= 1
    assert not found or (found[0] == 0 and found[-1] + max(steps, default=1) >= count)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [("en", "en-US", True), ("pt_BR", "PT-pt", True), (" EN", "en_us", True), ("en", "enm", False), ("", "en", False)],
)
def test_a_region_is_no_other_language(one: str, other: str, *, same: bool) -> None:
    assert same_language(one, other) is same_language(other, one) is same
