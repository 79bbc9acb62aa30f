"""TOML to Recipe and back, with messages that name the nearest setting.

A recipe file holds only what differs from the defaults; a model holds all of it. `--set section.name=value` changes one
setting, its value written as in TOML (quotation marks around a word may be left out).
"""

import dataclasses
import difflib
import json
import tomllib
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dragoman.config import Model, Recipe
from dragoman.errors import RecipeError


def read_recipe(path: Path) -> Recipe:
    """Read a recipe file."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RecipeError(
            f"{path}: cannot be read ({error})", hint="give a TOML file, such as one of recipes/*.toml"
        ) from error
    return parse_recipe(text, where=str(path))


def parse_recipe(text: str, *, where: str) -> Recipe:
    """Turn TOML into a recipe, defaults filled in."""
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RecipeError(f"{where}: not TOML: {error}", hint="mend the file at that line") from error
    recipe = _fill(Recipe, tree, "")
    assert isinstance(recipe, Recipe)
    return check(recipe)


def settings_in(path: Path) -> list[str]:
    """The settings that a recipe file makes itself, as `--set` would give them: to be laid over another recipe."""
    read_recipe(path)  # which complains about what is wrong with it
    tree = tomllib.loads(path.read_text(encoding="utf-8"))
    sections = [(f"{name}.", value) for name, value in tree.items() if isinstance(value, Mapping)]
    top = {name: value for name, value in tree.items() if not isinstance(value, Mapping)}
    return [f"{prefix}{name}={_toml(value)}" for prefix, some in [("", top), *sections] for name, value in some.items()]


def write_recipe(recipe: Recipe) -> str:
    """Turn a recipe into TOML; settings that are still open (None) are left out."""
    top, sections = [], []
    for name, value in _fields(recipe):
        if dataclasses.is_dataclass(value):
            lines = [f"{key} = {_toml(v)}" for key, v in _fields(value) if v is not None]
            sections.append("\n".join([f"[{name}]", *lines]))
        else:
            top.append(f"{name} = {_toml(value)}")
    return "\n\n".join(["\n".join(top), *sections]) + "\n"


def override(recipe: Recipe, settings: Sequence[str]) -> Recipe:
    """Apply `section.name=value` settings, in order."""
    for setting in settings:
        path, equals, text = setting.partition("=")
        if not equals:
            raise RecipeError(
                f"--set {setting}: there is no value", hint="write --set section.name=value, such as model.width=256"
            )
        section, _, name = path.strip().rpartition(".")
        tree: dict[str, Any] = {name: _value(text.strip())}
        filled = _fill_onto(recipe, {section: tree} if section else tree, "")
        assert isinstance(filled, Recipe)
        recipe = filled
    return check(recipe)


def check(recipe: Recipe) -> Recipe:
    """Complain about every setting that has a value it cannot have, all at once."""
    problems = [text for wrong, text in _RULES if wrong(recipe)]
    for section, name, low, high in _RANGES:
        value = getattr(getattr(recipe, section), name)
        if value is not None and not low <= value < high:
            problems.append(f"{section}.{name} must be at least {low} and below {high}")
    problems += _impossible(recipe.model)
    for section, name, least in _LEAST:
        value = getattr(getattr(recipe, section), name)
        if value is not None and value < least:
            problems.append(f"{section}.{name} is {value}, but must be at least {least}")
    if problems:
        raise RecipeError("; ".join(problems), hint="docs/recipes.md lists every setting and what it may be")
    return recipe


def _impossible(model: Model) -> list[str]:
    """Settings of the network that do not go together, both named."""
    problems = []
    if model.width and model.heads and model.width % model.heads:
        problems.append(f"model.width is {model.width}, which model.heads = {model.heads} does not divide")
    elif model.width and model.heads and model.positions == "rotary" and model.width // model.heads % 2:
        problems.append(
            f'model.positions = "rotary" turns pairs, but a head has model.width / model.heads = '
            f"{model.width // model.heads} numbers"
        )
    foreign = _TRANSFORMER_ONLY if model.kind == "recurrent" else _RECURRENT_ONLY
    problems += [
        f"model.{name} = {_toml(getattr(model, name))} is not for model.kind = {_toml(model.kind)}"
        for name in foreign
        if getattr(model, name) != getattr(Model, name)
    ]
    if model.kind != "recurrent" or model.width is None:
        return problems
    if model.two_way and model.width % 2:
        problems.append(f"model.width is {model.width}, but model.two_way halves it")
    if model.look in ("dot", "cosine") and model.decoder_width not in (0, model.width):
        problems.append(
            f"model.look = {_toml(model.look)} needs model.decoder_width = {model.decoder_width} "
            f"to be model.width = {model.width}; bilinear and mlp do not"
        )
    return problems


_LEAST = (
    ("model", "encoder_layers", 1),
    ("model", "decoder_layers", 1),
    ("model", "width", 1),
    ("model", "heads", 1),
    ("model", "feed_forward", 1),
    ("cleaning", "max_characters", 1),
    ("cleaning", "dev_pairs", 1),
    ("model", "decoder_width", 0),
    ("pieces", "max_length", 8),
    ("training", "batch_pieces", 1),
    ("training", "score_pairs", 1),
    ("training", "judge_pairs", 1),
    ("training", "scorings", 1),
    ("training", "warmup_updates", 0),
    ("training", "patience", 0),
    ("training", "forcing_updates", 1),
    ("training", "processes", 1),
    ("search", "beam", 1),
    ("search", "best", 1),
    ("search", "top_k", 0),
    ("search", "max_length", 1),
)
_TRANSFORMER_ONLY = ("heads", "feed_forward", "norm", "residual", "scores", "positions", "position_base")
_RECURRENT_ONLY = ("cell", "two_way", "look", "attend", "input_feeding", "decoder_width")


_RANGES = (
    ("model", "dropout", 0, 1),
    ("training", "label_smoothing", 0, 1),
    ("training", "agreement", 0, 100),
    ("training", "average", 0, 1),
    ("training", "momentum", 0, 1),
    ("training", "adam_betas_first", 0, 1),
    ("training", "adam_betas_second", 0, 1),
    ("training", "weight_decay", 0, 10),
    ("training", "peak_rate", 0, 10),
    ("pieces", "sampling", 0, 10),
    ("search", "length_penalty", -10, 10),
)
_RULES: Sequence[tuple[Callable[[Recipe], bool], str]] = (
    (lambda r: not r.training.clip_norm > 0, "training.clip_norm must be above 0"),
    (lambda r: not r.training.save_seconds >= 0, "training.save_seconds must be at least 0"),
    (lambda r: not 0 < r.training.decay_share <= 1, "training.decay_share must be above 0 and at most 1"),
    (lambda r: not 0 <= r.training.joined <= 1, "training.joined must be at least 0 and at most 1"),
    (
        lambda r: r.pieces.size is not None and r.pieces.size < 300,
        "pieces.size must be at least 300: the bytes need 260",
    ),
    (lambda r: r.pieces.max_length >= 2**16, "pieces.max_length may be at most 65535"),
    (lambda r: not r.search.temperature > 0, "search.temperature must be above 0"),
    (lambda r: not 0 < r.search.top_p <= 1, "search.top_p must be above 0 and at most 1"),
    (lambda r: r.search.beam > 100 or r.search.best > 100, "search.beam and search.best may be at most 100"),
    (
        lambda r: r.search.top_k == 1 and r.search.best > r.search.beam,
        "search.best is greater than search.beam: a beam returns at most as many as it holds",
    ),
    (
        lambda r: r.training.forcing == "professor" and r.model.kind != "recurrent",
        'training.forcing = "professor" is not for model.kind = "transformer"',
    ),
    (
        lambda r: r.training.agreement > 0 and r.training.forcing != "teacher",
        'training.agreement is only for training.forcing = "teacher"',
    ),
    (lambda r: not r.model.position_base > 1, "model.position_base must be above 1"),
    (lambda r: not r.cleaning.max_ratio >= 1, "cleaning.max_ratio must be at least 1"),
    (
        lambda r: r.training.device != "cpu" and (r.training.processes or 1) > 1,
        "training.processes must be 1 on a graphics card",
    ),
    (lambda r: r.training.seed < 0 or r.search.seed < 0, "a seed must be at least 0"),
)


def _fields(node: Any) -> list[tuple[str, Any]]:
    return [(f.name, getattr(node, f.name)) for f in dataclasses.fields(node)]


def _fill(kind: type, tree: Mapping[str, Any], prefix: str) -> Any:
    return _fill_onto(kind(), tree, prefix)


def _fill_onto(node: Any, tree: Mapping[str, Any], prefix: str) -> Any:
    """Return `node` with the tree's values in place of its own."""
    hints = typing.get_type_hints(type(node))
    changes = {}
    for name, value in tree.items():
        if name not in hints:
            raise _unknown(name, list(hints), prefix)
        current = getattr(node, name)
        if dataclasses.is_dataclass(current):
            if not isinstance(value, Mapping):
                raise RecipeError(
                    f"{name} is a section, not a setting", hint=f"write [{name}] and its settings below it"
                )
            changes[name] = _fill_onto(current, value, f"{name}.")
        else:
            changes[name] = _cast(value, hints[name], prefix + name)
    return dataclasses.replace(node, **changes)


def _unknown(name: str, known: list[str], prefix: str) -> RecipeError:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    where = prefix.rstrip(".") or "the recipe"
    guess = f"; did you mean '{near[0]}'?" if near else ""
    return RecipeError(f"{where} has no setting '{name}'{guess}", hint=f"it has: {', '.join(known)}")


def _cast(value: Any, kind: Any, name: str) -> Any:
    """Check a value against its type; whole numbers may stand where fractions are asked for."""
    if typing.get_origin(kind) in (types.UnionType, typing.Union):
        kind = next(k for k in typing.get_args(kind) if k is not type(None))
    if typing.get_origin(kind) is typing.Literal:
        choices = typing.get_args(kind)
        if value in choices:
            return value
        raise RecipeError(f"{name} is {value!r}", hint=f"it can be {' or '.join(map(repr, choices))}")
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is kind:
        return value
    words = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}
    raise RecipeError(f"{name} is {value!r}", hint=f"it must be {words[kind]}")


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"x = {text}")["x"]
    except tomllib.TOMLDecodeError:
        return text


def _toml(value: Any) -> str:
    if isinstance(value, float):
        return repr(value)  # `inf` is TOML, `Infinity` is not
    # JSON's strings, numbers and booleans are TOML's too, but for the one control character that JSON lets pass.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
