"""Make models of the box from their text alone, and pack them; an hour and a quarter each on two cores.

    python -m benchmarks.make_box en-es es-en

The text is Tatoeba's and, for longer sentences, TICO-19's and those of the Spanish translation of Python's
documentation that have no markup. TATOEBA, TICO19 and PYTHON_DOCS name the directories that hold them as train.tsv.gz,
val.tsv.gz, test.tsv.gz and attribution.tsv.gz, and as pairs.tsv.gz; FLORES the one with dev.en.gz and dev.es.gz, on
which a model is scored too. What is begun and finished is kept in `.bench/box`, so that the same command goes on after
an interruption, to the same weights.
"""

import argparse
import re
import sys
from pathlib import Path
from typing import NamedTuple

from benchmarks.attribution import Learned, attribution, read_people
from benchmarks.corpus import need
from benchmarks.figure import NotHereError, dragoman
from benchmarks.figure import run as run_command
from benchmarks.trained import card, trained
from dragoman.data.corpus import read_pairs, write_pairs

_ROOM = Path(".bench/box")
_BOX = Path("src/dragoman/models")
_RECIPE = Path("recipes/en-es-box.toml")
_UPDATES = 5000
_MARKUP = re.compile(r"[`*|\\_:<>{}%=]")
_COLUMNS = {"en-es": "", "es-en": ":2,1"}
"""Which column of the files is the source, for each model: the first, unless said otherwise."""


class _Text(NamedTuple):
    """Where all text lies."""

    tatoeba: Path
    prose: Path
    tico19: Path
    flores: Path

    def learned(self) -> tuple[Path, Path, Path]:
        """The files that models learn from."""
        return self.tatoeba / "train.tsv.gz", self.prose, self.tico19 / "pairs.tsv.gz"


def main(words: list[str]) -> int:
    """Make and pack the models named; tell where they are and what they score."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.make_box", description="Make models of the box.")
    parser.add_argument("names", nargs="+", choices=list(_COLUMNS), metavar="NAME", help=" or ".join(_COLUMNS))
    parser.add_argument("--into", type=Path, default=_BOX, metavar="DIR", help=f"where they go, instead of {_BOX}")
    parser.add_argument("--replace", action="store_true", help="put them in the place of those that are there")
    parser.add_argument("--repack", action="store_true", help="train nothing, and pack those that are there anew")
    asked = parser.parse_args(words)
    places = {name: asked.into / name for name in asked.names}
    for place in places.values():
        if asked.repack and not place.exists():
            parser.error(f"there is no {place} to pack anew")
        if place.exists() and not (asked.replace or asked.repack):
            parser.error(f"{place} is there already; see --into, --replace and --repack")
    try:
        text = _find_text()
    except NotHereError as error:
        raise SystemExit(str(error)) from error
    for name, place in places.items():
        model = place if asked.repack else _train(name, text)
        print(_pack(name, model, text, place), flush=True)
    return 0


def _find_text() -> _Text:
    """Find all that will be needed, before an hour has been spent."""
    flores = need("FLORES", "dev.en.gz", "dev.es.gz")
    tatoeba = need("TATOEBA", *(f"{name}.tsv.gz" for name in ("train", "val", "test", "attribution")))
    tico19, docs = (need(variable, "pairs.tsv.gz") for variable in ("TICO19", "PYTHON_DOCS"))
    return _Text(tatoeba, _prose(docs / "pairs.tsv.gz"), tico19, flores)


def _prose(pairs: Path) -> Path:
    """The pairs that have no markup, as a file."""
    _ROOM.mkdir(parents=True, exist_ok=True)
    file = _ROOM / "prose.tsv"
    plain = (pair for pair in read_pairs([pairs], "en", "es") if not _MARKUP.search(pair.source + pair.target))
    write_pairs(file, plain)
    return file


def _train(name: str, text: _Text) -> Path:
    source, target = name.split("-")
    files = [*text.learned(), text.tatoeba / "val.tsv.gz", text.tatoeba / "test.tsv.gz"]
    *learned, dev, test = (f"{file}{_COLUMNS[name]}" for file in files)
    words = [*learned, "--from", source, "--to", target, "--dev", dev, "--test", test]
    return trained(_ROOM, name, [*words, "--recipe", _RECIPE, "--steps", str(_UPDATES)])


def _pack(name: str, model: Path, text: _Text, place: Path) -> str:
    """Pack a model with what it owes and what it scores, and return what is told of that."""
    tatoeba, prose, tico19 = (sum(1 for _ in read_pairs([file], "en", "es")) for file in text.learned())
    read = card(model)["corpus"]["read"]
    if read != tatoeba + prose + tico19:
        raise SystemExit(f"{model} has read {read:,} pairs, but here are {tatoeba + prose + tico19:,}: other text")
    credit = _ROOM / f"{name}.md"
    people = read_people(text.tatoeba / "attribution.tsv.gz")
    credit.write_text(attribution(name, Learned(tatoeba, prose, tico19), people), encoding="utf-8")
    tatoeba_test = f"Tatoeba test={text.tatoeba / 'test.tsv.gz'}{_COLUMNS[name]}"
    tests = ["--test", tatoeba_test, "--test", f"Flores dev={text.flores / 'dev'}"]
    pack = dragoman("export", "-m", model, "--to", "package", "--attribution", credit, *tests, "--force", place)
    return run_command(pack).out


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
