"""The page of a tiny model in a real browser, as fixtures for the tests that name this module as a plugin."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from browsing import SEED, STREET, browsing, opened
from serving import Running, serving
from tiny_model import make_tiny_model


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start a browser."""
    with browsing() as browser:
        yield browser


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Serve a tiny model."""
    with serving([make_tiny_model(tmp_path_factory.mktemp("page") / "tiny", seed=SEED)]) as running:
        yield running


@pytest.fixture
def page(browser: Browser, server: Running) -> Iterator[Page]:
    """Open the page with a sentence, and wait for its translation."""
    with opened(browser, f"{server.url}/#q={STREET}") as page:
        expect(page.locator("#translation .target").first).to_be_visible()
        yield page
