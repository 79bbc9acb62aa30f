"""A report of plain blocks, the same as a page and as Markdown."""

import re
from collections.abc import Sequence
from typing import NamedTuple, assert_never

from dragoman.draw.document import html_document
from dragoman.draw.svg import Markup, element, escape


class Heading(NamedTuple):
    """The title of what follows."""

    text: str


class Prose(NamedTuple):
    """A paragraph; its kind may set it apart."""

    text: str
    kind: str = ""


class Table(NamedTuple):
    """Rows of cells; the first column names its row, the others are numbers."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


class Facts(NamedTuple):
    """Names, and what is to be said of each: text of any length, such as a sentence and its translation."""

    rows: Sequence[tuple[str, str]]


class Picture(NamedTuple):
    """A figure as SVG; Markdown, which cannot hold it, points at its file, or leaves it out if it has none."""

    svg: str
    title: str = ""
    file: str = ""
    """Where the figure lies as seen from the report."""


Block = Heading | Prose | Table | Facts | Picture


def html_report(title: str, blocks: Sequence[Block]) -> str:
    """Write a report as one page that needs no network."""
    sections: list[list[Markup]] = [[]]
    for block in blocks:
        if isinstance(block, Heading):
            sections.append([])
        sections[-1].append(_html(block))
    first = element("header", element("h1", escape(title)), *sections[0])
    rest = [element("section", *parts) for parts in sections[1:]]
    return html_document(title, [first, *rest], "report.css")


def _html(block: Block) -> Markup:
    match block:
        case Heading():
            return element("h2", escape(block.text))
        case Prose():
            return element("p", escape(block.text), class_=block.kind or None)
        case Table():
            head = element("tr", *(element("th", escape(name), scope="col") for name in block.columns))
            rows = [
                element("tr", element("th", escape(row[0]), scope="row"), *(element("td", escape(x)) for x in row[1:]))
                for row in block.rows
            ]
            table = element("table", element("thead", head), element("tbody", *rows))
            return _scrolling(table)
        case Facts():
            rows = [
                element("div", element("dt", escape(a)), element("dd", escape(b), dir="auto")) for a, b in block.rows
            ]
            return element("dl", *rows)
        case Picture():
            return _scrolling(element("figure", Markup(block.svg)))
        case _:
            assert_never(block)


def _scrolling(wide: Markup) -> Markup:
    """Let what may be wider than the page scroll by itself, by keyboard too."""
    return element("div", wide, class_="scroll", tabindex="0")


def markdown_report(title: str, blocks: Sequence[Block]) -> str:
    """Write a report as Markdown."""
    written = [f"# {_escape(title)}", *(text for block in blocks if (text := _markdown(block)))]
    return "\n\n".join(written) + "\n"


def _markdown(block: Block) -> str:
    match block:
        case Heading():
            return f"## {_escape(block.text)}"
        case Prose():
            return _escape(block.text)
        case Table():
            head, *rows = ([_escape(cell) for cell in cells] for cells in (block.columns, *block.rows))
            rule = ["---", *("---:" for _ in head[1:])]
            return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *rows))
        case Facts():
            return "\n".join(f"- {_escape(name)}: {_escape(text)}" for name, text in block.rows)
        case Picture():
            return f"![{_escape(block.title)}]({block.file})" if block.file else ""
        case _:
            assert_never(block)


def _escape(text: str) -> str:
    """Keep what a sentence holds from being read as Markdown or HTML."""
    return re.sub(r"([\\`*_<>\[\]#&~|])", r"\\\1", " ".join(text.split()))
