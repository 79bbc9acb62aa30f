"""How much an installation downloads: the wheels that pip would fetch for each set of requirements."""

import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figure import Figure

_ROOT = Path(__file__).parent.parent


def run() -> Iterator[Figure]:
    """Measure the base installation and what each extra adds."""
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    base = _download(project["dependencies"])
    size = sum(base.values())
    yield Figure(f"base: {size / 1e6:.0f} MB in {len(base)} wheels (below 100 wanted)", size < 100e6)
    for extra, more in project["optional-dependencies"].items():
        wheels = _download([*project["dependencies"], *more])
        added = sum(bytes_ for name, bytes_ in wheels.items() if name not in base)
        yield Figure(f"extra {extra}: {added / 1e6:.0f} MB more in {len(wheels) - len(base)} wheels")


def _download(requirements: list[str]) -> dict[str, int]:
    """Sizes of the wheels that pip downloads for these requirements into an empty directory, by name."""
    with tempfile.TemporaryDirectory() as room:
        words = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--dest", room]
        constraints = ["--constraint", str(_ROOT / "constraints.txt")]
        subprocess.run([*words, *constraints, *requirements], check=True, stderr=subprocess.DEVNULL)
        return {file.name.split("-")[0]: file.stat().st_size for file in Path(room).iterdir()}
