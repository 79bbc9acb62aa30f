"""`dragoman translate`: texts or lines in, translations out."""

import dataclasses
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from dragoman.cli import show
from dragoman.cli.model import check_attention, tell_engine, tell_language
from dragoman.cli.options import Beam, Engine, LengthPenalty, MaxLength, Model, Quiet, Threads
from dragoman.errors import DataError, FlaggedError, ModelError

if TYPE_CHECKING:
    from dragoman.checkpoint import ModelDirectory
    from dragoman.config import Recipe, Search
    from dragoman.engine.flags import Flag
    from dragoman.engine.translator import Sentence, Translator
    from dragoman.jobs.translate import Answer, Asked, Line

Texts = Annotated[
    list[str] | None,
    typer.Argument(metavar="TEXT", help="Texts to translate; without any, the lines of stdin.", show_default=False),
]
Best = Annotated[
    int | None,
    typer.Option("--best", metavar="N", help="Print the N best: number ||| text ||| score.", show_default="1"),
]
Temperature = Annotated[
    float | None,
    typer.Option(
        "--temperature", metavar="X", help="Draw at random: below 1 carefully, above 1 boldly.", show_default=False
    ),
]
TopK = Annotated[
    int | None,
    typer.Option("--top-k", metavar="N", help="Draw from the N best pieces; 0 from all.", show_default=False),
]
TopP = Annotated[
    float | None,
    typer.Option(
        "--top-p", metavar="X", help="Draw from the best pieces that hold this probability.", show_default=False
    ),
]
Seed = Annotated[
    int | None, typer.Option("--seed", metavar="N", help="Draw; the same seed draws the same.", show_default=False)
]
Prefix = Annotated[
    str, typer.Option("--prefix", metavar="TEXT", help="How every translation must begin.", show_default=False)
]
Alignments = Annotated[
    bool, typer.Option("--alignments", help="Add a column: which word became which, as 0-0 1-2 (source-target).")
]
Scores = Annotated[bool, typer.Option("--scores", help="Add a column: the score, a mean log-probability.")]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print a JSON object for every line: text, score, flags, sentences, ….")
]
Strict = Annotated[bool, typer.Option("--strict", help="Exit with 3 if anything is flagged.")]
NoSplit = Annotated[bool, typer.Option("--no-split", help="Do not split lines into sentences.")]
Shortlist = Annotated[
    bool,
    typer.Option(
        "--shortlist", help="Faster: score only likely pieces. Which are, may depend a little on the lines around."
    ),
]
LineByLine = Annotated[
    bool, typer.Option("--line-by-line", help="Answer each line before reading the next, which is slower.")
]


def translate(  # noqa: PLR0913 -- an option each
    texts: Texts = None,
    *,
    model: Model = None,
    beam: Beam = None,
    best: Best = None,
    length_penalty: LengthPenalty = None,
    temperature: Temperature = None,
    top_k: TopK = None,
    top_p: TopP = None,
    seed: Seed = None,
    max_length: MaxLength = None,
    prefix: Prefix = "",
    alignments: Alignments = False,
    scores: Scores = False,
    as_json: AsJson = False,
    strict: Strict = False,
    no_split: NoSplit = False,
    engine: Engine = "fast",
    threads: Threads = None,
    shortlist: Shortlist = False,
    line_by_line: LineByLine = False,
    quiet: Quiet = False,
) -> None:
    """Translate texts, or the lines of stdin: a line in is a line out.

    Columns are separated by tabs: the text, then the score if asked for, then the alignment if asked for. What
    looks wrong with a translation is flagged: truncated, repeated, copied, length-ratio, unknown-characters.
    Flags are counted on stderr, and listed by --json. With --best, rank n of a text is made of the n-th best
    translation of each of its sentences.

    \b
    Examples:
      dragoman translate "Good morning."                       the model in the box, from English to Spanish
      dragoman translate -m es-en "Buenos días."               … and from Spanish to English
      dragoman translate -m my-model "I arrived at the bank after crossing the river."
      dragoman translate -m my-model < in.txt > out.txt
      dragoman translate -m my-model --beam 10 --best 3 "Good morning."
      dragoman translate -m my-model --top-k 10 --seed 7 "Good morning."
      dragoman translate -m my-model --json --alignments < in.txt > out.jsonl
    """  # noqa: D301 -- \b keeps the examples' lines apart
    from dragoman.checkpoint import ModelDirectory
    from dragoman.engine.load import load_translator
    from dragoman.engine.translator import CHUNK_LINES
    from dragoman.jobs.translate import Asked

    directory = ModelDirectory(model)
    length = {"length_penalty": length_penalty, "max_length": max_length}
    drawing = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed}
    search = choose_search(directory.recipe, beam=beam, best=best, **length, **drawing)
    if alignments:
        _check_alignments(directory, search, as_json=as_json)
    if not quiet:
        tell_engine(directory.recipe, engine)
        tell_language(directory.recipe, texts or [])
    translator = load_translator(directory, engine=engine, threads=threads, sentences=not no_split, shortlist=shortlist)
    one_by_one = line_by_line or (not texts and _typed())
    asked = Asked(search, prefix, alignments, 1 if one_by_one else CHUNK_LINES)
    counted = _translate(translator, texts or [], asked, _Form(as_json, scores, alignments, search.best), quiet=quiet)
    _finish(counted, strict=strict, quiet=quiet)


def _check_alignments(directory: "ModelDirectory", search: "Search", *, as_json: bool) -> None:
    check_attention(directory)
    if search.best > 1 and not as_json:
        raise DataError("--best has no column for --alignments", hint="--json has both")


class _Form(NamedTuple):
    """How a translation is written."""

    json: bool
    scores: bool
    alignments: bool
    best: int


def _translate(
    translator: "Translator", texts: Sequence[str], asked: "Asked", form: _Form, *, quiet: bool
) -> "_Counted":
    """Translate the texts, or the lines of stdin if there are none, and write what becomes of them."""
    from dragoman.jobs.translate import argument_lines, read_lines, translate_lines

    lines = argument_lines(texts) if texts else read_lines(_stdin())
    counted = _Counted("text" if texts else "line")
    with show.progress("translating", "lines", wanted=not texts and not quiet and not _typed()) as tell:
        for answer in translate_lines(translator, counted.coming(lines), asked):
            sys.stdout.buffer.write(_written(answer, counted.written, form).encode("utf-8", "replace"))
            if asked.chunk == 1:
                sys.stdout.buffer.flush()
            counted.write(answer)
            tell(counted.written)
    return counted


def choose_search(recipe: "Recipe", **wishes: Any) -> "Search":
    """Return the model's search with what was asked for in its place.

    Any wish that only makes sense for drawing switches drawing on, and more translations than the beam holds widen it.
    """
    from dragoman.recipe import check

    asked = {name: value for name, value in wishes.items() if value is not None}
    if {"temperature", "top_p", "seed"} & asked.keys() and recipe.search.top_k == 1:
        asked.setdefault("top_k", 0)
    if "best" in asked:
        asked.setdefault("beam", max(recipe.search.beam, asked["best"]))
    return check(dataclasses.replace(recipe, search=dataclasses.replace(recipe.search, **asked))).search


def _stdin() -> Iterable[bytes]:
    if sys.stdin is None or sys.stdin.closed:
        raise DataError("there is nothing to read", hint="give a text, or lines on stdin")
    if _typed():
        show.note("reading lines from the keyboard; end with Ctrl-D")
    return sys.stdin.buffer


def _typed() -> bool:
    """Tell whether a person types the lines."""
    return sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()


class _Counted:
    """What came in, what went out, and what was flagged."""

    def __init__(self, noun: str) -> None:
        self.noun = noun
        self.read = self.written = self.flagged = 0
        self.flags: Counter[Flag] = Counter()

    def coming(self, lines: Iterable["Line"]) -> Iterator["Line"]:
        for line in lines:
            self.read += 1
            yield line

    def write(self, answer: "Answer") -> None:
        self.written += 1
        self.flags.update(answer.flags)
        self.flagged += bool(answer.flags)

    def __str__(self) -> str:
        each = ", ".join(f"{number:,} {flag}" for flag, number in self.flags.most_common())
        return f"{self.flagged:,} of {show.count(self.written, self.noun)} flagged: {each}"


def _finish(counted: _Counted, *, strict: bool, quiet: bool) -> None:
    """Say what was flagged; a line that is missing is always an error."""
    if counted.written != counted.read:
        raise ModelError(
            f"{counted.read:,} lines were read, but {counted.written:,} written",
            hint="do not use this output; this is a mistake in dragoman itself: please report it",
        )
    if counted.flagged and strict:
        sys.stdout.flush()
        raise FlaggedError(str(counted), hint="--json says which; without --strict this is not an error")
    if counted.flagged and not quiet:
        sys.stdout.flush()
        show.note(str(counted))


def _written(answer: "Answer", number: int, form: _Form) -> str:
    """Return what is written for a line: ended as the line was, unless it takes lines of its own."""
    from dragoman.jobs.translate import text_alignment

    if form.json:
        return json.dumps(_as_dict(answer, alignments=form.alignments), ensure_ascii=False) + "\n"
    if form.best > 1:
        return "".join(
            f"{number} ||| {one.text} ||| {one.score:.4f}\n" for one in (answer.best, *answer.best.alternatives)
        )
    columns = [answer.best.text]
    if form.scores:
        columns.append(f"{answer.best.score:.4f}")
    if form.alignments:
        columns.append(_pharaoh(text_alignment(answer.line.text, answer.best)))
    return "\t".join(columns) + answer.line.end


def _pharaoh(links: Iterable[tuple[int, int]]) -> str:
    return " ".join(f"{source}-{target}" for source, target in links)


def _as_dict(answer: "Answer", *, alignments: bool) -> dict[str, Any]:
    from dragoman.jobs.translate import text_alignment

    best = answer.best
    tree: dict[str, Any] = {
        "source": answer.line.text,
        "text": best.text,
        "score": round(best.score, 4),
        "flags": sorted(answer.flags),
    }
    if best.alternatives:
        tree["alternatives"] = [{"text": one.text, "score": round(one.score, 4)} for one in best.alternatives]
    if alignments:
        tree["alignment"] = _pharaoh(text_alignment(answer.line.text, best))
    tree["sentences"] = [_sentence(one, alignments=alignments) for one in best.sentences]
    return tree


def _sentence(sentence: "Sentence", *, alignments: bool) -> dict[str, Any]:
    tree: dict[str, Any] = {
        "source": sentence.source,
        "text": sentence.target,
        "score": round(sentence.score, 4),
        "flags": sorted(sentence.flags),
        "source_pieces": sentence.source_pieces,
        "pieces": sentence.target_pieces,
    }
    if alignments:
        tree["alignment"] = _pharaoh(sentence.alignment or ())
    return tree
