"""`dragoman train`: from parallel text to a model directory."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from dragoman.cli import show
from dragoman.cli.options import From, Quiet, RecipeFile, Settings, To

STARTED = time.monotonic()
"""When the command began; `--minutes` counts from here."""


Inputs = Annotated[
    list[Path] | None,
    typer.Argument(
        help="Parallel text: .tsv, .csv, .jsonl, .tmx, or train.en train.es; each also .gz. "
        "pairs.tsv:2,1 takes a table's columns the other way round."
    ),
]
Out = Annotated[Path, typer.Option("--out", "-o", help="The model directory to write.")]
Minutes = Annotated[
    float | None, typer.Option("--minutes", help="Total time, all included, which is kept. Give this or --steps.")
]
Steps = Annotated[int | None, typer.Option("--steps", help="How many updates to make instead.")]
Dev = Annotated[list[Path] | None, typer.Option("--dev", help="Pairs to judge by; without it some are held out.")]
Test = Annotated[
    list[Path] | None, typer.Option("--test", help="Pairs to keep out of training, for a later `evaluate`.")
]
Start = Annotated[
    Path | None,
    typer.Option(
        "--start",
        metavar="DIR",
        help="A model to begin from, or one in the box, such as en-es; its vocabulary and network are kept.",
    ),
]
Mix = Annotated[
    list[Path] | None,
    typer.Option(
        "--mix", metavar="FILE", help="Other pairs to mix in, such as some of the old domain; may be repeated."
    ),
]
MixShare = Annotated[
    float | None, typer.Option("--mix-share", help="Share of --mix in every epoch.", show_default="0.3")
]
OldTest = Annotated[
    list[Path] | None,
    typer.Option("--old-test", metavar="FILE", help="With --start: a test set of its old domain, to judge by too."),
]
Resume = Annotated[
    bool,
    typer.Option(
        "--resume", help="Go on with the training in --out, where it was; --steps or --minutes change its end."
    ),
]


def train(  # noqa: PLR0913 -- an option each
    inputs: Inputs = None,
    *,
    source: From = None,
    target: To = None,
    out: Out = Path("model"),
    minutes: Minutes = None,
    steps: Steps = None,
    dev: Dev = None,
    test: Test = None,
    recipe: RecipeFile = None,
    settings: Settings = None,
    start: Start = None,
    mix: Mix = None,
    mix_share: MixShare = None,
    old_test: OldTest = None,
    resume: Resume = False,
    quiet: Quiet = False,
) -> None:
    """Train a translator on your own parallel text.

    Sizes are chosen from the corpus. Ctrl-C saves, and --resume goes on exactly where it was, to another end if one is
    given. It ends with a report, OUT/report.html and report.md. With --start a model goes on learning, from your text.

    \b
    Examples:
      dragoman train pairs.tsv --from en --to es --out my-model --minutes 20
      dragoman train train.en train.de --from en --to de --out my-model --steps 5000 --set model.width=256
      dragoman train my.tmx --start en-es --mix old.tsv --old-test old-test.tsv --out my-model
      dragoman train --resume --out my-model --steps 20000
    """  # noqa: D301 -- \b keeps the examples' lines apart
    from dragoman.checkpoint import ModelDirectory, find_model
    from dragoman.cli.live import follow
    from dragoman.jobs.train import train as run

    if resume and (out / "card.json").exists():
        show.note(f"{out}: this training has ended; nothing is left to do")
    with follow(out, quiet=quiet) as observe:
        run(
            inputs or [],
            out=out,
            source_language=source or "",
            target_language=target or "",
            minutes=minutes,
            steps=steps,
            dev=dev or [],
            test=test or [],
            **_asked(recipe, settings or [], starting=start is not None),
            start=find_model(start) if start is not None else None,
            mix=mix or [],
            mix_share=mix_share,
            old_test=old_test or [],
            resume=resume,
            observe=observe,
            started=STARTED,
        )
    if not quiet:
        _print_change(ModelDirectory(out).card)


def _asked(file: Path | None, settings: list[str], *, starting: bool) -> dict[str, Any]:
    """The recipe and the settings on top of it; with a model to start from, what a file leaves open is the model's."""
    from dragoman.recipe import read_recipe, settings_in

    if file is None or not starting:
        return {"recipe": read_recipe(file) if file else None, "settings": settings}
    return {"recipe": None, "settings": [*settings_in(file), *settings]}


def _print_change(card: Mapping[str, Any]) -> None:
    """Print what a training from a model changed, if it was one."""
    from dragoman.jobs.change import CHANGE_COLUMNS, change_caveats, change_rows, kept_start

    if kept := kept_start(card):
        show.note(kept)
    elif "start" in card:
        show.heading(f"Before ({card['start']['name']}) and after")
        show.table(CHANGE_COLUMNS, change_rows(card["start"]), right=(1, 2, 3, 5, 6))
        for caveat in change_caveats(card["start"]):
            show.note(caveat)
