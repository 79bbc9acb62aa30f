"""HTML, taken apart into blocks of text with their tags as marks; everything else is kept to the letter.

A block is what is translated together: text and the tags within a line, such as <b> and <a>. All other tags part one
block from the next. White space within a block means one space, as in a browser. Hostile markup takes no more time than
its length allows, and tags that do not match each other come through like the rest, each as a mark of its own.
"""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from dragoman.server.carry import Mark

_TAG = re.compile(
    r"""
      <!--.*?(?:-->|\Z)
    | </?[A-Za-z] (?: =\s*+[^\s<>"'][^\s<>]*+ | [^<>"'] | "[^"]*+" | '[^']*+' )*+ >?+  # quotes may be in bare values
    | <[!?][^<>]*+>
    """,
    re.DOTALL | re.VERBOSE,
)
_NAME = re.compile(r"</?([A-Za-z][^\s/>]*)")
_SPACES = re.compile(r"[ \t\r\n\f]+")
_UNTRANSLATED = re.compile(r"""\stranslate\s*=\s*["']?no\b""", re.IGNORECASE)

_WITHIN_A_LINE = (
    "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark q s samp small span strike "
    "strong sub sup time tt u var"
)
_INLINE = frozenset(_WITHIN_A_LINE.split())
_ALONE = frozenset({"img", "wbr", "input"})
_EMPTY = _ALONE | {"area", "base", "br", "col", "embed", "hr", "link", "meta", "param", "source", "track"}
_OPAQUE = frozenset({"script", "style", "svg", "math", "textarea", "template", "iframe", "object"})
_DEEPEST = 50  # tags in tags; those further in are not paired


class Block(NamedTuple):
    """Text that is translated together, with the tags in it."""

    text: str
    marks: list[Mark]


@dataclass
class _Tag:
    """A tag within a line, before the character at a place."""

    at: int
    raw: str
    name: str
    """Empty if it stands alone, whatever comes."""
    free: bool = False


@dataclass
class _Reader:
    """Gathers the blocks of a page and what stands between them."""

    done: list[str | Block] = field(default_factory=list)
    text: str = ""
    tags: list[_Tag] = field(default_factory=list)
    trailing: str = ""
    """The white space with which the text ends so far, as it was written."""
    in_pre: bool = False

    def add_text(self, raw: str) -> None:
        if not (self.text or self.tags):
            bare = raw.lstrip()
            self.done.append(raw[: len(raw) - len(bare)])
            raw = bare
        text = html.unescape(raw)
        if not self.in_pre:
            text = _SPACES.sub(" ", text)
            if self.text.endswith(" ") and text.startswith(" "):
                text = text[1:]
                if self.tags and self.tags[-1].at == len(self.text):
                    self.tags[-1].free = not self.tags[-1].name
        self.text += text
        self.trailing = raw[len(raw.rstrip(" \t\r\n\f")) :]

    def add_tag(self, raw: str, name: str = "") -> None:
        self.tags.append(_Tag(len(self.text), raw, name))
        self.trailing = ""

    def add_boundary(self, raw: str) -> None:
        """End the block with something that belongs to none."""
        if self.text or self.tags:
            kept = self.text[: len(self.text) - len(self.trailing)] if self.in_pre else self.text
            text = kept.rstrip(" ") if self.trailing else kept
            self.done += [Block(text, _nest(self.tags)), self.trailing]
        self.done.append(raw)
        self.text, self.tags, self.trailing = "", [], ""


def parse(page: str) -> list[str | Block]:
    """Take HTML apart; what is no block is to be written as it is."""
    reader = _Reader()
    at = 0
    for start, end in _tags(page):
        if start > at:
            reader.add_text(page[at:start])
        raw = page[start:end]
        name = _name(raw)
        if name in _ALONE:
            reader.add_tag(raw)
        elif name in _INLINE:
            reader.add_tag(raw, "" if raw.endswith("/>") or _is_opaque(raw) else name)
        else:
            reader.add_boundary(raw)
            if name == "pre":
                reader.in_pre = not raw.startswith("</")
        at = end
    if at < len(page):
        reader.add_text(page[at:])
    reader.add_boundary("")
    return [one for one in reader.done if one]


def escape(text: str) -> str:
    """Write text as HTML."""
    return html.escape(text, quote=False)


def _name(raw: str) -> str:
    found = _NAME.match(raw)
    return found.group(1).lower() if found else ""


def _is_opaque(raw: str) -> bool:
    """Tell whether what stands in an element is not for translating; an empty one has nothing in it."""
    name = _name(raw)
    if raw.startswith("</") or name in _EMPTY:
        return False
    return name in _OPAQUE or _UNTRANSLATED.search(raw, 0, raw.find(">")) is not None


def _tags(page: str) -> Iterator[tuple[int, int]]:
    """Yield from where to where the tags stand; with all that is inside, if that is not for translating.

    What begins like a tag but does not end is passed over at once, or hostile markup would be read again and again.
    """
    at = 0
    while found := _TAG.search(page, at):
        at = found.end()
        raw = found.group()
        if not raw.endswith(">") and not raw.startswith("<!--"):
            continue
        if _is_opaque(raw) and not raw.endswith("/>"):
            at = _end_of(page, _name(raw), at)
        yield found.start(), at


def _end_of(page: str, name: str, at: int) -> int:
    """Return where an element ends that began before; elements of the same name may stand in it."""
    depth = 1
    for found in re.compile(rf"<(/?){re.escape(name)}\b[^<>]*+>", re.IGNORECASE).finditer(page, at):
        depth += -1 if found.group(1) else 1
        if not depth:
            return found.end()
    return len(page)


def _nest(tags: Sequence[_Tag]) -> list[Mark]:
    """Make marks of tags: one around what stands between two that match, one for each that has no match."""
    ends = _pairs(tags)
    closing = set(ends.values())
    top: list[Mark] = []
    levels = [top]
    for number, tag in enumerate(tags):
        if number in ends:
            end = tags[ends[number]]
            mark = Mark(tag.at, end.at, tag.raw, end.raw)
            levels[-1].append(mark)
            levels.append(mark.inside)
        elif number in closing:
            levels.pop()
        else:
            levels[-1].append(Mark(tag.at, tag.at, tag.raw, free=tag.free))
    return top


def _pairs(tags: Sequence[_Tag]) -> dict[int, int]:
    """Return for every tag that has an end the number of its end; two pairs never overlap by halves."""
    ends: dict[int, int] = {}
    waiting: list[int] = []
    for number, tag in enumerate(tags):
        if not tag.name:
            continue
        if not tag.raw.startswith("</"):
            if len(waiting) < _DEEPEST:
                waiting.append(number)
            continue
        names = [tags[one].name for one in waiting]
        if tag.name in names:
            place = len(names) - 1 - names[::-1].index(tag.name)
            ends[waiting[place]] = number
            del waiting[place:]
    return ends
