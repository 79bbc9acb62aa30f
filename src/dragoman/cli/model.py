"""What the command line says of a model: what it cannot do, and which engine runs it."""

from typing import TYPE_CHECKING

from dragoman.cli import show
from dragoman.cli.options import EngineName
from dragoman.errors import ModelError

if TYPE_CHECKING:
    from dragoman.checkpoint import ModelDirectory
    from dragoman.config import Recipe


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
