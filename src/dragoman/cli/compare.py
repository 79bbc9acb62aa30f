"""`dragoman compare`: recipes side by side, on the same data, with the same budget."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dragoman.cli import show
from dragoman.cli.options import From, Quiet, To
from dragoman.errors import InterruptedByUserError, RecipeError

if TYPE_CHECKING:
    from dragoman.draw.report import Table
    from dragoman.jobs.compare import Run, Watch
    from dragoman.jobs.comparison.findings import Budget
    from dragoman.jobs.events import Observer

_SHOWN = ("recipe", "seeds", "updates", "BLEU", "against")

ContestFile = Annotated[
    Path, typer.Argument(metavar="TOML", help="Recipes and questions, such as recipes/lectures.toml.")
]
Text = Annotated[
    list[Path] | None,
    typer.Argument(metavar="[FILE]…", help="Parallel text to train on; without it, the built-in corpus."),
]
Dev = Annotated[list[Path] | None, typer.Option("--dev", metavar="FILE", help="Pairs to judge by while training.")]
Test = Annotated[
    list[Path] | None, typer.Option("--test", metavar="FILE", help="Pairs to compare by; kept out of training.")
]
Out = Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Where models, figures and report go.")]
Minutes = Annotated[
    float | None,
    typer.Option(
        "--minutes", metavar="X", help="What each recipe may take, with each seed.", show_default="the file's"
    ),
]
Steps = Annotated[
    int | None,
    typer.Option("--steps", metavar="N", min=1, help="Updates for each, instead.", show_default=False),
]
AtOnce = Annotated[
    int,
    typer.Option("--at-once", metavar="N", min=1, help="Train so many at once, each on its own share of the cores."),
]
Headline = Annotated[bool, typer.Option("--headline", help="Only the headline recipes.")]
Seeds = Annotated[
    list[int] | None,
    typer.Option("--seed", metavar="N", min=0, help="Only this seed; may be repeated.", show_default=False),
]


def compare(  # noqa: PLR0913 -- an option each
    contest: ContestFile,
    files: Text = None,
    *,
    source: From = None,
    target: To = None,
    dev: Dev = None,
    test: Test = None,
    out: Out = Path("comparison"),
    minutes: Minutes = None,
    steps: Steps = None,
    at_once: AtOnce = 1,
    headline: Headline = False,
    seed: Seeds = None,
    quiet: Quiet = False,
) -> None:
    """Train a list of recipes on the same data with the same budget, and write a report that sets them side by side.

    Ctrl-C stops; the same command goes on where it was, and what is finished is not trained again. The report is
    written anew after every run: report.html, report.json, and report.md with its pictures in plots, all in --out.
    With --at-once several are trained side by side, each on its share of the cores: each learns less in its minutes,
    but all are done sooner, for a small network cannot keep many cores busy.

    \b
    Examples:
      dragoman compare recipes/lectures.toml --out comparison
      dragoman compare recipes/lectures.toml --at-once 2 --out comparison
      dragoman compare recipes/lectures.toml train.tsv --test test.tsv --headline --seed 1 --minutes 8 --out other
    """  # noqa: D301 -- \b keeps the examples' lines apart
    from dragoman.jobs.compare import compare as run
    from dragoman.jobs.compare import plan_runs
    from dragoman.jobs.comparison.contest import read_contest
    from dragoman.jobs.comparison.findings import Budget
    from dragoman.jobs.comparison.work import Data

    read = read_contest(contest)
    if minutes is not None and (steps is not None or not minutes > 0):
        raise RecipeError("a comparison has one budget, above 0", hint="give --minutes, or --steps, or neither")
    budget = Budget(None if steps else minutes or read.minutes, steps, at_once)
    data = Data(files or (), dev or (), test or (), source or "", target or "")
    runs = plan_runs(read, seed or (), headline=headline)

    try:
        with _watching(out, budget, quiet=quiet) as watch:
            written = run(read, runs, out, data, budget, watch)
    except InterruptedByUserError as error:
        raise InterruptedByUserError(error.message, hint="give the same command again, and it goes on") from error
    show.heading(read.title)
    _print(written.overview)
    show.line()
    show.facts([("report", f"{out / 'report.html'}, {out / 'report.md'}, {out / 'report.json'}")])


@contextmanager
def _watching(out: Path, budget: "Budget", *, quiet: bool) -> Iterator["Watch"]:
    """Show each run on its own, or several in a row each."""
    from dragoman.cli.live import follow
    from dragoman.cli.several import follow_several

    @contextmanager
    def watch(run: "Run", number: int, count: int) -> Iterator["Observer"]:
        if not quiet:
            show.note(f"{number} of {count}: {run.entry.label}, seed {run.seed}, {budget}")
        with follow(out / "models" / run.name, quiet=quiet) as observe:
            yield observe

    if budget.at_once == 1:
        yield watch
        return
    with follow_several(quiet=quiet) as begin:
        yield lambda run, number, count: begin(
            f"{number} of {count}: {run.entry.label}, seed {run.seed}", out / "models" / run.name
        )


def _print(overview: "Table") -> None:
    """The main columns; the report has them all."""
    names = list(overview.columns)
    chosen = [names.index(name) for name in _SHOWN if name in names]
    rows = [[row[n] for n in chosen] for row in overview.rows]
    show.table([names[n] for n in chosen], rows, right=(1, 2, 3))
