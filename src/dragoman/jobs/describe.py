"""A recipe in words."""

from dragoman.config import Model, Recipe

_LOOKS = {
    "last": "without attention, from its last state",
    "mean": "without attention, from the mean of its states",
    "fixed": "weighted by place",
}


def in_words(model: Model) -> str:
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


def _unusual(model: Model) -> str:
    """What of a Transformer is not as usual."""
    told = [f", {getattr(model, name)} {name}" for name in ("scores", "positions") if _differs(model, name)]
    told += [f", {model.norm}-norm"] if _differs(model, "norm") else []
    return "".join(told) + ("" if model.residual else ", no residual paths")


def _differs(model: Model, name: str) -> bool:
    return bool(getattr(model, name) != getattr(type(model), name))


def learning_in_words(recipe: Recipe) -> str:
    """How a network learned, from a recipe that is filled in."""
    training = recipe.training
    optimiser = "Muon and AdamW" if training.optimiser == "muon" else "AdamW"
    forcing = "" if training.forcing == "teacher" else f", {training.forcing} forcing"
    return (
        f"{optimiser}, batches of {training.batch_pieces:,} target pieces, a rate of {training.peak_rate:.3g} after "
        f"up to {training.warmup_updates:,} updates of warm-up ({training.schedule}), label smoothing "
        f"{training.label_smoothing:g}{forcing}{_helped(recipe)}, seed {training.seed}"
    )


def _helped(recipe: Recipe) -> str:
    """What helps against learning by heart, or with long sentences, where it is used."""
    helps = {
        "agreement of two passes": recipe.training.agreement,
        "subword sampling": recipe.pieces.sampling,
        "joined sentences": recipe.training.joined,
    }
    return "".join(f", {name} {value:g}" for name, value in helps.items() if value)
