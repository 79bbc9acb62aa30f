"""`dragoman evaluate`: scores on a test set, with signatures, and whether another model is better."""

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from dragoman.cli import show
from dragoman.cli.model import tell_engine
from dragoman.cli.options import Beam, Engine, Files, Json, LengthPenalty, MaxLength, Model, Threads
from dragoman.cli.translate import choose_search

if TYPE_CHECKING:
    from dragoman.checkpoint import ModelDirectory
    from dragoman.evaluation.compare import Comparison, Estimate
    from dragoman.evaluation.scores import Score, Scores
    from dragoman.jobs import evaluate as job
    from dragoman.jobs.evaluate import Bounds, Difference, Differences, Evaluation, Judged, TestSet

Against = Annotated[
    Path | None,
    typer.Option(
        "--against", metavar="DIR", help="Another model: is this one better? (paired bootstrap)", show_default=False
    ),
]
Out = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="Write the translations, a line each.", show_default=False)
]
Worst = Annotated[int, typer.Option("--worst", metavar="N", min=0, help="How many of the worst translations to show.")]
Differing = Annotated[
    int,
    typer.Option(
        "--differences", metavar="N", min=0, help="How many sentences to show, each way, on which two differ."
    ),
]


Papers = Annotated[
    bool,
    typer.Option("--papers", help="Count BLEU also as many papers do: lower case, normalised, cut by Moses' rules."),
]


_ONCE = "Every source once, against all its references"


class _Judged(NamedTuple):
    """What comes of a model."""

    name: str
    found: "Evaluation"
    bounds: "Bounds"
    low: Sequence["Judged"]
    counted: "Score | None"
    """BLEU as papers have it."""


class _Against(NamedTuple):
    """What comes of a second model."""

    name: str
    found: "Evaluation"
    compared: "job.Against"
    differences: "Differences"


def evaluate(  # noqa: PLR0913 -- an option each
    files: Files,
    *,
    model: Model = None,
    against: Against = None,
    beam: Beam = None,
    length_penalty: LengthPenalty = None,
    max_length: MaxLength = None,
    out: Out = None,
    papers: Papers = False,
    worst: Worst = 5,
    differences: Differing = 5,
    engine: Engine = "fast",
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """Score a model on a test set: BLEU, chrF and TER by sacrebleu, with the signatures that make them comparable.

    Of BLEU and chrF more is better, of TER less; each has its 95 % interval. Where sources have several translations,
    each is also scored once, against all it has. Against a second model, the difference comes with the probability p
    of so great a difference if neither were better, and the sentences on which they differ most are shown.

    \b
    Examples:
      dragoman evaluate test.tsv                               the model in the box, from English to Spanish
      dragoman evaluate -m my-model test.tsv --against en-es   is it better than the one in the box?
      dragoman evaluate -m my-model test.en test.es --beam 10 --out translations.txt
    """  # noqa: D301 -- \b keeps the examples' lines apart
    from dragoman.checkpoint import ModelDirectory
    from dragoman.engine.load import load_translator
    from dragoman.evaluation.moses import tokenise, tokenised_bleu
    from dragoman.jobs import evaluate as job

    directory = ModelDirectory(model)
    other = None if against is None else job.check_languages(directory, ModelDirectory(against))
    language = directory.recipe.target_language
    test = _read(files, directory, out)
    name, others = _names(directory.path, other.path if other else None)
    if papers:
        tokenise([], language)  # what is missing for it is told now, not after all is translated

    def run(one: ModelDirectory) -> "Evaluation":
        tell_engine(one.recipe, engine)
        search = choose_search(one.recipe, beam=beam, length_penalty=length_penalty, max_length=max_length)
        with show.progress(f"translating with {name if one is directory else others}", "lines") as tell:
            translator = load_translator(one, engine=engine, threads=threads)
            return job.evaluate(translator, test, language=language, search=search, tell=tell)

    found = run(directory)
    if out is not None:
        job.write_translations(out, found)
    beside = _set_against(others, found, run(other), test, differences, language) if other else None
    counted = tokenised_bleu(found.translations, test.references, language) if papers else None
    low = job.worst(found, test, worst, language=language)
    judged = _Judged(name, found, job.bound(found, test, language=language), low, counted)
    if as_json:
        print(json.dumps(_as_dict(judged, beside), indent=2, ensure_ascii=False))
    else:
        _print(judged, beside)
    _note_flags(name, found, beside)


def _read(files: Sequence[Path], model: "ModelDirectory", out: Path | None) -> "TestSet":
    """Read a test set for a model, and say so if it seems the wrong way round; look where its translations will go."""
    from dragoman.jobs.evaluate import check_out, read_test_set_for

    test, doubt = read_test_set_for(model, files)
    if out is not None:
        check_out(out, model, files)
    if doubt:
        show.note(doubt)
    return test


def _names(model: Path, other: Path | None) -> tuple[str, str]:
    """Name models by their directories, and where these are called alike by as much more of the path as it takes."""
    paths = [path.resolve() if path.name in ("", "..") else path.absolute() for path in (model, other or model)]
    for least in range(1, max(len(path.parts) for path in paths)):
        one, two = ("/".join(path.parts[-least:]) for path in paths)
        if one != two:
            return one, two
    return paths[0].name, paths[1].name


def _set_against(
    name: str, mine: "Evaluation", other: "Evaluation", test: "TestSet", most: int, language: str
) -> _Against:
    from dragoman.jobs import evaluate as job

    compared = job.compare_with(mine, other, test, language=language)
    return _Against(name, other, compared, job.differ_most(mine, other, test, most))


def _note_flags(name: str, found: "Evaluation", beside: _Against | None) -> None:
    """Say how many lines are flagged, and if there are two models, whose."""
    sys.stdout.flush()
    for whose, one in [(f"{name}: ", found), (f"{beside.name}: ", beside.found)] if beside else [("", found)]:
        if one.flagged:
            each = ", ".join(f"{number:,} {flag}" for flag, number in one.count_flags().most_common())
            show.note(f"{whose}{one.flagged:,} of {show.count(len(one.translations), 'line')} flagged: {each}")


def _as_dict(judged: _Judged, beside: _Against | None) -> dict[str, Any]:
    found = judged.found
    tree: dict[str, Any] = {
        "lines": len(found.translations),
        "seconds": round(found.seconds, 3),
        "flags": dict(found.count_flags()),
        "scores": _score_dict(found.scores, judged.bounds.scores),
        "worst": [one._asdict() for one in judged.low],
    }
    if judged.counted is not None:
        tree["papers"] = {"bleu": {"score": judged.counted.value, "signature": judged.counted.signature}}
    if found.by_source is not None:
        tree["by_source"] = _score_dict(found.by_source, judged.bounds.by_source)
    if beside is not None:
        tree["against"] = _compared_list(beside.compared.lines)
        if beside.compared.by_source:
            tree["against_by_source"] = _compared_list(beside.compared.by_source)
        tree["differences"] = {
            way: [one._asdict() for one in ones] for way, ones in beside.differences._asdict().items()
        }
    return tree


def _score_dict(scores: "Scores", bounds: Sequence["Estimate"]) -> dict[str, dict[str, Any]]:
    return {
        name: {"score": one.value, "signature": one.signature, "low": sure.low, "high": sure.high}
        for (name, one), sure in zip(scores._asdict().items(), bounds, strict=True)
    }


def _compared_list(compared: Iterable["Comparison"]) -> list[dict[str, Any]]:
    return [
        {
            "name": one.name,
            "signature": one.signature,
            "other": one.first._asdict(),
            "this": one.second._asdict(),
            "difference": one.difference._asdict(),
            "p": one.p_value,
            "verdict": one.verdict,
        }
        for one in compared
    ]


def _print(judged: _Judged, beside: _Against | None) -> None:
    found, lines = judged.found, len(judged.found.translations)
    pace = f"{lines / found.seconds:,.0f} a second" if found.seconds > 0 else "at once"
    show.heading(f"{judged.name}: {show.count(lines, 'line')} in {show.duration(found.seconds)}, {pace}")
    show.line()
    _print_scores(found.scores, judged.bounds.scores, judged.counted)
    if found.by_source is not None:
        show.line()
        show.heading(_ONCE)
        _print_scores(found.by_source, judged.bounds.by_source)
    if beside is not None:
        _print_against(judged.name, beside)
    if judged.low:
        show.line()
        show.heading("Least like their references")
        for one in judged.low:
            show.line()
            show.facts(
                [
                    (f"{one.chrf:.1f}", one.place),
                    ("source", one.source),
                    ("model", one.translation),
                    ("reference", one.reference),
                    *([("wrong", "; ".join(one.faults))] if one.faults else []),
                ]
            )


def _print_scores(scores: "Scores", bounds: Sequence["Estimate"], counted: "Score | None" = None) -> None:
    rows = [
        (one.name, f"{one.value:.1f}", f"{sure.low:.1f} to {sure.high:.1f}", one.signature)
        for one, sure in zip(scores, bounds, strict=True)
    ]
    if counted is not None:
        rows.append((counted.name, f"{counted.value:.1f}", "", counted.signature))
    show.table(("metric", "score", "95 % interval", "signature"), rows, right=(1, 2), grow=3)


def _print_against(name: str, beside: _Against) -> None:
    for title, compared in zip((f"Against {beside.name}", _ONCE), beside.compared, strict=True):
        if compared:
            show.line()
            show.heading(title)
            show.table(
                ("metric", beside.name, name, "difference", "95 % of draws", "p", "verdict"),
                [_compared_row(one, name) for one in compared],
                right=(1, 2, 3, 4, 5),
                grow=6,
            )
    draws = beside.compared.lines[0].signature.rpartition("bs:")[2].partition("|")[0]
    drawn = f"{draws} draws of {'sources' if beside.compared.by_source else 'lines'}"
    show.line(f"paired bootstrap, {drawn}; p is sacrebleu's, about half of a two-sided test's", dim=True)
    for way, ones in (("nearer to", beside.differences.better), ("farther from", beside.differences.worse)):
        if ones:
            show.line()
            show.heading(f"Where {name} is {way} the reference than {beside.name}")
        for one in ones:
            show.line()
            show.facts(_difference_rows(one, name, beside.name))


def _difference_rows(one: "Difference", name: str, other: str) -> list[tuple[str, str]]:
    return [
        (f"{one.gain:+.1f}", one.place),
        ("source", one.source),
        (name, f"{one.translation} ({one.chrf:.1f})"),
        (other, f"{one.other} ({one.other_chrf:.1f})"),
        ("reference", one.reference),
    ]


def _compared_row(one: "Comparison", name: str) -> tuple[str, ...]:
    verdict = "no difference that could not be luck" if one.verdict == "unsure" else f"{name} is {one.verdict}"
    return (
        one.name,
        f"{one.first.score:.1f}",
        f"{one.second.score:.1f}",
        f"{one.difference.score:+z.1f}",
        f"{one.difference.low:+z.1f} to {one.difference.high:+z.1f}",
        f"{one.p_value:.3f}",
        "no difference" if one.difference == (0, 0, 0, 0) else verdict,
    )
