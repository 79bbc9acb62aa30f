"""Options that several verbs share, so that they read the same everywhere."""

from pathlib import Path
from typing import Annotated, Literal

import typer

EngineName = Literal["fast", "plain"]

Model = Annotated[
    Path | None,
    typer.Option(
        "--model",
        "-m",
        metavar="DIR",
        help="The model: a directory that `dragoman train` wrote, or one in the box by its direction, such as es-en.",
        show_default="en-es, in the box",
    ),
]
Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE",
        help="Parallel text: TSV, CSV, JSON lines, TMX, or two files such as train.en train.es; each may end in .gz.",
        show_default=False,
    ),
]
From = Annotated[
    str | None, typer.Option("--from", metavar="CODE", help="The source language, such as en.", show_default=False)
]
To = Annotated[
    str | None, typer.Option("--to", metavar="CODE", help="The target language, such as es.", show_default=False)
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="SECTION.NAME=VALUE", help="Change one setting of the recipe.", show_default=False),
]
RecipeFile = Annotated[
    Path | None,
    typer.Option("--recipe", metavar="TOML", help="A recipe; `dragoman recipe` prints one.", show_default=False),
]
Beam = Annotated[
    int | None,
    typer.Option("--beam", metavar="N", help="Hypotheses kept side by side; 1 is greedy.", show_default="the model's"),
]
LengthPenalty = Annotated[
    float | None,
    typer.Option(
        "--length-penalty", metavar="X", help="Above 1 favours longer translations.", show_default="the model's"
    ),
]
MaxLength = Annotated[
    int | None,
    typer.Option(
        "--max-length",
        metavar="N",
        help="Pieces after which a translation is stopped and flagged.",
        show_default="the model's",
    ),
]
Engine = Annotated[
    EngineName,
    typer.Option(
        "--engine", help="fast is CTranslate2; plain is NumPy, which gives the same translations more slowly."
    ),
]
Threads = Annotated[
    int | None,
    typer.Option("--threads", metavar="N", min=1, help="Threads of the fast engine.", show_default="all cores"),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing on stderr but errors.")]
