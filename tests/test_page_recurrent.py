"""Recurrent models in a real browser: they are shown in the same frame as Transformers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from browsing import browsing, go, opened
from dragoman.data.grammar import lectures
from serving import serving
from test_server_v1 import make_recurrent

RIVER = lectures()[0].first.source


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing() as browser:
        yield browser


@pytest.fixture(params=["mlp", "last"])
def look(request: pytest.FixtureRequest) -> Literal["mlp", "last"]:
    return "mlp" if request.param == "mlp" else "last"


@pytest.fixture
def page(browser: Browser, look: Literal["mlp", "last"], tmp_path: Path) -> Iterator[Page]:
    with (
        serving([make_recurrent(tmp_path / "model", look)]) as running,
        opened(browser, f"{running.url}/#q={RIVER}") as page,
    ):
        expect(page.locator("#model")).to_contain_text("recurrent model of 1 + 1 layers")
        yield page
        expect(page.locator("#trouble")).to_be_hidden()


def test_a_recurrent_model_is_seen_from_inside(page: Page, look: str) -> None:
    go(page, "Look inside")
    expect(page.locator(".way .stages")).to_contain_text("state of layer 1")
    expect(page.locator(".working h2")).to_contain_text("cross, layer 1, head 1")
    expect(page.locator(".thumb")).to_have_count(1)
    expect(page.locator(".head .matrix")).to_be_visible()
    pieces = page.locator(".piece").count()
    source = len(page.locator(".head .arcs [data-column]").all())
    assert page.locator(".head .matrix [data-row]").count() == pieces * source
    page.get_by_role("button", name="encoder", exact=True).click()
    expect(page.locator(".way h2")).to_contain_text("through the encoder")


def test_the_heads_of_a_recurrent_model_are_changed(page: Page, look: str) -> None:
    go(page, "What if")
    expect(page.locator(".outcome tbody tr").first).to_be_visible()
    expect(page.locator(".readings .matrix")).to_have_count(1)
    page.locator(".whatif .thumb").click()
    expect(page.locator(".whatif .thumb")).to_have_attribute("title", "uniform")


def test_the_beam_of_a_recurrent_model(page: Page, look: str) -> None:
    go(page, "Beam")
    expect(page.locator(".hypothesis.best").first).to_be_visible()
    expect(page.locator("#found")).not_to_be_empty()
    expect(page.locator(".found .mark")).to_have_count(0)  # it is what is shown above
