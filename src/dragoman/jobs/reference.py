"""The recipe's reference, made from the dataclasses of `dragoman.config` and the docstrings under their fields."""

import ast
import dataclasses
import inspect
import json
from typing import Any, NamedTuple

from dragoman import config

_HEAD = """\
# Recipes

A recipe is a TOML file that holds what should differ from the defaults; `dragoman recipe` prints one to start from. One
setting is changed with `--set section.name=value`. A setting that is *chosen to suit* follows from the
size of the corpus, or from the machine; `dragoman check` shows what would be chosen. The whole recipe, nothing left
open, is copied into every model.

This page is made by `dragoman recipe --docs` from `src/dragoman/config.py`.
"""
OPEN = "chosen to suit"


class Setting(NamedTuple):
    """One setting of the recipe."""

    section: str
    """Empty at the top of the recipe."""
    name: str
    type: str
    default: Any
    docs: str


def settings() -> list[Setting]:
    """Return every setting in the order of the recipe, those at its top first."""
    found = _of_section("", config.Recipe())
    for field in dataclasses.fields(config.Recipe):
        section = getattr(config.Recipe(), field.name)
        if dataclasses.is_dataclass(section):
            found += _of_section(field.name, section)
    return found


def _of_section(name: str, section: Any) -> list[Setting]:
    docs = _field_docs(type(section))
    return [
        Setting(name, field, annotation, getattr(section, field), text)
        for field, (annotation, text) in docs.items()
        if not dataclasses.is_dataclass(getattr(section, field))
    ]


def _field_docs(kind: type) -> dict[str, tuple[str, str]]:
    """Return annotation and docstring of every field, read from the source: at run time the docstrings are gone."""
    tree = ast.parse(inspect.getsource(kind)).body[0]
    assert isinstance(tree, ast.ClassDef)
    found = {}
    for field, below in zip(tree.body, [*tree.body[1:], None], strict=True):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            found[field.target.id] = (ast.unparse(field.annotation), _text(below))
    return found


def _text(statement: ast.stmt | None) -> str:
    match statement:
        case ast.Expr(ast.Constant(str(text))):
            return " ".join(text.split())
    return ""


def write_reference() -> str:
    """Write the reference as Markdown, a table for every section."""
    parts = [_HEAD]
    for section in dict.fromkeys(setting.section for setting in settings()):
        title = f"`[{section}]`" if section else "At the top"
        parts.append(f"## {title}\n\n{_about(section)}\n")
        rows = [
            f"| `{one.name}` | {_type(one.type)} | {_default(one.default)} | {one.docs} |"
            for one in settings()
            if one.section == section
        ]
        parts.append("\n".join(["| setting | type | default | |", "| --- | --- | --- | --- |", *rows]) + "\n")
    return "\n".join(parts)


def write_defaults() -> str:
    """Write the default recipe as TOML, every setting with its documentation; what is left open is commented out."""
    lines = []
    section = ""
    for one in settings():
        if one.section != section:
            section = one.section
            lines += ["", f"# {_about(section)}", f"[{section}]"]
        value = f"# {one.name} =  # {OPEN}" if one.default is None else f"{one.name} = {_toml(one.default)}"
        lines += ["", f"# {one.docs}", value]
    return "\n".join(lines).lstrip("\n") + "\n"


def _about(section: str) -> str:
    kind = type(getattr(config.Recipe(), section)) if section else config.Recipe
    return " ".join((kind.__doc__ or "").split())


def _type(annotation: str) -> str:
    words = {"int": "whole number", "float": "number", "str": "text", "bool": "true or false"}
    bare = annotation.removesuffix(" | None")
    if bare.startswith("Literal["):
        return " or ".join(f'`"{choice}"`' for choice in ast.literal_eval(f"({bare[8:-1]},)"))
    return words[bare]


def _default(value: Any) -> str:
    return OPEN if value is None else f"`{_toml(value)}`"


def _toml(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
