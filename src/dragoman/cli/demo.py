"""`dragoman demo`: train on the built-in corpus, measure, translate, look inside."""

import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dragoman.cli import show

if TYPE_CHECKING:
    from dragoman.jobs.demo import Verdict

_RIVER, _STREET = (
    "I arrived at the bank after crossing the river.",
    "I arrived at the bank after crossing the street.",
)


def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="The model directory to write.")] = Path("demo-model"),
    steps: Annotated[int | None, typer.Option("--steps", help="Updates to make, instead of the usual number.")] = None,
) -> None:
    """Train a translator on the built-in English-Spanish grammar, measure it, and look inside it.

    Takes about three minutes on two cores. The model stays in --out, to go on with.
    """
    from dragoman.cli.live import follow
    from dragoman.engine.load import load_translator
    from dragoman.jobs.demo import CORPUS, STEPS, forget, judge, learn, lectures_told

    forget(out)
    show.heading("A grammar writes the training text, and a Transformer learns to translate it")
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as room, follow(out) as observe:
        learn(Path(room) / CORPUS, out, steps or STEPS, observe)
    trained = time.monotonic() - begun
    translator = load_translator(out)
    show.heading("What it makes of sentences it has never seen")
    _show_verdict(judge(out, translator), trained)
    show.heading("The lectures' sentences")
    show.facts((source, translation.text) for source, translation in lectures_told(translator))
    _show_inside(out)
    show.heading("Go on from here")
    show.facts(
        [
            (
                "translate",
                f'dragoman translate -m {out} "The animal did not cross the street because it was too wide."',
            ),
            ("look inside", f'dragoman look -m {out} --html look.html "{_RIVER}"'),
            ("your own text", "dragoman train pairs.tsv --from en --to es --out my-model --minutes 20"),
        ]
    )


def _show_verdict(verdict: "Verdict", trained: float) -> None:
    contrasts = ", ".join(f"{name} {right} of {count}" for name, (right, count) in verdict.contrasts.items())
    right, count = verdict.distractors
    rows = [
        ("held-out combinations, exactly right", f"{verdict.held_out:.1%}", "97 % wanted"),
        ("contrast pairs, right on both sides", f"{verdict.contrast_share:.1%}", f"98 % wanted; {contrasts}"),
        ("  those with a distractor", f"{right / count:.1%}", f"{right} of {count}"),
        (
            f"alignment error rate, layer {verdict.head.layer + 1} head {verdict.head.head + 1}",
            f"{verdict.alignment:.3f}",
            "0.20 wanted at most; head chosen on dev, measured on test",
        ),
        ("grammar, training and export", f"{trained:.0f} s", ""),
    ]
    show.table(("measured on unseen sentences", "", ""), rows, right=(1,), grow=2)
    if verdict.wrong:
        show.line()
        show.line("one that went wrong:", dim=True)
        first = verdict.wrong[0]
        show.facts([("source", first.source), ("translation", first.found), ("grammar", first.right)])


def _show_inside(out: Path) -> None:
    from dragoman.draw import text_bars, text_heatmap
    from dragoman.jobs import look as job
    from dragoman.jobs.meaning import compare_word

    colour, dark, width = show.has_colour(sys.stdout), show.is_dark(), show.width()
    model = job.open_model(out)
    seen = job.look(model, _RIVER)
    show.heading("Where the translation looked, in the head that aligns best")
    print(text_heatmap(seen.best, colour=colour, width=width, dark=dark))
    show.heading("Context changes meaning: cosine of the two banks' vectors, river against street")
    likeness = compare_word(model, (_RIVER, _STREET), "bank")
    print(text_bars(likeness.cosines, colour=colour, width=width, dark=dark))
