"""Start a training from a model: what is taken over, what suits a smaller task, and what changed by it.

Vocabulary, network and weights are the model's. A copy of the model lies in run/start until the training is finished,
so that one which is taken up again needs nothing else. The reasons for the numbers below are in docs/decisions/0008.
"""

import dataclasses
import json
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from dragoman.checkpoint import ModelDirectory, sync_directory, write_bytes, write_json
from dragoman.config import Recipe, Search, Training
from dragoman.engine.load import load_translator
from dragoman.errors import ModelError, TrainingError
from dragoman.evaluation.compare import compare
from dragoman.recipe import override
from dragoman.text.tokenizer import Tokenizer

if TYPE_CHECKING:
    from dragoman.training.learner import Learner

RATE_SHARE: Final = 0.2
"""The peak rate, as a share of the one the model was trained with."""
WARMUP_UPDATES: Final = 50
PASSES: Final = 10
"""How often the text is seen if neither time nor updates are given."""
MIX_SHARE: Final = 0.3
"""Share of the old domain in every epoch, if some is mixed in."""

METRICS: Final = {"bleu": "BLEU", "chrf": "chrF", "ter": "TER"}
"""The scores of a card, and what they are called."""

_OF_THE_NETWORK = ("size", "max_length")
_TAKEN_OVER = (
    "optimiser",
    "momentum",
    "label_smoothing",
    "weight_decay",
    "adam_betas_first",
    "adam_betas_second",
    "clip_norm",
)
_SHOWN_CHARACTERS = 10
_TEXTS = {"new": "new text", "old": "old domain"}


def start_recipe(
    model: ModelDirectory, asked: Recipe | None, settings: Sequence[str], spoken: tuple[str, str]
) -> Recipe:
    """The recipe of a training that starts from a model; what a person asks for wins, but for the network's shape."""
    asked, own = asked or Recipe(), model.recipe
    suited = Training(
        **{name: getattr(own.training, name) for name in _TAKEN_OVER},
        peak_rate=None if own.training.peak_rate is None else RATE_SHARE * own.training.peak_rate,
        warmup_updates=WARMUP_UPDATES,
    )
    begun = Recipe(
        source_language=spoken[0] or asked.source_language or own.source_language,
        target_language=spoken[1] or asked.target_language or own.target_language,
        cleaning=asked.cleaning,
        pieces=_lay_over(own.pieces, asked.pieces),
        model=_lay_over(dataclasses.replace(own.model, dropout=None), asked.model),
        training=_lay_over(suited, asked.training),
        search=_lay_over(own.search, asked.search),
    )
    recipe = override(begun, settings)
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
    if any(mine and mine != wanted for mine, wanted in zip(own, asked, strict=True)):
        raise TrainingError(
            f"{model.path} translates {own[0]} to {own[1]}, but {asked[0]} to {asked[1]} was asked for",
            hint="leave --from and --to out, or start from a model of these languages",
        )


def _check_shape(model: ModelDirectory, recipe: Recipe) -> None:
    """Refuse another vocabulary or another network than the model's, every setting named with both values."""
    own = model.recipe
    names = [("model", f.name) for f in dataclasses.fields(own.model) if f.name != "dropout"]
    names += [("pieces", name) for name in _OF_THE_NETWORK]
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
            hint="copy the model directory again from where it was trained",
        ) from error


def spelling(tokenizer: Tokenizer, characters: Iterable[str], texts: Sequence[str]) -> str | None:
    """Say which characters the vocabulary cannot spell but in bytes, and how many pieces of a text that takes."""
    unknown = sorted(c for c in characters if tokenizer.is_spelt(tokenizer.encode(c)))
    if not unknown:
        return None
    encoded = [piece for pieces in tokenizer.encode_all(texts) for piece in pieces]
    percent = 100 * sum(tokenizer.is_spelt([piece]) for piece in encoded) / max(1, len(encoded))
    some = " ".join(unknown[:_SHOWN_CHARACTERS]) + (" …" if len(unknown) > _SHOWN_CHARACTERS else "")
    return (
        f"the vocabulary does not know {len(unknown):,} of the text's characters ({some}) and spells them in bytes: "
        f"{f'{percent:.1f}' if percent >= 0.1 else 'under 0.1'} % of the pieces"
    )


class Before(NamedTuple):
    """What the model made of the two texts before it learned anything more."""

    new: list[str]
    old: list[str]
    seconds: float
    """How long the old domain's text took."""


def look_before(run: Path, new: Sequence[str], old: Sequence[str], search: Search) -> Before:
    """Translate what will be judged with the model as it was, once for the whole training.

    The search is for the new text; the old domain's is translated as the model does by itself.
    """
    file = run / "before.json"
    try:
        return Before(**json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):  # not there, or not whole: it can be made again
        pass
    translator = load_translator(run / "start")
    found = [t.text for t in translator.translate(new, search=search)]
    begun = time.monotonic()
    before = Before(found, [t.text for t in translator.translate(old)], time.monotonic() - begun)
    write_json(file, before._asdict())
    return before


class Started(NamedTuple):
    """The model that a training started from, for its card."""

    name: str
    sha256: str
    before: Before


def compare_texts(
    before: Sequence[str], after: Sequence[str], references: Sequence[str], language: str
) -> dict[str, Any]:
    """Compare the translations of one text before and after, as the card tells it."""
    tree: dict[str, Any] = {"pairs": len(references)}
    for name, one in zip(METRICS, compare(before, after, references, language=language), strict=True):
        change = one.difference
        tree[name] = {
            "before": {"score": round(one.first.score, 2), "signature": one.signature},
            "after": {"score": round(one.second.score, 2), "signature": one.signature},
            "difference": [round(value, 2) for value in (change.score, change.low, change.high)],
            "p": round(one.p_value, 4),
            "verdict": one.verdict,
        }
    return tree


CHANGE_COLUMNS = ("", "metric", "pairs", "before", "after", "difference", "95 % of draws", "verdict")


def change_rows(start: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The table of before and after, from the card of a model that was started from another."""
    return [
        (told, name, f"{start[text]['pairs']:,}", *_change(start[text][metric]))
        for text, told in _TEXTS.items()
        if text in start
        for metric, name in METRICS.items()
    ]


def _change(one: Mapping[str, Any]) -> tuple[str, ...]:
    difference, low, high = one["difference"]
    return (
        f"{one['before']['score']:.1f}",
        f"{one['after']['score']:.1f}",
        f"{difference:+.1f}",
        f"{low:+.1f} to {high:+.1f}",
        "may be luck" if one["verdict"] == "unsure" else str(one["verdict"]),
    )
