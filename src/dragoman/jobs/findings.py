"""From the figures of many models to a report: one table of all, and an answer to each question."""

import datetime as dt
import platform
import statistics
from collections.abc import Sequence
from typing import Any, NamedTuple

from dragoman.draw.curves import Series, svg_curves
from dragoman.draw.report import Block, Heading, Picture, Prose, Table, html_report, markdown_report
from dragoman.evaluation.compare import compare
from dragoman.jobs.contest import Contest, Entry, Question
from dragoman.jobs.measures import MEASURES, Column, Curve, Figures, Measure
from dragoman.machine import cores

_SURE = 0.05
_UNKNOWN = "–"


class Budget(NamedTuple):
    """What each recipe may use; one of the two is given."""

    minutes: float | None
    steps: int | None

    def __str__(self) -> str:
        return f"{self.minutes:g} minutes" if self.minutes is not None else f"{self.steps:,} updates"


class Result(NamedTuple):
    """What one run came to."""

    entry: Entry
    seed: int
    figures: Figures


class Report(NamedTuple):
    """The same three times over, and its main table."""

    html: str
    markdown: str
    tree: dict[str, Any]
    overview: Table


class _Row(NamedTuple):
    """A recipe, and the figures of all its runs that came to an end."""

    entry: Entry
    results: list[Result]
    failed: list[str]

    def mean(self, column: Column) -> float | None:
        values = [value for one in self.results if (value := column(one.figures)) is not None]
        return statistics.mean(values) if values else None

    def about(self, name: str) -> str:
        """The mean of a figure of which nobody wants to know the last digit."""
        mean = self.mean(lambda figures: figures[name])
        return _UNKNOWN if mean is None else f"{mean:,.0f}"

    def told(self, column: Column, form: str = "{:.1f}") -> str:
        """The mean, and from where to where the seeds reach."""
        values = [value for one in self.results if (value := column(one.figures)) is not None]
        if not values:
            return _UNKNOWN
        mean = form.format(statistics.mean(values))
        return mean if len(values) == 1 else f"{mean} ({form.format(min(values))}–{form.format(max(values))})"


def report(
    contest: Contest, results: Sequence[Result], references: Sequence[str], budget: Budget, *, builtin: bool
) -> Report:
    """Write what was found."""
    rows = _rows(contest, results)
    overview = _overview(contest, rows, references)
    answers = [_answer(question, rows) for question in contest.questions]
    answered = [(question, blocks) for question, blocks in zip(contest.questions, answers, strict=True) if blocks]
    blocks: list[Block] = [
        *_terms(results, budget, builtin=builtin),
        Heading("All recipes"),
        overview,
        *[Prose(f"{row.entry.label}: {text}.", "note") for row in rows for text in row.failed],
        Prose(_LEGEND, "note"),
        *(block for question, some in answered for block in (Heading(question.title), *some)),
    ]
    tree = {
        "title": contest.title,
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "budget": budget._asdict(),
        "runs": [{"recipe": one.entry.name, "seed": one.seed, **_without_translations(one.figures)} for one in results],
        "questions": [
            {"title": question.title, "found": [b.text for b in some if isinstance(b, Prose) and b.kind != "claim"]}
            for question, some in answered
        ],
    }
    return Report(html_report(contest.title, blocks), markdown_report(contest.title, blocks), tree, overview)


_LEGEND = (
    "Several seeds: the mean, and from the lowest to the highest. Exact: translations equal to the reference to the "
    "letter. Contrasts: pairs of sentences that differ in one deciding word, both translated exactly right. Alignment "
    "error: of the attention head that aligns best on dev, measured on test. Against: BLEU less that of the baseline "
    "with the same seed, the 95 % interval, and p by paired bootstrap."
)


def _terms(results: Sequence[Result], budget: Budget, *, builtin: bool) -> list[Block]:
    text = "the built-in corpus" if builtin else "the text that was given"
    signature = next((one.figures["scores"]["bleu"]["signature"] for one in results if "scores" in one.figures), "")
    return [
        Prose(
            f"{dt.datetime.now(dt.UTC).date().isoformat()}, {cores()} cores, {platform.machine()}. Every recipe was "
            f"trained on {text} for {budget}, preparing and finishing included, and judged by the same test set."
        ),
        Prose(f"BLEU: {signature}", "note"),
    ]


def _rows(contest: Contest, results: Sequence[Result]) -> list[_Row]:
    rows = []
    for entry in contest.entries:
        own = [one for one in results if one.entry == entry]
        if own:
            failed = [f"seed {one.seed}: {one.figures['failed']}" for one in own if "failed" in one.figures]
            rows.append(_Row(entry, [one for one in own if "failed" not in one.figures], failed))
    return rows


def _overview(contest: Contest, rows: Sequence[_Row], references: Sequence[str]) -> Table:
    quality = MEASURES["quality"].columns
    base = next((row for row in rows if row.entry.name == contest.baseline), None)
    columns = ["recipe", "seeds", "parameters", "updates", "pieces/s", "BLEU", "chrF", *list(quality)[1:], "against"]
    cells = [
        [
            row.entry.label,
            str(len(row.results)),
            *(row.about(name) for name in ("parameters", "updates", "pieces_per_second")),
            row.told(quality["BLEU"]),
            row.told(lambda f: f["scores"]["chrf"]["score"]),
            *(row.told(column) for column in list(quality.values())[1:]),
            _against(row, base, references),
        ]
        for row in rows
    ]
    shown = [n for n in range(len(columns)) if n == 0 or any(row[n] != _UNKNOWN for row in cells)]
    return Table([columns[n] for n in shown], [[row[n] for n in shown] for row in cells])


def _against(row: _Row, base: _Row | None, references: Sequence[str]) -> str:
    """BLEU beside the baseline's with the same seed."""
    if base is None or row is base:
        return _UNKNOWN
    for one in row.results:
        other = next((result for result in base.results if result.seed == one.seed), None)
        if other is not None:
            found, theirs = one.figures["translations"], other.figures["translations"]
            (judged,) = compare(theirs, found, references, names=("bleu",))
            difference = judged.difference
            sure = "" if judged.p_value < _SURE else ", may be luck"
            bounds = f"{difference.low:+.1f} to {difference.high:+.1f}"
            return f"{difference.score:+.1f} ({bounds}), p {judged.p_value:.3f}{sure}"
    return _UNKNOWN


def _answer(question: Question, rows: Sequence[_Row]) -> list[Block]:
    """What the lectures say, what was measured, and whether the two agree; nothing if nothing was measured."""
    measure = MEASURES[question.measure]
    chosen = [row for name in question.recipes for row in rows if row.entry.name == name and row.results]
    chosen = [row for row in chosen if row.mean(measure.summary) is not None]
    if not chosen:
        return []
    blocks: list[Block] = [Prose(f"The lectures: {question.lectures}", "claim")] if question.lectures else []
    if measure.curves:
        series = [_series(curve, row) for curve in measure.curves for row in chosen]
        blocks.append(Picture(svg_curves(series, across=measure.across)))
        blocks += [_curve_table(curve, chosen, measure.across) for curve in measure.curves]
    else:
        columns = measure.columns
        cells = [[row.entry.label, *(row.told(c, _form(name)) for name, c in columns.items())] for row in chosen]
        blocks.append(Table(["", *columns], cells))
    named = {row.entry.name: row for row in chosen}
    pairs = [(named[a], named[b]) for a, b in question.pairs() if a in named and b in named]
    return [*blocks, *(_verdict(measure, above, below) for above, below in pairs)]


def _verdict(measure: Measure, above: _Row, below: _Row) -> Prose:
    high, low = above.mean(measure.summary), below.mean(measure.summary)
    assert high is not None
    assert low is not None
    told = f"{measure.sums_up}: {above.entry.label} {high:.4g}, {below.entry.label} {low:.4g}"
    told = told[0].upper() + told[1:]
    seeds = min(len(above.results), len(below.results))
    basis = "one seed" if seeds == 1 else f"means of {seeds} seeds"
    if high - low > measure.margin:
        return Prose(f"{told} ({basis}). As the lectures say.", "agrees")
    if low - high > measure.margin:
        return Prose(f"{told} ({basis}). The contrary of what the lectures say.", "differs")
    return Prose(f"{told} ({basis}). No difference to speak of, where the lectures say there is one.", "differs")


def _series(curve: Curve, row: _Row) -> Series:
    points = _mean_points(curve, row)
    return Series(curve.panel, row.entry.name, [x for _, x, _ in points], [y for _, _, y in points])


def _curve_table(curve: Curve, rows: Sequence[_Row], across: str) -> Table:
    every = [_mean_points(curve, row) for row in rows]
    names = [name for name, _, _ in max(every, key=len)]
    cells = [[row.entry.label, *(_short(y) for _, _, y in points)] for row, points in zip(rows, every, strict=True)]
    return Table([f"{curve.panel}, by {across}", *names], cells)


def _mean_points(curve: Curve, row: _Row) -> list[tuple[str, float, float]]:
    every = [curve.points(one.figures) for one in row.results]
    return [
        (points[0][0], points[0][1], statistics.mean(y for _, _, y in points)) for points in zip(*every, strict=True)
    ]


def _short(value: float) -> str:
    """Three digits, or more where there are more before the point."""
    digits = 0 if abs(value) >= 100 or value == int(value) else 1 if abs(value) >= 10 else 2
    return f"{value:.{digits}f}"


def _form(name: str) -> str:
    return "{:.3f}" if "loss" in name or "layer" in name else "{:.1f}"


def _without_translations(figures: Figures) -> dict[str, Any]:
    return {name: value for name, value in figures.items() if name not in ("translations", "key")}
