"""A real browser for tests: Chromium from the system's packages, or the one that Playwright has installed."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, Route, expect, sync_playwright

from dragoman.data.grammar import lectures

RIVER, STREET = (side.source for side in (lectures()[0].first, lectures()[0].second))
SEED = 7
"""Of a tiny model that makes many words of the one sentence and none of the other."""

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_PATIENCE = 90_000  # milliseconds for what asks the service a hundred questions
_FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage"]

expect.set_options(timeout=20_000)  # a machine may have other things to do


@contextmanager
def browsing() -> Iterator[Browser]:
    """Start a browser; where there is none, the test is skipped and says how to get one."""
    found = next((path for name in _NAMES if (path := shutil.which(name))), None)
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=found, args=_FLAGS)
        except Error as error:
            pytest.skip(f"no browser to test the page with (apt-get install chromium): {error.message.splitlines()[0]}")
        yield browser
        browser.close()


@contextmanager
def opened(browser: Browser, url: str, *, width: int = 1300, height: int = 900, dark: bool = False) -> Iterator[Page]:
    """Open a page; whatever it complains about in its console fails the test, except for answers that refuse."""
    complaints: list[str] = []
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light", accept_downloads=True
    )
    context.set_default_timeout(30_000)
    page = context.new_page()
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: complaints.append(said.text) if _is_complaint(said) else None)
    page.goto(url)
    yield page
    context.close()
    assert complaints == []


def _is_complaint(said: ConsoleMessage) -> bool:
    return said.type in ("error", "warning") and not said.text.startswith(
        "Failed to load resource: the server responded"
    )


def go(page: Page, tab: str) -> None:
    """Open a view."""
    page.get_by_role("link", name=tab, exact=True).click()


def hold(page: Page, address: str) -> list[Route]:
    """Let whoever asks for an address wait until the test lets them go on."""
    held: list[Route] = []

    def keep(route: Route) -> None:
        held.append(route)

    page.route(address, keep)
    return held


def save_download(page: Page, button: str, path: Path) -> Path:
    """Click on what saves something, and keep what was saved."""
    with page.expect_download(timeout=_PATIENCE) as download:
        page.get_by_role("button", name=button).click()
    download.value.save_as(path)
    return path
