"""The shell of every page: one file that needs no network, and a content policy that lets nothing else in.

The policy names the style sheets and the script by their hashes. Numbers for a script travel as JSON inside the page.
"""

import base64
import hashlib
import json
from collections.abc import Sequence
from importlib import resources
from typing import Any

from dragoman.draw.svg import Markup, element, escape


def html_document(
    title: str, parts: Sequence[Markup], style: str, scripts: Sequence[str] = (), data: dict[str, Any] | None = None
) -> str:
    """Write a page of some parts; style sheet and scripts are named as files of this package."""
    sheet, script = _read(style), "".join(map(_read, scripts))
    allowed = ["default-src 'none'", f"style-src '{content_hash(sheet)}'", "base-uri 'none'", "form-action 'none'"]
    written: list[Markup] = []
    if data is not None:
        allowed += [f"script-src '{content_hash(script)}'", "require-trusted-types-for 'script'"]
        written = [
            element(
                "noscript",
                element("p", escape("The maps are drawn by a script, which is switched off here.")),
            ),
            element("script", embedded_json(data), type="application/json", id="data"),
            element("script", Markup(script), type="module"),
        ]
    head = element(
        "head",
        Markup('<meta charset="utf-8">'),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{escape("; ".join(allowed))}">'),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup('<meta name="color-scheme" content="light dark">'),
        Markup('<meta name="referrer" content="no-referrer">'),
        element("title", escape(title)),
        element("style", Markup(sheet)),
    )
    body = element("body", element("main", *parts), *written)
    return f'<!doctype html>\n<html lang="en">{head}{body}</html>\n'


def embedded_json(data: dict[str, Any]) -> Markup:
    """Write JSON that may stand inside a script element: no character of it can end the element."""
    written = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        written = written.replace(character, f"\\u{ord(character):04x}")
    return Markup(written)


def _read(name: str) -> str:
    return resources.files("dragoman.draw").joinpath(name).read_text(encoding="utf-8")


def content_hash(content: str) -> str:
    """Return how a content policy names a script or a style sheet that it allows."""
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
