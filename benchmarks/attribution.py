"""To whom the models of the box owe what they know: their ATTRIBUTION.md, made from attribution.md beside this file."""

import gzip
import re
from pathlib import Path
from typing import NamedTuple

_TEXT = Path(__file__).with_suffix(".md")
_PERSON = re.compile(r"#\d+ \(([^()]*)\)")
_EMPHASIS = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
"""Underscores that Markdown might take for emphasis: all but those inside a word."""
_UNSAID = {
    "en-es": "Where English does not say whether a nurse or a doctor is a man or a woman, or whether “you” is one "
    "person or several, a friend or a stranger, Spanish must, and it will choose what it has seen more often.",
    "es-en": "Where Spanish leaves out who does something, or says *su*, English must choose: he, she, it, you or "
    "they; his, her, its, your or their. It will choose what it has seen more often. What English does not tell apart "
    "is lost: *tú* and *usted*, one “you” and several, *amigo* and *amiga*.",
}
"""What each language leaves open that the other does not, for each model."""


class Learned(NamedTuple):
    """How many pairs a model has read of every text."""

    tatoeba: int
    python_docs: int
    tico19: int


def attribution(name: str, learned: Learned, people: list[str]) -> str:
    """Write what a model owes and what it cannot do, in Markdown."""
    text = _TEXT.read_text(encoding="utf-8")
    names = ", ".join(_EMPHASIS.sub(r"\\_", person) for person in people)
    return text.format(name=name, unsaid=_UNSAID[name], people=names, **learned._asdict())


def read_people(file: Path) -> list[str]:
    """Name everybody whom Tatoeba's list credits with a sentence, in the order of a dictionary."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        found = {person for line in lines for person in _PERSON.findall(line)}
    return sorted(found, key=lambda person: (person.casefold(), person))
