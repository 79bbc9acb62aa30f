"""What the models in the box score, and beside them Apertium, the rule-based translator, where it is installed.

Both ways on Tatoeba's test set, whose sources often have several translations, and on Flores' dev set, whose sentences
are long. TATOEBA and FLORES name the directories that hold test.tsv.gz, and dev.en.gz and dev.es.gz.
"""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.corpus import directory
from benchmarks.figure import Figure
from benchmarks.trained import evaluated
from dragoman.checkpoint import boxed
from dragoman.data.corpus import read_pairs
from dragoman.evaluation.scores import score

_APERTIUM = {"en-es": "eng-spa", "es-en": "spa-eng"}


class Test(NamedTuple):
    """A test set for one direction, and what is wanted there: BLEU and chrF."""

    direction: str
    name: str
    files: Path
    wanted: tuple[float, float] | None = None


def run() -> Iterator[Figure]:
    """Score what is there."""
    tatoeba, flores = directory("TATOEBA") / "test.tsv.gz", directory("FLORES") / "dev"
    if not (tatoeba.exists() and flores.with_name("dev.en.gz").exists()):
        yield Figure("skipped: no test sets (set TATOEBA and FLORES)")
        return
    for test in (
        Test("en-es", "Tatoeba test", tatoeba, (46.0, 65.0)),
        Test("en-es", "Flores dev", flores, (10.0, 0.0)),
        Test("es-en", "Tatoeba test", tatoeba.with_name(f"{tatoeba.name}:2,1")),
        Test("es-en", "Flores dev", flores),
    ):
        yield _ours(test)
        if shutil.which("apertium"):
            yield _apertium(test)


def _ours(test: Test) -> Figure:
    about = f"{test.direction}, {test.name}"
    if test.direction not in boxed():
        return Figure(f"{about}: there is no such model in the box", None if test.wanted is None else False)
    told = evaluated(Path(test.direction), test.files)
    bleu, chrf = told["scores"]["bleu"], told["scores"]["chrf"]
    text = f"{about}: BLEU {bleu['score']:.1f} ({bleu['signature']}), chrF {chrf['score']:.1f} ({chrf['signature']})"
    if "by_source" in told:
        every = told["by_source"]["bleu"]
        text += f"; every source once, against all its references, BLEU {every['score']:.1f} ({every['signature']})"
    if test.wanted is None:
        return Figure(text, shown=True)
    wanted = " / ".join(f"{aim:g}" for aim in test.wanted if aim)
    return Figure(f"{text}; {wanted} wanted", bleu["score"] >= test.wanted[0] and chrf["score"] >= test.wanted[1])


def _apertium(test: Test) -> Figure:
    """The same by rules; an empty line keeps sentences apart."""
    source, target = test.direction.split("-")
    pairs = list(read_pairs([test.files], source, target))
    done = subprocess.run(
        ["apertium", "-u", _APERTIUM[test.direction]],
        input="".join(f"{pair.source}\n\n" for pair in pairs),
        capture_output=True,
        text=True,
        check=True,
    )
    found = score(done.stdout.split("\n")[:-1:2], [pair.target for pair in pairs], language=target)
    return Figure(f"{test.direction}, {test.name}: Apertium, by rules: {found.bleu}, {found.chrf}", shown=True)
