"""How much an installation takes: dragoman's own wheel, and those that pip would fetch for each set of requirements.

Whether that is enough to translate and to look inside, in an environment of its own without PyTorch; and how much lies
on the disk once it is unpacked, beside what other toolkits need to translate (`PEERS=0` leaves them out, and
`PEERS=few` too).
"""

import subprocess
import sys
import tempfile
import tomllib
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.figure import Figure
from benchmarks.peers import TRANSLATION, wanted_peers
from benchmarks.peers.environment import PeerError, python_of

_ROOT = Path(__file__).parent.parent
_SENTENCE = "Where did you buy those red shoes?"


class Wheel(NamedTuple):
    """The sizes of a package in bytes."""

    packed: int
    unpacked: int


def run() -> Iterator[Figure]:
    """Measure the base installation and what each extra adds; then others."""
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    base = _download(project["dependencies"])
    with tempfile.TemporaryDirectory() as room:
        ours, works = _try_out(Path(room))
    size, unpacked = (sum(wheel[n] for wheel in base.values()) / 1e6 for n in range(2))
    own = ours.packed / 1e6
    yield Figure(
        f"base: {size:.0f} MB in {len(base)} wheels and {own:.0f} MB of dragoman's own, models included (below 100 "
        "wanted)",
        size + own < 100,
    )
    yield Figure("translates and looks inside, installed alone, without PyTorch", works)
    for extra, more in project["optional-dependencies"].items():
        wheels = _download([*project["dependencies"], *more])
        added = sum(wheel.packed for name, wheel in wheels.items() if name not in base)
        yield Figure(f"extra {extra}: {added / 1e6:.0f} MB more in {len(wheels) - len(base)} wheels")
    for peer, _ in wanted_peers([(peer, None) for peer in TRANSLATION]):
        yield _peer(peer, unpacked + ours.unpacked / 1e6)


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


def _try_out(room: Path) -> tuple[Wheel, bool]:
    """Build dragoman's own wheel, install it alone, and tell how large it is and whether it works."""
    pip = ["-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([sys.executable, *pip, "wheel", "--no-deps", "--wheel-dir", room, _ROOT], check=True)
    (wheel,) = room.glob("dragoman-*.whl")
    venv.create(room / "alone", with_pip=True)
    python = room / "alone" / "bin" / "python"
    subprocess.run([python, *pip, "install", "--constraint", _ROOT / "constraints.txt", wheel], check=True)
    said = [
        subprocess.run([python, *words], capture_output=True, text=True, check=False, cwd=room)
        for words in (["-c", "import torch"], *(["-m", "dragoman", verb, _SENTENCE] for verb in ("translate", "look")))
    ]
    without, *working = (done.returncode == 0 and bool(done.stdout) for done in said)
    return Wheel(wheel.stat().st_size, _unpacked(wheel)), all(working) and not without


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
