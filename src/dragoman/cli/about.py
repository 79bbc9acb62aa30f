"""`dragoman about`: what a model says of itself."""

import json

from dragoman.cli import show
from dragoman.cli.options import Json, Model

_LONGEST, _SHOWN = 1200, 300  # characters of a paragraph; a list of a thousand names is longer


def about(*, model: Model = None, as_json: Json = False) -> None:
    """Say what a model is: languages, scores with their signatures, text, training, and from whose text it has learned.

    \b
    Examples:
      dragoman about                          the model in the box
      dragoman about -m my-model
      dragoman about -m my-model --json       its card, with the attribution in full
    """  # noqa: D301 -- \b keeps the examples' lines apart
    from dragoman.checkpoint import ATTRIBUTION, ModelDirectory, boxed
    from dragoman.jobs.about import about_model

    directory = ModelDirectory(model)
    told = about_model(directory)
    if as_json:
        print(json.dumps({**directory.card, "attribution": told.attribution}, ensure_ascii=False, indent=2))
        return
    show.heading(told.title)
    show.facts(told.facts)
    if told.attribution:
        print()
        show.markdown(_shortened(told.attribution, str(directory.path / ATTRIBUTION)))
    if model is None:
        show.note(f"in the box: {', '.join(boxed())}; -m names another, or a directory")


def _shortened(text: str, path: str) -> str:
    """Cut paragraphs that nobody reads in a terminal, and say where they are whole."""
    return "\n\n".join(
        part if len(part) <= _LONGEST else f"{part[:_SHOWN].rsplit(' ', 1)[0]} … (in full: {path})"
        for part in text.split("\n\n")
    )
