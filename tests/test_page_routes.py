"""The page over HTTP: its files and their policy, and the data that only the page asks for."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from dragoman.data.grammar import lectures
from dragoman.draw.document import content_hash
from dragoman.engine.base import Head
from dragoman.engine.plain import PlainEngine
from dragoman.jobs.flows import known_links, read_flows
from dragoman.jobs.meaning import compare
from dragoman.server.limits import Limits
from dragoman.server.page import page_files
from dragoman.tour import as_json, table_of_contents, tell
from serving import Running, serving
from test_server_v1 import make_recurrent
from tiny_model import ALIGNMENT, make_tiny_model, tiny_tokenizer

RIVER, STREET = (side.source for side in (lectures()[0].first, lectures()[0].second))
PAIR = {"source": "en", "target": "es"}
TRACED = 29
SEED = 3  # with which the sentence becomes many words


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving(
        [make_tiny_model(tmp_path_factory.mktemp("page") / "model", seed=SEED)], Limits(traced=TRACED)
    ) as running:
        yield running


@pytest.fixture(scope="module")
def client(server: Running) -> Iterator[httpx.Client]:
    with server.client() as client:
        yield client


@pytest.fixture(scope="module")
def engine(server: Running) -> PlainEngine:
    return next(iter(server.service.models)).plain


@pytest.fixture(scope="module")
def trace(client: httpx.Client) -> dict[str, Any]:
    told: dict[str, Any] = post(client, "/v1/trace", q=RIVER)
    return told


def post(client: httpx.Client, path: str, **words: Any) -> Any:
    answer = client.post(path, json={**PAIR, **words})
    assert answer.status_code == 200, answer.text
    return answer.json()


def ids(pieces: list[str]) -> list[int]:
    return [tiny_tokenizer().pieces.index(piece) for piece in pieces]


def test_the_page_is_served_with_a_policy_that_lets_nothing_else_in(client: httpx.Client) -> None:
    page = client.get("/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    policy = page.headers["content-security-policy"]
    for part in (
        "default-src 'none'",
        "script-src 'self'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
    ):
        assert part in policy
    assert "unsafe" not in policy
    wanted = set(re.findall(r'(?:src|href)="(page/[^"]+)"', page.text))
    assert {f"page/{name}" for name in page_files() if name.endswith((".js", ".css", ".svg"))} == wanted
    for path in wanted:
        answer = client.get(f"/{path}")
        assert answer.status_code == 200
        assert answer.headers["content-security-policy"] == policy


def test_what_a_client_has_is_not_sent_again(client: httpx.Client) -> None:
    tag = client.get("/page/main.js").headers["etag"]
    again = client.get("/page/main.js", headers={"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get("/page/main.js", headers={"If-None-Match": '"other"'}).status_code == 200


@pytest.mark.parametrize(
    "path", ["/page/none.js", "/page/", "/page/../page.py", "/page/stored.json", "/page/%2e%2e/app.py"]
)
def test_nothing_but_the_page_is_served(client: httpx.Client, path: str) -> None:
    answer = client.get(path)
    assert (answer.status_code, answer.json()) == (404, {"error": "Not Found"})


def test_the_page_for_a_disk_names_its_script_and_its_style_by_their_hashes(client: httpx.Client) -> None:
    page = client.get("/page/offline.html").text
    assert not re.findall(r'(?:src|href)="(?!#)', page)
    style = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)[0]
    (script,) = re.findall(r'<script type="module">(.*?)</script>', page, re.DOTALL)
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    assert f"script-src '{content_hash(script)}'" in policy
    assert f"style-src '{content_hash(style)}'" in policy
    assert "connect-src" not in policy


def test_no_module_parses_markup_or_runs_text() -> None:
    forbidden = re.compile(
        r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|new Function|createContextualFragment|DOMParser"
    )
    scripts = {name: file.content.decode() for name, file in page_files().items() if name.endswith(".js")}
    assert len(scripts) > 20
    assert [name for name, text in scripts.items() if forbidden.search(text)] == []


@pytest.mark.parametrize("name", [name for name in page_files() if name.endswith((".js", ".css"))])
def test_a_file_of_the_page_is_not_too_long_to_read(name: str) -> None:
    lines = page_files()[name].content.decode().splitlines()
    assert len(lines) <= 400
    assert max(map(len, lines)) <= 140


def test_alternatives_are_the_likeliest_pieces_each_taken_in_turn(client: httpx.Client, trace: dict[str, Any]) -> None:
    place = 2
    found = post(client, "/v1/trace/alternatives", q=RIVER, pieces=trace["pieces"], at=place)
    likely = [[one["piece"], one["probability"]] for one in found]
    assert likely[:5] == [[piece, pytest.approx(chance, abs=1e-5)] for piece, chance in trace["likeliest"][place]]
    for one in found:
        if one["piece"] != "</s>":
            assert one["pieces"][: place + 1] == [*trace["pieces"][:place], one["piece"]]
            assert {target for _, target in one["alignment"]} <= set(range(len(one["text"].split())))


def test_an_end_is_an_alternative_too(client: httpx.Client, trace: dict[str, Any]) -> None:
    places = [at for at, likely in enumerate(trace["likeliest"]) if "</s>" in [piece for piece, _ in likely]]
    assert places
    for at in places:
        found = post(client, "/v1/trace/alternatives", q=RIVER, pieces=trace["pieces"], at=at)
        (end,) = [one for one in found if one["piece"] == "</s>"]
        assert end["pieces"] == trace["pieces"][:at]


def test_a_way_adds_up_and_ends_in_the_probability(
    client: httpx.Client, trace: dict[str, Any], engine: PlainEngine
) -> None:
    at = 3
    told = post(client, "/v1/trace/way", q=RIVER, pieces=trace["pieces"], side="target", at=at)
    names = [stage["name"] for stage in told["stages"]]
    vectors = [np.array(stage["vector"]) for stage in told["stages"]]
    assert names[:3] == ["embedding", "+ position", "layer 1: + self-attention"]
    assert names[-2:] == ["layer 3", "out"]
    total = vectors[0] + vectors[1]
    for name, vector in zip(names[2:-1], vectors[2:-1], strict=True):
        if "+" in name:
            total = total + vector
        else:
            np.testing.assert_allclose(vector, total, atol=1e-3)
    chances = [(piece, np.exp(logit - told["logSum"])) for piece, logit in told["logits"]]
    for (piece, chance), (likely, expected) in zip(chances, trace["likeliest"][at], strict=False):
        assert piece == likely
        assert chance == pytest.approx(expected, abs=1e-4)
    row = engine.weights["output.weight"][ids([told["logits"][0][0]])[0]]
    bias = engine.weights["output.bias"][ids([told["logits"][0][0]])[0]]
    assert vectors[-1] @ row + bias == pytest.approx(told["logits"][0][1], abs=1e-3)


def test_the_source_has_a_way_too(client: httpx.Client, trace: dict[str, Any], engine: PlainEngine) -> None:
    told = post(client, "/v1/trace/way", q=RIVER, pieces=trace["pieces"], side="source", at=4)
    memory = engine.trace(ids(trace["sourcePieces"][:-1]), ids(trace["pieces"])).encoder.memory
    np.testing.assert_allclose(told["stages"][-1]["vector"], memory[4], atol=1e-4)
    assert "logits" not in told


def test_the_beam_is_told_as_it_was(client: httpx.Client) -> None:
    told = post(client, "/v1/trace/beam", q=RIVER, beam=3, penalty=60)
    assert (told["beam"], told["penalty"]) == (3, 60)
    last = told["branches"][told["best"][-1]]
    assert last["score"] == pytest.approx(last["total"] / (last["depth"] + 1) ** 0.6, abs=1e-4)
    shown = post(client, "/v1/translate", q=RIVER)["translations"][0]["text"]
    assert post(client, "/v1/trace/beam", q=RIVER)["text"] == shown


def test_a_what_if_stands_beside_the_original(client: httpx.Client, trace: dict[str, Any]) -> None:
    words = {"q": RIVER, "pieces": trace["pieces"]}
    same = post(client, "/v1/trace/what-if", **words)
    assert same["original"] == same["changed"] == same["forced"]
    assert same["original"]["probabilities"] == pytest.approx(trace["probabilities"], abs=1e-5)
    off = post(
        client, "/v1/trace/what-if", **words, off=["cross 2 1", "encoder self 1 5"], uniform=["decoder self 3 2"]
    )
    assert off["original"] == same["original"]
    assert off["forced"]["pieces"] == same["original"]["pieces"]
    assert off["forced"]["probabilities"] != same["original"]["probabilities"]
    other = post(client, "/v1/trace/what-if", **words, instead=STREET)
    assert other["changed"]["text"] == post(client, "/v1/translate", q=STREET)["translations"][0]["text"]


def test_readings_are_those_of_the_head(client: httpx.Client, trace: dict[str, Any]) -> None:
    layer, head = ALIGNMENT.layer + 1, ALIGNMENT.head + 1
    told = post(client, "/v1/trace/flows", q=RIVER, pieces=trace["pieces"], layer=layer, head=head)
    raw, weighted, rolled = told["readings"]
    (maps,) = [one["heads"] for one in trace["attention"] if (one["kind"], one["layer"]) == ("cross", layer)]
    np.testing.assert_allclose(raw["weights"], np.array(maps[head - 1]) / 1000, atol=1e-3)
    assert [one["name"] for one in (raw, weighted, rolled)] == [
        "raw weights",
        "weighted by values",
        "rolled out over layers",
    ]
    assert {one["errorRate"] for one in told["readings"]} == {None}


def test_the_error_rate_is_known_where_the_alignment_is(server: Running) -> None:
    told, tokenizer = lectures()[0].first, tiny_tokenizer()
    assert known_links(told.source, told.target) == told.links
    assert known_links(told.source, "otra cosa") is None
    plain = next(iter(server.service.models)).plain
    trace = plain.trace(tokenizer.encode(told.source), tokenizer.encode(told.target))
    rates = [reading.error_rate for reading in read_flows(plain, tokenizer, trace, Head(1, 2))]
    assert all(rate is not None and 0 <= rate <= 1 for rate in rates)


def test_a_word_leaves_itself_from_layer_to_layer(client: httpx.Client) -> None:
    told = post(client, "/v1/trace/meaning", sentences=[RIVER, STREET, RIVER], word="bank")["stages"]
    assert [stage["name"] for stage in told] == ["embedding", "with position", "layer 1", "layer 2", "last norm"]
    for stage in told:
        cosines, places = np.array(stage["cosines"]), np.array(stage["places"])
        np.testing.assert_allclose(np.diag(cosines), 1, atol=1e-4)
        assert cosines[0, 2] == pytest.approx(1, abs=1e-4)
        np.testing.assert_allclose(places[0], places[2], atol=1e-3)
        apart = float(np.linalg.norm(places[0] - places[1]))
        assert apart**2 == pytest.approx(2 - 2 * cosines[0, 1], abs=1e-3)  # of vectors of length 1
    assert told[0]["cosines"][0][1] == pytest.approx(1, abs=1e-4)
    assert told[-1]["cosines"][0][1] < 0.999


def test_one_map_is_turned_towards_the_one_before(engine: PlainEngine) -> None:
    sentences = [RIVER, STREET, "My sister closed the bank.", "The bank was tired."]
    before, after = compare(engine, tiny_tokenizer(), sentences, "bank")[-2:]
    steps = [
        float(np.linalg.norm(after.places @ turn - before.places))
        for turn in (np.eye(2), -np.eye(2), [[1, 0], [0, -1]], [[-1, 0], [0, 1]])
    ]
    assert min(steps) == steps[0]


@pytest.mark.parametrize(
    ("path", "words", "message"),
    [
        ("alternatives", {"pieces": [], "at": 1}, "Invalid request: there is no place 1 among 1"),
        ("alternatives", {"at": 1}, "Invalid request: missing pieces parameter"),
        ("way", {"pieces": [], "side": "left"}, "Invalid request: side parameter is not source or target"),
        ("way", {"pieces": [], "side": "source", "at": 99}, "Invalid request: there is no place 99 among"),
        ("flows", {"pieces": [], "layer": 4}, "Invalid request: there is no head 1 in layer 4"),
        ("flows", {"pieces": [], "head": 6}, "Invalid request: there is no head 6 in layer 1"),
        ("beam", {"beam": 11}, "Invalid request: beam parameter must be <= 10"),
        ("beam", {"penalty": 301}, "Invalid request: penalty parameter must be <= 300"),
        ("beam", {"q": "the " * 40}, f"has 40 pieces, but a trace has at most {TRACED}"),
        ("beam", {"target": "en"}, "Invalid request: source and target are both en"),
        ("what-if", {"pieces": [], "off": ["cross 1"]}, "off parameter has no head that reads like 'cross 1 2'"),
        ("what-if", {"pieces": [], "uniform": ["inner 1 1"]}, "uniform parameter has no head that reads like"),
        ("what-if", {"pieces": [], "off": ["cross 9 1"]}, "the model has no head 1 in layer 9 of kind cross"),
        ("what-if", {"pieces": [], "off": ["cross 1 1"] * 65}, "65 heads are changed, more than 64"),
        ("what-if", {"pieces": [], "instead": "1"}, "a trace is of one sentence, with letters in it"),
        ("meaning", {"sentences": [RIVER], "word": "bank"}, "there is nothing to compare"),
        ("meaning", {"sentences": [RIVER] * 9, "word": "bank"}, "there are 9 sentences, more than 8"),
        ("meaning", {"sentences": [RIVER, STREET], "word": "moon"}, "the word 'moon' does not stand in"),
        ("meaning", {"sentences": [RIVER, STREET], "word": "the"}, "the word 'the' stands 2 times in"),
    ],
)
def test_what_cannot_be_told_is_refused(client: httpx.Client, path: str, words: dict[str, Any], message: str) -> None:
    answer = client.post(f"/v1/trace/{path}", json={"q": RIVER, **PAIR, **words})
    assert answer.status_code == 400
    assert message in answer.json()["error"]


def test_other_pages_may_not_ask(client: httpx.Client) -> None:
    for name in ("alternatives", "way", "flows", "beam", "what-if", "meaning"):
        answer = client.post(f"/v1/trace/{name}", json={**PAIR}, headers={"Origin": "http://evil.example"})
        assert answer.status_code == 403


def test_the_tour_is_told_by_the_service(client: httpx.Client) -> None:
    contents = client.get("/v1/tour").json()
    assert [one["name"] for one in contents["chapters"]] == [one.name for one in table_of_contents("en")]
    assert [RIVER, STREET] in contents["sentences"]
    settings = ["scores=1,2,3"]
    told = client.post("/v1/tour/weighted-mean", json={"settings": settings}).json()
    assert told == json.loads(json.dumps(as_json(tell(["weighted-mean"], settings, "en")[0])))


@pytest.mark.parametrize(
    ("chapter", "settings", "message"),
    [("none", [], "there is no chapter 'none'"), ("scaling", ["scores=a"], "scores: 'a' is not a number")],
)
def test_what_the_tour_cannot_tell_is_refused(
    client: httpx.Client, chapter: str, settings: list[str], message: str
) -> None:
    answer = client.post(f"/v1/tour/{chapter}", json={"settings": settings})
    assert answer.status_code == 400
    assert message in answer.json()["error"]


def test_recurrent_models_answer_the_page_too(tmp_path: Path) -> None:
    with serving([make_recurrent(tmp_path / "model", "mlp")]) as running, running.client() as client:
        pieces = post(client, "/v1/trace", q=RIVER)["pieces"][:5]
        words = {"q": RIVER, "pieces": pieces}
        way = post(client, "/v1/trace/way", **words, side="target", at=2)
        assert [stage["name"] for stage in way["stages"]] == ["embedding", "state of layer 1", "context", "out"]
        assert [one["name"] for one in post(client, "/v1/trace/flows", **words)["readings"]] == ["raw weights"]
        assert post(client, "/v1/trace/beam", q=RIVER, beam=2)["best"]
        changed = post(client, "/v1/trace/what-if", **words, uniform=["cross 1 1"])
        assert changed["forced"]["probabilities"] != changed["original"]["probabilities"]
        stages = post(client, "/v1/trace/meaning", sentences=[RIVER, STREET], word="bank")["stages"]
        assert [stage["name"] for stage in stages] == ["embedding", "layer 1"]
