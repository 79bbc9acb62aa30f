"""`dragoman generate`: the built-in corpus as TSV."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from dragoman.cli import show

Pairs = Annotated[int, typer.Option("--pairs", metavar="N", min=1, help="How many pairs.")]
Seed = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="The same seed makes the same pairs.")]
HeldOut = Annotated[
    bool, typer.Option("--held-out", help="Only sentences with a combination of words that training text never has.")
]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help="Write here instead of to stdout; .gz packs.", show_default=False),
]


def generate(pairs: Pairs = 10_000, seed: Seed = 1, held_out: HeldOut = False, out: Out = None) -> None:
    """Write the built-in English-Spanish corpus: as many pairs as asked for, source, tab, target.

    \b
    Examples:
      dragoman generate --pairs 20000 --seed 1 --out pairs.tsv
      dragoman generate --pairs 1000 --seed 2 --held-out --out test.tsv
    """  # noqa: D301 -- \b keeps the examples' lines apart
    from dragoman.data.grammar import generate as make

    examples = make(pairs, seed, held_out=held_out)
    if out is None:
        for example in examples:
            sys.stdout.buffer.write(f"{example.source}\t{example.target}\n".encode())
        return
    from dragoman.data.corpus import Pair, write_pairs

    with show.progress("generating", "pairs") as tell:

        def told() -> Iterator[Pair]:
            for number, example in enumerate(examples, start=1):
                tell(number)
                yield Pair(example.source, example.target, "")

        written = write_pairs(out, told())
    show.note(f"{show.count(written, 'pair')} written to {out}")
