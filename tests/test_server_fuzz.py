"""The description of the API, taken at its word: what it allows is answered as it says, and so is what it does not."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from serving import serving
from tiny_model import make_tiny_model

EXAMPLES = 8
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Iterator[schemathesis.BaseSchema]:
    path: Path = make_tiny_model(tmp_path_factory.mktemp("fuzz") / "model")
    with serving([path]) as running:
        yield schemathesis.openapi.from_url(f"{running.url}/spec")


@pytest.mark.parametrize("mode", list(GenerationMode))
def test_whatever_is_asked_is_answered_as_described(described: schemathesis.BaseSchema, mode: GenerationMode) -> None:
    asked = 0
    for found in described.get_all_operations():
        assert isinstance(found, Ok)
        operation = found.ok()
        if mode.is_negative and not operation.body:
            continue

        @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), database=None)
        @given(case=operation.as_strategy(generation_mode=mode))
        def ask(case: Any) -> None:
            nonlocal asked
            asked += 1
            case.call_and_validate(checks=CHECKS)

        ask()
    assert asked > 5 * EXAMPLES
