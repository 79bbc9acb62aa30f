"""The description of the API: OpenAPI for programs, and a page without scripts for people."""

from collections.abc import Mapping
from html import escape
from typing import Any, get_args

from dragoman import __version__
from dragoman.draw.attention import KINDS
from dragoman.engine.what_if import Way
from dragoman.server.inside import MOST_PENALTY, MOST_SENTENCES, SIDES, WIDEST
from dragoman.server.schemas import (
    ALTERNATIVE,
    BOOLEAN,
    FLOWS,
    HEAD,
    MEANING,
    MODEL,
    NUMBER,
    OBJECT,
    OVERVIEW,
    STRING,
    TEXT,
    TRANSLATIONS,
    TREE,
    WAY,
    WHAT_IF,
    Schema,
    an_object,
    many,
    one_or_many,
    whole,
)
from dragoman.server.service import Service

_STYLE = (
    "body{font:16px/1.5 system-ui;max-width:50rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse}td{padding:.1rem 1rem .1rem 0;vertical-align:top}"
)


def describe(service: Service) -> dict[str, Any]:
    """Describe every route, with this service's languages and limits."""
    return {
        "openapi": "3.0.3",
        "info": {
            "title": "dragoman",
            "version": __version__,
            "description": "Translation by attention. All but /v1 is the LibreTranslate API.",
        },
        "paths": {**_api(service), **_v1(service), **_page(service)},
        "components": {"schemas": {"Error": an_object({"error": STRING, "hint": STRING}, ["hint"])}},
    }


def _api(service: Service) -> dict[str, Any]:
    languages = _languages(service)
    guess = an_object({"confidence": NUMBER, "language": STRING})
    words = {
        "q": _texts(service),
        "source": {"type": "string", "enum": [*service.models.codes, "auto"]},
        "target": languages,
        "format": {"type": "string", "enum": ["text", "html"], "default": "text"},
        "alternatives": {"type": "integer", "maximum": service.limits.alternatives},
    }
    found = {
        "translatedText": one_or_many(STRING),
        "detectedLanguage": one_or_many(guess),
        "alternatives": many(one_or_many(STRING)),
    }
    file = {"file": {"type": "string", "format": "binary"}, "source": words["source"], "target": languages}
    suggestion = {"q": TEXT, "s": TEXT, "source": languages, "target": languages}
    language = an_object({"code": STRING, "name": STRING, "targets": many(STRING)})
    wanted = ["q", "source", "target"]
    return {
        "/translate": _post(
            "Translate text or HTML.", words, wanted, an_object(found, ["detectedLanguage", "alternatives"])
        ),
        "/detect": _post("Say which language a text is in.", {"q": _texts(service)}, ["q"], many(guess)),
        "/languages": _get("List the languages.", many(language)),
        "/translate_file": _post(
            "Translate a file.",
            file,
            ["file", "source", "target"],
            an_object({"translatedFileUrl": STRING}),
            "multipart/form-data",
        ),
        "/download_file/{name}": _get("Fetch a translated file.", None, ["name"]),
        "/suggest": _post(
            "Suggest a better translation.", suggestion, list(suggestion), an_object({"success": BOOLEAN})
        ),
        "/frontend/settings": _get("What the service can do.", OBJECT),
        "/health": _get("Whether the service is there.", an_object({"status": STRING})),
        "/metrics": _get("Counters for Prometheus.", None),
    }


def _v1(service: Service) -> dict[str, Any]:
    languages = _languages(service)
    pair = {"source": languages, "target": languages}
    texts = {
        "q": _texts(service),
        **pair,
        "best": whole(1, 1 + service.limits.alternatives),
        "prefix": one_or_many(TEXT),
        "alignments": BOOLEAN,
    }
    one = {"q": TEXT, **pair, "prefix": TEXT, "pieces": many(STRING)}
    head = {**one, "kind": {"type": "string", "enum": list(KINDS)}, "layer": whole(1), "head": whole(1)}
    wanted = ["q", "source", "target"]
    return {
        "/v1/models": _get("List the models.", many(MODEL)),
        "/v1/translate": _post("Translate, with scores, flags, pieces and alignments.", texts, wanted, TRANSLATIONS),
        "/v1/trace": _post("Look inside: pieces, probabilities, where every head looked.", one, wanted, OVERVIEW),
        "/v1/trace/head": _post("The numbers of one head.", head, [*wanted, "kind", "layer", "head"], HEAD),
    }


def _page(service: Service) -> dict[str, Any]:
    """Describe what the page asks for; all but the tour answers the service's own page alone."""
    languages = _languages(service)
    sentence = {"q": TEXT, "source": languages, "target": languages}
    followed, wanted = {**sentence, "pieces": many(STRING)}, [*sentence, "pieces"]
    at, heads = {"at": whole(0)}, {"layer": whole(1), "head": whole(1)}
    side = {"side": {"type": "string", "enum": list(SIDES)}}
    search = {"beam": whole(1, WIDEST), "penalty": whole(0, MOST_PENALTY)}
    changes = {"instead": TEXT, **{way: many(STRING) for way in get_args(Way)}}
    words = {"sentences": {**many(TEXT), "minItems": 1, "maxItems": MOST_SENTENCES}, "word": TEXT}
    meant = {**words, "source": languages, "target": languages}
    return {
        "/v1/trace/alternatives": _post("What else could be written.", {**followed, **at}, wanted, many(ALTERNATIVE)),
        "/v1/trace/way": _post("One vector's way.", {**followed, **side, **at}, [*wanted, "side"], WAY),
        "/v1/trace/flows": _post("Other readings of a head.", {**followed, **heads}, wanted, FLOWS),
        "/v1/trace/beam": _post("The tree of hypotheses.", {**sentence, **search}, list(sentence), TREE),
        "/v1/trace/what-if": _post("With changed heads or words.", {**followed, **changes}, wanted, WHAT_IF),
        "/v1/trace/meaning": _post("How alike a word is in several sentences.", meant, list(meant), MEANING),
        "/v1/tour": _get("The tour's chapters.", OBJECT),
        "/v1/tour/{chapter}": _post("Compute a chapter.", {"settings": many(STRING)}, [], OBJECT, path=["chapter"]),
    }


def _languages(service: Service) -> Schema:
    return {"type": "string", "enum": service.models.codes}


def _texts(service: Service) -> Schema:
    several = {**many(STRING), "minItems": 1, "maxItems": service.limits.texts}
    return {"oneOf": [{**TEXT, "maxLength": service.limits.characters}, several]}


def _get(summary: str, answer: Schema | None, path: list[str] | None = None) -> dict[str, Any]:
    return {"get": {"summary": summary, "parameters": _in_path(path), "responses": _responses(answer)}}


def _in_path(names: list[str] | None) -> list[Schema]:
    return [{"name": name, "in": "path", "required": True, "schema": STRING} for name in names or []]


def _post(
    summary: str,
    words: Mapping[str, Schema],
    required: list[str],
    answer: Schema,
    media: str = "application/json",
    path: list[str] | None = None,
) -> dict[str, Any]:
    body = an_object({**words, "api_key": STRING}, {"api_key", *words} - {*required})
    return {
        "post": {
            "summary": summary,
            "parameters": _in_path(path),
            "requestBody": {"required": True, "content": {media: {"schema": body}}},
            "responses": _responses(answer),
        }
    }


def _responses(answer: Schema | None) -> dict[str, Any]:
    """Describe an answer, of no particular kind if there is no schema, and the errors that there can be."""
    content = {"*/*": {}} if answer is None else {"application/json": {"schema": answer}}
    error = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    statuses = {
        "400": "Something is wrong with the request.",
        "401": "A key is missing.",
        "403": "It is not allowed.",
        "404": "It is not there.",
        "405": "There is another method for it.",
        "408": "The request took too long to arrive.",
        "413": "The request is too long.",
        "429": "Too many requests; Retry-After says when to try again.",
        "503": "The service is busy; Retry-After says when to try again.",
    }
    errors = {status: {"description": text, "content": error} for status, text in statuses.items()}
    return {"200": {"description": "The answer.", "content": content}, **errors}


def describe_in_html(spec: Mapping[str, Any]) -> str:
    """Return the description as a page."""
    info = {name: escape(text) for name, text in spec["info"].items()}
    parts = [
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{info["title"]}: the API</title>',
        f"<style>{_STYLE}</style><h1>{info['title']} {info['version']}</h1>",
        f"<p>{info['description']} <a href='spec'>OpenAPI</a></p>",
    ]
    for path, methods in spec["paths"].items():
        for method, operation in methods.items():
            parts.append(f"<h2><code>{method.upper()} {escape(path)}</code></h2><p>{escape(operation['summary'])}</p>")
            parts.append(_parameters_in_html(operation))
    return "".join(parts)


def _parameters_in_html(operation: Mapping[str, Any]) -> str:
    body = operation.get("requestBody", {}).get("content", {})
    rows = []
    for media, content in body.items():
        schema = content["schema"]
        for name, words in schema["properties"].items():
            needed = "required" if name in schema["required"] else ""
            rows.append(f"<tr><td><code>{escape(name)}</code><td>{escape(_in_words(words))}<td>{needed}")
        rows.append(f"<tr><td colspan=3>{escape(media)}, a form or the query")
    return f"<table>{''.join(rows)}</table>" if rows else ""


def _in_words(schema: Mapping[str, Any]) -> str:
    if "oneOf" in schema:
        return " or ".join(_in_words(one) for one in schema["oneOf"])
    if "enum" in schema:
        return ", ".join(schema["enum"])
    if schema["type"] == "array":
        return f"list of {_in_words(schema['items'])}"
    bounds = [f"{name} {schema[name]}" for name in ("minimum", "maximum") if name in schema]
    return " ".join([schema["type"], *bounds])
