"""The tour: the lectures' numbers to their own rounding, prose that does not outlive them, and what can be changed."""

import json
import re
import tomllib
from importlib.resources import files
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman import tour
from dragoman.errors import RecipeError
from dragoman.tour.arithmetic import compute
from dragoman.tour.blocks import Bars, HeatMap, Prose, Table, Try, show_number
from dragoman.tour.fill import fill
from dragoman.tour.inputs import LONGEST, MOST, write_value

CHAPTERS = [heading.name for heading in tour.table_of_contents("en")]
TELLINGS = [(language, name) for language in tour.languages() for name in CHAPTERS]


def tell(name: str, *changes: str, language: str = "en") -> tour.Chapter:
    (chapter,) = tour.tell([name], changes, language)
    return chapter


def numbers(name: str, *changes: str) -> dict[str, Any]:
    """Everything a chapter computes, and its inputs."""
    inputs = {one.name: one.value for one in tell(name, *changes).inputs}
    return {**inputs, **compute(name, inputs)}


def script(language: str, name: str) -> dict[str, Any]:
    return tomllib.loads(files("dragoman.tour").joinpath(language, f"{name}.toml").read_text(encoding="utf-8"))


def rounded(values: Any, digits: int) -> list[Any]:
    return np.round(np.asarray(values, dtype=np.float64), digits).tolist()  # type: ignore[no-any-return]


# ---- the lectures' numbers -----------------------------------------------------------------------------


def test_scores_13_9_9() -> None:
    found = numbers("weighted-mean")
    assert found["scores"].tolist() == [13, 9, 9]
    assert rounded(found["weights"], 2) == [0.96, 0.02, 0.02]
    assert rounded(found["context"], 3) == rounded(found["weighted"].sum(axis=0), 3)


def test_the_dot_product_gives_the_scores_of_the_chapter_before() -> None:
    assert numbers("scores")["scores"][0].tolist() == numbers("weighted-mean")["scores"].tolist()
    assert numbers("scores")["states"].tolist() == numbers("weighted-mean")["states"].tolist()


def test_scores_112_and_96_divided_by_8() -> None:
    found = numbers("scaling")
    assert (found["scores"].tolist(), found["width"], found["root"]) == ([112, 96], 64, 8)
    assert found["divided"].tolist() == [14, 12]
    assert rounded(found["weights"], 2) == [0.88, 0.12]


def test_the_example_of_four_dimensions() -> None:
    found = numbers("query-key-value")
    assert found["x"].tolist() == [[1, 0, 1, 0], [0, 2, 0, 2], [1, 1, 1, 1]]
    assert found["queries"].tolist() == [[1, 0, 2], [2, 2, 2], [2, 1, 3]]
    assert found["keys"].tolist() == [[0, 1, 1], [4, 4, 0], [2, 3, 1]]
    assert found["values"].tolist() == [[1, 2, 3], [2, 8, 0], [2, 6, 3]]
    assert found["first_scores"].tolist() == [2, 4, 4]
    assert rounded(found["first_weights"], 4) == [0.0634, 0.4683, 0.4683]
    assert found["rounded"].tolist() == [[0, 0.5, 0.5], [0, 1, 0], [0, 0.9, 0.1]]
    assert rounded(found["rounded_outputs"], 6) == [[2, 7, 1.5], [2, 8, 0], [2, 7.8, 0.3]]
    assert rounded(found["outputs"][0], 4) == [1.9366, 6.6831, 1.5951]
    assert (found["first_most"], found["first_least"]) == ("2, 3", "1")


def test_the_same_example_with_the_root() -> None:
    scores = np.array([2, 4, 4]) / np.sqrt(3)
    expected = np.exp(scores) / np.exp(scores).sum()
    assert numbers("query-key-value")["first_scaled"] == pytest.approx(expected, abs=1e-6)


def test_the_positions_of_i_am_a_robot() -> None:
    found = numbers("positions")
    assert (found["words"], found["width"], found["base"]) == (("I", "am", "a", "robot"), 4, 100)
    assert found["waves"] == ("sin(k/1)", "cos(k/1)", "sin(k/10)", "cos(k/10)")
    assert rounded(found["table"], 2) == [
        [0, 1, 0, 1],
        [0.84, 0.54, 0.10, 1.0],
        [0.91, -0.42, 0.20, 0.98],
        [0.14, -0.99, 0.30, 0.96],
    ]


def test_the_masked_triangle() -> None:
    found = numbers("mask")
    assert (np.isneginf(found["masked"]) == ~np.tri(3, dtype=bool)).all()
    assert found["weights"].sum(axis=-1) == pytest.approx(1)
    assert (found["weights"][~np.tri(3, dtype=bool)] == 0).all()
    assert found["change"] == 0


@pytest.mark.parametrize(("b", "cosine"), [("3,2", 1), ("-3,-2", -1), ("-2,3", 0), ("30,20", 1)])
def test_cosines_of_the_same_the_opposite_and_a_right_angle(b: str, cosine: float) -> None:
    found = numbers("similarity", f"b={b}")
    assert found["cosine"] == pytest.approx(cosine, abs=1e-6)
    assert found["dot"] == pytest.approx(cosine * found["length_a"] * found["length_b"], abs=1e-4)


def test_heads_side_by_side_times_the_output_matrix() -> None:
    found = numbers("heads")
    assert found["side_by_side"].tolist() == np.concatenate(list(found["seen"]), axis=1).tolist()
    assert found["output"] == pytest.approx(found["side_by_side"] @ found["output_weights"], abs=1e-6)
    assert found["difference"] < 1e-6


# ---- what really happens -------------------------------------------------------------------------------


def test_multiplying_by_minus_infinity_hides_only_what_is_positive() -> None:
    multiplied = numbers("mask", "scores=1,-1,0;1,1,2;1,1,1")["multiplied"]
    assert np.isposinf(multiplied[0, 1])
    assert np.isnan(multiplied[0, 2])
    assert np.isneginf(multiplied[1, 2])
    assert not numbers("mask", "scores=1,1,1;1,1,2;1,1,1")["wrong"]


def test_only_batch_normalisation_looks_at_the_neighbours() -> None:
    found = numbers("residual-norm")
    assert found["layer_change"] == 0
    assert found["batch_change"] > 1
    assert found["unscaled_means"] == pytest.approx(0, abs=1e-6)
    assert found["unscaled_variances"] == pytest.approx(1, abs=1e-4)


def test_order_is_seen_only_with_positions() -> None:
    found = numbers("positions")
    assert found["shuffled_without"] < 1e-6
    assert found["shuffled_with"] > 0.1
    for name in ("likeness", "turned"):
        for distance in range(4):
            assert np.ptp(np.diagonal(found[name], distance)) < 1e-5


def test_the_root_keeps_the_spread() -> None:
    found = numbers("scaling")
    assert found["before"] == pytest.approx(found["roots"], rel=0.2)
    assert found["after"] == pytest.approx(1, rel=0.2)
    assert found["slope"] > 1000 * found["undivided_slope"]


def test_the_kernel_stays_where_attention_moves() -> None:
    assert numbers("scores")["moved"] > 0.5
    assert numbers("scores", "next_query=3,2")["moved"] == 0


def test_the_first_word_is_forgotten_and_then_the_middle() -> None:
    found = numbers("bottleneck", "vectors=1,1;1,1;1,1;1,1;1,1")
    assert found["left"].tolist() == sorted(found["left"].tolist())
    assert found["left_both_ways"].argmin() == 2
    assert rounded(found["left"][1:] / found["left"][:-1], 4) == [2, 2, 2, 2]


def test_the_beam_finds_what_greedy_decoding_does_not() -> None:
    found = numbers("writing")
    assert (found["greedy"], found["best"]) == ("nice woman </s>", "dog barks </s>")
    assert found["greedy_chance"] == pytest.approx(0.5 * 0.4 * 0.6)
    assert found["best_chance"] == pytest.approx(0.4 * 0.9 * 1)
    assert not numbers("writing", "beam=1")["beam_wins"]


def test_a_decoder_fed_by_itself_goes_astray() -> None:
    found = numbers("writing")
    assert (found["taught"], found["alone"]) == (("<s>", "dog", "barks"), ("<s>", "nice", "woman"))
    assert found["loss"] == pytest.approx(-np.log([0.4, 0.9, 1]).mean(), abs=1e-6)
    assert rounded(found["free"], 6) == [0.4, 0.1, 0.6]
    stopped = numbers("writing", "words=a b", "chances=0.1,0,0.9;0,1,0;0,0,1", "reference=a b")
    assert (stopped["alone"], stopped["free"][1:].tolist()) == (("<s>", "</s>", "</s>"), [0, 0])


@given(st.lists(st.integers(-9, 9), min_size=18, max_size=18))
def test_linear_attention_is_the_same_by_pairs_and_by_memory(drawn: list[int]) -> None:
    rows = [",".join(map(str, drawn[at : at + 2])) for at in range(0, 18, 2)]
    changes = [f"{name}={';'.join(rows[at : at + 3])}" for name, at in (("queries", 0), ("keys", 3), ("values", 6))]
    found = numbers("linear", *changes)
    assert found["by_memory"] == pytest.approx(found["by_pairs"], abs=1e-3)


@given(st.lists(st.integers(-30, 30), min_size=1, max_size=LONGEST), st.integers(0, 3))
def test_rounded_weights_add_up(row: list[int], decimals: int) -> None:
    # With these maps the first query is 1 and the keys are the numbers themselves.
    x = ";".join(f"1,{number}" for number in row)
    maps = ("query_weights=1;0", "key_weights=0;1", "value_weights=0;1")
    found = numbers("query-key-value", f"x={x}", *maps, f"decimals={decimals}")
    assert found["first_scores"].tolist() == row
    assert found["rounded"].sum(axis=1) == pytest.approx(1)
    assert np.abs(found["rounded"] - found["weights"]).max() < 10.0**-decimals + 1e-6


# ---- chapters as data ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("language", "name"), TELLINGS)
def test_a_chapter_is_told_and_becomes_json(language: str, name: str) -> None:
    chapter = tell(name, language=language)
    tree = json.loads(json.dumps(tour.as_json(chapter), allow_nan=False))
    assert (tree["name"], tree["language"], len(tree["blocks"])) == (name, language, len(chapter.blocks))
    assert {block["kind"] for block in tree["blocks"]} <= {
        "prose",
        "formula",
        "table",
        "bars",
        "heatmap",
        "note",
        "try",
    }
    assert [one["name"] for one in tree["inputs"]] == list(script(language, name)["inputs"])
    assert all(one["about"] and one["value"] == one["default"] for one in tree["inputs"])
    assert "{" not in json.dumps(tree).replace('{"', "").replace("{}", "")


@pytest.mark.parametrize(("language", "name"), TELLINGS)
def test_labels_and_numbers_agree(language: str, name: str) -> None:
    for block in tell(name, language=language).blocks:
        match block:
            case Table():
                assert len(block.rows) in (0, len(block.cells))
                assert {len(row) for row in block.cells} <= {len(block.columns) or len(block.cells[0])}
                assert len(block.digits) == len(block.cells)
            case HeatMap():
                assert (len(block.rows), len(block.columns)) == np.shape(block.weights)
                assert all(0 <= weight <= 1 + 1e-6 for row in block.weights for weight in row)
            case Bars():
                assert len(block.names) == len(block.values)
                assert block.low <= min(block.values) <= max(block.values) <= block.high
            case _:
                pass


@pytest.mark.parametrize(("language", "name"), TELLINGS)
def test_every_result_in_prose_is_computed(language: str, name: str) -> None:
    """A fraction that was typed in would be wrong as soon as somebody changes something."""
    for block in script(language, name)["block"]:
        for kind in ("prose", "note", "title", "formula"):
            assert not re.search(r"\d\.\d", re.sub(r"{[^}]*}", "", block.get(kind, "")))


@pytest.mark.parametrize(("language", "name"), TELLINGS)
def test_every_change_that_is_suggested_can_be_made(language: str, name: str) -> None:
    attempts = [block for block in tell(name, language=language).blocks if isinstance(block, Try)]
    assert attempts
    for attempt in attempts:
        changed = tell(name, *attempt.settings, language=language)
        assert changed.blocks != tell(name, language=language).blocks


@pytest.mark.parametrize("name", CHAPTERS)
@given(seed=st.integers(0, 2**32 - 1), size=st.sampled_from([1, 10, MOST]))
@settings(max_examples=20)
def test_any_numbers_of_the_right_shape_can_be_told(name: str, seed: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    changes = []
    for one in tell(name).inputs:
        # Words are no numbers, and these must also suit each other.
        if isinstance(one.value, tuple) or one.name in ("heads", "width"):
            continue
        drawn = rng.uniform(max(one.least, -size), min(one.most, max(size, one.least)), np.shape(one.value))
        value = int(drawn) if isinstance(one.value, int) else drawn.astype(np.float32) if one.axes else float(drawn)
        changes.append(f"{one.name}={write_value(value)}")
    json.dumps(tour.as_json(tell(name, *changes)), allow_nan=False)


def test_what_is_not_the_case_is_not_said() -> None:
    def says(name: str, *changes: str) -> str:
        return " ".join(block.text for block in tell(name, *changes).blocks if isinstance(block, Prose))

    assert "greedy decoding did not find it" in says("writing")
    assert "finds nothing better" in says("writing", "beam=1")
    assert "points nowhere" in says("similarity", "a=0,0")
    assert "points nowhere" not in says("similarity")
    assert "spoiled" in says("mask")
    assert "no harm" in says("mask", "scores=1,1,1;1,1,2;1,1,1")
    assert "what the teacher would have said" in says("writing", "reference=nice woman")


def test_a_table_says_which_input_it_shows() -> None:
    shown = {block.title: block.setting for block in tell("query-key-value").blocks if isinstance(block, Table)}
    assert shown["W_Q"] == "query_weights"
    assert shown["Q, the queries"] is None


def test_words_and_sizes_can_be_changed_together() -> None:
    chapter = tell("weighted-mean", "words=a b", "states=1;2", "scores=0,0")
    (weights,) = (block for block in chapter.blocks if isinstance(block, Bars))
    assert (weights.names, weights.values) == (("a", "b"), (0.5, 0.5))
    assert rounded(numbers("positions", "words=x y x", "width=2")["table"], 2) == [[0, 1], [0.84, 0.54], [0.91, -0.42]]


def test_gaps_are_filled() -> None:
    quantities = {"x": np.array([1.25, -0.001]), "y": 3.0, "words": ("a", "b"), "tiny": 1.1e-7, "sum": 1e6}
    assert fill("{x} {x:1} {y} {y:2} {words} {x[0]:2} {tiny} {sum}", quantities) == (
        "(1.25, -0.001) (1.2, 0.0) 3 3.00 a, b 1.25 1.1e-07 1000000"
    )
    assert [show_number(value) for value in (np.inf, -np.inf, np.nan)] == ["∞", "-∞", "nan"]
    with pytest.raises(KeyError):
        fill("{nothing}", quantities)


def test_chapters_are_found_by_number_and_name() -> None:
    assert tour.find("5") == tour.find("query-key-value") == "query-key-value"
    with pytest.raises(RecipeError, match="there is no chapter 99"):
        tour.find("99")
    with pytest.raises(RecipeError, match="there is no chapter 'positoins'; did you mean 'positions'"):
        tour.find("positoins")


def test_languages() -> None:
    assert "en" in tour.languages()
    with pytest.raises(RecipeError, match="the tour is not told in 'xx'") as raised:
        tour.table_of_contents("xx")
    assert raised.value.hint == f"it is told in: {', '.join(tour.languages())}"
    for language in tour.languages():
        assert all(tour.read_labels(language))


def test_an_unknown_chapter_or_block_is_our_own_mistake() -> None:
    with pytest.raises(ValueError, match="nothing is known of a chapter nowhere"):
        compute("nowhere", {})
