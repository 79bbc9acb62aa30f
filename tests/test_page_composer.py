"""The sentence and its translation in a real browser: type, point, choose, go back, change languages."""

import dataclasses
import re
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from browsing import RIVER, SEED, STREET, go, opened
from dragoman.server.service import Options
from serving import Running, serving
from tiny_model import RECIPE, make_tiny_model

pytest_plugins = ["paging"]


def test_typing_translates_and_says_who_answers(page: Page, server: Running) -> None:
    expect(page.locator("#model")).to_contain_text("Answered by tiny, English → Spanish")
    page.get_by_label("Sentence to translate").fill("My sister closed this box.")
    with server.client() as client:
        asked = {"q": "My sister closed this box.", "source": "en", "target": "es"}
        told = client.post("/v1/translate", json=asked).json()
    expect(page.locator("#translation")).to_have_text(told["translations"][0]["text"])
    assert "My+sister+closed+this+box." in page.url
    expect(page.locator("#pairs")).to_have_text("English")
    expect(page.locator("#verdict")).to_contain_text("Spanish · ")


def test_words_light_up_both_ways(page: Page) -> None:
    first = page.locator("#translation .target").first
    first.hover()
    expect(first).to_have_class(re.compile("lit"))
    lit = page.locator("#mirror .lit").all_inner_texts()
    assert len(lit) == 1
    page.locator(".links [data-side=source]").nth(STREET.split().index(lit[0])).hover()
    expect(first).to_have_class(re.compile("lit"))
    page.get_by_label("Sentence to translate").hover(position={"x": 20, "y": 22})  # over the first word that was typed
    expect(page.locator("#mirror .lit")).to_have_text(["I"])


def test_words_light_up_by_keys_and_are_told(page: Page) -> None:
    typed, told = page.get_by_label("Sentence to translate"), page.locator("#told")
    typed.focus()
    page.keyboard.press("Control+Home")
    expect(page.locator("#mirror .lit")).to_have_text(["I"])
    expect(told).to_have_text(re.compile("^I became "))
    page.keyboard.press("Control+ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#mirror .lit")).to_have_text(["arrived"])
    first = page.locator("#translation .target").first
    first.focus()
    expect(told).to_have_text(re.compile(f"^{first.inner_text()} came from "))
    (lit,) = page.locator("#mirror .lit").all_inner_texts()
    assert told.inner_text().endswith(f" {lit}")
    first.blur()
    expect(page.locator("#composer .lit")).to_have_count(0)


def test_back_takes_the_text_along_wherever_the_focus_is(page: Page) -> None:
    typed = page.get_by_label("Sentence to translate")
    expect(page.locator("#examples")).to_contain_text("which a model of the built-in corpus knows and another may not")
    page.locator("#examples").get_by_role("button", name=RIVER).click()
    expect(typed).to_have_value(RIVER)
    typed.focus()
    page.go_back()
    expect(page.locator(".links [data-side=source]").last).to_have_text("street.")
    expect(typed).to_have_value(STREET)


def test_what_is_being_typed_stays_until_something_else_is_chosen(page: Page) -> None:
    """Typing has not stopped when the page is drawn anew, or when another sentence is taken."""
    type_and_click = """([text, key]) => {
        const typed = document.getElementById("typed");
        typed.value = text;
        typed.dispatchEvent(new Event("input"));
        document.querySelector(`[data-key="${key}"]`).click();
        return typed.value;
    }"""
    assert page.evaluate(type_and_click, ["My sister", "tab inside"]) == "My sister"
    first = page.locator(".head .arcs [data-column]").first
    expect(first).to_have_text("My")
    page.evaluate(type_and_click, ["My sister closed", STREET])
    expect(first).not_to_have_text("My")
    page.wait_for_timeout(400)  # after which typing would have stopped
    assert page.get_by_label("Sentence to translate").input_value() == STREET


def test_an_alternative_is_forced_and_the_rest_is_translated_anew(page: Page) -> None:
    page.locator("#translation .target").nth(1).click()
    other = page.locator(".other[aria-pressed=false]").first
    word, rest = other.locator(".word").inner_text(), other.locator(".rest").inner_text()
    other.click()
    expect(page.locator("#translation")).to_have_text(rest)
    expect(page.locator("#translation .target").filter(has_text=word).first).to_be_visible()
    expect(page.locator("#verdict")).to_contain_text("your choice")
    assert "written=" in page.url
    page.reload()
    expect(page.locator("#translation")).to_have_text(rest)
    expect(page.locator(".target[aria-pressed=true]")).to_have_text(word)
    page.get_by_role("button", name="Take it back").click()
    expect(page.locator("#translation")).not_to_have_text(rest)


def test_each_sentence_of_a_text_can_be_looked_at(page: Page) -> None:
    text = f"{STREET} My sister closed this box.\nMy {STREET[2:]}"
    page.get_by_label("Sentence to translate").fill(text)
    expect(page.locator("#translation [data-sentence='2']").first).to_be_visible()
    second = page.locator("#translation [data-sentence='1']")
    second.nth(1).click()
    expect(second.nth(1)).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".links [data-side=source]")).to_have_text(["My", "sister", "closed", "this", "box."])
    others = [page.locator(f"#translation [data-sentence='{number}']").all_inner_texts() for number in (0, 2)]
    page.locator(".other[aria-pressed=false]").first.click()
    expect(page.locator("#verdict")).to_contain_text("your choice")
    assert [page.locator(f"#translation [data-sentence='{n}']").all_inner_texts() for n in (0, 2)] == others
    assert page.locator("#translation").inner_text().count("\n") == 1


def test_what_was_chosen_in_one_sentence_stays_while_another_is_looked_at(page: Page) -> None:
    page.get_by_label("Sentence to translate").fill(f"{STREET} My sister closed this box.")
    first, second = (page.locator(f"#translation [data-sentence='{number}']") for number in (0, 1))
    expect(second.first).to_be_visible()
    chosen = []
    for sentence in (first, second):
        sentence.nth(1).click()
        expect(sentence.nth(1)).to_have_attribute("aria-pressed", "true")
        other = page.locator(".other[aria-pressed=false]").first
        chosen.append(other.locator(".rest").inner_text())
        other.click()
        expect(page.locator("#verdict")).to_contain_text("your choice")
    expect(page.locator("#translation")).to_have_text(" ".join(chosen))
    page.reload()
    expect(page.locator("#translation")).to_have_text(" ".join(chosen))
    page.get_by_role("button", name="Take it back").click()
    expect(page.locator("#verdict")).not_to_contain_text("your choice")
    expect(page.locator("#translation")).to_have_text(re.compile(f"^{re.escape(chosen[0])} "))
    first.nth(1).click()
    expect(page.locator("#verdict")).to_contain_text("your choice")


def test_another_pair_of_languages_has_another_model(browser: Browser, tmp_path: Path) -> None:
    recipe = dataclasses.replace(RECIPE, source_language="es", target_language="en")
    paths = [make_tiny_model(tmp_path / "there", seed=SEED), make_tiny_model(tmp_path / "back", seed=3, recipe=recipe)]
    with serving(paths) as running, opened(browser, running.url) as page:
        expect(page.locator("#model")).to_contain_text("Answered by there, English → Spanish")
        page.get_by_label("Languages").select_option("es en")
        expect(page.locator("#model")).to_contain_text("Answered by back, Spanish → English")
        expect(page.locator("#examples")).to_contain_text("in pairs that differ in one deciding word")
        page.locator("#examples").get_by_role("button", name="Tom dijo que tenía hambre.").click()
        expect(page.locator(".links [data-side=source]")).to_have_text(["Tom", "dijo", "que", "tenía", "hambre."])
        go(page, "What if")
        page.get_by_role("button", name="Tom → María").click()
        expect(page.get_by_label("Another sentence")).to_have_value("María dijo que tenía hambre.")
        go(page, "Meaning")
        expect(page.get_by_label("The word")).to_have_value("banco")
        expect(page.locator("#panel")).to_contain_text("A map of its vectors")
        go(page, "Translate")
        page.get_by_label("Sentence to translate").fill("Mi hermana cerró la caja.")
        expect(page.locator(".links [data-side=source]")).to_have_text(["Mi", "hermana", "cerró", "la", "caja."])


def test_a_service_with_keys_asks_for_one(browser: Browser, tmp_path: Path) -> None:
    model = make_tiny_model(tmp_path / "tiny", seed=SEED)
    with serving([model], options=Options(keys=frozenset({"secret"}))) as running:
        context = browser.new_context()
        page = context.new_page()
        page.goto(f"{running.url}/#q={STREET}")
        expect(page.locator("#trouble")).to_contain_text("Please contact the server operator to get an API key")
        page.get_by_label("API key").fill("secret")
        page.keyboard.press("Enter")
        expect(page.locator("#translation .target").first).to_be_visible()
        expect(page.locator("#trouble")).to_be_hidden()
        assert "secret" not in page.url
        context.close()


def test_trouble_is_told_and_goes_away(browser: Browser, server: Running) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{server.url}/#q={'the ' * 120}")
    expect(page.locator("#trouble")).to_contain_text("pieces, but a trace has at most")
    expect(page.locator("#translation")).not_to_have_text("…")  # there is a translation, though no trace
    page.get_by_label("Sentence to translate").fill(STREET)
    expect(page.locator("#trouble")).to_be_hidden()
    expect(page.locator("#translation .target").first).to_be_visible()
    context.close()
