"""The command: its verbs, and the one place where an error becomes two lines on stderr and an exit code.

Nothing heavy is imported here or by the verbs' modules: each verb imports what it needs when it runs.
"""

import os
import sys
import traceback
from contextlib import suppress
from typing import Annotated, NoReturn, TextIO

import typer

from dragoman import __version__
from dragoman.cli import show
from dragoman.cli.about import about
from dragoman.cli.check import check
from dragoman.cli.compare import compare
from dragoman.cli.demo import demo
from dragoman.cli.evaluate import evaluate
from dragoman.cli.export import export
from dragoman.cli.generate import generate
from dragoman.cli.look import look
from dragoman.cli.recipe import recipe
from dragoman.cli.serve import serve
from dragoman.cli.tour import tour
from dragoman.cli.train import train
from dragoman.cli.translate import translate
from dragoman.errors import DragomanError, InterruptedByUserError

INTERRUPTED, BROKEN = 130, 70
_TRACEBACK = "DRAGOMAN_TRACEBACK"

app = typer.Typer(
    name="dragoman",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dragoman {__version__}")
        raise typer.Exit


@app.callback()
def _dragoman(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Translation by attention: train on your own parallel text, translate, and look inside every step.

    \b
      dragoman check pairs.tsv                            what a corpus holds, and what training would do
      dragoman train pairs.tsv --from en --to es --out my-model --minutes 20
      dragoman translate -m my-model "Good morning."
      dragoman look -m my-model "Good morning."           every layer and head
    """  # noqa: D301 -- \b keeps the examples' lines apart


app.command(short_help="What a corpus holds, and what training on it would do.")(check)
app.command(short_help="Train a model on parallel text.")(train)
app.command(short_help="Translate texts, or the lines of stdin.")(translate)
app.command(short_help="Translate over HTTP.")(serve)
app.command(short_help="Score a model on a test set, or against another.")(evaluate)
app.command(short_help="Train recipes side by side, and report.")(compare)
app.command(short_help="Look inside a translation, head by head.")(look)
app.command(short_help="Walk through attention with the lectures' numbers.")(tour)
app.command(short_help="What a model is, and from whose text it has learned.")(about)
app.command(short_help="Write a model for other programs.")(export)
app.command(short_help="Write the built-in corpus.")(generate)
app.command(short_help="Print every setting and its default.")(recipe)
app.command(short_help="Train on the built-in corpus and look at the result.")(demo)


def run() -> NoReturn:
    """Run the command and leave with its exit code; what `dragoman` on the command line calls."""
    try:
        code = _run()
    except BrokenPipeError:  # there is something to complain about, and nobody who reads it
        _forget(sys.__stdout__)
        _forget(sys.__stderr__)
        code = 1
    sys.exit(code)


def _run() -> int:
    try:
        code = _call()
        sys.stdout.flush()
    except InterruptedByUserError as stopped:  # as was wanted
        show.note(stopped.message)
        show.hint(stopped.hint)
        return stopped.exit_code
    except DragomanError as error:
        show.complain(error.message, error.hint)
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # whoever read our output has read enough
        _forget(sys.__stdout__)
        return 1
    except OSError as error:
        _forget(sys.__stdout__)
        where = f"{error.filename}: " if error.filename else ""
        show.complain(f"{where}{error.strerror or error}", "check the name, its permissions and the free space")
        return 1
    except Exception as error:  # noqa: BLE001 -- the last resort: a user sees no traceback unless asked for
        if os.environ.get(_TRACEBACK):
            traceback.print_exc()
        else:
            what = f"{type(error).__name__}: {error}".strip(": ")
            show.complain(f"a mistake in dragoman itself ({what})", f"please report it with what {_TRACEBACK}=1 prints")
        return BROKEN
    return code


def _call() -> int:
    """Call typer, which always leaves by SystemExit; it shows mistakes in the use of options by itself."""
    try:
        app()
    except SystemExit as leaving:
        code = leaving.code
        (sys.__stdout__ or sys.stdout).flush()  # typer may have put something quieter in its place
        return code if isinstance(code, int) else int(code is not None)
    return 0


def _forget(stream: TextIO | None) -> None:
    """Send what is still to be written nowhere, or Python complains about it on its way out."""
    with suppress(OSError, ValueError):
        if stream is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
