"""What must come through a translation as it is: URLs, addresses, tags, and the placeholders of programs and templates.

Every expression here is bounded or stops at its first wrong character, so that time is in proportion to the text, also
for hostile text.
"""

import re
from collections import Counter
from typing import NamedTuple

from dragoman.text.segments import is_unspaced

_NAME = r"[\w.$:\[\]-]"
_PLACEHOLDER = re.compile(
    rf"""
      \{{\{{\{{?[^{{}}\n]{{1,80}}\}}\}}\}}?                      # {{{{name}}}}
    | \$?\{{{_NAME}{{0,40}}(?:,[^{{}}\n]{{1,80}})?\}}            # {{0}} ${{name}} {{count, number}}
    | %\({_NAME}{{1,40}}\)[sdif]                                 # %(name)s
    | %(?:\d{{1,2}}\$)?[-+0\#]{{0,3}}\d{{0,3}}(?:\.\d{{1,2}})?(?:l{{1,2}})?[sdifuxXeEgGc@](?![^\W_])  # %1$s %d %5.2f
    | [A-Za-z][A-Za-z0-9+.-]{{1,20}}+://[^\s<>"]+
    | [Ww]{{3}}\.[^\s<>"]+
    | (?P<alone></?[A-Za-z][^<>\n]{{0,200}}>|\{{\\[^{{}}\n]{{1,80}}\}})  # <b>, and {{\an8}} of subtitles
    | (?<![\w.+-])[\w.+-]{{1,64}}@\w[\w-]{{0,62}}(?:\.[\w-]{{1,63}}){{1,8}}  # an address
    """,
    re.VERBOSE,
)
_SIGN = re.compile(r"[{%@<]|://|[Ww]{3}\.")  # one of these is in every placeholder, and none in most texts
_STOPS = ".,;:!?…。！？"


class Taken(NamedTuple):
    """A word to be taken out of a text, and from where to where: with a space, so that none stands there twice."""

    start: int
    end: int
    word: str
    at: int
    """Where the word itself begins."""
    free: bool
    """Whether white space stands before it, and nothing that needs none after it."""


def find(text: str) -> Counter[str]:
    """Count the placeholders of a text."""
    return Counter(_trimmed(found.group()) for found in _PLACEHOLDER.finditer(text))


def _trimmed(found: str) -> str:
    """Leave the stop after a URL to the sentence."""
    return found.rstrip(_STOPS + ")") if "://" in found or found[:4].lower() == "www." else found


def survive(source: str, target: str) -> bool:
    """Tell whether the translation has every placeholder as often as the source, and no other."""
    if _SIGN.search(source) is _SIGN.search(target) is None:
        return True
    return find(source) == find(target)


def take_out(text: str) -> list[Taken]:
    """Find every word with a placeholder in it; a stop after it is not part of it.

    A word is what white space parts; between characters that need no space the placeholder stands alone, and a tag does
    everywhere.
    """
    taken: list[Taken] = []
    done, leading = 0, True
    for found in _PLACEHOLDER.finditer(text):
        if found.start() < done:
            continue
        at, stop = found.start(), found.start() + len(_trimmed(found.group()))
        if not found["alone"]:
            at, stop = _word(text, at, stop, done)
        free = (at == 0 or text[at - 1].isspace()) and not (stop < len(text) and _touches(text[stop], found["alone"]))
        leading = leading and not text[done:at].strip()
        start = at
        while start > done and free and not leading and text[start - 1] == " ":
            start -= 1
        done = stop + (free and leading and text[stop : stop + 1] == " ")
        taken.append(Taken(start, done, text[at:stop], at, free))
    return taken


def _word(text: str, start: int, end: int, least: int) -> tuple[int, int]:
    """Return from where to where the word goes that a placeholder stands in, no further back than may be."""
    stop = end
    while start > least and _clings(text[start - 1]):
        start -= 1
    while stop < len(text) and _clings(text[stop]):
        stop += 1
    while stop > end and text[stop - 1] in _STOPS:
        stop -= 1
    return start, stop


def _touches(character: str, alone: str | None) -> bool:
    """Tell whether no space is needed between a word, or what stands alone, and the character after it."""
    return not character.isspace() if alone else is_unspaced(character)


def _clings(character: str) -> bool:
    return not character.isspace() and not is_unspaced(character)
