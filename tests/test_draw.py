"""What the pictures promise: well-formed, escaped, inside their width, darker where the weight is greater."""

import base64
import hashlib
import itertools
import json
import math
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from dragoman import draw
from dragoman.draw import AttentionMap, HeadSteps, Series, colour, curves, label, page

Q, K, H, E = 5, 7, 3, 2
HOSTILE = "</script><img src=x onerror=\"document.title='gone'\"><!--<script>&amp;]]>"
SVG = "{http://www.w3.org/2000/svg}"


def weights_of(q: int = Q, k: int = K, seed: int = 0) -> NDArray[np.float64]:
    scores = np.random.default_rng(seed).normal(0, 2, (q, k))
    powers = np.exp(scores)
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def map_of(
    queries: tuple[str, ...] = ("▁a", "▁bank", "s", "▁über", "</s>"),
    keys: tuple[str, ...] = ("▁I", "▁arrived", "▁at", "▁the", "▁bank", ".", "</s>"),
    *,
    kind: str = "cross",
    layer: int = 1,
    head: int = 1,
) -> AttentionMap:
    weights = weights_of(len(queries), len(keys), seed=layer * 11 + head)
    return AttentionMap(f"{kind} {layer} · head {head}", kind, layer, head, weights, queries, keys)


def steps_of(kind: str = "cross", layer: int = 1) -> HeadSteps:
    rng = np.random.default_rng(1)
    queries, keys, values = (rng.normal(size=(H, size, E)) for size in (Q, K, K))
    scores = queries @ keys.transpose(0, 2, 1) / np.sqrt(E)
    powers = np.exp(scores)
    powers[:, 0, 1:] = 0
    weights = powers / powers.sum(-1, keepdims=True)
    return HeadSteps(kind, layer, queries, keys, values, scores, weights, weights @ values)


def page_of(hostile: str = "") -> str:
    labels = ("▁a", "▁bank", hostile or "s", "▁über", "</s>")
    maps = [map_of(labels, head=head) for head in range(1, H + 1)]
    return draw.html_page(
        f"What it saw {hostile}",
        f"I arrived {hostile}",
        [(piece, 0.5) for piece in labels],
        maps,
        steps=[steps_of()],
    )


def parse(svg: str) -> ET.Element:
    return ET.fromstring(svg)  # noqa: S314


def words_in(svg: str) -> list[str]:
    return [element.text or "" for element in parse(svg).iter(f"{SVG}text")]


def bare(text: str) -> list[str]:
    """Drop colours and direction marks, leaving what takes room."""
    return re.sub(r"\x1b\[[0-9;]*m|\u200e", "", text).split("\n")


class Elements(HTMLParser):
    """Every start tag of a page, and the content of its scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inside: list[str] = []
        self.open = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.open = tag in ("script", "style")
        if self.open:
            self.inside.append("")

    def handle_endtag(self, tag: str) -> None:
        self.open = self.open and tag not in ("script", "style")

    def handle_data(self, data: str) -> None:
        if self.open:
            self.inside[-1] += data


@given(st.floats(0, 1), st.floats(0, 1), st.booleans())
def test_a_greater_weight_is_never_nearer_to_the_paper(a: float, b: float, dark: bool) -> None:
    less, more = sorted((a, b))
    first, second = (colour.luminance(colour.shade(weight, dark=dark)) for weight in (less, more))
    assert first <= second if dark else first >= second


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("hue", [colour.BLUE, colour.AMBER])
def test_every_step_of_a_scale_differs_and_can_be_written_on(dark: bool, hue: float) -> None:
    scale = colour.palette(dark=dark, hue=hue)
    lights = [colour.luminance(paint) for paint in scale]
    assert lights == sorted(lights, reverse=not dark)
    assert len(set(scale)) == colour.LEVELS
    for paint in scale:
        pale, deep = sorted((colour.luminance(paint), colour.luminance(colour.ink(paint))), reverse=True)
        assert (pale + 0.05) / (deep + 0.05) >= 4.5  # WCAG 2, level AA


def test_what_is_not_a_number_has_no_weight() -> None:
    assert colour.shade(float("nan")) == colour.shade(0.0) == colour.shade(-1.0)
    assert colour.shade(2.0) == colour.shade(1.0)


def test_pieces_look_like_words() -> None:
    assert [label.show_piece(piece) for piece in ("▁bank", "ing", "▁", "", "a▁b")] == [
        "bank",
        "ing",
        "␣",
        "␣",
        "a b",
    ]
    assert label.glued(["▁cros", "sing", "▁it", "</s>"]) == [False, True, False, False]
    assert label.glued(["whole", "words"]) == [False, False]


def test_a_label_cannot_steer_a_terminal() -> None:
    assert label.clean("\x1b[2J\u202eab\x07\ud800") == "�[2Jab��"


@given(st.text(), st.integers(0, 11))
def test_a_clipped_text_fits(text: str, room: int) -> None:
    assert label.cells(label.clip(text, room)) <= room


def test_a_heat_map_has_a_cell_for_every_weight_and_names_every_row_and_column() -> None:
    attention = map_of()
    drawn = draw.svg_heatmap(attention)
    cells = [one for one in parse(drawn).iter(f"{SVG}rect") if one.get("class") == "cell"]
    assert [one.get("fill") for one in cells] == [colour.shade(float(one)).hex for one in attention.weights.flat]
    shown = words_in(drawn)
    for piece in (*attention.queries, *attention.keys, attention.name):
        assert label.show_piece(piece) in shown


def test_every_figure_is_well_formed_whatever_its_labels_hold() -> None:
    labels = (HOSTILE, "\x00\x1b[2J\ufffe", "▁שלום", "銀行", "\"'<>&")
    attention = map_of(labels, labels)
    figures = [
        draw.svg_heatmap(attention),
        draw.svg_arcs(labels, labels, attention.weights, title=HOSTILE, subtitle=HOSTILE, emphasis=1),
        draw.svg_word_arcs(labels, 2, attention.weights[2], title=HOSTILE),
        draw.svg_curves([Series(HOSTILE, HOSTILE, [1, 2], [3.0, 4.0], "highest")], title=HOSTILE, across=HOSTILE),
        draw.svg_bars([(HOSTILE, 0.5)], title=HOSTILE, subtitle=HOSTILE),
    ]
    for figure in figures:
        tags = {element.tag.removeprefix(SVG) for element in parse(figure).iter()}
        assert tags <= {"svg", "g", "title", "desc", "rect", "text", "path", "circle"}
        assert "<img" not in figure
    assert "".join(words_in(figures[1])).count("<img") > 0  # shown, as text


def test_figures_bring_their_own_paper_and_ask_for_nothing() -> None:
    for figure in (draw.svg_heatmap(map_of()), draw.svg_curves([]), draw.svg_bars([("a", -0.3)])):
        root = parse(figure)
        paper = next(one for one in root if one.get("class") == "paper")
        assert float(paper.get("width", 0)) >= float(root.get("width", 0)) - 1
        assert re.findall(r"https?://[^\"]+", figure) == ["http://www.w3.org/2000/svg"]


def test_arcs_draw_a_link_for_every_weight_worth_seeing() -> None:
    weights = np.array([[0.9, 0.1, 0.0], [0.005, 0.495, 0.5]])
    drawn = parse(draw.svg_arcs(("a", "b", "c"), ("x", "y"), weights))
    links = [one for one in drawn.iter(f"{SVG}path") if one.get("class") == "link"]
    assert len(links) == 4
    widths = [float(one.get("stroke-width", 0)) for one in links]
    assert widths == sorted(widths)  # the strongest on top


def test_words_read_from_the_right_are_set_from_the_right() -> None:
    drawn = parse(draw.svg_arcs(("a", "b"), ("שלום", "עולם"), np.eye(2)))
    places = {one.text: float(one.get("x", 0)) for one in drawn.iter(f"{SVG}text")}
    assert places["a"] < places["b"]
    assert places["שלום"] > places["עולם"]


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6), st.integers(1, 11))
def test_ticks_are_even_and_hold_the_values_between_them(low: float, span: float, about: int) -> None:
    marks = curves.ticks(low, low + span, about)
    near = 1e-6 * span + 2 * math.ulp(max(abs(low), abs(low + span)))
    assert marks[0] <= low + near
    assert marks[-1] >= low + span - near
    steps = np.diff(marks)
    assert np.allclose(steps, steps[0], rtol=1e-3)
    assert len(marks) <= about + 3


def test_no_two_of_many_lines_look_alike() -> None:
    drawn = parse(draw.svg_curves([Series("BLEU", f"recipe {n}", [1, 2], [n, n + 1.0]) for n in range(11)]))
    lines = [line for line in drawn.iter(f"{SVG}path") if "line" in line.get("class", "").split()]
    assert len({(line.get("stroke"), line.get("stroke-dasharray")) for line in lines}) == len(lines) == 11


def test_curves_leave_a_gap_where_a_value_is_missing_and_keep_the_peaks_of_a_long_run() -> None:
    values = [1.0, 2.0, float("nan"), 3.0, 4.0]
    drawn = parse(draw.svg_curves([Series("loss", "dev", range(5), values)]))
    line = next(one for one in drawn.iter(f"{SVG}path") if "line" in (one.get("class") or ""))
    assert (line.get("d") or "").count("M") == 2
    long = [0.0] * 10_007
    long[5003] = 1.0
    figure = draw.svg_curves([Series("loss", "training", range(len(long)), long)])
    assert len(figure) < 40_000
    path = next(one for one in parse(figure).iter(f"{SVG}path") if "line" in (one.get("class") or ""))
    heights = [float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", path.get("d") or "")]
    assert max(heights) - min(heights) == pytest.approx(140)


def test_a_value_is_drawn_between_its_bounds_and_all_of_them_inside_the_panel() -> None:
    bounds = [(3.0, 11.0), (-13.0, 7.0)]
    drawn = parse(draw.svg_curves([Series("chrF", "chrF", [1, 2], [5.0, 7.0], bounds=bounds)]))
    bars = [re.fullmatch(r"M([\d.]+) ([\d.]+)V([\d.]+)", path.get("d") or "") for path in drawn.iter(f"{SVG}path")]
    dots = [(float(dot.get("cx", "")), float(dot.get("cy", ""))) for dot in drawn.iter(f"{SVG}circle")]
    heights = []
    for bar, (x, y) in zip([bar for bar in bars if bar], dots, strict=True):
        at, low, high = map(float, bar.groups())
        assert at == pytest.approx(x, abs=0.1)
        assert high - 0.1 <= y <= low + 0.1
        heights += [low, high]
    grid = [float(y) for y in re.findall(r'd="M[\d.]+ ([\d.]+)h', draw.svg_curves([Series("", "", [], [])]))]
    assert min(grid) <= min(heights)
    assert max(heights) <= max(grid)


@pytest.mark.parametrize(
    ("value", "written"),
    [(0, "0"), (12_000, "12k"), (0.0005, "0.0005"), (2.5e6, "2.5M"), (3e-5, "3e-5"), (2.5, "2.5")],
)
def test_numbers_on_an_axis_are_short(value: float, written: str) -> None:
    assert curves.short_number(value) == written
    assert curves.short_number(2000, 12_000) == "2k"


def test_the_page_asks_for_nothing_and_runs_only_its_own_script() -> None:
    text = page_of()
    found = Elements(text)
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)
    assert not re.search(r"\bsrc\s*=|\bhref\s*=|@import|url\(|fetch\(|innerHTML|insertAdjacentHTML|eval\(", text)
    policy = next(attrs["content"] for tag, attrs in found.tags if attrs.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    style, _, script = found.inside
    for content in (style, script):
        assert base64.b64encode(hashlib.sha256(content.encode()).digest()).decode() in policy
    assert not any("style" in attrs or any(name.startswith("on") for name in attrs) for _, attrs in found.tags)


def test_a_hostile_sentence_is_only_text() -> None:
    harmless, hostile = Elements(page_of()), Elements(page_of(HOSTILE))
    assert [tag for tag, _ in hostile.tags] == [tag for tag, _ in harmless.tags]
    assert hostile.inside[0] == harmless.inside[0]
    assert hostile.inside[2] == harmless.inside[2]
    compared = draw.html_compare(HOSTILE, (f"a {HOSTILE}", "b"), HOSTILE, [(HOSTILE, 0.5)])
    assert {"img", "script"}.isdisjoint(tag for tag, _ in Elements(compared).tags)


def test_the_embedded_numbers_parse_back() -> None:
    data = json.loads(Elements(page_of(HOSTILE)).inside[1])
    attention, steps = map_of(), steps_of()
    np.testing.assert_allclose(data["maps"][0]["weights"], attention.weights, atol=0.51 * 10**-page.DIGITS)
    assert data["labels"][data["maps"][0]["queries"]][2] == HOSTILE
    assert data["labels"][data["maps"][0]["keys"]][1] == "arrived"
    np.testing.assert_allclose(data["steps"][0]["context"], steps.context, atol=0.51 * 10**-page.DIGITS)
    scores = data["steps"][0]["scores"]
    assert scores[0][0][1:] == [None] * (K - 1)  # hidden: a score that took no part
    assert all(score is not None for score in scores[0][1])
    assert len(data["palettes"]["dark"]["blue"]) == colour.LEVELS


def test_the_page_joins_pieces_into_words() -> None:
    pieces = [("▁Ich", 0.9), ("▁über", 0.8), ("quert", 0.7), ("▁<b>", 0.5), ("</s>", 0.9)]
    assert ">Ich überquert &lt;b&gt;</p>" in draw.html_page("t", "s", pieces, [map_of()])


def test_the_compared_word_is_marked_where_it_stands() -> None:
    text = draw.html_compare("t", ("a bank, bankrupt", "銀行に"), "bank", [("encoder 1", 0.5)])
    assert "a <mark>bank</mark>, bankrupt" in text
    assert "<mark>銀行</mark>に" in draw.html_compare("t", ("銀行に", "b"), "銀行", [])


@pytest.mark.parametrize("colourful", [False, True])
@given(
    queries=st.lists(st.text(max_size=23), min_size=1, max_size=5).map(tuple),
    keys=st.lists(st.text(max_size=23), min_size=1, max_size=61).map(tuple),
    width=st.integers(20, 101),
)
def test_a_text_map_stays_within_its_width(
    colourful: bool, queries: tuple[str, ...], keys: tuple[str, ...], width: int
) -> None:
    attention = map_of(queries, keys)
    for text in (
        draw.text_heatmap(attention, colour=colourful, width=width),
        draw.text_overview([attention, attention], colour=colourful, width=width),
        draw.text_bars([(key, 0.3) for key in keys], colour=colourful, width=width),
    ):
        assert max(map(label.cells, bare(text))) <= width


@pytest.mark.parametrize("colourful", [False, True])
def test_a_text_map_has_a_row_for_every_query_and_names_every_key(colourful: bool) -> None:
    attention = map_of()
    lines = bare(draw.text_heatmap(attention, colour=colourful, width=101))
    assert [line.split()[0] for line in lines[-Q:]] == [label.show_piece(piece) for piece in attention.queries]
    above = " ".join(lines[1:-Q])
    assert all(label.show_piece(piece) in above for piece in attention.keys)


def test_every_name_stands_at_the_left_of_its_column() -> None:
    keys = tuple(f"▁{letter * 9}" for letter in "abcdefg")
    lines = bare(draw.text_heatmap(map_of(keys=keys), colour=False, width=43))[1:-Q]
    starts = sorted(line.index(piece[1:]) for piece in keys for line in lines if piece[1:] in line)
    assert len(starts) == K
    assert len(set(np.diff(starts))) == 1


def test_without_colour_there_is_only_plain_ascii() -> None:
    attention = map_of(("a", "b"), ("c" * 40, "d"))._replace(name="cross 1, head 1")
    for text in (
        draw.text_heatmap(attention, colour=False, width=29),
        draw.text_overview([attention], colour=False),
        draw.text_bars([("a", 0.5), ("b", 1.5)], colour=False),
        draw.text_scale(colour=False),
    ):
        assert text.isascii()
        assert text.replace("\n", "").isprintable()


def test_with_colour_every_line_ends_as_it_began() -> None:
    for line in draw.text_heatmap(map_of(), colour=True).split("\n"):
        assert "\x1b" not in line or line.endswith("\x1b[0m")


def test_wide_letters_do_not_shift_the_map() -> None:
    attention = map_of(("我", "abc", "שלום", "e\u0301"), ("銀行", "b", "c"))
    lines = draw.text_heatmap(attention, colour=True).split("\n")[-4:]
    assert len({label.cells(line[: line.index("\x1b")]) for line in lines}) == 1


def test_bars_grow_with_their_values() -> None:
    lines = draw.text_bars([("x", share / 7) for share in range(8)], colour=False).split("\n")
    lengths = [line.count("#") for line in lines]
    assert all(a < b for a, b in itertools.pairwise(lengths))


def test_labels_and_weights_must_agree() -> None:
    wrong = map_of()._replace(keys=("a",))
    with pytest.raises(ValueError, match=r"weights are \(5, 7\), labels are \(5, 1\)"):
        draw.svg_heatmap(wrong)
    with pytest.raises(ValueError, match=r"scores are \(1, 1\), labels are \(5, 7\)"):
        draw.text_heatmap(map_of()._replace(scores=np.zeros((1, 1))))
    with pytest.raises(ValueError, match=r"weights are \(5, 7\), words are \(1, 1\)"):
        draw.svg_arcs(["a"], ["b"], weights_of())
    with pytest.raises(ValueError, match=r"weights are \(7,\), words are \(2,\)"):
        draw.svg_word_arcs(["a", "b"], 0, weights_of()[0])
    with pytest.raises(ValueError, match="position 2 is not one of 2 words"):
        draw.svg_word_arcs(["a", "b"], 2, weights_of(1, 2)[0])
    with pytest.raises(ValueError, match="loss: 2 updates, 1 values"):
        draw.svg_curves([Series("p", "loss", [1, 2], [1.0])])
    with pytest.raises(ValueError, match=r"cross 1: context are \(3, 1, 2\), not \(3, 5, 2\)"):
        draw.html_page("t", "s", [], [], steps=[steps_of()._replace(context=np.zeros((H, 1, E)))])


def test_nothing_to_draw_is_still_a_picture() -> None:
    empty = AttentionMap("none", "cross", 1, 1, np.zeros((0, 0)), (), ())
    for figure in (
        draw.svg_heatmap(empty),
        draw.svg_curves([]),
        draw.svg_bars([]),
    ):
        parse(figure)
    assert draw.text_heatmap(empty) == "none\n "
    assert draw.text_overview([]) == draw.text_bars([]) == ""
    assert draw.html_page("t", "s", [], []).startswith("<!doctype html>")
