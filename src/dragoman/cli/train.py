"""`dragoman train`: from parallel text to a model directory."""

import time
from pathlib import Path
from typing import Annotated

import typer

from dragoman.cli import show

STARTED = time.monotonic()
"""When the command began; `--minutes` counts from here."""


def train(  # noqa: PLR0913 -- an option each
    inputs: Annotated[
        list[Path] | None,
        typer.Argument(help="Parallel text: .tsv, .csv, .jsonl, .tmx, or train.en train.es; each also .gz."),
    ] = None,
    *,
    source: Annotated[str, typer.Option("--from", help="Language to translate from, such as en.")] = "",
    target: Annotated[str, typer.Option("--to", help="Language to translate into, such as es.")] = "",
    out: Annotated[Path, typer.Option("--out", "-o", help="The model directory to write.")] = Path("model"),
    minutes: Annotated[
        float | None, typer.Option("--minutes", help="How long it may take, all included: a promise.")
    ] = None,
    steps: Annotated[int | None, typer.Option("--steps", help="How many updates to make, instead.")] = None,
    dev: Annotated[
        list[Path] | None, typer.Option("--dev", help="Pairs to judge by; without it some are held out.")
    ] = None,
    test: Annotated[
        list[Path] | None, typer.Option("--test", help="Pairs to keep out of training, for a later `evaluate`.")
    ] = None,
    recipe: Annotated[Path | None, typer.Option("--recipe", help="Settings as TOML.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="One setting, such as model.width=256; may be repeated.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the training in --out, exactly where it was.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show nothing but errors.")] = False,
) -> None:
    """Train a translator on your own parallel text.

    Sizes are chosen from the corpus. Ctrl-C saves, and --resume goes on exactly where it was.

    \b
    Examples:
      dragoman train pairs.tsv --from en --to es --out my-model --minutes 20
      dragoman train train.en train.de --from en --to de --out my-model --steps 5000 --set model.width=256
      dragoman train --resume --out my-model
    """  # noqa: D301 -- \b keeps the examples' lines apart
    from dragoman.cli.live import follow
    from dragoman.jobs.train import train as run
    from dragoman.recipe import read_recipe

    if resume and (out / "card.json").exists():
        show.note(f"{out}: this training has ended; nothing is left to do")
    with follow(out, quiet=quiet) as observe:
        run(
            inputs or [],
            out=out,
            source_language=source,
            target_language=target,
            minutes=minutes,
            steps=steps,
            dev=dev or [],
            test=test or [],
            recipe=read_recipe(recipe) if recipe else None,
            settings=settings or [],
            resume=resume,
            observe=observe,
            started=STARTED,
        )
