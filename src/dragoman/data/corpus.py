"""Read parallel text in the formats people have it in, and write it as TSV.

The format follows from the name: TSV (`.tsv`, `.txt`), CSV with a header (`.csv`), JSON lines (`.jsonl`, `.ndjson`),
TMX (`.tmx`), or two files by language suffix (`train.en` with `train.es`); each may end in `.gz`. A reader drops
nothing: a blank line is an empty pair, a damaged line a pair with U+FFFD in it, a line too long to hold a pair cut but
still too long; `dragoman.data.cleaning` drops and counts them. What cannot be a pair at all is a `DataError`.
"""

import csv
import gzip
import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from dragoman.data.lines import CUT_CHARACTERS, on_one_line, open_input, read_lines
from dragoman.data.tmx import languages_in, read_units, speaks
from dragoman.errors import DataError

_TABLES = (".tsv", ".txt")
_JSON_LINES = (".jsonl", ".ndjson")
_FORMATS = (*_TABLES, ".csv", *_JSON_LINES, ".tmx")
_NAME_LANGUAGES = "pass --from and --to"


class Pair(NamedTuple):
    """A text, its translation, and the place they were read from: `pairs.tsv:17`."""

    source: str
    target: str
    where: str


@dataclass
class Tally:
    """What the readers met and a user may want to know; nothing here is an error."""

    cut_lines: int = 0
    """Lines too long to be read whole; cleaning drops them as too long."""
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


class _Input(NamedTuple):
    """One input: a file in one of the formats or, if it has a partner, the source half of two files."""

    path: Path
    kind: str
    partner: Path | None = None


def read_pairs(
    paths: Sequence[Path],
    source_language: str | None,
    target_language: str | None,
    *,
    tally: Tally | None = None,
) -> Iterator[Pair]:
    """Yield the pairs of all inputs, one input after the other, one line in memory at a time.

    The languages choose columns, keys, suffixes or variants; TSV needs none. Two files by suffix may be given as both
    their names, or as what stands before the suffix.
    """
    tally = Tally() if tally is None else tally
    wanted = (source_language, target_language)
    inputs = _inputs([Path(path) for path in paths], wanted)
    return (pair for each in inputs for pair in _read(each, wanted, tally))


def languages_of(paths: Sequence[Path]) -> tuple[str | None, str | None]:
    """Guess source and target language where the inputs leave one choice: two suffixes, or a CSV header of two columns.

    The first one named is the source.
    """
    paths = [Path(path) for path in paths]
    suffixes = list(dict.fromkeys(kind for kind in map(_kind, paths) if kind and kind not in _FORMATS))
    if len(suffixes) == 2:
        return suffixes[0].removeprefix("."), suffixes[1].removeprefix(".")
    for path in paths:
        if _kind(path) == ".csv" and path.is_file():
            _, columns = _header(next(read_lines(path), ""))
            if len(columns) == 2 and {name.lower() for name in columns} != {"source", "target"}:
                return columns[0], columns[1]
    return None, None


def _read(each: _Input, wanted: tuple[str | None, str | None], tally: Tally) -> Iterator[Pair]:
    if each.partner is not None:
        return _read_two_files(each.path, each.partner, tally)
    if each.kind in _TABLES:
        return _read_tsv(each.path, tally)
    if each.kind == ".csv":
        return _read_csv(each.path, wanted, tally)
    if each.kind in _JSON_LINES:
        return _read_json_lines(each.path, wanted, tally)
    return _read_tmx(each.path, wanted, tally)


def _kind(path: Path) -> str:
    """Return the suffix that tells the format or the language, in lower case."""
    if path.suffix.lower() == ".gz":
        path = path.with_suffix("")
    return path.suffix.lower()


def _stem(path: Path) -> Path:
    return path.with_suffix("").with_suffix("") if path.suffix.lower() == ".gz" else path.with_suffix("")


def _inputs(paths: list[Path], wanted: tuple[str | None, str | None]) -> list[_Input]:
    """Give each path its format, and join the halves of two files, before anything is read."""
    if not paths:
        raise DataError("no input files", hint="name at least one file of parallel text")
    inputs: list[_Input] = []
    for path in paths:
        kind = _kind(path)
        if kind in _FORMATS:
            inputs.append(_Input(path, kind))
            continue
        half = _two_files(path, paths, wanted)
        if half not in inputs:
            inputs.append(half)
    return inputs


def _two_files(path: Path, paths: list[Path], wanted: tuple[str | None, str | None]) -> _Input:
    """Find both halves from one of their names or from what stands before the suffix."""
    source, target = wanted
    is_prefix = not path.is_file()
    stem = path if is_prefix else _stem(path)
    found = _halves(stem, paths)
    if path.is_dir() and not found:
        raise DataError(f"{path} is a directory, not a file", hint="name the files inside it one by one")
    if is_prefix and not found:
        raise DataError(f"{path} does not exist", hint="check the name and the current directory")
    suffixes = ", ".join(sorted(found)) or "none"
    if source is None or target is None:
        raise DataError(
            f"{path}: the languages are not known; files of this name have the suffixes {suffixes}",
            hint=_NAME_LANGUAGES,
        )
    halves = [
        next((half for tag, half in found.items() if speaks(tag, language)), None)
        for language in wanted
        if language
    ]
    if not is_prefix and path not in halves:
        raise DataError(
            f"{path}: neither a known format nor a file in {source} or {target}",
            hint=f"name it {stem.name}.{source} or {stem.name}.{target}, or use one of {', '.join(_FORMATS)}",
        )
    for language, half in zip((source, target), halves, strict=True):
        if half is None:
            raise DataError(
                f"{stem}.{language} does not exist; files of this name have the suffixes {suffixes}",
                hint="two files by language need the same name and one suffix each",
            )
    return _Input(cast("Path", halves[0]), "two files", halves[1])


def _halves(stem: Path, paths: list[Path]) -> dict[str, Path]:
    """Map suffix to file for all files called `stem.suffix` or `stem.suffix.gz`, those given by name first."""
    beside = sorted(stem.parent.iterdir()) if stem.parent.is_dir() else []
    found: dict[str, Path] = {}
    for path in (*paths, *beside):
        kind = _kind(path)
        if kind and kind not in _FORMATS and _stem(path) == stem and path.is_file():
            found.setdefault(kind.removeprefix("."), path)
    return found


def _read_two_files(source: Path, target: Path, tally: Tally) -> Iterator[Pair]:
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


def _read_tsv(path: Path, tally: Tally) -> Iterator[Pair]:
    name = path.name
    for number, line in enumerate(read_lines(path), start=1):
        columns = line.split("\t", 2)
        where = f"{name}:{number}"
        if len(line) >= CUT_CHARACTERS:
            tally.cut_lines += 1
            yield Pair(line, "", where)
        elif len(columns) == 2:
            yield Pair(columns[0], columns[1], where)
        elif len(columns) == 3:
            tally.extra_columns += 1
            yield Pair(columns[0], columns[1], where)
        elif not line.strip():
            yield Pair("", "", where)
        else:
            raise DataError(
                f"{where}: one column, but a pair needs two: {_excerpt(line)}",
                hint="each line is a source, a tab and a target; mend or delete this line, or check the format",
            )


def _excerpt(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:59] + "…")


def _header(line: str) -> tuple[str, list[str]]:
    """Return the delimiter that a CSV header uses and the names of its columns."""
    delimiter = max((",", ";", "\t"), key=line.count)
    columns = next(csv.reader([line[:CUT_CHARACTERS]], delimiter=delimiter), [])
    return delimiter, [column.strip() for column in columns]


def _choose(names: Iterable[str], language: str | None, role: str) -> str | None:
    """Find the column or key of a language; one called `source` or `target` serves where no language is named so."""
    named = list(names)
    if language is not None:
        for name in named:
            if speaks(name, language):
                return name
    return next((name for name in named if name.lower() == role), None)


def _choose_both(names: Iterable[str], wanted: tuple[str | None, str | None], where: str) -> tuple[str, str]:
    named = list(names)
    source, target = _choose(named, wanted[0], "source"), _choose(named, wanted[1], "target")
    listed = ", ".join(named[:20]) or "no names"
    if source is None or target is None:
        if None in wanted:
            raise DataError(
                f"{where}: which is source, which is target? it has {listed}", hint=_NAME_LANGUAGES
            )
        missing = " and ".join(
            str(one) for one, found in zip(wanted, (source, target), strict=True) if found is None
        )
        raise DataError(
            f"{where}: no {missing}; it has {listed}", hint="name two of these with --from and --to"
        )
    return source, target


def _read_csv(path: Path, wanted: tuple[str | None, str | None], tally: Tally) -> Iterator[Pair]:
    lines = read_lines(path)
    delimiter, columns = _header(next(lines, ""))
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
                hint="look for a quote left open there; double a quote inside quotes",
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


def _read_json_lines(path: Path, wanted: tuple[str | None, str | None], tally: Tally) -> Iterator[Pair]:
    for number, line in enumerate(read_lines(path), start=1):
        where = f"{path.name}:{number}"
        if len(line) >= CUT_CHARACTERS:
            tally.cut_lines += 1
            yield Pair(line, "", where)
        elif not line.strip():
            yield Pair("", "", where)
        else:
            yield _json_pair(line, wanted, where)


def _json_pair(line: str, wanted: tuple[str | None, str | None], where: str) -> Pair:
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
        raise DataError(
            f"{where}: {key} is {_excerpt(json.dumps(text))}, not text", hint="put the text in quotes"
        )
    return on_one_line(text)


def _read_tmx(path: Path, wanted: tuple[str | None, str | None], tally: Tally) -> Iterator[Pair]:
    source, target = wanted
    if source is None or target is None:
        listed = ", ".join(languages_in(path)) or "none"
        raise DataError(f"{path}: the languages are not known; it has {listed}", hint=_NAME_LANGUAGES)
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
        raise DataError(
            f"{path}: no unit has both {source} and {target}; it has {listed}",
            hint="name two of these with --from and --to",
        )


def write_pairs(path: Path, pairs: Iterable[Pair]) -> int:
    """Write pairs as TSV, packed if the name ends in `.gz`, and return how many; the file appears whole or not at all.

    Tabs and line ends inside a text become spaces.
    """
    count = 0
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(descriptor, "wb") as raw:
                count = _write_lines(raw, pairs, packed=path.suffix.lower() == ".gz")
                raw.flush()
                os.fsync(raw.fileno())
            Path(name).replace(path)
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as error:
        raise DataError(
            f"{path} cannot be written ({error.strerror})",
            hint="check the directory, its permissions and the free space",
        ) from None
    return count


_TO_SPACES = str.maketrans("\t\n\r", "   ")


def _write_lines(raw: BinaryIO, pairs: Iterable[Pair], *, packed: bool) -> int:
    stream = cast("BinaryIO", gzip.GzipFile(fileobj=raw, mode="wb", filename="", mtime=0)) if packed else raw
    count = 0
    for source, target, _ in pairs:
        line = f"{source.translate(_TO_SPACES)}\t{target.translate(_TO_SPACES)}\n"
        stream.write(line.encode("utf-8", "replace"))
        count += 1
    if packed:
        stream.close()
    return count
