"""Beyond the LibreTranslate API: scores, flags, alignments, n-best, prefixes, and traces of what is shown."""

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import httpx
import numpy as np
import pytest

from dragoman.checkpoint import save_model
from dragoman.config import Model
from dragoman.engine.load import load_translator
from dragoman.engine.translator import Translator
from dragoman.jobs.translate import text_alignment
from dragoman.nn.models import build, initialise
from dragoman.nn.weights import to_arrays
from dragoman.server.limits import Limits
from serving import TALKATIVE, Running, serving
from tiny_model import ALIGNMENT, MAX_LENGTH, MAX_PIECES, RECIPE, make_tiny_model, tiny_tokenizer

SENTENCE, OTHER = "I arrived at the bank after crossing the river.", "My sister closed this box."
TEXT = f"{SENTENCE} {OTHER}\n12"
PAIR = {"source": "en", "target": "es"}
BEST = 4


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_model(tmp_path_factory.mktemp("v1") / "model", seed=TALKATIVE)


@pytest.fixture(scope="module")
def translator(model: Path) -> Translator:
    return load_translator(model, threads=1)


@pytest.fixture(scope="module")
def server(model: Path) -> Iterator[Running]:
    with serving([model], Limits(traced=29)) as running:
        yield running


@pytest.fixture(scope="module")
def client(server: Running) -> Iterator[httpx.Client]:
    with server.client() as client:
        yield client


def post(client: httpx.Client, path: str, **words: Any) -> Any:
    answer = client.post(path, json={**PAIR, **words})
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(client: httpx.Client, path: str, **words: Any) -> str:
    answer = client.post(path, json={**PAIR, **words})
    assert answer.status_code == 400
    message: str = answer.json()["error"]
    return message


def test_the_models_are_listed(client: httpx.Client) -> None:
    (told,) = client.get("/v1/models").json()
    assert (told["name"], told["source"], told["target"], told["kind"]) == ("model", "en", "es", "transformer")
    assert (told["encoderLayers"], told["decoderLayers"], told["heads"]) == (2, 3, 5)
    assert told["alignments"] is True
    assert told["search"] == {"beam": RECIPE.search.beam, "length_penalty": RECIPE.search.length_penalty}


def test_everything_that_the_translator_knows_is_told(client: httpx.Client, translator: Translator) -> None:
    search = dataclasses.replace(translator.search, best=BEST, beam=max(BEST, translator.search.beam))
    (found,) = translator.translate([TEXT], search=search, alignments=True)
    told = post(client, "/v1/translate", q=TEXT, best=BEST, alignments=True)
    assert told["model"] == "model"
    (one,) = told["translations"]
    assert (one["text"], one["flags"]) == (found.text, sorted(found.flags))
    assert one["score"] == pytest.approx(found.score, abs=1e-5)
    assert [tuple(link) for link in one["alignment"]] == text_alignment(TEXT, found)
    assert [other["text"] for other in one["alternatives"]] == [other.text for other in found.alternatives]
    for sentence, expected in zip(one["sentences"], found.sentences, strict=True):
        assert (sentence["source"], sentence["text"]) == (expected.source, expected.target)
        assert (sentence["sourcePieces"], sentence["pieces"]) == (
            list(expected.source_pieces),
            list(expected.target_pieces),
        )
        assert sentence["score"] == pytest.approx(expected.score, abs=1e-5)
        assert [tuple(link) for link in sentence["alignment"]] == list(expected.alignment or ())


def test_only_what_is_asked_for_is_told(client: httpx.Client) -> None:
    (one,) = post(client, "/v1/translate", q=SENTENCE)["translations"]
    assert set(one) == {"text", "score", "flags", "sentences"}
    assert "alignment" not in one["sentences"][0]


def test_a_translation_begins_as_it_must(client: httpx.Client, translator: Translator) -> None:
    together = post(client, "/v1/translate", q=[SENTENCE, OTHER], prefix="El perro")["translations"]
    apart = post(client, "/v1/translate", q=[SENTENCE, OTHER], prefix=["El perro", "Mi"])["translations"]
    assert [one["text"].startswith("El perro") for one in together] == [True, True]
    assert [one["text"] for one in apart] == [
        t.text for t in translator.translate([SENTENCE, OTHER], prefixes=["El perro", "Mi"])
    ]


def test_a_placeholder_that_was_lost_is_flagged(client: httpx.Client) -> None:
    (one,) = post(client, "/v1/translate", q=f"{SENTENCE} My {{{{name}}}} closed this box.")["translations"]
    assert "placeholders" in one["flags"]
    assert "placeholders" not in one["sentences"][0]["flags"]
    assert "placeholders" in one["sentences"][1]["flags"]
    for lost in ("<b>sister</b>", "ftp://a.org/b"):
        (one,) = post(client, "/v1/translate", q=f"My {lost} closed this box.")["translations"]
        assert "placeholders" in one["flags"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"q": "a", "best": 12}, "Invalid request: best parameter must be <= 11"),
        ({"q": "a", "best": 0}, "Invalid request: best parameter must be >= 1"),
        ({"q": "a", "alignments": "perhaps"}, "Invalid request: alignments parameter is not true or false"),
        ({"q": ["a", "b"], "prefix": ["c"]}, "Invalid request: there are 1 prefixes for 2 texts"),
        ({"q": "a", "target": "en"}, "Invalid request: source and target are both en"),
        (
            {"q": "a", "prefix": "the " * MAX_LENGTH},
            f"the prefix has {MAX_LENGTH} pieces, but a translation has at most {MAX_LENGTH}",
        ),
    ],
)
def test_what_cannot_be_is_refused(client: httpx.Client, words: dict[str, Any], message: str) -> None:
    """And nobody who has only an address is told what to type in a terminal."""
    answer = client.post("/v1/translate", json={**PAIR, **words})
    assert (answer.status_code, answer.json()) == (400, {"error": message})


def test_the_trace_is_of_the_translation_that_is_shown(client: httpx.Client, server: Running) -> None:
    """Plain is led along the pieces of fast, and its numbers are those of plain alone."""
    shown = post(client, "/v1/translate", q=SENTENCE)["translations"][0]["sentences"][0]
    told = post(client, "/v1/trace", q=SENTENCE)
    assert (told["text"], told["pieces"]) == (shown["text"], shown["pieces"])
    assert told["sourcePieces"] == [*shown["sourcePieces"], "</s>"]
    assert told["readPieces"] == ["<s>", *shown["pieces"]]
    assert told["writtenPieces"] == [*shown["pieces"], "</s>"]
    (served,) = server.service.models
    ids = [[served.piece_ids[piece] for piece in shown[side]] for side in ("sourcePieces", "pieces")]
    trace = served.plain.trace(*ids)
    chances = np.exp(trace.decoder.log_probabilities[np.arange(len(trace.predicted)), list(trace.predicted)])
    np.testing.assert_allclose(told["probabilities"], chances, atol=1e-5)
    kinds = [(one["kind"], one["layer"], len(one["heads"])) for one in told["attention"]]
    crossing = [(kind, layer, 5) for layer in (1, 2, 3) for kind in ("cross", "decoder self")]
    assert kinds == [("encoder self", 1, 5), ("encoder self", 2, 5), *crossing]
    for one in told["attention"]:
        np.testing.assert_allclose(np.sum(one["heads"], axis=-1), 1000, rtol=0.02)
    for likeliest in told["likeliest"]:
        assert [chance for _, chance in likeliest] == sorted((chance for _, chance in likeliest), reverse=True)
    assert told["bestHead"] == {"kind": "cross", "layer": ALIGNMENT.layer + 1, "head": ALIGNMENT.head + 1}


@pytest.mark.parametrize("kind", ["encoder self", "cross", "decoder self"])
def test_the_numbers_of_a_head_are_those_of_attention(client: httpx.Client, kind: str) -> None:
    overview = post(client, "/v1/trace", q=SENTENCE)
    told = post(client, "/v1/trace/head", q=SENTENCE, pieces=overview["pieces"], kind=kind, layer=2, head=3)
    queries, keys, values, scores, weights, context = (
        np.array(told[name]) for name in ("queries", "keys", "values", "scores", "weights", "context")
    )
    np.testing.assert_allclose(queries @ keys.T / np.sqrt(queries.shape[1]), scores, atol=1e-3)
    np.testing.assert_allclose(weights @ values, context, atol=1e-3)
    hidden = np.where(np.tri(len(scores), dtype=bool), scores, -np.inf) if kind == "decoder self" else scores
    shares = np.exp(hidden - hidden.max(axis=1, keepdims=True))
    np.testing.assert_allclose(shares / shares.sum(axis=1, keepdims=True), weights, atol=1e-3)
    (shown,) = [one["heads"][2] for one in overview["attention"] if (one["kind"], one["layer"]) == (kind, 2)]
    np.testing.assert_allclose(np.array(shown) / 1000, weights, atol=1e-3)


def test_a_trace_can_follow_given_pieces_and_begin_as_it_must(client: httpx.Client) -> None:
    first = post(client, "/v1/trace", q=SENTENCE)
    assert post(client, "/v1/trace", q=SENTENCE, pieces=first["pieces"]) == first
    assert post(client, "/v1/trace", q=SENTENCE, pieces=[])["writtenPieces"] == ["</s>"]
    assert post(client, "/v1/trace", q=SENTENCE, prefix="El perro")["text"].startswith("El perro")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"q": f"{SENTENCE} {OTHER}"}, "Invalid request: a trace is of one sentence, with letters in it"),
        ({"q": "12"}, "Invalid request: a trace is of one sentence, with letters in it"),
        ({"q": "the " * 100}, "Invalid request: the sentence has 100 pieces, but a trace has at most 61"),
        ({"q": "the " * 40}, "Invalid request: the sentence has 40 pieces, but a trace has at most 29"),
        ({"q": SENTENCE, "pieces": ["▁the"] * 30}, "the translation has 30 pieces, but a trace has at most 29"),
        ({"q": SENTENCE, "pieces": ["no such piece"]}, "pieces parameter has a piece that the model does not know"),
        ({"q": SENTENCE, "pieces": "perro"}, "Invalid request: pieces parameter is not a list of strings"),
    ],
)
def test_what_cannot_be_traced_is_refused(client: httpx.Client, words: dict[str, Any], message: str) -> None:
    assert message in refused(client, "/v1/trace", **words)


@pytest.mark.parametrize(("kind", "layer", "head"), [("cross", 4, 1), ("cross", 1, 6), ("none", 1, 1)])
def test_a_head_must_be_there(client: httpx.Client, kind: str, layer: int, head: int) -> None:
    message = refused(client, "/v1/trace/head", q=SENTENCE, kind=kind, layer=layer, head=head)
    assert message == f"Invalid request: the model has no head {head} in layer {layer} of kind {kind}"


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "null"},
    ],
)
def test_traces_are_for_the_service_own_page(client: httpx.Client, headers: dict[str, str]) -> None:
    answer = client.post("/v1/trace", json={"q": SENTENCE, **PAIR}, headers=headers)
    assert (answer.status_code, answer.json()) == (403, {"error": "Traces are for the service's own page"})
    assert "access-control-allow-origin" not in answer.headers
    assert client.post("/v1/translate", json={"q": SENTENCE, **PAIR}, headers=headers).status_code == 200


def test_the_own_page_may_trace(client: httpx.Client, server: Running) -> None:
    headers = {"Origin": server.url, "Sec-Fetch-Site": "same-origin"}
    answer = client.post("/v1/trace", json={"q": SENTENCE, **PAIR}, headers=headers)
    assert answer.status_code == 200
    assert "access-control-allow-origin" not in answer.headers
    assert answer.headers["content-encoding"] == "gzip"


@pytest.mark.parametrize(("look", "aligns"), [("mlp", True), ("last", False)])
def test_recurrent_models_are_served_and_traced(tmp_path: Path, look: Literal["mlp", "last"], *, aligns: bool) -> None:
    path = make_recurrent(tmp_path / "model", look)
    with serving([path]) as running, running.client() as client:
        shown = post(client, "/v1/translate", q=SENTENCE)["translations"][0]
        assert shown["text"] == load_translator(path).translate([SENTENCE])[0].text
        told = post(client, "/v1/trace", q=SENTENCE)
        assert told["text"] == shown["text"]
        assert [(one["kind"], one["layer"], len(one["heads"])) for one in told["attention"]] == [("cross", 1, 1)]
        answer = client.post("/v1/translate", json={"q": SENTENCE, "alignments": True, **PAIR})
        assert answer.status_code == (200 if aligns else 400)
        if not aligns:
            assert answer.json()["error"] == "Invalid request: the model has no attention to align words by"
        page = client.post("/translate", json={"q": "<p>The <b>dog</b> {0}.</p>", "format": "html", **PAIR}).json()
        assert re.fullmatch(r"<p>.*<b>.*</b>.*</p>", page["translatedText"])
        assert page["translatedText"].count("{0}") == 1


def make_recurrent(path: Path, look: Literal["mlp", "last"]) -> Path:
    """Write a model that only the plain engine runs."""
    shape = Model(kind="recurrent", encoder_layers=1, decoder_layers=1, width=10, dropout=0.0, look=look)
    tokenizer = tiny_tokenizer()
    network = build(shape, len(tokenizer), MAX_PIECES)
    initialise(network, seed=1)
    pieces = dataclasses.replace(RECIPE.pieces, size=len(tokenizer))
    recipe = dataclasses.replace(RECIPE, model=shape, pieces=pieces)
    path.mkdir()
    save_model(path, recipe, tokenizer.model, to_arrays(network), {"from": "en", "to": "es"}, [])
    return path
