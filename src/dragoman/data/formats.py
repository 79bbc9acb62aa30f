"""Turn one file of parallel text into pairs: one reader for each format.

A reader drops nothing: a blank line is an empty pair, a damaged line a pair with U+FFFD in it, a line too
long to hold a pair is cut but still too long; `dragoman.data.cleaning` drops and counts them. What cannot be
a pair at all is a `DataError` that names the line.
"""

import csv
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Final, NamedTuple

from dragoman.data.lines import CUT_CHARACTERS, on_one_line, read_lines
from dragoman.data.tmx import languages_in, read_units
from dragoman.errors import DataError, OtherLanguagesError
from dragoman.text.languages import speaks

NAME_LANGUAGES: Final = "pass --from and --to"
_OTHER_LANGUAGES: Final = "name two of these with --from and --to"

Wanted = tuple[str | None, str | None]
"""Source and target language, as far as they are known."""


_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
_CSV_HINT = "look for a quote left open there; double a quote inside quotes; end lines with LF or CRLF"


class Pair(NamedTuple):
    """A text, its translation, and the place they were read from: `pairs.tsv:17`."""

    source: str
    target: str
    where: str


@dataclass
class Tally:
    """What the readers met and a user may want to know; nothing here is an error."""

    cut_lines: int = 0
    """Lines too long to be a pair, and cut or left whole as one text; cleaning drops them as too long."""
    extra_columns: int = 0
    """TSV lines with more columns than source and target; the rest is ignored."""
    units: int = 0
    """TMX units."""
    units_without_pair: int = 0
    """TMX units that lack one of the two languages; they give no pair."""
    extra_variants: int = 0
    """Pairs beyond the first of their TMX unit."""
    inline_tags: int = 0
    """TMX inline tags dropped."""

    def as_dict(self) -> dict[str, int]:
        """Return the counts by name."""
        return asdict(self)


def read_two_files(source: Path, target: Path, tally: Tally) -> Iterator[Pair]:
    """Yield the pairs of two aligned files, line by line."""
    lines = zip_longest(read_lines(source), read_lines(target))
    for number, (left, right) in enumerate(lines, start=1):
        if left is None or right is None:
            shorter, longer = (source, target) if left is None else (target, source)
            raise DataError(
                f"{shorter} ends after line {number - 1}, but {longer.name} goes on",
                hint="the two sides of a parallel corpus must have the same number of lines",
            )
        if len(left) >= CUT_CHARACTERS or len(right) >= CUT_CHARACTERS:
            tally.cut_lines += 1
        yield Pair(left, right, f"{source.name}:{number}")


def read_tsv(path: Path, tally: Tally, columns: tuple[int, int] | None = None) -> Iterator[Pair]:
    """Yield the pairs of a table: source, tab, target, or other columns, counted from 1; what is left is ignored."""
    name = path.name
    source, target = columns or (1, 2)
    most = max(source, target)
    for number, line in enumerate(read_lines(path), start=1):
        found = line.split("\t", most)
        where = f"{name}:{number}"
        if len(line) >= CUT_CHARACTERS:
            tally.cut_lines += 1
            yield Pair(line, "", where)
        elif len(found) >= most:
            tally.extra_columns += columns is None and len(found) > most
            yield Pair(found[source - 1], found[target - 1], where)
        elif not line.strip():
            yield Pair("", "", where)
        else:
            count = "one column" if len(found) == 1 else f"{len(found)} columns"
            needs = "a pair needs two" if columns is None else f"column {most} is asked for"
            raise DataError(
                f"{where}: {count}, but {needs}: {_excerpt(line)}",
                hint="a line is a source, a tab and a target; mend or delete this one, or check the format",
            )


def _excerpt(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:59] + "…")


def csv_header(path: Path, line: str) -> tuple[str, list[str]]:
    """Return the delimiter that a CSV file's first line uses and the names of its columns."""
    delimiter = max((",", ";", "\t"), key=line.count)
    try:
        columns = next(csv.reader([line[:CUT_CHARACTERS]], delimiter=delimiter), [])
    except csv.Error as error:
        raise DataError(f"{path.name}:1: not a CSV header ({error})", hint=_CSV_HINT) from None
    return delimiter, [column.strip() for column in columns]


def _choose(names: Iterable[str], language: str | None, role: str) -> str | None:
    """Find the column or key of a language, or failing that the one called `source` or `target`."""
    named = list(names)
    if language is not None:
        for name in named:
            if speaks(name, language):
                return name
    return next((name for name in named if name.lower() == role), None)


def _choose_both(names: Iterable[str], wanted: Wanted, where: str) -> tuple[str, str]:
    named = list(names)
    source, target = _choose(named, wanted[0], "source"), _choose(named, wanted[1], "target")
    listed = ", ".join(named[:20]) or "no names"
    if source is None or target is None:
        if None in wanted:
            raise DataError(f"{where}: which is source, which is target? it has {listed}", hint=NAME_LANGUAGES)
        missing = " and ".join(str(one) for one, found in zip(wanted, (source, target), strict=True) if found is None)
        raise OtherLanguagesError(f"{where}: no {missing}; it has {listed}", hint=_OTHER_LANGUAGES)
    return source, target


def read_csv(path: Path, wanted: Wanted, tally: Tally) -> Iterator[Pair]:
    """Yield the pairs of a CSV file; fields may hold line breaks, and a record's place is its first line."""
    lines = read_lines(path)
    delimiter, columns = csv_header(path, next(lines, ""))
    source, target = (columns.index(name) for name in _choose_both(columns, wanted, f"{path.name}:1"))
    long_lines: list[str] = []
    reader = csv.reader(_short_lines(lines, long_lines), delimiter=delimiter, strict=True)
    while True:
        where = f"{path.name}:{reader.line_num + 2}"
        try:
            fields = next(reader, None)
        except csv.Error as error:
            raise DataError(
                f"{where}: not a CSV record ({error})",
                hint=_CSV_HINT,
            ) from None
        if fields is None:
            return
        if long_lines:
            tally.cut_lines += 1
            yield Pair(long_lines[0], "", where)
            long_lines.clear()
        elif not fields:
            yield Pair("", "", where)
        elif len(fields) <= max(source, target):
            raise DataError(
                f"{where}: {len(fields)} columns, but the header has {len(columns)}",
                hint="mend or delete this record",
            )
        else:
            yield Pair(on_one_line(fields[source]), on_one_line(fields[target]), where)


def _short_lines(lines: Iterator[str], long_lines: list[str]) -> Iterator[str]:
    """Pass lines to the CSV reader, which fails on a long one: put that aside and pass a blank one."""
    for line in lines:
        if len(line) >= CUT_CHARACTERS:
            long_lines.append(line)
            yield "\n"
        else:
            yield line + "\n"


def read_json_lines(path: Path, wanted: Wanted, tally: Tally) -> Iterator[Pair]:
    """Yield the pairs of a file of JSON objects, one a line."""
    for number, line in enumerate(read_lines(path), start=1):
        where = f"{path.name}:{number}"
        if len(line) >= CUT_CHARACTERS:
            tally.cut_lines += 1
            yield Pair(line, "", where)
        elif not line.strip():
            yield Pair("", "", where)
        else:
            yield _json_pair(line, wanted, where)


def _json_pair(line: str, wanted: Wanted, where: str) -> Pair:
    shape = 'each line is one object, {"en": "…", "es": "…"} or {"translation": {…}}'
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        what = "nested too deep" if isinstance(error, RecursionError) else str(error)
        raise DataError(f"{where}: not JSON ({what})", hint=shape) from None
    if isinstance(record, dict) and isinstance(record.get("translation"), dict):
        record = record["translation"]
    if not isinstance(record, dict):
        raise DataError(f"{where}: not a JSON object: {_excerpt(line)}", hint=shape)
    source, target = wanted
    if source not in record or target not in record:
        source, target = _choose_both(record, wanted, where)
    return Pair(_json_text(record, source, where), _json_text(record, target, where), where)


def _json_text(record: Mapping[str | None, object], key: str | None, where: str) -> str:
    text = record[key]
    if not isinstance(text, str):
        raise DataError(f"{where}: {key} is {_excerpt(json.dumps(text))}, not text", hint="put the text in quotes")
    if not text.isprintable():  # a quick look
        text = _HALF_CHARACTER.sub("\ufffd", text)  # which no file can hold, but an escape in JSON can
    return on_one_line(text)


def read_tmx(path: Path, wanted: Wanted, tally: Tally) -> Iterator[Pair]:
    """Yield the pairs of a translation memory: in each unit, every source with every target."""
    source, target = wanted
    if source is None or target is None:
        listed = ", ".join(languages_in(path).found) or "none"
        raise DataError(f"{path}: the languages are not known; it has {listed}", hint=NAME_LANGUAGES)
    languages: Counter[str] = Counter()
    found = False
    for unit in read_units(path):
        tally.units += 1
        tally.inline_tags += unit.inline_tags
        sources = [text for language, text in unit.variants if speaks(language, source)]
        targets = [text for language, text in unit.variants if speaks(language, target)]
        if not sources or not targets:
            tally.units_without_pair += 1
            if not found and len(languages) < 100:
                languages.update(language for language, _ in unit.variants if language)
            continue
        found = True
        tally.extra_variants += len(sources) * len(targets) - 1
        for left in sources:
            for right in targets:
                tally.cut_lines += len(left) >= CUT_CHARACTERS or len(right) >= CUT_CHARACTERS
                yield Pair(left, right, f"{path.name}:{unit.line}")
    if not found:
        listed = ", ".join(name for name, _ in languages.most_common(20)) or "none"
        raise OtherLanguagesError(
            f"{path}: no unit has both {source} and {target}; it has {listed}", hint=_OTHER_LANGUAGES
        )
