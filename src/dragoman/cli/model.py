"""What the command line says of a model: its shape in words, and which engine runs it."""

from typing import TYPE_CHECKING

from dragoman.cli import show
from dragoman.cli.options import EngineName
from dragoman.errors import ModelError

if TYPE_CHECKING:
    from dragoman.checkpoint import ModelDirectory
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
        sizes = f"width {model.width}, {model.heads} heads, feed-forward {model.feed_forward}"
        return f"Transformer of {layers}, {sizes}, dropout {model.dropout:g}{_unusual(model)}"
    ways = "two ways" if model.two_way else "one way"
    width = f"width {model.width}" + (f" and {model.decoder_width}" if model.decoder_width else "")
    looks = _LOOKS.get(model.look, f"{model.look} attention {model.attend} each step")
    fed = ", input feeding" if model.input_feeding else ""
    return f"recurrent ({model.cell.upper()}, {ways}) of {layers}, {width}, {looks}{fed}, dropout {model.dropout:g}"


def _unusual(model: "Model") -> str:
    """What of a Transformer is not as usual."""
    told = [f", {getattr(model, name)} {name}" for name in ("scores", "positions") if _differs(model, name)]
    told += [f", {model.norm}-norm"] if _differs(model, "norm") else []
    return "".join(told) + ("" if model.residual else ", no residual paths")


def _differs(model: "Model", name: str) -> bool:
    return bool(getattr(model, name) != getattr(type(model), name))


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
