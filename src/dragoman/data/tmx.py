"""Read TMX 1.4, the format of translation memories, as a stream: one unit in memory at a time.

The file is a stranger's, and XML is a language for attacking readers: entity declarations and internal DTDs
are refused, nothing is ever loaded from elsewhere (the customary `<!DOCTYPE tmx SYSTEM "tmx14.dtd">` is
passed over), and every length is bounded. Native code inside inline tags (`bpt`, `ept`, `ph`, `it`, `ut`) is
dropped and counted; the text inside `hi` and other tags stays.
"""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple
from xml.parsers import expat  # entities are refused below

from dragoman.data.lines import CUT_CHARACTERS, on_one_line, open_input
from dragoman.errors import DataError
from dragoman.text.languages import language_of, same_language, speaks, usual

_CHUNK: Final = 1 << 16
_MAX_DEPTH: Final = 64
_MAX_VARIANTS: Final = 100
_MAX_TOKEN_BYTES: Final = 1 << 23
_MAX_LANGUAGES: Final = 100
_NATIVE_CODE: Final = frozenset({"bpt", "ept", "ph", "it", "ut"})
_SPACES = re.compile("  +")


class Variant(NamedTuple):
    """What one unit says in one language."""

    language: str
    text: str


class Unit(NamedTuple):
    """One translation unit: the line it starts on, its variants in order, and how many inline tags it had."""

    line: int
    variants: list[Variant]
    inline_tags: int


def read_units(path: Path) -> Iterator[Unit]:
    """Yield the units of a TMX file in order."""
    with open_input(path) as stream:
        yield from _Reading(path).run(stream)


class Languages(NamedTuple):
    """The languages of a TMX file."""

    source: str
    """What its header calls the source, or nothing."""
    found: list[str]
    """Those at its start, the commonest first."""

    def direction(self) -> tuple[str, str] | None:
        """Source and target, if there are two languages and the header says which is which.

        The region is left out where the language tells enough: a model of `en-US` refuses text of `en`.
        """
        sources = [code for code in self.found if speaks(code, self.source)]
        targets = [code for code in self.found if code not in sources]
        if not len(sources) == len(targets) == 1:
            return None
        form = usual if same_language(sources[0], targets[0]) else language_of
        return form(sources[0]), form(targets[0])


def languages_in(path: Path) -> Languages:
    """Look which languages the start of a TMX file has."""
    count: Counter[str] = Counter()
    reading = _Reading(path)
    with open_input(path) as stream:
        for number, unit in enumerate(reading.run(stream)):
            count.update(variant.language for variant in unit.variants)
            if number >= 1000 or len(count) > _MAX_LANGUAGES:
                break
    return Languages(reading.source_language, [language for language, _ in count.most_common() if language])


class _Reading:
    """The state of reading one file: expat calls the handlers, finished units gather in `units`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.units: list[Unit] = []
        self.depth = 0
        self.line = 0
        self.variants: list[Variant] = []
        self.inline_tags = 0
        self.language = self.source_language = ""
        self.in_segment = False
        self.text: list[str] = []
        self.length = 0
        self.native_depth = 0  # how many elements deep inside native code, which is not text
        self.parser = self._new_parser()

    def _new_parser(self) -> expat.XMLParserType:
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = self._doctype
        parser.EntityDeclHandler = self._entity_declared
        parser.SkippedEntityHandler = self._entity_used
        return parser

    def run(self, stream: BinaryIO) -> Iterator[Unit]:
        fed = 0
        while chunk := stream.read(_CHUNK):
            fed += len(chunk)
            self._parse(chunk, final=False)
            if fed - self.parser.CurrentByteIndex > _MAX_TOKEN_BYTES:
                raise self._refusal("one tag or comment goes on for megabytes", "this is not a usable TMX file")
            yield from self.units
            self.units.clear()
        self._parse(b"", final=True)
        yield from self.units

    def _parse(self, chunk: bytes, *, final: bool) -> None:
        try:
            self.parser.Parse(chunk, final)
        except expat.ExpatError as error:
            raise DataError(
                f"{self.path.name}:{error.lineno}: not well-formed XML ({expat.ErrorString(error.code)})",
                hint="export the memory again, or mend that line; is the encoding declared the file's own?",
            ) from None
        except (ValueError, LookupError) as error:  # an encoding that Python does not know
            raise self._refusal(f"cannot be decoded ({error})", "save the file as UTF-8") from None

    def _refusal(self, what: str, hint: str) -> DataError:
        return DataError(f"{self.path.name}:{self.parser.CurrentLineNumber}: {what}", hint=hint)

    def _doctype(self, _name: str, _system: str | None, _public: str | None, has_subset: int) -> None:
        if has_subset:
            raise self._refusal("declares a document type of its own", "remove what stands in [ ] after DOCTYPE")

    def _entity_declared(self, name: str, *_: object) -> None:
        raise self._refusal(f"declares the entity {name}", "remove the declaration: entities are never expanded")

    def _entity_used(self, name: str, _is_parameter: int) -> None:
        raise self._refusal(f"uses the entity &{name}; which XML does not define", "write the character itself")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        if self.depth == 1 and name != "tmx":
            raise self._refusal(f"starts with <{name}>, not <tmx>", "convert the file to TMX, TSV or JSON lines")
        if self.depth > _MAX_DEPTH:
            raise self._refusal(f"nests tags over {_MAX_DEPTH} deep", "this is not a usable TMX file")
        if self.in_segment:
            self.inline_tags += 1
            if self.native_depth or name in _NATIVE_CODE:
                self.native_depth += 1
                self.parser.CharacterDataHandler = None
        elif name == "seg":
            self.in_segment, self.length = True, 0
            self.text.clear()
            self.parser.CharacterDataHandler = self._characters
        elif name == "tuv":
            self.language = attributes.get("xml:lang") or attributes.get("lang") or ""
        elif name == "header":
            self.source_language = attributes.get("srclang", "")
        elif name == "tu":
            self.line, self.inline_tags = self.parser.CurrentLineNumber, 0
            self.variants = []

    def _end(self, name: str) -> None:
        self.depth -= 1
        if self.native_depth:
            self.native_depth -= 1
            if not self.native_depth:
                self.parser.CharacterDataHandler = self._characters
        elif self.in_segment and name == "seg":
            self.in_segment = False
            self.parser.CharacterDataHandler = None
            self._add_variant()
        elif name == "tu":
            self.units.append(Unit(self.line, self.variants, self.inline_tags))

    def _characters(self, data: str) -> None:
        if self.length <= CUT_CHARACTERS:  # more would be dropped as too long anyway
            self.text.append(data)
            self.length += len(data)

    def _add_variant(self) -> None:
        if len(self.variants) == _MAX_VARIANTS:
            raise self._refusal(f"a unit with over {_MAX_VARIANTS} variants", "split the unit, or remove it")
        text = "".join(self.text)
        if self.length <= CUT_CHARACTERS:  # a cut text keeps its length, by which cleaning knows it
            text = on_one_line(text).strip(" \t")
            if self.inline_tags:
                text = _SPACES.sub(" ", text)
        self.variants.append(Variant(self.language, text))
