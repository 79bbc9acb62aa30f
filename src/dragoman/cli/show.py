"""Every table, bar and colour of the command line.

Results go to stdout; progress, notes and errors to stderr. Where there is no terminal, or NO_COLOR is set,
everything is plain text. rich is imported when something is drawn, never before.
"""

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_PLAIN_WIDTH = 100
_BAR = 32
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def has_colour(stream: TextIO) -> bool:
    """Tell whether colours may be written to a stream."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def is_dark() -> bool:
    """Tell whether the terminal's ground is dark, which nearly all are; some say so in COLORFGBG."""
    ground = os.environ.get("COLORFGBG", "").rpartition(";")[2]
    return ground not in {"7", "15"}


def width() -> int:
    """Return how many columns there are to write in."""
    return max(40, shutil.get_terminal_size((_PLAIN_WIDTH, 24)).columns)


def console(stream: TextIO | None = None) -> "Console":
    """Return rich's console for a stream, stdout if none is given."""
    from rich.console import Console

    stream = stream or sys.stdout
    colour = has_colour(stream)
    return Console(
        file=stream,
        width=width(),
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=False,
        no_color=not colour,
        force_terminal=colour,
        color_system="auto" if colour else None,
    )


def complain(message: str, what_to_do: str) -> None:
    """Print an error: what is wrong, and what to do."""
    _tell("error", message, "31")
    hint(what_to_do)


def hint(message: str) -> None:
    """Print what to do next on stderr."""
    _tell("hint", message, "36")


def note(message: str) -> None:
    """Print a remark on stderr."""
    _tell("note", message, "33")


def _tell(label: str, message: str, colour: str) -> None:
    painted = f"\x1b[1;{colour}m{label}:\x1b[0m" if has_colour(sys.stderr) else f"{label}:"
    print(painted, _one_line(message), file=sys.stderr)


def _one_line(message: str) -> str:
    """Keep a message on its line, whatever was quoted in it, and keep control characters from the terminal."""
    return "".join(character if character.isprintable() else " " for character in message)


def heading(text: str) -> None:
    """Print the title of what follows."""
    console().print(printable(text), style="bold")


def line(text: str = "", *, dim: bool = False) -> None:
    """Print one line, wrapped if it is too long."""
    console().print(printable(text), style="dim" if dim else None)


def printable(text: str) -> str:
    """Replace what could steer a terminal."""
    return "".join(character if character.isprintable() or character == "\n" else "�" for character in text)


def table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[int] = (), grow: int | None = None
) -> None:
    """Print a table; the columns in `right` are numbers, and column `grow` gives way where there is little room."""
    from rich.box import Box
    from rich.table import Table

    thin = Box("    \n    \n ── \n    \n    \n    \n    \n    \n")
    drawn = Table(
        box=thin, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0), border_style="dim", header_style="dim"
    )
    drawn.show_header = any(columns)
    for number, name in enumerate(columns):
        drawn.add_column(
            name,
            justify="right" if number in right else "left",
            no_wrap=number != grow,
            overflow="ellipsis" if number != grow else "fold",
        )
    for row in rows:
        drawn.add_row(*map(printable, row))
    _draw(drawn)


def facts(rows: Iterable[tuple[str, str]]) -> None:
    """Print names and what is to be said of them, indented."""
    from rich.padding import Padding
    from rich.table import Table

    drawn = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    drawn.add_column(style="dim", no_wrap=True)
    drawn.add_column()
    for name, text in rows:
        drawn.add_row(name, printable(text))
    _draw(Padding(drawn, (0, 0, 0, 2)))


def markdown(text: str) -> None:
    """Print a text that is written in Markdown."""
    from rich.markdown import Markdown

    _draw(Markdown(printable(text), hyperlinks=False))


def _draw(what: "RenderableType") -> None:
    """Print something of rich's, without the blanks with which it fills up every line."""
    screen = console()
    with screen.capture() as caught:
        screen.print(what)
    for row in caught.get().splitlines():
        print(row.rstrip())


def bars(rows: Sequence[tuple[str, int]]) -> None:
    """Print a bar for each count, the longest as long as there is room."""
    colour = has_colour(sys.stdout)
    most = max((count for _, count in rows), default=0) or 1
    names = max((len(name) for name, _ in rows), default=0)
    for name, count in rows:
        bar = _bar(count / most, colour=colour)
        print(f"  {name:>{names}}  {bar}  {count:,}".rstrip())


def _bar(share: float, *, colour: bool) -> str:
    if not colour:
        return ("#" * round(share * _BAR)).ljust(_BAR)
    full, rest = divmod(round(share * _BAR * 8), 8)
    drawn = ("█" * full + (_EIGHTHS[rest] if rest else "")).ljust(_BAR)
    return f"\x1b[36m{drawn}\x1b[0m"


def count(number: int, noun: str) -> str:
    """Say how many, in words: `1 pair`, `2,000 pairs`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def share(part: int, whole: int) -> str:
    """Say which share this is, without calling something nothing or most all."""
    if not part:
        return "0 %"
    percent = 100 * part / whole
    if part < whole and percent > 99.95:
        return "> 99.9 %"
    return "< 0.1 %" if percent < 0.05 else f"{percent:.1f} %"


def duration(seconds: float) -> str:
    """Say how long something takes, roughly."""
    if seconds < 1:
        return "under a second"
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def about(number: float) -> str:
    """Say a large number in two digits."""
    for size, name in ((1e9, " billion"), (1e6, " million")):
        if number >= size:
            return f"{number / size:.1f}{name}"
    digits = max(0, len(str(int(number))) - 2)
    return f"{round(number, -digits):,.0f}"


@contextmanager
def progress(what: str, unit: str, *, wanted: bool = True) -> Iterator[Callable[[int], None]]:
    """Show on stderr, while a terminal is there to see it, how much is done; call what is given with the count."""
    if not (wanted and sys.stderr.isatty()):
        yield lambda _done: None
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        TextColumn("{task.completed:,.0f} " + unit),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console(sys.stderr), transient=True) as shown:
        task = shown.add_task(what, total=None, rate="")

        def tell(done: int) -> None:
            elapsed = shown.tasks[0].elapsed or 0
            shown.update(task, completed=done, rate=f"{done / elapsed:,.0f} a second" if elapsed > 1 else "")

        yield tell
