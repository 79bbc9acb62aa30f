"""The LibreTranslate API, by its contract: the same answers, sentences and statuses, over a real socket."""

import dataclasses
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import httpx
import pytest
from libretranslatepy import LibreTranslateAPI

from dragoman.engine.load import load_translator
from dragoman.engine.translator import Translator
from dragoman.errors import ModelError
from dragoman.server.limits import Limits
from dragoman.server.models import Models, Served
from dragoman.server.service import Options
from serving import TALKATIVE, Running, serving
from tiny_model import RECIPE, make_tiny_model

SENTENCE, OTHER = "I arrived at the bank after crossing the river.", "My sister closed this box."
JSON = {"Content-Type": "application/json"}
PAIR = {"source": "en", "target": "es"}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_model(tmp_path_factory.mktemp("api") / "model", seed=TALKATIVE)


@pytest.fixture(scope="module")
def translator(model: Path) -> Translator:
    return load_translator(model, threads=1)


@pytest.fixture(scope="module")
def server(model: Path) -> Iterator[Running]:
    with serving([model]) as running:
        yield running


@pytest.fixture(scope="module")
def client(server: Running) -> Iterator[httpx.Client]:
    with server.client() as client:
        yield client


@pytest.fixture(scope="module")
def other_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Serve Chinese and Brazilian Portuguese to English, with everything that can be chosen chosen otherwise."""
    room = tmp_path_factory.mktemp("others")
    for code in ("zh", "pt-BR"):
        make_tiny_model(room / code, recipe=dataclasses.replace(RECIPE, source_language=code, target_language="en"))
    options = Options(frozenset({"secret", "ключ"}), files=False, metrics=True, suggestions=room / "suggested.jsonl")
    limits = Limits(characters=100, texts=3, alternatives=2, suggested=250)
    with serving([room / "zh", room / "pt-BR"], limits, options) as running:
        yield running


@pytest.fixture(scope="module")
def other(other_server: Running) -> Iterator[httpx.Client]:
    with other_server.client() as client:
        yield client


def post(client: httpx.Client, path: str = "/translate", **words: Any) -> tuple[int, Any]:
    answer = client.post(path, json=words)
    return answer.status_code, answer.json()


def refused(client: httpx.Client, path: str = "/translate", **words: Any) -> tuple[int, str]:
    status, body = post(client, path, **words)
    assert list(body) == ["error"]
    return status, body["error"]


def test_the_client_that_people_have_works_unchanged(server: Running, translator: Translator) -> None:
    api = LibreTranslateAPI(server.url)
    assert api.translate(SENTENCE, "en", "es") == translator.translate([SENTENCE])[0].text
    assert api.detect(SENTENCE)[0]["language"] == "en"
    assert api.languages() == [
        {"code": "en", "name": "English", "targets": ["en", "es"]},
        {"code": "es", "name": "Spanish", "targets": ["es"]},
    ]


def test_the_client_that_people_have_works_with_a_key(other_server: Running) -> None:
    api = LibreTranslateAPI(other_server.url, "secret")
    assert api.translate("12", "pb", "en") == "12"
    assert api.translate("Olá", "pt-BR", "en")
    assert api.detect("A casa não é do meu pai.")[0]["language"] == "pt-BR"
    assert [one["code"] for one in api.languages()] == ["en", "pt-BR", "zh-Hans"]
    with pytest.raises(HTTPError, match="403"):
        LibreTranslateAPI(other_server.url, "wrong").translate("Olá", "pt-BR", "en")


@pytest.mark.parametrize("where", ["json", "data", "params", "files"])
def test_parameters_come_in_every_way(client: httpx.Client, translator: Translator, where: str) -> None:
    words = {"q": SENTENCE, **PAIR}
    given: Any = {name: (None, word) for name, word in words.items()} if where == "files" else words
    answer = client.post("/translate", **{where: given})
    assert answer.json() == {"translatedText": translator.translate([SENTENCE])[0].text}


def test_lists_come_back_as_lists(client: httpx.Client, translator: Translator) -> None:
    texts = [SENTENCE, "", "12 😀", OTHER]
    expected = [translation.text for translation in translator.translate(texts)]
    assert post(client, q=texts, **PAIR) == (200, {"translatedText": expected})
    assert expected[1:3] == ["", "12 😀"]


@pytest.mark.parametrize("where", ["data", "params"])
@pytest.mark.parametrize("end", ["\r\n", "\r", "\u2028"])
def test_line_ends_of_all_but_json_are_those_of_text(
    client: httpx.Client, translator: Translator, where: str, end: str
) -> None:
    answer = client.post("/translate", **{where: {"q": f"{SENTENCE}{end}{OTHER}{end}", **PAIR}})  # type: ignore[arg-type]
    assert answer.json() == {"translatedText": translator.translate([f"{SENTENCE}\n{OTHER}"])[0].text}


def test_line_ends_of_json_stay(client: httpx.Client) -> None:
    assert post(client, q="1\r\n2\r\n", **PAIR)[1] == {"translatedText": "1\r\n2\r\n"}
    assert client.post("/translate", data={"q": "\r\n", **PAIR}).json() == {"translatedText": "\r\n"}


def test_alternatives_differ_from_the_best_and_from_each_other(client: httpx.Client) -> None:
    _, body = post(client, q=[SENTENCE, OTHER], alternatives=5, **PAIR)
    for best, others in zip(body["translatedText"], body["alternatives"], strict=True):
        assert len({best, *others}) == 1 + len(others) > 1
        assert all(others)
    assert list(post(client, q=SENTENCE, alternatives=-1, **PAIR)[1]) == ["translatedText"]
    _, body = post(client, q=SENTENCE, alternatives="3", format="html", **PAIR)
    assert body["alternatives"] == []


def test_the_language_is_found_for_each_text(client: httpx.Client) -> None:
    spanish = "El perro de mi hermana no está en la casa."
    _, body = post(client, q=[SENTENCE, spanish, "12"], source="auto", target="es")
    assert [guess["language"] for guess in body["detectedLanguage"]] == ["en", "es", "en"]
    assert body["translatedText"][1:] == [spanish, "12"]
    assert body["detectedLanguage"][0]["confidence"] > 50
    assert body["detectedLanguage"][2]["confidence"] == 0
    _, alone = post(client, q=SENTENCE, source="auto", target="es")
    assert alone["detectedLanguage"] == body["detectedLanguage"][0]
    assert "detectedLanguage" not in post(client, q=SENTENCE, **PAIR)[1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({}, "Invalid request: missing q parameter"),
        ({"q": "", **PAIR}, "Invalid request: missing q parameter"),
        ({"q": [], **PAIR}, "Invalid request: missing q parameter"),
        ({"q": "a", "target": "es"}, "Invalid request: missing source parameter"),
        ({"q": "a", "source": "en"}, "Invalid request: missing target parameter"),
        ({"q": "a", "source": "zz", "target": "es"}, "zz is not supported"),
        ({"q": "a", "source": "en", "target": "zz"}, "zz is not supported"),
        ({"q": "a", "format": "xx", **PAIR}, "xx format is not supported"),
        ({"q": "a", "alternatives": "x", **PAIR}, "Invalid request: alternatives parameter is not a number"),
        ({"q": "a", "alternatives": 10**6, **PAIR}, "Invalid request: alternatives parameter must be <= 10"),
        (
            {"q": "a", "source": "es", "target": "en"},
            "English (en) is not available as a target language from Spanish (es)",
        ),
        ({"q": "a" * 20_001, **PAIR}, "Invalid request: request (20001) exceeds text limit (20000)"),
        ({"q": ["a"] * 501, **PAIR}, "Invalid request: request (501) exceeds text limit (500)"),
        ({"q": 3, **PAIR}, "Invalid request: q parameter is not a string"),
        ({"q": [["a"]], **PAIR}, "Invalid request: q parameter is not a string or a list of strings"),
        ({"q": "a", "source": 3, "target": "es"}, "Invalid request: source parameter is not a string"),
    ],
)
def test_a_wrong_request_is_told_what_is_wrong(client: httpx.Client, words: dict[str, Any], message: str) -> None:
    assert refused(client, **words) == (400, message)


@pytest.mark.parametrize("body", [b"[]", b'"a"', b"{", b"", b"[" * 100_000, b'{"q": 1' + b"0" * 5000 + b"}", b"\xff"])
def test_json_must_be_an_object(client: httpx.Client, body: bytes) -> None:
    answer = client.post("/translate", content=body, headers=JSON)
    assert (answer.status_code, answer.json()) == (400, {"error": "Invalid JSON format"})


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("path", ["/translate", "/detect", "/languages", "/health", "/nowhere", "/v1/translate"])
def test_other_methods_and_paths_are_refused_in_json(client: httpx.Client, method: str, path: str) -> None:
    answer = client.request(method, path)
    assert answer.headers["content-type"] == "application/json"
    if path == "/nowhere":
        assert (answer.status_code, answer.json()) == (404, {"error": "Not Found"})
    elif method == ("GET" if path in ("/translate", "/detect", "/v1/translate") else "POST"):
        assert (answer.status_code, answer.json()) == (405, {"error": "Method Not Allowed"})


def test_every_answer_is_open_to_pages_of_other_origins(client: httpx.Client) -> None:
    answers = [client.get("/health"), client.get("/nowhere"), client.post("/translate"), client.options("/translate")]
    for answer in answers:
        assert answer.headers["access-control-allow-origin"] == "*"
        assert answer.headers["access-control-allow-headers"] == "Authorization, Content-Type"
        assert answer.headers["access-control-expose-headers"] == "Authorization"
        assert answer.headers["access-control-allow-methods"] == "GET, POST"
        assert answer.headers["access-control-allow-credentials"] == "true"
        assert answer.headers["access-control-max-age"] == "1728000"
    assert answers[-1].status_code == 200


def test_detection_tells_the_likeliest_first(client: httpx.Client) -> None:
    assert post(client, "/detect", q="12") == (200, [{"confidence": 0.0, "language": "en"}])
    assert post(client, "/detect", q=["The dog is in the house.", "It was good."])[1][0]["language"] == "en"
    assert refused(client, "/detect") == (400, "Invalid request: missing q parameter")


def test_settings_and_health(client: httpx.Client, other: httpx.Client) -> None:
    assert client.get("/health").json() == {"status": "ok"}
    assert client.get("/frontend/settings").json() == {
        "charLimit": 20_000,
        "frontendTimeout": 500,
        "apiKeys": False,
        "keyRequired": False,
        "suggestions": False,
        "filesTranslation": True,
        "supportedFilesFormat": [".txt", ".html", ".srt"],
        "language": {"source": {"code": "en", "name": "English"}, "target": {"code": "es", "name": "Spanish"}},
    }
    told = other.get("/frontend/settings").json()
    assert (told["charLimit"], told["keyRequired"], told["suggestions"]) == (100, True, True)
    assert (told["filesTranslation"], told["supportedFilesFormat"]) == (False, [])


def upload(client: httpx.Client, name: str, content: str, **words: str) -> httpx.Response:
    return client.post("/translate_file", files={"file": (name, content.encode())}, data={**PAIR, **words})


def test_files_are_translated_and_fetched(client: httpx.Client, translator: Translator) -> None:
    answer = upload(client, "../ä b.txt", f"\ufeff{SENTENCE}\n\n{OTHER}\n")
    url = answer.json()["translatedFileUrl"]
    assert re.fullmatch(rf"{client.base_url}/download_file/[0-9a-f]{{32}}\.%C3%A4%20b\.txt", url)
    fetched = client.get(url)
    assert fetched.text == translator.translate([f"{SENTENCE}\n\n{OTHER}\n"])[0].text
    assert fetched.headers["content-disposition"] == "attachment; filename*=utf-8''%C3%A4%20b.txt"
    assert fetched.headers["x-content-type-options"] == "nosniff"


def test_files_are_fetched_where_clients_come_in(model: Path) -> None:
    options = Options(names=("translate.example",), url="https://translate.example/inside/")
    with serving([model], options=options) as running, running.client(Host="translate.example") as client:
        url: str = upload(client, "a.txt", SENTENCE).json()["translatedFileUrl"]
        assert url.startswith("https://translate.example/inside/download_file/")
        assert client.get(f"/download_file/{url.rpartition('/')[2]}").status_code == 200


def test_pages_and_subtitles_keep_what_is_not_text(client: httpx.Client) -> None:
    page = client.get(upload(client, "a.HTML", "<p>The <b>dog</b> &amp; cat.</p>").json()["translatedFileUrl"]).text
    assert re.fullmatch(r"<p>.*<b>.*</b>.*</p>", page)
    cues = "1\n00:00:01,000 --> 00:00:02,000\nThe dog\nsees the cat.\n\n2\n00:00:03,000 --> 00:00:04,000\n<i>Yes.</i>\n"
    lines = client.get(upload(client, "a.srt", cues).json()["translatedFileUrl"]).text.split("\n")
    assert [lines[n] for n in (0, 1, 4, 5, 6, 8)] == [cues.split("\n")[n] for n in (0, 1, 4, 5, 6, 8)]
    assert len(lines) == 9
    assert lines[7].startswith("<i>")
    coded = "1\n00:00:01,000 --> 00:00:02,000\n{\\an8}The dog {\\i1}sees &lt;b&gt;.\n"
    shown = client.get(upload(client, "a.srt", coded).json()["translatedFileUrl"]).text.split("\n")[2]
    assert shown.startswith("{\\an8}")
    assert [shown.count(one) for one in ("{\\an8}", "{\\i1}", "&lt;b&gt;", "<b>")] == [1, 1, 1, 0]


def test_files_that_cannot_be_translated_are_refused(client: httpx.Client, other: httpx.Client) -> None:
    for name, message in (("a.docx", "file format not supported"), ("txt", "file format not supported")):
        assert upload(client, name, "x").json() == {"error": f"Invalid request: {message}"}
    raw = {**JSON, "Content-Type": "multipart/form-data; boundary=b"}
    part = '--b\r\nContent-Disposition: form-data; name="file"; filename=""\r\n\r\nx\r\n--b--\r\n'
    answer = client.post("/translate_file", content=part.encode(), headers=raw)
    assert (answer.status_code, answer.json()) == (400, {"error": "Invalid request: empty file"})
    latin = client.post("/translate_file", files={"file": ("a.txt", b"ab\xe4")}, data=PAIR)
    assert latin.json() == {"error": "Invalid request: the file is not UTF-8 (byte 2)"}
    assert upload(client, "a.txt", "x", source="zz").json() == {"error": "zz is not supported"}
    assert client.post("/translate_file", data=PAIR).json() == {"error": "Invalid request: missing file parameter"}
    answer = upload(other, "a.txt", "x")
    assert (answer.status_code, answer.json()) == (403, {"error": "Files translation are disabled on this server."})


@pytest.mark.parametrize("name", ["x.txt", "..%2f..%2fetc%2fpasswd", "%00", "a" * 1000, "%5C%5Chost%5Cshare"])
def test_what_is_not_kept_cannot_be_fetched(client: httpx.Client, name: str) -> None:
    answer = client.get(f"/download_file/{name}")
    assert answer.status_code in (400, 404)
    assert answer.json()["error"] in ("Invalid filename", "Not Found")


def test_keys_are_asked_for_if_there_are_any(other: httpx.Client) -> None:
    words = {"q": "Olá", "source": "pt-BR", "target": "en"}
    assert refused(other, **words) == (400, "Please contact the server operator to get an API key")
    assert refused(other, api_key="wrong", **words) == (403, "Invalid API key")
    half = other.post("/translate", content=json.dumps({**words, "api_key": "\ud800"}), headers=JSON)
    assert (half.status_code, half.json()) == (403, {"error": "Invalid API key"})
    assert refused(other, "/detect", q="a") == (400, "Please contact the server operator to get an API key")
    assert post(other, api_key="secret", **words)[0] == post(other, api_key="ключ", **words)[0] == 200


@pytest.mark.parametrize("code", ["pb", "pt-BR", "PT-br", "zh", "zh-Hans", "ZH"])
def test_languages_have_more_than_one_code(other: httpx.Client, code: str) -> None:
    assert post(other, q="12", source=code, target="en", api_key="secret") == (200, {"translatedText": "12"})


def test_languages_are_listed_by_the_codes_that_clients_expect(other: httpx.Client) -> None:
    assert [(one["code"], one["name"], one["targets"]) for one in other.get("/languages").json()] == [
        ("en", "English", ["en"]),
        ("pt-BR", "Portuguese (BR)", ["en", "pt-BR"]),
        ("zh-Hans", "Chinese (Hans)", ["en", "zh-Hans"]),
    ]


def test_suggestions_are_written_down_while_there_is_room(
    client: httpx.Client, other: httpx.Client, other_server: Running
) -> None:
    words = {"q": "Olá\n", "s": "Hello", "source": "pb", "target": "en"}
    assert refused(client, "/suggest", **words) == (403, "Suggestions are disabled on this server.")
    assert refused(other, "/suggest", q="Olá", api_key="secret") == (400, "Invalid request: missing s parameter")
    for _ in range(3):
        assert post(other, "/suggest", api_key="secret", **words) == (200, {"success": True})
    full = other.post("/suggest", json={**words, "s": "x" * 90, "api_key": "secret"})
    assert (full.status_code, full.json()) == (503, {"error": "There is no room for more suggestions"})
    assert full.headers["retry-after"] == "60"
    path = next(iter(other_server.service.models)).directory.path.parent / "suggested.jsonl"
    written = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert written == [{**words, "source": "pt-BR"}] * 3


def test_counters_are_for_those_with_a_key(client: httpx.Client, other: httpx.Client) -> None:
    assert client.get("/metrics").status_code == 404
    assert other.get("/metrics").json() == {"error": "Unauthorized"}
    assert other.get("/metrics", headers={"Authorization": "Bearer wrong"}).status_code == 401
    other.get("/metric/%0A%22%7D")
    text = other.get("/metrics", headers={"Authorization": "Bearer secret"}).text
    assert re.search(r'^dragoman_requests_total\{path="/metrics",status="401"\} [1-9]', text, re.MULTILINE)
    assert re.search(r"^dragoman_requests_at_work 0\.0$", text, re.MULTILINE)
    assert set(re.findall(r'path="([^"]*)"', text)) <= {route.path for route in ROUTES} | {"other", "/download_file"}


ROUTES = [httpx.URL(path) for path in (
    "/translate", "/detect", "/languages", "/translate_file", "/suggest", "/frontend/settings", "/health", "/spec",
    "/docs", "/metrics", "/v1/models", "/v1/translate", "/v1/trace", "/v1/trace/head", "/v1/trace/alternatives",
    "/v1/trace/way", "/v1/trace/flows", "/v1/trace/beam", "/v1/trace/what-if", "/v1/trace/meaning",
    "/v1/tour")]  # fmt: skip


def test_the_api_is_described_for_programs_and_people(client: httpx.Client) -> None:
    spec = client.get("/spec").json()
    described = {re.sub(r"/\{.*", "", path) for path in spec["paths"]} | {"/spec", "/docs"}
    assert described == {route.path for route in ROUTES} | {"/download_file"}
    page = client.get("/docs").text
    for path in spec["paths"]:
        assert path in page
    assert "<script" not in page
    assert "http://" not in page


def test_two_models_for_the_same_languages_are_one_too_many(model: Path) -> None:
    served = [Served(model, threads=1), Served(model, threads=1)]
    with pytest.raises(ModelError, match="both translate en to es"):
        Models(served)
    for one in served:
        one.gather.close()


def test_a_model_must_say_its_languages(tmp_path: Path) -> None:
    path = make_tiny_model(tmp_path / "model", recipe=dataclasses.replace(RECIPE, source_language=""))
    with pytest.raises(ModelError, match="does not say between which languages it translates"):
        Served(path)
