"""A virtual environment for each peer, made once from its pins and kept under `.bench`."""

import subprocess
import sys
from pathlib import Path

_HERE = Path(__file__).parent
_ROOM = _HERE.parents[1] / ".bench"


class PeerError(Exception):
    """A peer that cannot be installed or run, and why."""


def python_of(name: str) -> Path:
    """Return the interpreter of a peer's environment; install it first, if its pins are new."""
    pins, home = _HERE / f"{name}.txt", _ROOM / name
    if not pins.is_file():
        known = ", ".join(sorted(file.stem for file in _HERE.glob("*.txt")))
        raise PeerError(f"no pins for a peer {name!r}; there are pins for {known}")
    wanted, ready, python = pins.read_text(encoding="utf-8"), home / ".ready", home / "bin" / "python"
    if ready.is_file() and ready.read_text(encoding="utf-8") == wanted and python.exists():
        return python
    _ROOM.mkdir(exist_ok=True)
    (_ROOM / ".gitignore").write_text("*\n", encoding="utf-8")
    _do(name, [sys.executable, "-m", "venv", "--clear", str(home)])
    # The pins are complete, so nothing is resolved: no peer can bring another PyTorch than the one that is pinned.
    install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "-r", str(pins)]
    _do(name, [str(python), *install])
    ready.write_text(wanted, encoding="utf-8")
    return python


def _do(name: str, words: list[str]) -> None:
    """Run one step of an installation; it must succeed."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        told = (done.stderr.strip() or done.stdout.strip()).splitlines()[-5:]
        raise PeerError(f"{name} cannot be installed ({' '.join(words[1:4])} …): " + " | ".join(told))
