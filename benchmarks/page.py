"""How fast the page draws what the service answered, in a real browser.

Measured is the time from the trace's last byte to the first picture of it, the maps of all heads; the numbers of one
head are asked for after that.
"""

import shutil
import statistics
from collections.abc import Iterator, Sequence

from benchmarks.figure import Figure

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_WANTED = 100  # milliseconds
_MEASURE = """
(sentence) => new Promise((resolve) => {
  const panel = document.querySelector("#panel");
  const drawn = [];
  const watch = new MutationObserver(() => {
    const change = performance.now();
    requestAnimationFrame(() => setTimeout(() => drawn.push({ change, painted: performance.now() })));
  });
  watch.observe(panel, { childList: true, subtree: true });
  const field = document.querySelector("textarea");
  field.value = sentence;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  setTimeout(() => {
    watch.disconnect();
    const asked = performance.getEntriesByType("resource").filter((one) => one.name.endsWith("/v1/trace"));
    const answered = asked.at(-1).responseEnd;
    resolve(drawn.find((one) => one.change >= answered).painted - answered);
  }, 2500);
})
"""


def measure_drawing(port: int, sentences: Sequence[str]) -> Iterator[Figure]:
    """Type sentences where the page looks inside, and wait for the maps of all heads."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        yield Figure("the page: skipped, because there is no playwright")
        return
    found = next((path for name in _NAMES if (path := shutil.which(name))), None)
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        except Error as error:
            yield Figure(f"the page: skipped, because there is no browser ({error.message.splitlines()[0]})")
            return
        page = browser.new_page(viewport={"width": 1300, "height": 900})
        page.goto(f"http://127.0.0.1:{port}/#view=inside", wait_until="networkidle")
        times = [float(page.evaluate(_MEASURE, sentence)) for sentence in sentences]
        browser.close()
    median = statistics.median(times)
    yield Figure(
        f"the page draws the trace of {len(sentences[0].split())} words in {median:.0f} ms, all layers and heads "
        f"({_WANTED} wanted)",
        median <= _WANTED,
    )
