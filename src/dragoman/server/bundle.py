"""The page in one file: its modules put into one script, so that it opens from a disk, where no module can be fetched.

A module becomes a function that is called once and returns what it exports. Modules import names in braces
from files beside them, and export functions and constants where they are declared; nothing else is needed here.
"""

import posixpath
import re
from collections.abc import Mapping

_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[^"]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (async function|function|const) (\w+)", re.MULTILINE)


def bundle(modules: Mapping[str, str], entry: str) -> str:
    """Return one script that does what the module `entry` does."""
    order: dict[str, str] = {}

    def add(name: str) -> str:
        """Put a module after those that it needs, and return what it is called."""
        if name in order:
            return order[name]
        text = modules[name]
        for _, needed in _IMPORT.findall(text):
            add(_resolve(name, needed))
        order[name] = f"module{len(order)}"
        return order[name]

    add(entry)
    return "".join(_wrap(modules[name], name, order) for name in order)


def _wrap(text: str, name: str, order: Mapping[str, str]) -> str:
    exported = ", ".join(found for _, found in _EXPORT.findall(text))
    body = _IMPORT.sub(lambda found: f"const {{{found[1]}}} = {order[_resolve(name, found[2])]};\n", text)
    body = _EXPORT.sub(r"\1 \2", body)
    if re.search(r"^(import|export)\b", body, re.MULTILINE):
        raise ValueError(f"{name} imports or exports in a way that cannot be put into one file")
    return f"const {order[name]} = (() => {{\n{body}return {{ {exported} }};\n}})();\n"


def _resolve(name: str, needed: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), needed))
