"""How much an installation downloads: the wheels that pip would fetch for each set of requirements.

And how much lies on the disk once it is unpacked, beside what other toolkits need to translate (`PEERS=0` leaves them
out, and `PEERS=few` too).
"""

import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.figure import Figure
from benchmarks.peers import TRANSLATION, wanted_peers
from benchmarks.peers.environment import PeerError, python_of

_ROOT = Path(__file__).parent.parent


class Wheel(NamedTuple):
    """The sizes of a package in bytes."""

    packed: int
    unpacked: int


def run() -> Iterator[Figure]:
    """Measure the base installation and what each extra adds; then others."""
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    base = _download(project["dependencies"])
    size, unpacked = (sum(wheel[n] for wheel in base.values()) / 1e6 for n in range(2))
    yield Figure(f"base: {size:.0f} MB in {len(base)} wheels (below 100 wanted)", size < 100)
    for extra, more in project["optional-dependencies"].items():
        wheels = _download([*project["dependencies"], *more])
        added = sum(wheel.packed for name, wheel in wheels.items() if name not in base)
        yield Figure(f"extra {extra}: {added / 1e6:.0f} MB more in {len(wheels) - len(base)} wheels")
    for peer, _ in wanted_peers([(peer, None) for peer in TRANSLATION]):
        yield _peer(peer, unpacked)


def _peer(peer: str, ours: float) -> Figure:
    """What another toolkit takes on the disk to translate; like ours without pip and without compiled Python."""
    try:
        home = python_of(peer).parent.parent
    except PeerError as error:
        return Figure(f"{peer}: not measured ({error})", shown=True)
    files = [file for file in home.glob("lib/*/site-packages/**/*") if file.is_file() and not file.is_symlink()]
    kept = [file for file in files if not {"__pycache__", "pip"}.intersection(file.parts)]
    theirs = sum(file.stat().st_size for file in kept) / 1e6
    return Figure(f"unpacked: {ours:.0f} MB; {peer} {theirs:,.0f} MB, {theirs / ours:.1f} ×", shown=True)


def _download(requirements: list[str]) -> dict[str, Wheel]:
    """Sizes of the wheels that pip downloads for these requirements into an empty directory, by name."""
    with tempfile.TemporaryDirectory() as room:
        words = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--dest", room]
        constraints = ["--constraint", str(_ROOT / "constraints.txt")]
        subprocess.run([*words, *constraints, *requirements], check=True, stderr=subprocess.DEVNULL)
        return {file.name.split("-")[0]: Wheel(file.stat().st_size, _unpacked(file)) for file in Path(room).iterdir()}


def _unpacked(wheel: Path) -> int:
    """The size of what is in a wheel; of a source distribution, its own."""
    if not zipfile.is_zipfile(wheel):
        return wheel.stat().st_size
    with zipfile.ZipFile(wheel) as archive:
        return sum(member.file_size for member in archive.infolist())
