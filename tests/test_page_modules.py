"""The page's modules, tested in JavaScript: what is drawn is a pure function of values, and the trace is a contract."""

import copy
import re
from collections.abc import Iterator
from typing import Any

import httpx
import numpy as np
import pytest
from playwright.sync_api import Page

from browsing import browsing, opened
from dragoman.data.grammar import lectures
from dragoman.engine.links import links_from_attention
from dragoman.engine.trace import VERSION
from serving import Running, serving
from tiny_model import make_tiny_model

RIVER = lectures()[0].first.source
PAIR = {"source": "en", "target": "es"}
SEED = 3  # with which the sentence becomes many words


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving([make_tiny_model(tmp_path_factory.mktemp("modules") / "tiny", seed=SEED)]) as running:
        yield running


@pytest.fixture(scope="module")
def page(server: Running) -> Iterator[Page]:
    with browsing() as browser, opened(browser, f"{server.url}/page/icon.svg") as page:
        yield page


@pytest.fixture(scope="module")
def client(server: Running) -> Iterator[httpx.Client]:
    with server.client() as client:
        yield client


@pytest.fixture(scope="module")
def trace(client: httpx.Client) -> dict[str, Any]:
    told: dict[str, Any] = client.post("/v1/trace", json={"q": RIVER, **PAIR}).json()
    return told


def call(page: Page, module: str, name: str, *values: Any) -> Any:
    """Call an exported function with values that it cannot change."""
    return page.evaluate(
        """async ([module, name, values]) => {
            const freeze = (value) => {
                if (value && typeof value === "object") Object.values(value).forEach(freeze);
                return Object.freeze(value);
            };
            return (await import(`/page/${module}.js`))[name](...values.map(freeze));
        }""",
        [module, name, list(values)],
    )


def named(tree: Any, name: str) -> list[dict[str, Any]]:
    """All nodes of a tree with a name."""
    if not isinstance(tree, dict):
        return []
    below = [found for child in tree["children"] for found in named(child, name)]
    return [tree, *below] if tree["name"] == name else below


BRANCHES = [
    {"parent": -1, "depth": 0, "piece": "▁a", "total": -0.1, "score": -0.1, "fate": "kept"},
    {"parent": -1, "depth": 0, "piece": "▁b", "total": -2.0, "score": -2.0, "fate": "pruned"},
    {"parent": 0, "depth": 1, "piece": "</s>", "total": -0.3, "score": -0.15, "fate": "ended"},
]
STAGES = [
    {"name": "embedding", "cosines": [[1, 1], [1, 1]], "places": [[0, 0], [0, 0]]},
    {"name": "layer 1", "cosines": [[1, -0.5], [-0.5, 1]], "places": [[-1, 0], [1, 0]]},
]
WEIGHTS = [[0.25, 0.75, 0], [0.5, 0.01, 0.49]]
DRAWN: list[tuple[str, str, list[Any]]] = [
    ("draw/arcs", "arcs", [["a", "b"], ["x", "y", "z"], WEIGHTS, {"row": 1, "title": "t"}]),
    ("draw/bars", "bars", [[{"name": "a", "share": 0.5, "told": "50 %", "held": True}], "label"]),
    ("draw/cells", "smallMap", [WEIGHTS, "title"]),
    ("draw/cells", "strip", [[1, -2, 0.5], 2, "title"]),
    ("draw/hypotheses", "hypothesesPicture", [BRANCHES, [0, 2]]),
    ("draw/links", "linksPicture", [["a", "b"], ["x"], [[0, 0], [1, 0]], {"side": "target", "word": 0}]),
    ("draw/matrix", "matrix", [["a", "b"], ["x", "y", "z"], WEIGHTS, {"chosen": {"row": 1, "column": 2}}]),
    ("draw/meanings", "cosineLines", [STAGES, 1]),
    ("draw/meanings", "mapPicture", [[[0, 1], [1, 0]], 1, ["a", "b"]]),
]


@pytest.mark.parametrize(("module", "name", "values"), DRAWN, ids=[name for _, name, _ in DRAWN])
def test_drawing_is_pure(page: Page, module: str, name: str, values: list[Any]) -> None:
    """The same values make the same tree, which is plain values too; nothing on the page is touched."""
    before = page.content()
    first = call(page, module, name, *values)
    assert call(page, module, name, *values) == first
    assert page.content() == before
    assert set(first) == {"name", "attributes", "children"}


def test_every_module_that_draws_is_tested() -> None:
    from dragoman.server.page import page_files

    assert {f"{module}.js" for module, _, _ in DRAWN} == {name for name in page_files() if name.startswith("draw/")}


def test_sentences_to_try_differ_in_one_word_and_are_in_the_sources_language(page: Page) -> None:
    lectures_told = [["the", "lectures'"]]
    told = {code: {"state": {"source": code}, "contents": {"sentences": lectures_told}} for code in ("en", "es", "de")}
    assert call(page, "sentences", "sentencesOf", told["en"]) == lectures_told
    assert call(page, "sentences", "sentencesOf", told["de"]) == []
    spanish = call(page, "sentences", "sentencesOf", told["es"])
    assert len(spanish) == 3
    for one, other in spanish:
        words = list(zip(one.split(), other.split(), strict=True))
        assert sum(a != b for a, b in words) == 1


def test_sentences_to_compare_have_the_word_once(page: Page) -> None:
    english = [[pair.first.source, pair.second.source] for pair in lectures()]
    for code, word in (("en", "bank"), ("es", "banco")):
        app = {"state": {"source": code}, "contents": {"sentences": english}}
        found = call(page, "sentences", "sentencesToCompare", app)
        assert found["word"] == word
        assert len(found["sentences"]) == 4
        assert all(re.findall(r"\w+", sentence).count(word) == 1 for sentence in found["sentences"])
    assert call(page, "sentences", "sentencesToCompare", {"state": {"source": "de"}, "contents": None}) is None


def test_a_tree_becomes_elements_and_text_stays_text(page: Page) -> None:
    built = page.evaluate("""async () => {
        const { node } = await import("/page/tree.js");
        const { build } = await import("/page/dom.js");
        const made = build(node("p", { class: "a", hidden: false }, "<b>&", node("svg", {}, node("title", {}, "t"))));
        const inner = made.querySelector("title").namespaceURI;
        return [made.childNodes[0].nodeType, made.textContent, made.hasAttribute("hidden"), inner];
    }""")
    assert built == [3, "<b>&t", False, "http://www.w3.org/2000/svg"]


def test_a_matrix_has_a_cell_for_every_weight_and_hides_what_may_not_be_seen(page: Page) -> None:
    tree = call(page, "draw/matrix", "matrix", ["a", "b"], ["x", "y", "z"], WEIGHTS)
    shades = [
        float(cell["attributes"]["fill-opacity"]) for cell in named(tree, "rect") if "data-row" in cell["attributes"]
    ]
    assert shades == pytest.approx([weight**0.75 for row in WEIGHTS for weight in row], abs=1e-3)
    told = page.evaluate("""async () => {
        const { matrix } = await import("/page/draw/matrix.js");
        return matrix(["a"], ["x", "y"], [[1, 0]], { hidden: (row, column) => column > row });
    }""")
    assert [title["children"][0] for title in named(told, "title")] == ["a looks at x: 100 %", "a may not see y"]


def test_an_arc_is_as_thick_as_its_weight(page: Page) -> None:
    tree = call(page, "draw/arcs", "arcs", ["a"], ["x", "y"], [[0.9, 0.1]])
    widths = [float(path["attributes"]["stroke-width"]) for path in named(tree, "path")]
    assert widths == pytest.approx([0.6 + 7 * 0.1, 0.6 + 7 * 0.9])


def test_cells_of_one_shade_are_one_path(page: Page) -> None:
    tree = call(page, "draw/cells", "smallMap", [[1, 0], [0, 1]], "title")
    assert [path["attributes"]["d"] for path in named(tree, "path")] == ["M0 0h1v1h-1zM1 1h1v1h-1z"]


def test_branches_stand_by_step_and_rank(page: Page) -> None:
    assert call(page, "draw/hypotheses", "layOut", BRANCHES) == [
        {"column": 0, "row": 0},
        {"column": 0, "row": 1},
        {"column": 1, "row": 0},
    ]
    kept = call(page, "view/beam", "withoutPruned", {"branches": BRANCHES, "best": [0, 2]})
    assert [branch["piece"] for branch in kept["branches"]] == ["▁a", "</s>"]
    assert (kept["best"], kept["branches"][1]["parent"]) == ([0, 1], 0)


def test_words_are_lit_both_ways(page: Page) -> None:
    lit = page.evaluate("""async () => {
        const { litWords } = await import("/page/draw/links.js");
        const links = [[0, 1], [2, 1], [2, 0]];
        return [["source", 2], ["target", 1]].map(([side, word]) => {
            const found = litWords(links, { side, word });
            return [[...found.source], [...found.target]];
        });
    }""")
    assert lit == [[[2], [1, 0]], [[0, 2], [1]]]


def test_pieces_make_words_and_bytes_make_characters(page: Page) -> None:
    pieces = ["▁Lle", "gué", "▁a", "▁", "<0xC3>", "<0xB1>", "u", ".", "</s>"]
    words = call(page, "words", "wordsOf", pieces)
    assert [tuple(word.values()) for word in words] == [("Llegué", 0, 2), ("a", 2, 3), ("ñu.", 3, 8)]
    assert call(page, "words", "labels", pieces)[:3] == ["Lle", "·gué", "a"]


@pytest.mark.parametrize(
    ("share", "told"), [(1, "100 %"), (0.0995, "10 %"), (0.05, "5.0 %"), (0.0004, "0.04 %"), (0, "0.00 %")]
)
def test_shares_are_told_in_percent(page: Page, share: float, told: str) -> None:
    assert call(page, "words", "percent", share) == told


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"view": "inside", "q": "¿Qué? a|b & c=d #1 100 %", "source": "en", "target": "es"},
        {"written": ["0 ▁El | perro <0xC3>", "2 ▁|"], "step": 3, "pruned": False},
        {"off": ["cross 1 2", "encoder self 2 1"], "uniform": ["decoder self 1 1"]},
        {"settings": ["x=1,0;0,1", "words=a | b || c"], "sentences": ["a | b", "c"], "word": "bank"},
    ],
)
def test_an_address_is_read_as_it_was_written(page: Page, changes: dict[str, Any]) -> None:
    usual = call(page, "address", "readAddress", "")
    state = {**usual, **changes}
    assert call(page, "address", "readAddress", call(page, "address", "writeAddress", state)) == state


def test_choices_are_of_one_sentence_each(page: Page) -> None:
    told = page.evaluate("""async () => {
        const { choicesOf, writeChoice } = await import("/page/address.js");
        const first = writeChoice({ written: [] }, 1, ["▁El", "perro"]);
        const both = writeChoice({ written: first }, 12, ["▁La"]);
        const other = writeChoice({ written: both }, 1, ["▁Un"]);
        return { both: [...choicesOf({ written: both })], other, back: writeChoice({ written: other }, 1) };
    }""")
    assert told["both"] == [[1, ["▁El", "perro"]], [12, ["▁La"]]]
    assert told["other"] == ["12 ▁La", "1 ▁Un"]
    assert told["back"] == ["12 ▁La"]


@pytest.mark.parametrize(
    ("code", "name"), [("en", "English"), ("pt-BR", "Brazilian Portuguese"), ("qqq", "qqq"), ("", ""), ("?", "?")]
)
def test_languages_have_names(page: Page, code: str, name: str) -> None:
    assert call(page, "words", "languageName", code) == name


def test_the_service_and_the_page_agree_on_what_a_trace_is(page: Page, trace: dict[str, Any]) -> None:
    assert trace["version"] == VERSION
    assert call(page, "trace", "faultOf", trace) is None


def without(trace: dict[str, Any], name: str) -> None:
    del trace[name]


@pytest.mark.parametrize(
    ("spoil", "fault"),
    [
        (lambda t: t.update(version=2), "it is of version 2, but this page reads version 1"),
        (lambda t: without(t, "sourcePieces"), "pieces are missing"),
        (lambda t: t["readPieces"].append("▁x"), "pieces do not fit together"),
        (lambda t: t["pieces"].pop(), "pieces do not fit together"),
        (lambda t: t["probabilities"].pop(), "there must be a probability for every piece"),
        (lambda t: t["probabilities"].__setitem__(0, 1.5), "a probability is not from 0 to 1"),
        (lambda t: t["likeliest"].pop(), "likeliest pieces are missing"),
        (lambda t: without(t, "attention"), "an attention is of an unknown kind"),
        (lambda t: t["attention"][0].update(kind="other"), "an attention is of an unknown kind"),
        (lambda t: t["attention"][0].update(heads=[]), "an attention has no layer or no heads"),
        (lambda t: t["attention"][0]["heads"][0].pop(), "a map of encoder self has another shape"),
        (lambda t: t["attention"][0]["heads"][0][0].__setitem__(0, 5000), "weights do not add up to 1000"),
    ],
)
def test_a_trace_that_breaks_the_contract_is_noticed(page: Page, trace: dict[str, Any], spoil: Any, fault: str) -> None:
    broken = copy.deepcopy(trace)
    spoil(broken)
    assert call(page, "trace", "faultOf", broken) == fault


def test_the_page_links_words_as_the_engine_does(page: Page, trace: dict[str, Any]) -> None:
    best = trace["bestHead"]
    (maps,) = [one["heads"] for one in trace["attention"] if (one["kind"], one["layer"]) == ("cross", best["layer"])]
    weights = np.array(maps[best["head"] - 1])[:-1, :-1] / 1000
    expected = links_from_attention(weights, trace["sourcePieces"][:-1], trace["pieces"])
    assert {tuple(link) for link in call(page, "trace", "linksOf", trace)} == expected


def test_the_least_sure_step_is_found(page: Page, trace: dict[str, Any]) -> None:
    assert call(page, "trace", "leastSure", trace) == int(np.argmin(trace["probabilities"][:-1]))
    assert call(page, "trace", "leastSure", {"probabilities": [0.3], "pieces": []}) == 0


def test_what_a_source_piece_had_seen_is_the_most_that_any_head_says(page: Page, trace: dict[str, Any]) -> None:
    place = 3
    heads = [(one["layer"], index + 1, np.array(head)) for one in trace["attention"] if one["kind"] == "encoder self"
             for index, head in enumerate(one["heads"])]  # fmt: skip
    found = call(page, "trace", "seenBefore", trace, place)
    assert {one["other"] for one in found} == set(range(len(trace["sourcePieces"]))) - {place}
    assert [one["weight"] for one in found] == sorted((one["weight"] for one in found), reverse=True)
    for one in found:
        assert one["weight"] == pytest.approx(max(head[place, one["other"]] for _, _, head in heads) / 1000)
        (mine,) = [head for layer, head_number, head in heads if (layer, head_number) == (one["layer"], one["head"])]
        assert mine[place, one["other"]] == pytest.approx(1000 * one["weight"])


@pytest.mark.parametrize("kind", ["encoder self", "cross", "decoder self"])
def test_arithmetic_is_redone_from_the_numbers(
    page: Page, client: httpx.Client, trace: dict[str, Any], kind: str
) -> None:
    asked = {"q": RIVER, **PAIR, "pieces": trace["pieces"], "kind": kind, "layer": 2, "head": 3}
    numbers = client.post("/v1/trace/head", json=asked).json()
    row = 2
    done = page.evaluate(
        """async ([numbers, row, kind]) => {
            const { rework } = await import("/page/arithmetic.js");
            const { isHidden } = await import("/page/trace.js");
            return rework(numbers, row, (column) => isHidden(kind, row, column));
        }""",
        [numbers, row, kind],
    )
    assert done["divisor"] == pytest.approx(np.sqrt(done["width"]))
    assert done["isSoftmax"] is True
    assert done["isMean"] is True


def test_a_formula_is_not_claimed_where_it_does_not_hold(page: Page) -> None:
    numbers = {
        "queries": [[1.0, 2.0]], "keys": [[3.0, 1.0], [1.0, 1.0]], "values": [[1.0], [0.0]],
        "scores": [[5.0, 3.0]], "weights": [[0.625, 0.375]], "context": [[0.9]],
    }  # fmt: skip
    told = """async (numbers) => {
        const done = (await import("/page/arithmetic.js")).rework(numbers, 0, () => false);
        return [done.divisor, done.isSoftmax, done.isMean];
    }"""
    assert page.evaluate(told, numbers) == [1, False, False]
    assert page.evaluate(told, {**numbers, "scores": [[5.0, 4.0]]}) == [None, False, False]
    assert page.evaluate(told, {**numbers, "keys": [[3.0], [1.0]]}) == [None, False, False]


def test_answers_are_remembered_and_refusals_told(page: Page) -> None:
    told = page.evaluate("""async () => {
        const { makeService } = await import("/page/service.js");
        const asked = [];
        const fetch = async (path, words) => {
            asked.push([path, words?.body]);
            const told = path === "bad" ? { error: "no", hint: "try" } : { n: asked.length };
            return { ok: path !== "bad", status: 400, json: async () => told };
        };
        const service = makeService({ old: "stored" }, { fetch });
        service.useKey("secret");
        const answers = [await service.ask("old"), await service.ask("a", { q: 1 }), await service.ask("a", { q: 1 })];
        const error = await service.ask("bad", {}).catch((error) => error);
        const offline = await makeService({}, { offline: true }).ask("a").catch((error) => error.message);
        const small = makeService({}, { fetch, most: 2 });
        for (const path of ["b", "c", "d", "d", "b"]) await small.ask(path);
        return { answers, asked, error: [error.message, error.hint], offline };
    }""")
    assert told["answers"] == ["stored", {"n": 1}, {"n": 1}]
    assert told["asked"][:2] == [["a", '{"q":1,"api_key":"secret"}'], ["bad", '{"api_key":"secret"}']]
    assert [path for path, _ in told["asked"][2:]] == ["b", "c", "d", "b"]  # the oldest is forgotten, and asked again
    assert told["error"] == ["no", "try"]
    assert told["offline"] == "This page was saved, and this was not saved with it."


def test_answers_cannot_break_out_of_a_saved_page(page: Page) -> None:
    template = '<p><script type="application/json" id="answers">{}</script></p>'
    told = call(page, "share", "offlinePage", template, {"q": "</script><script>alert(1)</script>$&"}, {})
    assert told.count("<script") == told.count("</script") == 1
    assert "\\u003c/script\\u003e\\u003cscript\\u003ealert(1)\\u003c/script\\u003e$\\u0026" in told
    with pytest.raises(Exception, match="The page for a disk has no place for answers"):
        call(page, "share", "offlinePage", "<p></p>", {}, {})
