"""What the command line says of a model: what it cannot do, and which engine runs it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dragoman.cli import show
from dragoman.cli.options import EngineName
from dragoman.errors import ModelError

if TYPE_CHECKING:
    from dragoman.checkpoint import ModelDirectory
    from dragoman.config import Recipe

_SURE = 90.0  # of a hundred


def check_attention(directory: "ModelDirectory") -> None:
    """Refuse to align words with a model that has no attention to align them by."""
    from dragoman.engine.base import has_attention

    model = directory.recipe.model
    if not has_attention(model):
        raise ModelError(
            f"{directory.path}: has no attention to align words by (model.look is {model.look})",
            hint="leave out --alignments, or train with model.look = mlp",
        )


def tell_engine(recipe: "Recipe", asked: EngineName) -> None:
    """Say so if the fast engine was asked for and cannot run the model."""
    from dragoman.engine.base import needs_plain

    if asked == "fast" and (why := needs_plain(recipe.model)):
        show.note(f"the plain engine translates, which is slower: {why}")


def tell_language(recipe: "Recipe", texts: Sequence[str]) -> None:
    """Say so if the texts look as if they were in the language that the model translates to."""
    from dragoman.checkpoint import boxed
    from dragoman.text import languages
    from dragoman.text.detect import detect

    pair = recipe.source_language, recipe.target_language
    guesses = detect(" ".join(texts), pair) if all(pair) and pair[0] != pair[1] else []
    if guesses and guesses[0].language == pair[1] and guesses[0].confidence >= _SURE:
        back = f"{pair[1]}-{pair[0]}"
        other = f"; -m {back} translates from it" if back in boxed() else ""
        source, target = map(languages.name, pair)
        show.note(f"this looks like {target}, but the model translates from {source} to {target}{other}")
