"""What the page shows before its model has answered is what a service would answer."""

import json
from importlib.resources import files
from typing import Any

import jsonschema_rs
import pytest

from dragoman.data.grammar import lectures
from dragoman.engine.trace import VERSION
from dragoman.server import stored
from dragoman.server.schemas import ALTERNATIVE, MODEL, OVERVIEW, TRANSLATIONS, Schema, many
from serving import serving
from tiny_model import make_tiny_model

STORED = json.loads(files("dragoman.server").joinpath("web/stored.json").read_text(encoding="utf-8"))
SCHEMAS: dict[str, Schema] = {
    "v1/models": many(MODEL),
    "v1/translate": TRANSLATIONS,
    "v1/trace": OVERVIEW,
    "v1/trace/alternatives": many(ALTERNATIVE),
}


def strict(schema: Any) -> Any:
    """Write a schema of OpenAPI for those who read JSON Schema, and allow nothing that it does not name."""
    if isinstance(schema, list):
        return [strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    written = {name: strict(part) for name, part in schema.items() if name != "nullable"}
    if schema.get("nullable"):
        written["type"] = [written["type"], "null"]
    if isinstance(schema.get("properties"), dict):
        written["additionalProperties"] = False
    return written


@pytest.mark.parametrize("question", STORED["answers"])
def test_what_is_stored_is_what_a_service_answers(question: str) -> None:
    jsonschema_rs.validate(strict(SCHEMAS[question.split(maxsplit=1)[0]]), STORED["answers"][question])


def test_all_that_is_asked_first_is_stored() -> None:
    assert {question.split(maxsplit=1)[0] for question in STORED["answers"]} == set(SCHEMAS)
    (trace,) = (answer for question, answer in STORED["answers"].items() if question.startswith("v1/trace {"))
    assert trace["version"] == VERSION
    assert STORED["state"]["q"] == lectures()[0].first.source


def test_it_is_made_by_asking_a_service(tmp_path_factory: pytest.TempPathFactory) -> None:
    """With another model there are other answers to the same questions, in the same form."""
    with serving([make_tiny_model(tmp_path_factory.mktemp("stored") / "model")]) as running:
        made = stored.store(running.url)
    assert [question.split(maxsplit=1)[0] for question in made["answers"]] == list(SCHEMAS)
    for question, answer in made["answers"].items():
        jsonschema_rs.validate(strict(SCHEMAS[question.split(maxsplit=1)[0]]), answer)
