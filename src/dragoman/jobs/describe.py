"""A recipe in words, and what became of it."""

from collections.abc import Mapping
from typing import Any

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


def training_in_words(card: Mapping[str, Any], recipe: Recipe) -> list[tuple[str, str]]:
    """How a model was trained and how it is served, each under its name, from its card and its recipe."""
    training, fast = card["training"], card["fast"]
    served = f"the fast engine in {fast['use']}" if fast["use"] else f"the plain engine: {fast['why']}"
    run = f"{training['updates']:,} updates, {training['epochs']:,} whole epochs, {minutes(training['seconds'])}"
    return [
        ("model", f"{in_words(recipe.model)}; {training['parameters']:,} parameters"),
        ("vocabulary", f"up to {recipe.pieces.size:,} pieces, at most {recipe.pieces.max_length} a sentence"),
        ("learning", learning_in_words(recipe)),
        ("run", run),
        ("kept", _kept(training["best_update"])),
        ("serving", f"{served}, beam {recipe.search.beam}"),
    ]


def minutes(seconds: float) -> str:
    """How long a training took."""
    return f"{seconds:.0f} seconds" if seconds < 90 else f"{seconds / 60:.1f} minutes"


def _kept(update: int) -> str:
    if update == 0:
        return "the weights of the model that it began from, for none scored better"
    return f"the weights after update {update:,}, which scored best"
