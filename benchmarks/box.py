"""What the models in the box score, and beside them Apertium, the rule-based translator (Debian: apertium-eng-spa).

Both ways on Tatoeba's test set, whose sources often have several translations, and on Flores' dev set, whose sentences
are long. TATOEBA and FLORES name the directories that hold test.tsv.gz, and dev.en.gz and dev.es.gz.
"""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.corpus import need
from benchmarks.figure import Figure, NotHereError
from benchmarks.trained import evaluated, in_words
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
    """Score both directions, and Apertium's."""
    tatoeba = need("TATOEBA", "test.tsv.gz") / "test.tsv.gz"
    flores = need("FLORES", "dev.en.gz", "dev.es.gz") / "dev"
    for test in (
        Test("en-es", "Tatoeba test", tatoeba, (46.0, 65.0)),
        Test("en-es", "Flores dev", flores, (10.0, 0.0)),
        Test("es-en", "Tatoeba test", tatoeba.with_name(f"{tatoeba.name}:2,1")),
        Test("es-en", "Flores dev", flores),
    ):
        yield _ours(test)
        if shutil.which("apertium"):
            yield _apertium(test)
    if not shutil.which("apertium"):
        raise NotHereError("Apertium is not installed (Debian has it as apertium-eng-spa)")


def _ours(test: Test) -> Figure:
    about = f"{test.direction}, {test.name}"
    if test.direction not in boxed():
        return Figure(f"{about}: there is no such model in the box", None if test.wanted is None else False)
    told = evaluated(Path(test.direction), test.files)
    text = f"{about}: {in_words(told['scores'])}"
    if "by_source" in told:
        text += f"; every source once, against all its references: {in_words(told['by_source'])}"
    if test.wanted is None:
        return Figure(text, shown=True)
    wanted = " / ".join(f"{aim:g}" for aim in test.wanted if aim)
    found = (told["scores"][name]["score"] for name in ("bleu", "chrf"))
    return Figure(f"{text}; {wanted} wanted", all(one >= aim for one, aim in zip(found, test.wanted, strict=True)))


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
    scores = ", ".join(str(one) for one in (found.bleu, found.chrf._replace(name="chrF")))
    return Figure(f"{test.direction}, {test.name}: Apertium, by rules: {scores}", shown=True)
