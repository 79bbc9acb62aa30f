"""The page in a real browser: type, point, click through all zooms, change heads, follow the tour, save and open."""

import dataclasses
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from browsing import RIVER, SEED, STREET, go, hold, opened
from dragoman.data.grammar import lectures
from dragoman.server.page import page_files
from serving import Running, serving
from tiny_model import ALIGNMENT, RECIPE, make_tiny_model

pytest_plugins = ["paging"]


def figures(place: Locator) -> list[float]:
    return [float(text.replace("−", "-")) for text in place.all_inner_texts()]


def test_a_reason_leads_to_its_head_and_to_a_life_without_it(page: Page) -> None:
    page.get_by_role("button", name="See this head").click()
    expect(page.locator(".head h2")).to_contain_text("encoder self")
    page.go_back()
    page.get_by_role("button", name="What if it could not?").click()
    expect(page.locator(".thumb.off")).to_have_count(1)
    expect(page.locator(".outcome tbody tr").first).to_be_visible()
    go(page, "Translate")
    page.get_by_role("button", name="See the arithmetic").click()
    expect(page.locator(".working h2")).to_contain_text("cross, layer 2, head 4")


def test_three_zooms_end_in_numbers_that_satisfy_the_formula(page: Page) -> None:
    go(page, "Look inside")
    page.get_by_role("button", name="decoder self, layer 2, head 3", exact=True).click()
    expect(page.locator(".head h2")).to_contain_text("decoder self, layer 2, head 3")
    page.locator('.head .matrix [data-row="3"][data-column="1"]').click()
    expect(page.locator(".working h2")).to_contain_text("decoder self, layer 2, head 3")
    expect(page.locator(".readout")).to_contain_text("of its attention to")
    expect(page.locator(".tall td.score").filter(has_not_text="∞")).to_have_count(4)
    q, k, products = (figures(page.locator(f".working .{name} td")) for name in ("q", "k", "products"))
    assert products == pytest.approx([a * b for a, b in zip(q, k, strict=True)], abs=2e-3)
    (product,), (root,), (score,) = (
        figures(page.locator(f"[data-figure={name}]")) for name in ("product", "root", "score")
    )
    assert product == pytest.approx(sum(products), abs=5e-3)
    assert root == pytest.approx(math.sqrt(len(q)), abs=1e-4)
    assert score == pytest.approx(product / root, abs=1e-3)
    scores = figures(page.locator(".tall td.score").filter(has_not_text="∞"))
    assert len(scores) == 4  # a piece sees itself and those before it
    weights = figures(page.locator(".tall td.weight"))
    powers = [math.exp(one) for one in scores]
    assert weights[:4] == pytest.approx([power / sum(powers) for power in powers], abs=1e-3)
    assert not any(weights[4:])
    table = page.locator(".working .values")
    heard = figures(table.locator(".v td.weight"))
    assert sorted(heard) == sorted(weight for weight in weights if weight)
    values = [figures(row.locator("td:not(.weight)")) for row in table.locator(".v").all()]
    context = figures(table.locator(".context td:not(.weight)"))
    assert context == pytest.approx([sum(np.multiply(heard, column)) for column in zip(*values, strict=True)], abs=2e-4)
    (weight,) = figures(table.locator(".v.held td.weight"))
    assert weight == weights[1]
    (value,) = [figures(row.locator("td:not(.weight)")) for row in table.locator(".v.held").all()]
    times = figures(table.locator(".times td:not(.weight)"))
    assert times == pytest.approx([weight * number for number in value], abs=2e-4)


def test_a_hidden_cell_is_said_to_be_hidden(page: Page) -> None:
    go(page, "Look inside")
    page.get_by_role("button", name="decoder self, layer 1, head 1", exact=True).click()
    page.locator('.head .matrix [data-row="1"][data-column="4"]').click()
    expect(page.locator(".readout")).to_contain_text("may not see")
    expect(page.locator(".working .sum")).to_contain_text("hidden: −∞")


def test_arrow_keys_walk_through_the_matrix_and_the_slider_through_the_steps(page: Page) -> None:
    go(page, "Look inside")
    page.locator('.head .matrix [data-row="2"][data-column="2"]').click()
    before = page.locator(".working h2").inner_text()
    page.locator(".grid").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".working h2")).not_to_have_text(before)
    expect(page.locator(".grid")).to_be_focused()
    assert "column=3" in page.url
    page.get_by_role("slider").focus()
    page.keyboard.press("Home")
    expect(page.locator("[data-room=slider]")).to_contain_text("Step 1 of")
    expect(page.locator(".way h2")).to_contain_text("(start)")


def test_one_place_tells_what_changes(page: Page) -> None:
    """Whoever listens hears of a new cell only if it is told where something was told before."""
    go(page, "Look inside")
    expect(page.locator("#told")).to_have_text(page.locator(".readout").inner_text())
    page.locator("#told").evaluate("(told) => (told.wasHere = true)")
    before = page.locator(".readout").inner_text()
    page.locator(".grid").focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator(".readout")).not_to_have_text(before)
    expect(page.locator("#told")).to_have_text(page.locator(".readout").inner_text())
    assert page.locator("#told").evaluate("(told) => told.wasHere && told.role === 'status'")
    assert page.locator("#panel [role=status]").count() == 0


def test_logits_become_probabilities(page: Page) -> None:
    go(page, "Look inside")
    told = page.locator(".choice .hint").inner_text()
    (log_sum,) = {float(found) for found in re.findall(r"\d+\.\d+", told)}
    logit, chance = page.locator(".choice .told").first.inner_text().replace("−", "-").split(" → ")
    assert math.exp(float(logit) - log_sum) == pytest.approx(float(chance.removesuffix(" %")) / 100, abs=0.012)


def test_the_beam_and_its_sliders(page: Page) -> None:
    go(page, "Beam")
    shown = page.locator("#translation").inner_text()
    expect(page.locator("#found")).to_have_text(shown)
    before = page.locator(".hypothesis").count()
    page.get_by_label("Beam width").fill("2")
    expect(page.locator(".beam .hint")).to_contain_text("each of 2 hypotheses")
    assert page.locator(".hypothesis").count() < before
    assert "beam=2" in page.url
    page.get_by_label("show what was given up").uncheck()
    expect(page.locator(".hypothesis.pruned")).to_have_count(0)


def test_the_beam_is_as_wide_as_the_model_has_it(browser: Browser, tmp_path: Path) -> None:
    search = dataclasses.replace(RECIPE.search, beam=3, length_penalty=0.6)
    model = make_tiny_model(tmp_path / "narrow", seed=SEED, recipe=dataclasses.replace(RECIPE, search=search))
    with serving([model]) as running, opened(browser, f"{running.url}/#view=beam&q={STREET}") as page:
        expect(page.locator(".beam .hint")).to_contain_text("each of 3 hypotheses")
        expect(page.locator(".ended caption")).to_have_text("score = total ÷ length to the power of 0.60")
        expect(page.locator("#found")).to_have_text(page.locator("#translation").inner_text())
        assert "beam=" not in page.url.replace("view=beam", "")


def test_a_head_is_switched_off_and_made_uniform(page: Page) -> None:
    go(page, "What if")
    original = page.locator("#original").inner_text()
    head = page.locator('.whatif [data-key="cross 3 1"]')
    before = page.locator(".outcome tbody td:nth-child(3)").all_inner_texts()
    head.click()
    expect(head).to_have_attribute("title", "switched off")
    expect(page.locator(".outcome tbody td:nth-child(3)")).not_to_have_text(before)
    expect(page.locator("#original")).to_have_text(original)
    head.click()
    expect(head).to_have_attribute("title", "uniform")
    page.get_by_role("button", name="All as they were").click()
    expect(page.locator(".outcome tbody td:nth-child(3)")).to_have_text(before)


def test_a_word_is_dropped_and_another_takes_its_place(page: Page) -> None:
    go(page, "What if")
    page.get_by_title("drop “street.”").click()
    expect(page.get_by_label("Another sentence")).to_have_value(STREET.removesuffix(" street."))
    page.get_by_role("button", name="As it was").click()
    page.get_by_role("button", name="street → river").click()
    expect(page.get_by_label("Another sentence")).to_have_value(RIVER)
    expect(page.locator("#changed")).to_have_text("")  # what this model makes of it


def test_three_readings_stand_side_by_side(page: Page) -> None:
    go(page, "What if")
    expect(page.locator(".readings figcaption")).to_have_text(
        ["raw weights", "weighted by values", "rolled out over layers"]
    )
    expect(page.locator(".readings .hint")).to_contain_text(
        f"weighted by values in cross, layer {ALIGNMENT.layer + 1}, head {ALIGNMENT.head + 1};"
    )


def test_meaning_in_context(page: Page) -> None:
    go(page, "Meaning")
    expect(page.locator(".places .spot")).to_have_count(4)
    page.get_by_role("slider", name="Stage").fill("0")
    cosines = figures(page.locator(".pictures tbody td"))
    assert cosines == pytest.approx([1.0] * 16, abs=2e-3)
    page.get_by_label("The word", exact=True).fill("moon")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert").filter(visible=True)).to_contain_text("the word 'moon' does not stand in")


def test_the_tour_recomputes_what_is_changed(page: Page) -> None:
    go(page, "The tour")
    page.get_by_role("link", name="From the mean to attention").click()
    expect(page.locator(".chapter h2")).to_have_text("From the mean to attention")
    before = page.locator(".chapter .bars .told").all_inner_texts()
    assert before == ["0.965", "0.018", "0.018"]  # softmax of 13, 9, 9
    page.get_by_text("All that can be changed here").click()
    page.get_by_label("scores: ").fill("13,13,9")
    page.keyboard.press("Tab")
    expect(page.locator(".chapter .bars .told")).to_have_text(["0.495", "0.495", "0.009"])
    assert "settings=scores" in page.url
    page.get_by_role("button", name="The lectures’ numbers").click()
    expect(page.locator(".chapter .bars .told")).to_have_text(before)
    page.get_by_role("button", name="Go on").click()
    expect(page.locator(".chapter h2")).to_have_text("Four kinds of score")


def test_a_chapter_that_comes_late_is_not_drawn(page: Page) -> None:
    go(page, "The tour")
    expect(page.locator(".chapter h2")).to_have_text("The bottleneck")
    held = hold(page, "**/v1/tour/similarity")
    with page.expect_request("**/v1/tour/similarity"):
        page.get_by_role("link", name="Similarity").click()
    page.get_by_role("link", name="Why the root").click()
    expect(page.locator(".chapter h2")).to_have_text("Why the root")
    with page.expect_response("**/v1/tour/similarity"):
        held[0].continue_()
    page.wait_for_timeout(200)  # in which it would have been drawn
    expect(page.locator(".chapter h2")).to_have_text("Why the root")


def test_the_address_holds_the_state(browser: Browser, server: Running, page: Page) -> None:
    go(page, "Look inside")
    page.get_by_role("button", name="encoder self, layer 2, head 4", exact=True).click()
    page.locator('.head .matrix [data-row="2"][data-column="5"]').click()
    expect(page.locator(".working h2")).to_contain_text("arrived → bank encoder self, layer 2, head 4")
    told = page.locator(".working").inner_text()
    with opened(browser, page.url) as other:
        expect(other.locator(".working")).to_have_text(told, use_inner_text=True)
    page.go_back()
    page.go_back()
    page.go_back()
    expect(page.locator(".links")).to_be_visible()


def test_the_first_paint_needs_no_model(browser: Browser, server: Running) -> None:
    """What is stored in the page is drawn while the service has not answered anything."""
    context = browser.new_context()
    page = context.new_page()
    page.route(re.compile("/v1/|/frontend/"), lambda _route: None)  # never answered
    page.goto(server.url)
    expect(page.locator("#model")).to_contain_text("Stored answers of demo-model")
    expect(page.locator("#translation")).to_have_text(lectures()[0].first.target)
    expect(page.locator(".why h2")).to_contain_text("orilla")
    expect(page.locator(".other").first).to_be_visible()
    context.close()


def test_what_is_stored_fits_the_contract(page: Page) -> None:
    (answers,) = re.findall(r'id="answers">(.*?)</script>', page_files()["index.html"].content.decode())
    stored: dict[str, Any] = json.loads(answers)
    (trace,) = [answer for key, answer in stored["answers"].items() if key.startswith("v1/trace {")]
    assert page.evaluate("async (trace) => (await import('/page/trace.js')).faultOf(trace)", trace) is None


@pytest.mark.parametrize("view", ["translate", "inside", "beam", "whatif", "meaning", "tour"])
def test_an_empty_translation_is_shown_like_any_other(browser: Browser, server: Running, view: str) -> None:
    with opened(browser, f"{server.url}/#view={view}&q={RIVER}") as page:
        expect(page.locator("#panel .card").first).to_be_visible()
        page.wait_for_load_state("networkidle")
        expect(page.locator("#trouble")).to_be_hidden()


@pytest.mark.parametrize("view", ["translate", "inside", "beam", "whatif", "meaning", "tour"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_nothing_is_wider_than_a_narrow_screen(browser: Browser, server: Running, view: str, *, dark: bool) -> None:
    with opened(browser, f"{server.url}/#view={view}&q={STREET}", width=360, height=740, dark=dark) as page:
        expect(page.locator("#panel .card").first).to_be_visible()
        page.wait_for_load_state("networkidle")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == (
            "rgb(15, 18, 23)" if dark else "rgb(246, 245, 241)"
        )


def test_everything_is_larger_on_a_projector(browser: Browser, server: Running) -> None:
    """Letters of the page and of its pictures alike."""
    heights = []
    for width in (1300, 1920):
        with opened(browser, f"{server.url}/#view=inside&q={STREET}", width=width, height=1080) as page:
            places = [page.locator(name).first for name in (".matrix .label", ".readout", "h1", ".thumb svg")]
            boxes = [place.bounding_box() for place in places]
            heights.append([box["height"] for box in boxes if box])
    assert np.divide(heights[1], heights[0]) == pytest.approx([1.19] * 4, abs=0.04)


def test_what_is_drawn_again_stays_where_it_was_scrolled_to(browser: Browser, server: Running) -> None:
    with opened(browser, f"{server.url}/#view=inside&q={STREET}", width=360, height=740) as page:
        grid = page.locator("[data-scroll=matrix]")
        grid.evaluate(
            """(one) => new Promise((done) => {
                one.addEventListener("scroll", () => requestAnimationFrame(done), { once: true });
                one.scrollTo(60, 0);
            })"""
        )  # scrolling is told with the next picture
        before = grid.locator(".cursor").get_attribute("y")
        grid.focus()
        page.keyboard.press("ArrowDown")
        expect(grid.locator(".cursor")).not_to_have_attribute("y", before or "")
        assert grid.evaluate("(one) => one.scrollLeft") == 60


def test_light_and_dark_can_be_chosen(page: Page) -> None:
    page.get_by_role("button", name="Dark").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(15, 18, 23)"
    page.get_by_role("button", name="Light").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(246, 245, 241)"


@pytest.mark.parametrize("view", ["translate", "inside", "beam", "whatif", "meaning", "tour"])
def test_everything_that_can_be_used_has_a_name(browser: Browser, server: Running, view: str) -> None:
    with opened(browser, f"{server.url}/#view={view}&q={STREET}") as page:
        expect(page.locator("#panel .card").first).to_be_visible()
        page.wait_for_load_state("networkidle")
        nameless = page.evaluate("""() => [...document.querySelectorAll("button, a, input, select, [role=img]")]
            .filter((one) => !(one.ariaLabel || one.labels?.length || one.textContent.trim() || one.title))
            .map((one) => one.outerHTML.slice(0, 120))""")
        assert nameless == []
        assert page.locator("h1").count() == 1
