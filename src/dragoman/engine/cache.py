"""What is made from a model once and kept for later: directories in the user's cache.

Each has a list of the hashes of its files; one that is not what was written is made anew. Where nothing can be kept (a
home that is read-only, or none), the cache is a temporary directory that lasts as long as the process.
"""

import atexit
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from dragoman.checkpoint import hash_file, write_json
from dragoman.errors import ModelError

VARIABLE = "DRAGOMAN_CACHE"
_HASHES = "sha256.json"


def cache_directory() -> Path:
    """Return where things are kept: $DRAGOMAN_CACHE, else dragoman in $XDG_CACHE_HOME, else ~/.cache/dragoman."""
    if named := os.environ.get(VARIABLE):
        return Path(named)
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        return (base if base.is_absolute() else Path.home() / ".cache") / "dragoman"
    except RuntimeError as error:
        raise OSError("there is no home directory") from error


def keep(name: str, make: Callable[[Path], None]) -> Path:
    """Return the directory of that name, as it was kept, or else as `make` writes it.

    The name must tell apart whatever differs: what is there and whole is not made again.
    """
    try:
        return _keep(cache_directory(), name, make)
    except OSError:
        pass  # then not for long
    try:
        return _keep(_own_room(), name, make)
    except OSError as error:
        raise ModelError(
            f"there is no room for what must be made of the model ({error.strerror or error})",
            hint=f"free some space, or name a directory that can be written: {VARIABLE}=DIR",
        ) from error


def _keep(room: Path, name: str, make: Callable[[Path], None]) -> Path:
    place, part = room / name, room / f".{name}.part"
    if _is_whole(place):
        return place
    room.mkdir(parents=True, exist_ok=True)
    with _alone(room):
        if _is_whole(place):  # another process has made it while this one waited
            return place
        try:
            shutil.rmtree(part, ignore_errors=True)
            make(part)
            write_json(part / _HASHES, _hash_files(part))
            shutil.rmtree(place, ignore_errors=True)
            part.rename(place)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    return place


def _is_whole(place: Path) -> bool:
    try:
        written = json.loads((place / _HASHES).read_bytes())
        return bool(written) and written == _hash_files(place)
    except (OSError, ValueError, RecursionError):
        return False


def _hash_files(directory: Path) -> dict[str, str]:
    return {file.name: hash_file(file) for file in sorted(directory.iterdir()) if file.name != _HASHES}


@contextmanager
def _alone(room: Path) -> Iterator[None]:
    """Wait until nobody else makes anything here; where files cannot be locked, the hashes must do."""
    with (room / ".lock").open("ab") as file:
        if sys.platform != "win32":
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield


@cache
def _own_room() -> Path:
    import tempfile

    room = Path(tempfile.mkdtemp(prefix="dragoman-"))
    atexit.register(shutil.rmtree, room, ignore_errors=True)
    return room
