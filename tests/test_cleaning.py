"""The filters: what each drops, what it leaves alone, and that nothing is lost uncounted."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.config import Cleaning
from dragoman.data import cleaning
from dragoman.data.cleaning import FILTERS, Dropped, Report, clean, held_out_draw, source_key, source_keys
from dragoman.data.corpus import Pair, read_pairs
from dragoman.data.numbers import numbers_disagree
from dragoman.data.seen import Seen

TEXT = st.text(max_size=13)
FEW = st.sampled_from(["a", "b", "Hello.", "hello.", "Hola.", "", "1999", "x\ufffd", "c\x00"])


def paired(texts: Iterable[tuple[str, str]]) -> list[Pair]:
    return [Pair(source, target, f"pairs.tsv:{number}") for number, (source, target) in enumerate(texts, start=1)]


def reason(source: str, target: str, settings: Cleaning | None = None) -> str | None:
    dropped: list[Dropped] = []
    list(clean(paired([(source, target)]), settings or Cleaning(), Report(), on_dropped=dropped.append))
    return dropped[0].reason if dropped else None


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("Hello.", "Hola.", None),
        ("x" * 1001, "y" * 1001, "too-long"),
        ("x" * 1000, "y" * 1000, None),
        ("caf\ufffd", "café", "undecodable"),
        ("a", "b\ud800", "undecodable"),
        ("a\x00", "b", "control-characters"),
        ("a", "b\x85c", "control-characters"),
        ("a", "b\x1bc", "control-characters"),
        ("a\rb", "c", "control-characters"),
        ("a\tb", "c", None),
        ("", "b", "empty-side"),
        ("a", " \u00a0\u2003", "empty-side"),
        ("", "", "empty-side"),
        ("می\u200cخواهم", "I want", None),
        ("👩\u200d🚀 a\u00a0b", "\u202bb\u202c", None),
        ("a\u2028b", "c", None),
        ("Go.", "Vaya usted con Dios, amigo mío.", None),
        ("Young girls weave corn stalks into elaborate designs.", "@@", "length-ratio"),
        ("Untranslated text", "untranslated TEXT ", "copied"),
        ("2.", "2.", None),
        ("page 586", "página 585", "numbers-disagree"),
        ("e" + "\u0301" * 900, "é" * 300, None),
    ],
)  # fmt: skip
def test_each_filter_objects_to_its_own_and_no_other(source: str, target: str, expected: str | None) -> None:
    assert reason(source, target) == expected


def test_settings_switch_filters_off_and_move_limits() -> None:
    assert reason("same text", "same text", Cleaning(keep_copies=True)) is None
    assert reason("page 586", "página 585", Cleaning(check_numbers=False)) is None
    assert reason("abcdefgh", "ijk", Cleaning(max_characters=7)) == "too-long"
    assert reason("a" * 31, "b" * 5, Cleaning(max_ratio=2.0)) == "length-ratio"
    assert len(list(clean(paired([("a", "b")] * 3), Cleaning(deduplicate=False), Report()))) == 3


def test_a_cut_line_is_too_long_whatever_the_settings(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("x" * 2_000_000 + "\tb\nc\td\n")
    report = Report()
    kept = list(clean(read_pairs([path], None, None), Cleaning(max_characters=10**9, max_ratio=1e9), report))
    assert [pair.where for pair in kept] == ["pairs.tsv:2"]
    assert report.examples["too-long"][0].where == "pairs.tsv:1"
    assert len(report.examples["too-long"][0].pair.source) < 1000


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("It cost 1,234.50 dollars.", "Costó 1.234,50 dólares."),
        ("It cost 1234.50 dollars.", "Costó 1 234,50 dólares."),
        ("8,096 cases, 10%", "8096 casos, un 10 %"),
        ("1.25 million people", "1 250 000 personas"),
        ("The 1950s and 1960s", "Los años 50 y 60"),
        ("at 10:30 pm", "a las 22:30"),
        ("It was 11 p.m.", "Eran las 23 h."),
        ("12 eggs", "doce huevos"),
        ("the 20th century", "el siglo XX"),
        ("in 2013", "en dos mil trece"),
        ("a million: 1,000,000", "un millón"),
        ("05/12/2020", "12 de mayo de 2020"),
        ("3 of 25", "25, tres"),
        ("Chapter 1999", "الفصل ١٩٩٩"),
        ("no number", "ninguno"),
    ],
)
def test_one_number_in_two_forms_agrees(source: str, target: str) -> None:
    assert not numbers_disagree(source, target)
    assert not numbers_disagree(target, source)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("born in 1969", "nació en 1968"),
        ("45% against 44%", "46% frente a 44%"),
        ("19.1% of them", "el 39,1% de ellos"),
        ("2000, 30 people and 1990s", "2001, 30 personas y años 90"),
        ("see issue 32433", "véase"),
        ("Chapter 1999", "الفصل ١٩٩٧"),
    ],
)
def test_different_numbers_disagree(source: str, target: str) -> None:
    assert numbers_disagree(source, target)
    assert numbers_disagree(target, source)


@given(st.text("0123456789.,: ab٣", max_size=29), st.text("0123456789.,: ab٣", max_size=29))
def test_numbers_are_judged_the_same_both_ways_and_a_text_agrees_with_itself(one: str, other: str) -> None:
    assert numbers_disagree(one, other) == numbers_disagree(other, one)
    assert not numbers_disagree(one, one)


@given(st.lists(st.tuples(FEW, FEW), max_size=41))
def test_every_pair_is_kept_or_dropped_once_and_in_order(texts: list[tuple[str, str]]) -> None:
    pairs, dropped, report = paired(texts), list[Dropped](), Report()
    kept = list(clean(pairs, Cleaning(), report, on_dropped=dropped.append))
    assert sorted([*kept, *(each.pair for each in dropped)]) == sorted(pairs)
    for places in ([pair.where for pair in kept], [each.where for each in dropped]):
        assert places == sorted(places, key=lambda where: int(where.partition(":")[2]))
    assert (report.read, report.kept) == (len(pairs), len(kept))
    assert sum(report.dropped.values()) == len(dropped)
    assert {each.reason for each in dropped} <= set(FILTERS)


@given(texts=st.lists(st.tuples(TEXT, TEXT), max_size=41), chunk=st.sampled_from([1, 2, 7, 4096]))
def test_duplicates_are_those_a_set_would_find(texts: list[tuple[str, str]], chunk: int) -> None:
    settings = Cleaning(deduplicate=False)
    allowed = [pair[:2] for pair in clean(paired(texts * 2), settings, Report())]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cleaning, "_CHUNK", chunk)
        report = Report()
        kept = [pair[:2] for pair in clean(paired(texts * 2), Cleaning(), report)]
    assert kept == list(dict.fromkeys(allowed))
    assert report.dropped["duplicate"] == len(allowed) - len(set(allowed))
    assert report.distinct_sources == len({source for source, _ in allowed})
    assert report.distinct_targets == len({target for _, target in allowed})


@given(st.lists(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 31), max_size=17), max_size=13))
def test_seen_is_a_set(batches: list[list[int]]) -> None:
    seen, oracle = Seen(), set[int]()
    for batch in batches:
        expected = []
        for key in batch:
            expected.append(key not in oracle)
            oracle.add(key)
        assert seen.add(np.array(batch, dtype=np.uint64)).tolist() == expected
        assert len(seen) == len(oracle)
    assert not seen.add(np.array(sorted(oracle), dtype=np.uint64)).any()
    assert seen.add(np.array([32], dtype=np.uint64))[0] == (32 not in oracle)


def test_exchanged_sides_are_not_duplicates() -> None:
    assert len(list(clean(paired([("a", "b"), ("b", "a")]), Cleaning(), Report()))) == 2


@given(st.lists(st.tuples(FEW, FEW)), st.sets(FEW))
def test_no_held_out_source_stays_in_training(texts: list[tuple[str, str]], test_sources: set[str]) -> None:
    keys = source_keys(paired([(source, "") for source in test_sources]))
    report = Report()
    kept = list(clean(paired(texts), Cleaning(), report, kept_out={"dev": frozenset(), "test": keys}))
    assert not {source_key(pair.source) for pair in kept} & keys
    assert report.dropped["dev-leak"] == 0


def test_a_leak_is_named_after_its_set() -> None:
    report = Report()
    kept_out = {
        "dev": source_keys(paired([("Hello  THERE", "")])),
        "test": source_keys(paired([("Bye", "")])),
    }
    list(
        clean(
            paired([("hello there", "hola"), ("bye", "adiós"), ("x", "y")]),
            Cleaning(),
            report,
            kept_out=kept_out,
        )
    )
    assert report.dropped == {"dev-leak": 1, "test-leak": 1}


@given(st.text(), st.integers(0, 2**63))
def test_case_and_white_space_do_not_change_which_way_a_source_goes(text: str, seed: int) -> None:
    padded = "\n" + text.replace(" ", " \t ") + " "
    assert source_key(text) == source_key(padded)
    assert held_out_draw(text, seed) == held_out_draw(padded, seed)


def test_source_keys_are_the_same_on_every_machine() -> None:
    """The number was computed by `printf hello | b2sum -l 64`, whose bytes are read as little-endian."""
    assert source_key(" HELLO") == int.from_bytes(bytes.fromhex("a7b6eda801e5347d"), "little")


def test_held_out_draws_are_even_and_depend_on_the_seed() -> None:
    sources = [f"sentence {number}" for number in range(10_007)]
    first, second = ({text for text in sources if held_out_draw(text, seed) < 2**32 / 20} for seed in (1, 2))
    assert 400 < len(first) < 600
    assert len(first & second) < 60
    assert all(0 <= held_out_draw(text, 1) < 2**32 for text in sources)


def test_a_report_tells_what_was_kept_and_shows_what_was_not() -> None:
    report = Report()
    list(clean(paired([("one two three", "uno dos"), ("", "x"), ("a", "b"), ("a", "b")]), Cleaning(), report))
    assert json.loads(json.dumps(report.as_dict())) == {
        "read": 4,
        "kept": 2,
        "dropped": {"empty-side": 1, "duplicate": 1},
        "source": {"characters": 14, "words": 4, "distinct": 2},
        "target": {"characters": 8, "words": 3, "distinct": 2},
        "lengths": {"1": 1, "2-3": 1},
        "examples": {
            "empty-side": [{"where": "pairs.tsv:2", "source": "", "target": "x"}],
            "duplicate": [{"where": "pairs.tsv:4", "source": "a", "target": "b"}],
        },
    }


def test_long_lines_are_held_a_few_at_a_time() -> None:
    taken = 0

    def long_pairs() -> Iterator[Pair]:
        nonlocal taken
        while taken < 1000:
            taken += 1
            yield Pair("x" * 99_991, "y" * 99_991, "")

    next(clean(long_pairs(), Cleaning(max_characters=10**6), Report()))
    assert taken < 50


def test_all_targets_equal_shows_in_the_report() -> None:
    report = Report()
    list(clean(paired([(f"text {word}", "siempre") for word in "abcdefg"]), Cleaning(), report))
    assert (report.distinct_sources, report.distinct_targets) == (7, 1)
