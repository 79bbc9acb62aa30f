"""What is taken along: the page as one file, and every view as one picture, in a real browser."""

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from playwright.sync_api import Browser, Page, expect

from browsing import STREET, go, opened, save_download

pytest_plugins = ["paging"]

BOX = "My sister closed this box."
SVG = "{http://www.w3.org/2000/svg}"
VIEWS = {
    "translate": "Translate",
    "inside": "Look inside",
    "beam": "Beam",
    "whatif": "What if",
    "meaning": "Meaning",
    "tour": "The tour",
}


def test_a_saved_page_needs_no_service(browser: Browser, page: Page, tmp_path: Path) -> None:
    go(page, "Look inside")
    page.get_by_role("button", name="cross, layer 1, head 2", exact=True).click()
    expect(page.locator(".working h2")).to_contain_text("cross, layer 1, head 2")
    told = page.locator(".working").inner_text()
    saved = save_download(page, "Save page", tmp_path / "saved.html")
    with opened(browser, saved.as_uri()) as other:
        asked: list[str] = []
        other.on("request", lambda request: asked.append(request.url))
        expect(other.locator("#model")).to_contain_text("Saved answers of tiny")
        expect(other.locator(".working")).to_have_text(told, use_inner_text=True)
        other.get_by_role("button", name="encoder self, layer 2, head 5", exact=True).click()
        expect(other.locator(".head h2")).to_contain_text("encoder self, layer 2, head 5")
        for piece in (0, 2):
            other.locator(f"[data-key='piece {piece}']").click()
            other.get_by_role("button", name="encoder", exact=True).click()
            expect(other.locator(".way h2")).to_contain_text("through the encoder")
            expect(other.locator("#trouble")).to_be_hidden()
        for tab in VIEWS.values():
            go(other, tab)
            expect(other.locator("#panel .card").first).to_be_visible()
            expect(other.locator("#trouble")).to_be_hidden()
        go(other, "Beam")
        other.get_by_label("Beam width").fill("9")
        expect(other.locator("#trouble")).to_contain_text("This page was saved, and this was not saved with it.")
        assert asked == []


def test_a_saved_page_holds_one_sentence_and_what_was_chosen_for_it(
    browser: Browser, page: Page, tmp_path: Path
) -> None:
    page.get_by_label("Sentence to translate").fill(BOX)
    expect(page.locator(".links [data-side=source]").last).to_have_text("box.")
    found = page.locator("#translation").inner_text()
    other = page.locator(".other[aria-pressed=false]").first
    chosen = other.locator(".rest").inner_text()
    other.click()
    expect(page.locator("#translation")).to_have_text(chosen)
    saved = save_download(page, "Save page", tmp_path / "saved.html")
    (answers,) = re.findall(r'id="answers">(.*?)</script>', saved.read_text(encoding="utf-8"))
    assert set(re.findall(r'\\"q\\":\\"(.*?)\\"', answers)) == {BOX}
    with opened(browser, saved.as_uri()) as offline:
        expect(offline.locator("#translation")).to_have_text(chosen)
        offline.get_by_role("button", name="Take it back").click()
        expect(offline.locator("#translation")).to_have_text(found)
        expect(offline.locator(".other").first).to_be_visible()
        expect(offline.locator("#trouble")).to_be_hidden()


def test_what_is_saved_does_not_depend_on_what_was_forgotten(page: Page) -> None:
    """After a long session the answers from its beginning are gone; whoever saves the page asks for them anew."""
    told: dict[str, Any] = page.evaluate(
        """async (sentence) => {
            const { makeApp } = await import("/page/app.js");
            const { makeService } = await import("/page/service.js");
            const { gather } = await import("/page/share.js");
            const open = async (service) => {
                const app = makeApp(service, () => null);
                Object.assign(app.state, { q: sentence, source: "en", target: "es" });
                app.models = await app.ask("v1/models");
                app.contents = await app.ask("v1/tour");
                await app.load();
                return app;
            };
            const app = await open(makeService({}, { most: 3 }));
            for (const name of ["similarity", "scaling", "mask"]) await app.ask(`v1/tour/${name}`, { settings: [] });
            const answers = await gather(app);
            const saved = await open(makeService(answers, { offline: true }));
            const again = await gather(saved);
            return { trouble: saved.trouble?.message, keys: Object.keys(answers), again: Object.keys(again) };
        }""",
        STREET,
    )
    assert told["trouble"] is None
    assert told["again"] == told["keys"]
    assert len(told["keys"]) == len(set(told["keys"])) > 3


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_is_one_picture_for_any_program(page: Page, tmp_path: Path, view: str) -> None:
    go(page, VIEWS[view])
    expect(page.locator("#panel .card").first).to_be_visible()
    page.wait_for_load_state("networkidle")
    text = save_download(page, "Save SVG", tmp_path / f"{view}.svg").read_text(encoding="utf-8")
    assert "var(" not in text
    assert "class=" not in text
    picture = ET.fromstring(text)  # noqa: S314 -- of one's own
    width, height = (float(picture.attrib[name]) for name in ("width", "height"))
    for title in picture.findall(f".//{SVG}title/.."):
        for one in title.findall(f"{SVG}title"):
            title.remove(one)
    drawn = "".join(picture.itertext())
    shown = page.locator("#panel").inner_text().split()
    assert [word for word in shown if word not in drawn] == []
    fields = page.locator("#panel input[type=text]:visible").all()
    assert all(field.input_value() in drawn for field in fields)
    assert all(float(one.attrib["x"]) < width for one in picture.findall(f"{SVG}text"))
    pictures = picture.findall(f"{SVG}svg")
    assert len(pictures) == page.locator("#panel svg").count()
    for one in pictures:
        assert float(one.attrib["x"]) + float(one.attrib["width"]) <= width
        assert float(one.attrib["y"]) + float(one.attrib["height"]) <= height


def test_a_picture_has_the_colours_of_the_page(browser: Browser, page: Page, tmp_path: Path) -> None:
    page.get_by_role("button", name="Dark").click()
    saved = save_download(page, "Save SVG", tmp_path / "picture.svg")
    link = page.locator(".links .link").first.evaluate("path => getComputedStyle(path).stroke")
    picture = ET.parse(saved).getroot()  # noqa: S314 -- of one's own
    assert picture.findall(f".//{SVG}path")[0].attrib["stroke"] == link
    assert picture.findall(f"{SVG}rect")[0].attrib["fill"] == "rgb(15, 18, 23)"
    with opened(browser, saved.as_uri()) as other:
        expect(other.locator("svg text").filter(has_text=re.compile("^arrived$")).first).to_be_visible()
    assert page.locator("#panel").count() == 1
