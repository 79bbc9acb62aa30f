"""`dragoman export`: a model for other programs, or to be shipped."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from dragoman.cli import show
from dragoman.cli.options import Model

Out = Annotated[Path, typer.Argument(metavar="DIR", help="The directory to write.", show_default=False)]
To = Annotated[
    Literal["ctranslate2", "package"],
    typer.Option("--to", help="For other programs, or dragoman's own form at half the size."),
]
Quantization = Annotated[
    Literal["float32", "int8"] | None,
    typer.Option(
        "--quantization",
        help="For CTranslate2: int8 is a quarter of the size and loses very little.",
        show_default="float32",
    ),
]
Attribution = Annotated[
    Path | None,
    typer.Option(
        "--attribution",
        metavar="FILE",
        help="A text that says from whose text the model has learned; a package must have one.",
        show_default="the model's own",
    ),
]
Test = Annotated[
    list[str] | None,
    typer.Option(
        "--test",
        metavar="NAME=FILE",
        help="A test set, under the name that people know it by, to score a package on for its card; may be repeated.",
        show_default="the model's own scores",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace an earlier export.")]


def export(
    out: Out,
    *,
    model: Model = None,
    to: To = "ctranslate2",
    quantization: Quantization = None,
    attribution: Attribution = None,
    test: Test = None,
    force: Force = False,
) -> None:
    """Write a model for other programs: a CTranslate2 directory, with its vocabulary and a note on how to use it.

    Or, with --to package, as small as it goes for dragoman itself: every command takes the directory as a model. Its
    weights are in half precision, and what CTranslate2 needs is made from them at the first use. With --test it
    translates test sets as it lies there, named as for `dragoman evaluate` (two files by what their names begin with),
    and its card keeps the scores, which `dragoman about` shows.

    \b
    Examples:
      dragoman export -m my-model --to ctranslate2 out/
      dragoman export -m my-model --to ctranslate2 --quantization int8 out/
      dragoman export -m es-en out/                            the model in the box
      dragoman export -m my-model --to package --attribution sources.md en-es/
      dragoman export -m my-model --to package --attribution sources.md --test "News 2012=news.tsv" en-es/
    """  # noqa: D301 -- \b keeps the examples' lines apart
    from dragoman.checkpoint import ModelDirectory
    from dragoman.jobs.export import export_model
    from dragoman.jobs.measure import measured_in_words

    with show.progress("translating the test sets", "lines", wanted=bool(test)) as tell:
        written = export_model(
            model, out, to=to, kind=quantization, attribution=attribution, tests=test or (), force=force, tell=tell
        )
    form = "half precision, for dragoman" if to == "package" else f"{quantization or 'float32'}, for CTranslate2"
    sizes = {path.name: path.stat().st_size for path in written}
    show.heading(f"{out}  ({form})")
    show.facts((name, f"{size:,} bytes") for name, size in {**sizes, "in all": sum(sizes.values())}.items())
    if test:
        show.facts(measured_in_words(ModelDirectory(out).card["tests"]))
