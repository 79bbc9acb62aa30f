"""Make models of the box from their text alone; an hour and a quarter each on two cores.

    python -m benchmarks.make_box en-es [es-en]

The text is Tatoeba's and, for longer sentences, TICO-19's and those of the Spanish translation of Python's
documentation that have no markup. TATOEBA, TICO19 and PYTHON_DOCS name the directories that hold them as train.tsv.gz,
val.tsv.gz and test.tsv.gz, and as pairs.tsv.gz. What is begun and finished is kept in `.bench/box`, so that the same
command goes on after an interruption, to the same weights. docs/box.md tells how a model is packed.
"""

import re
import sys
from pathlib import Path

from benchmarks.corpus import directory
from benchmarks.trained import trained
from dragoman.data.corpus import read_pairs, write_pairs

_ROOM = Path(".bench/box")
_RECIPE = Path("recipes/en-es-box.toml")
_UPDATES = 5000
_MARKUP = re.compile(r"[`*|\\_:<>{}%=]")
_COLUMNS = {"en-es": "", "es-en": ":2,1"}
"""Which column of the files is the source, for each model: the first, unless said otherwise."""


def main(names: list[str]) -> int:
    """Make the models named; tell where they are."""
    unknown = [name for name in names if name not in _COLUMNS]
    if unknown or not names:
        print(f"name one or both of {', '.join(_COLUMNS)}", file=sys.stderr)
        return 2
    for name in names:
        print(f"{name}: {_make(name)}", flush=True)
    return 0


def _make(name: str) -> Path:
    source, target = name.split("-")
    tatoeba, tico19 = _found("TATOEBA"), _found("TICO19")
    prose = _prose(_found("PYTHON_DOCS") / "pairs.tsv.gz")
    learned = (tatoeba / "train.tsv.gz", prose, tico19 / "pairs.tsv.gz")
    files = [f"{file}{_COLUMNS[name]}" for file in (*learned, tatoeba / "val.tsv.gz", tatoeba / "test.tsv.gz")]
    *text, dev, test = files
    words = [*text, "--from", source, "--to", target, "--dev", dev, "--test", test]
    return trained(_ROOM, name, [*words, "--recipe", _RECIPE, "--steps", str(_UPDATES)])


def _found(variable: str) -> Path:
    path = directory(variable)
    if not path.is_dir():
        raise SystemExit(f"there is no {path}; {variable} names the directory")
    return path


def _prose(pairs: Path) -> Path:
    """The pairs that have no markup, as a file."""
    _ROOM.mkdir(parents=True, exist_ok=True)
    file = _ROOM / "prose.tsv"
    plain = (pair for pair in read_pairs([pairs], "en", "es") if not _MARKUP.search(pair.source + pair.target))
    write_pairs(file, plain)
    return file


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
