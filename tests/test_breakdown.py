"""Where translations go wrong."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from dragoman.evaluation.breakdown import Aligned, in_bins, in_order, lost_by_place


@given(st.lists(st.integers(1, 30), min_size=1, max_size=60), st.integers(1, 13))
def test_every_case_is_in_one_bin_and_no_bin_of_several_is_small(sizes: list[int], fewest: int) -> None:
    seen: list[int] = []

    def judge(some: list[int]) -> float:
        seen.extend(some)
        return float(len(some))

    bins = in_bins(sizes, (1, 5, 6, 13), judge, fewest=fewest)
    assert sorted(seen) == list(range(len(sizes)))
    assert [one.value for one in bins] == [one.cases for one in bins]
    assert len(bins) == 1 or min(one.cases for one in bins) >= fewest


def test_where_there_are_no_cases_there_is_no_bin() -> None:
    assert in_bins([], (1, 5), lambda _: 0.0) == []


def test_bins_are_named_by_what_they_hold_and_small_ones_are_one_with_the_next() -> None:
    bins = in_bins([1, 5, 5, 6, 6, 7, 20, 30], (1, 5, 6, 13), lambda _: 0.0, fewest=2)
    assert [(one.name, one.cases, one.middle) for one in bins] == [("1–5", 3, 3.7), ("6–12", 3, 6.3), ("13+", 2, 25.0)]
    bins = in_bins([1, 2, 5, 5, 5, 20, 30], (1, 5, 6, 13), lambda _: 0.0, fewest=2)
    assert [(one.name, one.cases, one.middle) for one in bins] == [("1–4", 2, 1.5), ("5", 3, 5.0), ("6+", 2, 25.0)]


def test_the_last_bin_begins_where_there_are_still_enough() -> None:
    bins = in_bins([1, 2, 5, 5, 7, 20], (1, 5, 6, 13), lambda _: 0.0, fewest=2)
    assert [(one.name, one.cases) for one in bins] == [("1–4", 2), ("5", 2), ("6+", 2)]


def test_a_word_is_lost_if_a_word_it_is_linked_with_is_missing() -> None:
    source, target = list("abcdefghij"), list("ABCDEFGHIJ")
    links = [(n, n) for n in range(10)] + [(9, 8)]
    found = list("BCDEFGHJ")  # A and I are missing, and with I both i and j, which is linked with it too
    bins = lost_by_place([Aligned(source, target, links, found)])
    assert [(one.name, one.cases, one.value) for one in bins] == [
        ("first fifth", 2, 0.5),
        ("second fifth", 2, 0.0),
        ("third fifth", 2, 0.0),
        ("fourth fifth", 2, 0.0),
        ("last fifth", 2, 1.0),
    ]


def test_one_word_found_does_not_stand_for_two() -> None:
    source, target = list("abcdefghij"), list("XBCDEFGHIX")
    twice, once = (
        lost_by_place([Aligned(source, target, [(n, n) for n in range(10)], found)])
        for found in (list("XBCDEFGHIX"), list("BCDEFGHIX"))
    )
    assert [one.value for one in twice] == [0.0] * 5
    assert [one.value for one in once] == [0.5, 0.0, 0.0, 0.0, 0.5]


def test_marks_are_no_words() -> None:
    source, target = list("abcdefghi."), list("ABCDEFGHI.")
    *_, last = lost_by_place([Aligned(source, target, [(n, n) for n in range(10)], list("ABCDEFGH."))])
    assert (last.cases, last.value) == (1, 1.0)


def test_short_sentences_and_words_without_a_translation_do_not_count() -> None:
    short = Aligned(list("abc"), list("ABC"), [(0, 0)], [])
    assert lost_by_place([short]) == []
    unlinked = Aligned(list("abcdefghij"), ["A"], [(0, 0)], ["A"])
    (only,) = lost_by_place([unlinked])
    assert (only.cases, only.value) == (1, 0.0)


def test_order_is_that_of_right_words_alone() -> None:
    wanted = [["el", "perro", "ve", "al", "gato", "."]]
    assert in_order(wanted, wanted) == 1
    assert in_order([["el", "gato", "ve", "al", "perro", "."]], wanted) == 3 / 5  # not gato ve, and not al perro
    assert in_order([["el", "lobo", "ve", "gato", "hoy"]], wanted) == 1  # what is wrong says nothing of order
    assert in_order([["gato", "perro", "gato"]], wanted) is None  # nor what stands twice, nor one word alone
    assert in_order([["x"], ["b", "a"]], [["y"], ["a", "b"]]) == 0


@given(st.permutations("abcdefg"))
def test_order_counts_what_follows_each_other(words: list[str]) -> None:
    ups = sum(a < b for a, b in pairwise(words))
    assert in_order([words], [list("abcdefg")]) == ups / 6
