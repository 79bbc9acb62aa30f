"""Read parallel text in the formats people have it in, and write it as TSV.

The format follows from the name: TSV (`.tsv`, `.txt`), CSV with a header (`.csv`), JSON lines (`.jsonl`,
`.ndjson`), TMX (`.tmx`), or two files by language suffix (`train.en` with `train.es`); each may end in `.gz`.
`pairs.tsv:2,1` is a table read by other columns than the first two, here the other way round.
A reader drops nothing: a blank line is an empty pair, a damaged line a pair with U+FFFD in it, a line too
long to hold a pair cut but still too long; `dragoman.data.cleaning` drops and counts them. What cannot be a
pair at all is a `DataError`.
"""

import gzip
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import BinaryIO, NamedTuple, NoReturn

from dragoman.checkpoint import write_atomically, writing
from dragoman.data.formats import (
    NAME_LANGUAGES,
    Pair,
    Tally,
    Wanted,
    csv_header,
    read_csv,
    read_json_lines,
    read_tmx,
    read_tsv,
    read_two_files,
)
from dragoman.data.lines import read_lines
from dragoman.data.tmx import languages_in
from dragoman.errors import DataError
from dragoman.text.languages import speaks

_TABLES = (".tsv", ".txt")
_JSON_LINES = (".jsonl", ".ndjson")
_FORMATS = (*_TABLES, ".csv", *_JSON_LINES, ".tmx")

_COLUMNS = re.compile(r"(.+):([1-9]\d?),([1-9]\d?)", re.DOTALL)
TO_SPACES = str.maketrans("\t\n\r", "   ")
"""What would break a line of a table, made spaces by `str.translate`."""

__all__ = [
    "TO_SPACES",
    "Pair",
    "Tally",
    "complete_languages",
    "languages_of",
    "other_way_round",
    "read_pairs",
    "refuse_overwriting",
    "write_pairs",
]


class _Input(NamedTuple):
    """One input: a file in one of the formats or, if it has a partner, the source half of two files."""

    path: Path
    kind: str
    partner: Path | None = None
    columns: tuple[int, int] | None = None


def read_pairs(
    paths: Sequence[Path],
    source_language: str | None,
    target_language: str | None,
    *,
    tally: Tally | None = None,
) -> Iterator[Pair]:
    """Yield the pairs of all inputs, one input after the other, one line in memory at a time.

    The languages choose columns, keys, suffixes or variants; TSV needs none. Two files by suffix are given as
    both their names, or as what stands before the suffix.
    """
    tally = Tally() if tally is None else tally
    wanted = (source_language, target_language)
    inputs = _inputs([Path(path) for path in paths], wanted)
    return (pair for each in inputs for pair in _read(each, wanted, tally))


def refuse_overwriting(
    out: Path, paths: Sequence[Path], source_language: str | None, target_language: str | None
) -> None:
    """Raise `DataError` if a file that is to be written is one of those that the inputs are read from."""
    inputs = _inputs([Path(path) for path in paths], (source_language, target_language)) if paths else []
    if out.resolve() in {file.resolve() for each in inputs for file in (each.path, each.partner) if file}:
        raise DataError(f"{out} is one of the inputs", hint="write to another file")


def languages_of(paths: Sequence[Path]) -> tuple[str | None, str | None]:
    """Guess source and target language where the inputs leave one choice; the first is the source.

    One choice is two suffixes of two files, a CSV header of two columns, or a TMX file of two languages whose header
    names the source.
    """
    paths = [Path(path) for path in paths]
    suffixes = list(dict.fromkeys(kind for kind in map(_kind, paths) if kind and kind not in _FORMATS))
    if len(suffixes) == 2:
        return suffixes[0].removeprefix("."), suffixes[1].removeprefix(".")
    for path in filter(Path.is_file, paths):
        if _kind(path) == ".tmx" and (direction := languages_in(path).direction()):
            return direction
        if _kind(path) == ".csv":
            _, columns = csv_header(path, next(read_lines(path), ""))
            if len(columns) == 2 and {name.lower() for name in columns} != {"source", "target"}:
                return columns[0], columns[1]
    return None, None


def complete_languages(source: str, target: str, paths: Sequence[Path]) -> tuple[str, str]:
    """Fill in what was not said of source and target, as far as the inputs leave one choice.

    Where one was said, the other is the inputs' other one, whichever they call the source.
    """
    first, second = languages_of(paths)
    if first is None or second is None:
        return source, target
    if (source and _means(source, second, first)) or (target and _means(target, first, second)):
        first, second = second, first
    return source or first, target or second


def _means(code: str, one: str, other: str) -> bool:
    return speaks(one, code) and not speaks(other, code)


def other_way_round(paths: Sequence[Path]) -> str | None:
    """Name the first table among the inputs with its columns the other way round, if there is one."""
    for path in map(Path, paths):
        if _kind(path) in _TABLES:
            bare, columns = _without_columns(path)
            source, target = columns or (1, 2)
            return f"{bare.name}:{target},{source}"
    return None


def _read(each: _Input, wanted: Wanted, tally: Tally) -> Iterator[Pair]:
    if each.partner is not None:
        return read_two_files(each.path, each.partner, tally)
    if each.kind in _TABLES:
        return read_tsv(each.path, tally, each.columns)
    if each.kind == ".csv":
        return read_csv(each.path, wanted, tally)
    if each.kind in _JSON_LINES:
        return read_json_lines(each.path, wanted, tally)
    return read_tmx(each.path, wanted, tally)


def _kind(path: Path) -> str:
    """Return the suffix that tells the format or the language, in lower case."""
    path, _ = _without_columns(path)
    if path.suffix.lower() == ".gz":
        path = path.with_suffix("")
    return path.suffix.lower()


def _without_columns(path: Path) -> tuple[Path, tuple[int, int] | None]:
    """Take the numbers of columns off the end of a name, unless a file is really called that."""
    asked = _COLUMNS.fullmatch(str(path))
    if asked is None or path.exists():
        return path, None
    return Path(asked[1]), (int(asked[2]), int(asked[3]))


def _stem(path: Path) -> Path:
    return path.with_suffix("").with_suffix("") if path.suffix.lower() == ".gz" else path.with_suffix("")


def _inputs(paths: list[Path], wanted: Wanted) -> list[_Input]:
    """Give each path its format, and join the halves of two files, before anything is read."""
    if not paths:
        raise DataError("no input files", hint="name at least one file of parallel text")
    inputs: list[_Input] = []
    for path in paths:
        kind, (bare, columns) = _kind(path), _without_columns(path)
        if columns and kind not in _TABLES:
            raise DataError(f"{path}: only tables have columns by number", hint="--from and --to choose the languages")
        if kind in _FORMATS:
            inputs.append(_Input(bare, kind, columns=columns))
            continue
        half = _two_files(path, paths, wanted)
        if half not in inputs:
            inputs.append(half)
    return inputs


def _two_files(path: Path, paths: list[Path], wanted: Wanted) -> _Input:
    """Find both halves from one of their names or from what stands before the suffix."""
    stem = _stem(path) if path.is_file() else path
    found = _halves(stem, paths)
    if len(found) < 2:
        _refuse(path, stem, found)
    suffixes = ", ".join(sorted(found))
    source, target = wanted
    if source is None or target is None:
        raise DataError(f"{stem} has the suffixes {suffixes}: which is the source?", hint=NAME_LANGUAGES)
    halves = []
    for language in (source, target):
        half = next((half for tag, half in found.items() if speaks(tag, language)), None)
        if half is None:
            raise DataError(
                f"{stem}.{language} does not exist; files of this name have the suffixes {suffixes}",
                hint="two files by language need the same name and one suffix each",
            )
        halves.append(half)
    if path.is_file() and path not in halves:
        raise DataError(f"{path} is in neither {source} nor {target}", hint="leave it out, or choose other languages")
    return _Input(halves[0], "two files", halves[1])


def _refuse(path: Path, stem: Path, found: dict[str, Path]) -> NoReturn:
    """Say what is wrong with a name that is neither a known format nor one of two files."""
    if path.is_dir():
        raise DataError(f"{path} is a directory, not a file", hint="name the files inside it one by one")
    if not path.exists() and not found:
        raise DataError(f"{path} does not exist", hint="check the name and the current directory")
    raise DataError(
        f"{path}: its name tells no format, and no other language of {stem} is beside it",
        hint=f"two files need one suffix each, like {stem.name}.en and {stem.name}.es; "
        f"one file needs one of {', '.join(_FORMATS)}",
    )


def _halves(stem: Path, paths: list[Path]) -> dict[str, Path]:
    """Map suffix to file for all files called `stem.suffix`, packed or not; those given by name first."""
    beside = sorted(stem.parent.iterdir()) if stem.parent.is_dir() else []
    found: dict[str, Path] = {}
    for path in (*paths, *beside):
        kind = _kind(path)
        if kind and kind not in _FORMATS and _stem(path) == stem and path.is_file():
            found.setdefault(kind.removeprefix("."), path)
    return found


def write_pairs(path: Path, pairs: Iterable[Pair]) -> int:
    """Write pairs as TSV, packed if named `.gz`, and return how many; the file appears whole or not at all.

    Tabs and line ends inside a text become spaces.
    """
    count = 0

    def write(file: BinaryIO) -> None:
        nonlocal count
        with _packing(file) if path.suffix.lower() == ".gz" else nullcontext(file) as stream:
            for source, target, _ in pairs:
                line = f"{source.translate(TO_SPACES)}\t{target.translate(TO_SPACES)}\n"
                stream.write(line.encode("utf-8", "replace"))
                count += 1

    with writing(path):
        write_atomically(path, write)
    return count


def _packing(file: BinaryIO) -> gzip.GzipFile:
    """Pack without name and time, so that equal pairs make equal files."""
    return gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0)
