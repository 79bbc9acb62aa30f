"""`dragoman export`: a model for other programs."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from dragoman.cli import show
from dragoman.cli.options import Model

Out = Annotated[Path, typer.Argument(metavar="DIR", help="The directory to write.", show_default=False)]
To = Annotated[Literal["ctranslate2"], typer.Option("--to", help="The format.")]
Quantization = Annotated[
    Literal["float32", "int8"],
    typer.Option("--quantization", help="int8 is a quarter of the size and loses very little."),
]
Force = Annotated[bool, typer.Option("--force", help="Replace an earlier export.")]


def export(
    model: Model, out: Out, to: To = "ctranslate2", quantization: Quantization = "float32", force: Force = False
) -> None:
    """Write a model for other programs: a CTranslate2 directory, with its vocabulary and a note on how to use it.

    \b
    Examples:
      dragoman export -m my-model --to ctranslate2 out/
      dragoman export -m my-model --to ctranslate2 --quantization int8 out/
    """  # noqa: D301 -- \b keeps the examples' lines apart
    from dragoman.jobs.export import export_model

    written = export_model(model, out, kind=quantization, to=to, force=force)
    show.heading(f"{out}  ({quantization}, for CTranslate2)")
    show.facts([(path.name, f"{path.stat().st_size:,} bytes") for path in written])
