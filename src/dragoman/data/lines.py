"""Open one input file and read its lines: bytes that may be compressed, damaged or endless, in; text out.

A line ends at a line feed and nowhere else: U+2028, U+0085 and form feeds are ordinary characters inside a
line, since tools that split there shift every pair after them. Bytes that are not UTF-8 become U+FFFD, so
that the cleaning filter `undecodable` can drop such a line and name it.
"""

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from dragoman.errors import DataError

MAX_LINE_BYTES: Final = 1 << 20
"""A longer line is not kept whole: its start stands for it, and the rest is skipped."""

CUT_CHARACTERS: Final = 1 << 17
"""A text this long is never a sentence: whatever the settings, cleaning drops it as too long.

A line over `MAX_LINE_BYTES` has more characters than this in any script, and is cut to this: so none is kept.
"""

_UTF8_BOM = b"\xef\xbb\xbf"
_UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")
_GZIP_MAGIC = b"\x1f\x8b"


@contextmanager
def open_input(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading bytes, unpacked if named `.gz`; what goes wrong meanwhile is a `DataError`."""
    try:
        if path.is_dir():
            raise DataError(f"{path} is a directory, not a file", hint="name the files inside it one by one")
        with path.open("rb") as raw:
            if path.suffix.lower() == ".gz":
                with gzip.GzipFile(fileobj=raw) as unpacked, io.BufferedReader(unpacked, 1 << 17) as stream:
                    yield stream
            else:
                _refuse_compressed(path, raw)
                yield raw
    except FileNotFoundError:
        raise DataError(f"{path} does not exist", hint="check the name and the current directory") from None
    except PermissionError:
        raise DataError(f"{path} may not be read", hint="change its permissions, or run as its owner") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(
            f"{path} is not a whole gzip file ({error})",
            hint="fetch or pack it again; `gzip -t` tells if it is whole",
        ) from None
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read ({error})", hint="check the name and the disk it lies on") from None


def _refuse_compressed(path: Path, stream: io.BufferedReader) -> None:
    if stream.peek(2).startswith(_GZIP_MAGIC):
        raise DataError(f"{path} is gzip-compressed, but its name does not say so", hint=f"rename it to {path.name}.gz")


def read_lines(path: Path) -> Iterator[str]:
    """Yield a file's lines without their ends (LF or CRLF), one in memory at a time.

    A line over `MAX_LINE_BYTES` is cut to `CUT_CHARACTERS`.
    """
    with open_input(path) as stream:
        raw = stream.readline(MAX_LINE_BYTES + 1)
        if raw.startswith(_UTF16_BOMS):
            raise DataError(
                f"{path} is UTF-16, not UTF-8",
                hint=f"convert it: iconv -f UTF-16 -t UTF-8 {path.name} > converted",
            )
        if raw.startswith(_UTF8_BOM):
            raw = raw.removeprefix(_UTF8_BOM)
            if not raw.endswith(b"\n"):  # the limit is for the line without the mark
                raw += stream.readline(len(_UTF8_BOM))
        while raw:
            if raw.endswith(b"\r\n"):
                raw = raw[:-2]
            elif raw.endswith(b"\n"):
                raw = raw[:-1]
            if len(raw) > MAX_LINE_BYTES:
                _skip_line(stream)
                yield raw.decode("utf-8", "replace")[:CUT_CHARACTERS]
            else:
                yield raw.decode("utf-8", "replace")
            raw = stream.readline(MAX_LINE_BYTES + 1)


def _skip_line(stream: BinaryIO) -> None:
    """Read on to the end of the line, keeping nothing."""
    while (rest := stream.readline(MAX_LINE_BYTES)) and not rest.endswith(b"\n"):
        pass


def on_one_line(text: str) -> str:
    """Join the lines of a field that holds line breaks (CSV, JSON and XML may) with single spaces."""
    if "\n" not in text and "\r" not in text:
        return text
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return " ".join(line for line in (line.strip(" \t") for line in lines) if line)
