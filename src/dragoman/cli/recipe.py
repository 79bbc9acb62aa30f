"""`dragoman recipe`: every setting, its default and what it does."""

from typing import Annotated

import typer

Docs = Annotated[bool, typer.Option("--docs", help="Print the reference (docs/recipes.md) instead.")]


def recipe(docs: Docs = False) -> None:
    """Print the default recipe as TOML, every setting with its documentation: a file to start from.

    \b
    Examples:
      dragoman recipe > mine.toml
      dragoman recipe --docs
    """  # noqa: D301 -- \b keeps the examples' lines apart
    from dragoman.jobs.reference import write_defaults, write_reference

    print(write_reference() if docs else write_defaults(), end="")
