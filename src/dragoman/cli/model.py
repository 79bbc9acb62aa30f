"""What the command line says of a model: its shape in words, and which engine runs it."""

from typing import TYPE_CHECKING

from dragoman.cli import show
from dragoman.cli.options import EngineName

if TYPE_CHECKING:
    from dragoman.config import Model, Recipe

_LOOKS = {
    "last": "without attention, from its last state",
    "mean": "without attention, from the mean of its states",
    "fixed": "weighted by place",
}


def in_words(model: "Model") -> str:
    """The shape of a network whose sizes are filled in."""
    layers = f"{model.encoder_layers}+{model.decoder_layers} layers"
    if model.kind == "transformer":
        return (
            f"Transformer of {layers}, width {model.width}, {model.heads} heads, feed-forward {model.feed_forward}, "
            f"dropout {model.dropout:g}"
        )
    ways = "two ways" if model.two_way else "one way"
    width = f"width {model.width}" + (f" and {model.decoder_width}" if model.decoder_width else "")
    looks = _LOOKS.get(model.look, f"{model.look} attention {model.attend} each step")
    fed = ", input feeding" if model.input_feeding else ""
    return f"recurrent ({model.cell.upper()}, {ways}) of {layers}, {width}, {looks}{fed}, dropout {model.dropout:g}"


def tell_engine(recipe: "Recipe", asked: EngineName) -> None:
    """Say so if the fast engine was asked for and cannot run the model."""
    from dragoman.engine.base import needs_plain

    if asked == "fast" and (why := needs_plain(recipe.model)):
        show.note(f"the plain engine translates, which is slower: {why}")
