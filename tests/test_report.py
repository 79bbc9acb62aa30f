"""A report of plain blocks, as a page and as Markdown."""

from html.parser import HTMLParser

from dragoman.draw.curves import Series, svg_curves
from dragoman.draw.report import Block, Facts, Heading, Picture, Prose, Table, html_report, markdown_report

PICTURE = Picture(svg_curves([Series("BLEU", "one", [1, 2], [3.0, 4.0])]))
BLOCKS: list[Block] = [
    Prose("Two <recipes>."),
    Heading("All | of them"),
    Table(["recipe", "BLEU"], [["a | b", "1.0"], ["<script>", "2.0"]]),
    PICTURE,
    Prose("As expected.", "agrees"),
    Facts([("source", "A <b>*bold*</b> [word]"), ("model", "Una\npalabra")]),
]


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(tag)
        assert tag not in ("script", "link", "img")
        assert not any(name.startswith("on") or name == "style" for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_the_page_holds_every_block_and_nothing_from_outside() -> None:
    tags = Tags()
    tags.feed(html_report("Report & more", BLOCKS))
    assert {"h1", "h2", "table", "figure", "svg", "section", "dl"} <= set(tags.found)
    assert tags.found.count("tr") == 3
    for text in (
        "Report & more",
        "Two <recipes>.",
        "All | of them",
        "a | b",
        "<script>",
        "As expected.",
        "A <b>*bold*</b> [word]",
    ):
        assert text in tags.words


def test_markdown_has_the_same_but_for_pictures() -> None:
    assert markdown_report("Report", BLOCKS) == (
        "# Report\n\nTwo \\<recipes\\>.\n\n## All \\| of them\n\n"
        "| recipe | BLEU |\n| --- | ---: |\n| a \\| b | 1.0 |\n| \\<script\\> | 2.0 |\n\nAs expected.\n\n"
        "- source: A \\<b\\>\\*bold\\*\\</b\\> \\[word\\]\n- model: Una palabra\n"
    )


def test_markdown_points_at_a_picture_that_has_a_file() -> None:
    assert "![Curves](run/curves.svg)" in markdown_report(
        "Report", [PICTURE._replace(title="Curves", file="run/curves.svg")]
    )
