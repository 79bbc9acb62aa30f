"""`dragoman tour`: the lectures' numbers, chapter by chapter, computed as they are read."""

import json
import shlex
import sys
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, assert_never

import typer

from dragoman.cli import show
from dragoman.cli.options import Json

if TYPE_CHECKING:
    from rich.text import Text

    from dragoman.tour.blocks import Bars, Block, Chapter, HeatMap, Table
    from dragoman.tour.chapters import Heading, Labels

_WIDEST, _INDENT, _GAP, _SHORT = 88, 4, 5, 12
_BAR = "│ "
_STYLES = {"title": "bold", "name": "dim", "setting": "green", "formula": "cyan", "note": "yellow", "hidden": "dim"}

ChapterName = Annotated[
    str | None,
    typer.Argument(metavar="[CHAPTER]", help="A chapter's number or name; without it, all.", show_default=False),
]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Change a number, a vector (1,0,1), a matrix (1,0;0,1) or words; CHAPTER.NAME where all are told.",
        show_default=False,
    ),
]
ListOnly = Annotated[bool, typer.Option("--list", help="Print the chapters and stop.")]
Language = Annotated[str, typer.Option("--language", metavar="CODE", help="The language that it is told in.")]


def tour(
    chapter: ChapterName = None,
    *,
    changes: Changes = None,
    list_only: ListOnly = False,
    as_json: Json = False,
    language: Language = "en",
) -> None:
    """Walk through attention with real numbers, each computed on the spot from numbers that you can change.

    In a terminal the tour waits for Enter between chapters, and q leaves. Every chapter ends with what can be
    changed in it. Vectors are written 1,0,1,0; matrices have a semicolon between rows, and need quotation marks.

    \b
    Examples:
      dragoman tour
      dragoman tour --list
      dragoman tour 3 --set scores=13,9,9
      dragoman tour query-key-value --set "x=1,0,1,0;0,2,0,2;1,1,1,1"
      dragoman tour positions --set words="I am a robot" --set base=10000
      dragoman tour scaling --json
    """  # noqa: D301 -- \b keeps the examples' lines apart
    from dragoman import tour as guide

    contents = guide.table_of_contents(language)
    if list_only:
        _list(contents, as_json=as_json)
        return
    names = [guide.find(chapter)] if chapter is not None else [heading.name for heading in contents]
    told = guide.tell(names, changes or [], language)
    if as_json:
        trees = [guide.as_json(one) for one in told]
        print(json.dumps(trees[0] if chapter is not None else trees, ensure_ascii=False, indent=2))
        return
    _walk(told, contents, guide.read_labels(language))


def _list(contents: Sequence["Heading"], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps([heading._asdict() for heading in contents], ensure_ascii=False, indent=2))
        return
    show.table(("", "", ""), [(str(one.number), one.name, one.summary) for one in contents], right=(0,), grow=2)


def _walk(told: Sequence["Chapter"], contents: Sequence["Heading"], labels: "Labels") -> None:
    """Show the chapters; between them, if somebody is there, wait."""
    waits = len(told) > 1 and sys.stdin.isatty() and sys.stdout.isatty()
    if len(told) > 1:
        show.heading(labels.title)
        show.line()
        _list(contents, as_json=False)
        if waits and not _go_on(labels.after_contents):
            return
    for chapter in told:
        if len(told) > 1:
            show.line()
        _show_chapter(chapter, len(contents), labels)
        if waits and chapter is not told[-1] and not _go_on(labels.go_on):
            return


def _go_on(prompt: str) -> bool:
    print(f"\n{prompt}", end="", flush=True)
    answer = sys.stdin.readline()
    if not answer:  # the end of the input: whoever was there has left
        show.line()
    return bool(answer) and answer.strip().lower() != "q"


def _show_chapter(chapter: "Chapter", count: int, labels: "Labels") -> None:
    from dragoman.tour.blocks import HeatMap, Table

    heading = f"{chapter.number}/{count}  {chapter.title}"
    _write([(heading, "title")], indent=0)
    _write([("─" * min(len(heading), _room()), "name")], indent=0)
    _write([(chapter.summary, "name")], indent=0)
    colour = show.has_colour(sys.stdout)
    blocks = [_in_numbers(one) if isinstance(one, HeatMap) and not colour else one for one in chapter.blocks]
    for _, group in groupby(blocks, key=lambda block: isinstance(block, Table)):
        several = list(group)
        tables = [block for block in several if isinstance(block, Table)]
        if tables:
            _show_tables(tables)
            continue
        for block in several:
            show.line()
            _show_block(block, chapter.name, labels)
    _show_inputs(chapter, labels.inputs)


def _show_inputs(chapter: "Chapter", title: str) -> None:
    """Print what can be changed; a matrix that was shown above is not shown again."""
    from dragoman.tour.blocks import Table
    from dragoman.tour.inputs import write_value

    shown = {block.setting for block in chapter.blocks if isinstance(block, Table)}
    width = max(len(one.name) for one in chapter.inputs) + 2
    show.line()
    _write([(title, "title")], indent=2)
    for one in chapter.inputs:
        value = write_value(one.value)
        changed = value != write_value(one.default)
        told = changed or one.name not in shown or len(value) <= _SHORT
        parts = [
            (f"{one.about}: " if told else one.about, "name"),
            (value if told else "", "formula" if changed else ""),
        ]
        _write(parts, lead=(one.name.ljust(width), "setting"))


def _show_block(block: "Block", chapter: str, labels: "Labels") -> None:
    from dragoman.tour.blocks import Bars, Formula, HeatMap, Note, Prose, Table, Try

    match block:
        case Prose(text):
            _write([(text, "")], indent=2)
        case Formula(text):
            for line in text.split("\n"):
                _write([(line, "formula")])
        case Note(text):
            _write([(labels.note, "note")], indent=2, lead=(_BAR, "note"))
            _write([(text, "")], indent=2, lead=(_BAR, "note"))
        case Try(settings, text):
            command = shlex.join(["dragoman", "tour", chapter, *(part for one in settings for part in ("--set", one))])
            _write([(command, "formula")], indent=2, lead=(f"{labels.attempt}  ", "setting"))
            _write([(text, "")], indent=2)
        case Bars():
            _show_bars(block)
        case HeatMap():
            _show_heatmap(block)
        case Table():
            _show_tables([block])
        case _ as never:
            assert_never(never)


def _room() -> int:
    return min(_WIDEST, show.width())


def _write(parts: Sequence[tuple[str, str]], *, indent: int = _INDENT, lead: tuple[str, str] = ("", "")) -> None:
    """Print a paragraph, wrapped and indented, beside `lead`, which a bar repeats on every line."""
    from rich.text import Text

    text = Text()
    for part, style in parts:
        text.append(show.printable(part), style=_STYLES.get(style, ""))
    screen = show.console()
    first, style = lead
    for number, line in enumerate(text.wrap(screen, _room() - indent - len(first))):
        line.rstrip()
        beside = first if number == 0 or first == _BAR else " " * len(first)
        screen.print(Text(" " * indent) + Text(beside, _STYLES.get(style, "")) + line)


def _show_bars(block: "Bars") -> None:
    from dragoman.draw import text_bars

    _write([(block.title, "title")])
    rows = list(zip(block.names, block.values, strict=True))
    width, colour = _room() - _INDENT - 8, show.has_colour(sys.stdout)
    _indent(text_bars(rows, colour=colour, width=width, low=block.low, high=block.high, dark=show.is_dark()))


def _show_heatmap(block: "HeatMap") -> None:
    import numpy as np

    from dragoman.draw import AttentionMap, text_heatmap

    _write([(block.title, "title")])
    attention = AttentionMap(block.title, "", 1, 1, np.array(block.weights), block.rows, block.columns)
    drawn = text_heatmap(attention, width=_room() - _INDENT, dark=show.is_dark())
    _indent(drawn.partition("\n")[2])


def _in_numbers(block: "HeatMap") -> "Table":
    """Make a table of a heat map: where there is no colour, percentages say more than shades of ASCII."""
    from dragoman.tour.blocks import Table

    cells = tuple(tuple(100 * weight for weight in row) for row in block.weights)
    return Table(block.title, block.rows, block.columns, cells, (0,) * len(cells), None)


def _indent(drawn: str) -> None:
    for line in drawn.splitlines():
        print(" " * _INDENT + line)


def _show_tables(tables: Iterable["Table"]) -> None:
    """Print tables, beside each other as far as there is room."""
    room = _room() - _INDENT
    rows: list[list[list[Text]]] = []
    used = room
    for table in tables:
        for lines in _draw_table(table, room):
            width = max(line.cell_len for line in lines)
            if used + _GAP + width > room:
                rows.append([])
                used = -_GAP
            rows[-1].append(lines)
            used += _GAP + width
    for beside in rows:
        show.line()
        _print_beside(beside)


def _print_beside(tables: Sequence[Sequence["Text"]]) -> None:
    from rich.text import Text

    screen = show.console()
    widths = [max(line.cell_len for line in lines) + _GAP for lines in tables]
    for number in range(max(map(len, tables))):
        whole = Text(" " * _INDENT)
        for lines, width in zip(tables, widths, strict=True):
            line = lines[number].copy() if number < len(lines) else Text()
            line.append(" " * (width - line.cell_len))
            whole += line
        whole.rstrip()
        screen.print(whole)


def _draw_table(table: "Table", room: int) -> list[list["Text"]]:
    """Draw a table: its title, the columns' names, the rows. One that is too wide goes on in another."""
    from rich.text import Text

    from dragoman.draw import label
    from dragoman.tour.blocks import show_number

    rows = [
        tuple(show_number(value, digits) for value in row)
        for row, digits in zip(table.cells, table.digits, strict=True)
    ]
    grid = [table.columns, *rows] if table.columns else rows
    names = ["", *table.rows] if table.columns and table.rows else table.rows or [""] * len(grid)
    names = [label.clip(label.clean(name), room // 2) for name in names]
    gutter = max(map(label.cells, names))
    widths = [max(map(label.cells, column)) for column in zip(*grid, strict=True)]
    title = Text().append(table.title, _STYLES["title"])
    if table.setting is not None:
        title.append(f"  ({table.setting})", _STYLES["setting"])
    drawn = []
    for piece in _break(widths, room - gutter):
        drawn.append([*title.wrap(show.console(), room)])
        for number, (name, row) in enumerate(zip(names, grid, strict=True)):
            cells = [label.pad(label.clean(row[at]), widths[at], right=True) for at in piece]
            line = Text().append(label.pad(name, gutter) + ("  " if gutter else ""), _STYLES["name"])
            line.append("  ".join(cells), _STYLES["name"] if table.columns and number == 0 else None)
            line.highlight_regex("-?∞", _STYLES["hidden"])
            drawn[-1].append(line)
    return drawn


def _break(widths: Sequence[int], room: int) -> list[list[int]]:
    """Share out columns among as few tables as they need."""
    pieces: list[list[int]] = [[]]
    for at, width in enumerate(widths):
        if pieces[-1] and sum(widths[one] + 2 for one in pieces[-1]) + width + 2 > room:
            pieces.append([])
        pieces[-1].append(at)
    return pieces
