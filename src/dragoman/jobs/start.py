"""Start a training from a model: what is taken over, and what suits a smaller task.

Vocabulary, network and weights are the model's. A copy of the model lies in run/start until the training is finished,
so that one which is taken up again needs nothing else. The reasons for the numbers below are in docs/decisions/0008.
"""

import dataclasses
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dragoman.checkpoint import COPY_AGAIN, ModelDirectory, sync_directory, write_bytes, write_json
from dragoman.config import Model, Recipe, Training
from dragoman.errors import ModelError, TrainingError
from dragoman.recipe import override
from dragoman.text.languages import same_language

if TYPE_CHECKING:
    from dragoman.training.learner import Learner

WARMUP_UPDATES: Final = 50
PASSES: Final = 10
"""How often the text is seen if neither time nor updates are given."""
MIX_SHARE: Final = 0.3
"""Share of what is mixed in, in every epoch, if nothing else is said."""

_TAKEN_OVER = (
    "optimiser",
    "peak_rate",
    "momentum",
    "label_smoothing",
    "weight_decay",
    "joined",
    "adam_betas_first",
    "adam_betas_second",
    "clip_norm",
)


def start_recipe(
    model: ModelDirectory, asked: Recipe | None, settings: Sequence[str], spoken: tuple[str, str]
) -> Recipe:
    """The recipe of a training that starts from a model; what a person asks for wins, but for the network's shape."""
    asked, own = asked or Recipe(), model.recipe
    suited = Training(
        **{name: getattr(own.training, name) for name in _TAKEN_OVER},
        warmup_updates=WARMUP_UPDATES,
    )
    begun = Recipe(
        source_language=spoken[0] or asked.source_language or own.source_language,
        target_language=spoken[1] or asked.target_language or own.target_language,
        cleaning=asked.cleaning,
        pieces=_lay_over(dataclasses.replace(own.pieces, sampling=own.pieces.sampling or None), asked.pieces),
        model=_lay_over(dataclasses.replace(own.model, dropout=None), asked.model),
        training=_lay_over(suited, asked.training),
        search=_lay_over(own.search, asked.search),
    )
    recipe = override(begun, settings)
    source, target = spoken[0] or recipe.source_language, spoken[1] or recipe.target_language
    recipe = dataclasses.replace(recipe, source_language=source, target_language=target)
    _check_languages(model, recipe)
    _check_shape(model, recipe)
    return recipe


def _lay_over(section: Any, asked: Any) -> Any:
    """Put the settings that a recipe sets in place of a section's own."""
    default = type(asked)()
    given = {f.name: getattr(asked, f.name) for f in dataclasses.fields(asked)}
    return dataclasses.replace(section, **{n: value for n, value in given.items() if value != getattr(default, n)})


def _check_languages(model: ModelDirectory, recipe: Recipe) -> None:
    own, asked = ((one.source_language, one.target_language) for one in (model.recipe, recipe))
    if any(mine and not same_language(mine, wanted) for mine, wanted in zip(own, asked, strict=True)):
        raise TrainingError(
            f"{model.path} translates {own[0]} to {own[1]}, but {asked[0]} to {asked[1]} was asked for",
            hint="leave --from and --to out, or start from a model of these languages",
        )


def speak_as(model: ModelDirectory, recipe: Recipe) -> Recipe:
    """Give a recipe the codes of a model, which may lack the region that its text was chosen by."""
    own = {name: getattr(model.recipe, name) for name in ("source_language", "target_language")}
    return dataclasses.replace(recipe, **{name: code for name, code in own.items() if code})


def _check_shape(model: ModelDirectory, recipe: Recipe) -> None:
    """Refuse another vocabulary or another network than the model's, every setting named with both values."""
    own = model.recipe
    names = [("model", f.name) for f in dataclasses.fields(own.model) if f.name != "dropout"]
    names += [("pieces", "size"), *([("pieces", "max_length")] if _knows_places(own.model) else [])]
    wrong = []
    for section, name in names:
        asked, mine = (getattr(getattr(one, section), name) for one in (recipe, own))
        if asked != mine:
            wrong.append(f"{section}.{name} is {mine} there, and {asked} was asked for")
    if wrong:
        raise TrainingError(
            f"{model.path} cannot change its shape: {'; '.join(wrong)}",
            hint="leave these settings out; other sizes need a training from the beginning, without --start",
        )


def _knows_places(model: Model) -> bool:
    """Whether a network has weights for every place, and so a greatest length."""
    return model.positions == "learned" or (model.kind == "recurrent" and model.look == "fixed")


def copy_model(model: ModelDirectory, run: Path) -> None:
    """Copy a model into the run directory, every file checked; the copy appears whole or not at all."""
    part = run / "start.part"
    shutil.rmtree(part, ignore_errors=True)
    for name in model.card["sha256"]:
        (part / name).parent.mkdir(parents=True, exist_ok=True)
        write_bytes(part / name, model.checked(name).read_bytes())
    write_json(part / "card.json", model.card)
    part.rename(run / "start")
    sync_directory(run)


def open_copy(run: Path) -> ModelDirectory | None:
    """The model that the training of a run directory started from, if it did."""
    return ModelDirectory(run / "start") if (run / "start").is_dir() else None


def begin_from(learner: "Learner", model: ModelDirectory) -> None:
    """Give a learner a model's weights."""
    try:
        learner.begin(model.weights())
    except ValueError as error:
        raise ModelError(
            f"{model.path}: the weights are not those of the recipe ({error})",
            hint=COPY_AGAIN,
        ) from error
