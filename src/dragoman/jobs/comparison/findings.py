"""From the figures of many models to a report: one table of all, and an answer to each question."""

import datetime as dt
import platform
import statistics
from collections.abc import Sequence
from typing import Any, NamedTuple

from dragoman.draw.curves import Series, svg_curves
from dragoman.draw.report import Block, Heading, Picture, Prose, Table, html_report, markdown_report
from dragoman.evaluation.compare import Comparison, compare
from dragoman.jobs.comparison.contest import Contest, Entry, Expected, Question
from dragoman.jobs.comparison.figures import Exam
from dragoman.jobs.comparison.measures import MEASURES, Column, Curve, Figures, Measure
from dragoman.jobs.comparison.verdicts import Side, Verdict, judge, short, sum_up
from dragoman.machine import cores

_UNKNOWN = "–"


class Budget(NamedTuple):
    """What each run may use, a recipe with a seed: time or updates, one of the two, and how many share the machine."""

    minutes: float | None
    steps: int | None
    at_once: int = 1

    def __str__(self) -> str:
        return f"{self.minutes:g} minutes" if self.minutes is not None else f"{self.steps:,} updates"

    @property
    def sharing(self) -> str:
        """How the machine was shared, for the report."""
        share = f"{cores() // self.at_once} of the {cores()} cores"
        return "" if self.at_once == 1 else f", {self.at_once} recipes at once, each on {share}"


class Result(NamedTuple):
    """What one run came to."""

    entry: Entry
    seed: int
    figures: Figures


class Terms(NamedTuple):
    """What holds for all recipes alike."""

    budget: Budget
    text: str
    """What was learned from, in words."""
    exam: Exam


class Report(NamedTuple):
    """The same three times over, and its main table."""

    html: str
    markdown: str
    tree: dict[str, Any]
    overview: Table
    plots: dict[str, str]
    """The pictures, by the files that the Markdown points at."""


class _Row(NamedTuple):
    """A recipe, and the figures of all its runs that came to an end."""

    entry: Entry
    results: list[Result]
    failed: list[str]

    def by_seed(self, column: Column) -> dict[int, float]:
        """A figure of all runs that have it."""
        found = {one.seed: column(one.figures) for one in self.results}
        return {seed: value for seed, value in found.items() if value is not None}

    def values(self, column: Column) -> list[float]:
        """The same without the seeds."""
        return list(self.by_seed(column).values())

    def mean(self, column: Column) -> float | None:
        values = self.values(column)
        return statistics.mean(values) if values else None

    def about(self, name: str) -> str:
        """The mean of a figure of which nobody wants to know the last digit."""
        mean = self.mean(lambda figures: figures[name])
        return _UNKNOWN if mean is None else f"{mean:,.0f}"

    def told(self, column: Column, form: str = "{:.1f}") -> str:
        """The mean, and from where to where the seeds reach."""
        values = self.values(column)
        if not values:
            return _UNKNOWN
        mean = form.format(statistics.mean(values))
        return mean if len(values) == 1 else f"{mean} ({form.format(min(values))}–{form.format(max(values))})"


class _Answer(NamedTuple):
    """What there is to say on a question."""

    question: Question
    blocks: list[Block]
    verdicts: list[Verdict]

    @property
    def found(self) -> str:
        """What the verdicts come to, and how many there could have been."""
        judged, asked = len(self.verdicts), len(self.question.expected)
        measured = f" ({judged} of {asked} measured)" if judged < asked else ""
        return sum_up(self.verdicts) + measured


def report(contest: Contest, results: Sequence[Result], terms: Terms) -> Report:
    """Write what was found."""
    rows = _rows(contest, results)
    base = next((row for row in rows if row.entry.name == contest.baseline), None)
    against = {row.entry.name: _test(row, base, terms.exam) for row in rows}
    overview = _overview(rows, against)
    asked = enumerate(contest.questions, start=1)
    answers = [_answer(question, rows, terms.exam, f"plots/{n}-{question.measure}.svg") for n, question in asked]
    answers = [answer for answer in answers if answer.blocks]
    blocks: list[Block] = [
        *_told(results, terms),
        *_in_short(answers),
        Heading("All recipes"),
        overview,
        *[Prose(f"{row.entry.label}: {text}.", "note") for row in rows for text in row.failed],
        Prose(_legend(overview, terms.budget), "note"),
        *(block for answer in answers for block in (Heading(answer.question.title), *answer.blocks)),
    ]
    tree = {
        "title": contest.title,
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "budget": terms.budget._asdict(),
        "text": terms.text,
        "recipes": [_summed_up(row, against[row.entry.name]) for row in rows],
        "runs": [{"recipe": one.entry.name, "seed": one.seed, **_without_translations(one.figures)} for one in results],
        "questions": [
            {
                "title": answer.question.title,
                "measure": MEASURES[answer.question.measure].sums_up,
                "asked": len(answer.question.expected),
                "verdicts": [verdict.tree() for verdict in answer.verdicts],
            }
            for answer in answers
        ],
    }
    plots = {block.file: block.svg for block in blocks if isinstance(block, Picture)}
    return Report(html_report(contest.title, blocks), markdown_report(contest.title, blocks), tree, overview, plots)


_COLUMNS = {
    "exact %": "Exact: translations equal to the reference to the letter.",
    "contrasts %": "Contrasts: pairs of sentences that differ in one deciding word, both translated exactly right.",
    "alignment error %": "Alignment error: of the attention head that aligns best on dev, measured on test.",
    "against": "Against: BLEU less that of the baseline, the 95 % interval, and p by paired bootstrap, over the "
    "sentences of all seeds that both have: it tells of other sentences, not of other seeds.",
}


def _legend(overview: Table, budget: Budget) -> str:
    """What the columns of the overview mean, and what is equal."""
    told = ["Several seeds: the mean, and from the lowest to the highest."]
    told += [meaning for column, meaning in _COLUMNS.items() if column in overview.columns]
    if budget.minutes is not None:
        told.append("All had the same time, and a machine has slow hours, so the updates differ.")
    told.append("A difference of less than a point with one seed proves nothing.")
    told.append("Parameters differ from recipe to recipe, for each family has the widths that suit it.")
    return " ".join(told)


def _told(results: Sequence[Result], terms: Terms) -> list[Block]:
    done = [one.figures for one in results if "failed" not in one.figures]
    pairs = f"{done[0]['pairs']:,} pairs of " if done else ""
    signature = done[0]["scores"]["bleu"]["signature"] if done else ""
    included = "" if terms.budget.minutes is None else ", preparing and finishing included"
    return [
        Prose(
            f"{dt.datetime.now(dt.UTC).date().isoformat()}, {cores()} cores, {platform.machine()}. Every recipe was "
            f"trained on {pairs}{terms.text} for {terms.budget}{included}{terms.budget.sharing}, and judged by the "
            f"same {len(terms.exam.references):,} sentences."
        ),
        Prose(f"BLEU: {signature}", "note"),
    ]


def _in_short(answers: Sequence[_Answer]) -> list[Block]:
    """What came of every question, before the figures."""
    told = [[answer.question.title, answer.found] for answer in answers if answer.verdicts]
    return [Heading("In short"), Table(["question", "found"], told)] if told else []


def _rows(contest: Contest, results: Sequence[Result]) -> list[_Row]:
    rows = []
    for entry in contest.entries:
        own = [one for one in results if one.entry == entry]
        if own:
            failed = [f"seed {one.seed}: {one.figures['failed']}" for one in own if "failed" in one.figures]
            rows.append(_Row(entry, [one for one in own if "failed" not in one.figures], failed))
    return rows


def _overview(rows: Sequence[_Row], against: dict[str, Comparison | None]) -> Table:
    """What matters most first: a wide table is cut off on the right."""
    bleu, *others = MEASURES["quality"].columns.values()
    names = list(MEASURES["quality"].columns)[1:]
    columns = ["recipe", "seeds", "BLEU", "against", *names, "chrF", "updates", "pieces/s", "parameters"]
    cells = [
        [
            row.entry.label,
            str(len(row.results)),
            row.told(bleu),
            _against(against[row.entry.name]),
            *(row.told(column) for column in (*others, _chrf)),
            *(row.about(name) for name in ("updates", "pieces_per_second", "parameters")),
        ]
        for row in rows
    ]
    return _with_known(columns, cells)


def _with_known(columns: Sequence[str], cells: Sequence[Sequence[str]]) -> Table:
    """A table without the columns of which nothing is known."""
    shown = [n for n in range(len(columns)) if n == 0 or any(row[n] != _UNKNOWN for row in cells)]
    return Table([columns[n] for n in shown], [[row[n] for n in shown] for row in cells])


def _chrf(figures: Figures) -> float:
    return float(figures["scores"]["chrf"]["score"])


def _test(row: _Row, base: _Row | None, exam: Exam) -> Comparison | None:
    """Set a recipe beside another: the translations of all seeds that both have, one test set after the other."""
    if base is None or row is base:
        return None
    pairs = [(theirs, own) for own in row.results for theirs in base.results if own.seed == theirs.seed]
    if not pairs:
        return None
    systems = [[text for one in side for text in one.figures["translations"]] for side in zip(*pairs, strict=True)]
    language = row.results[0].figures["language"]
    sources, references = (side * len(pairs) for side in (exam.sources, exam.references))
    (judged,) = compare(*systems, references, sources=sources, language=language, names=("bleu",))
    return judged


def _against(judged: Comparison | None) -> str:
    if judged is None:
        return _UNKNOWN
    difference = judged.difference
    luck = ", may be luck" if judged.verdict == "unsure" else ""
    return f"{difference.score:+.1f} ({difference.low:+.1f} to {difference.high:+.1f}), p {judged.p_value:.3f}{luck}"


def _summed_up(row: _Row, judged: Comparison | None) -> dict[str, Any]:
    """A line of the overview for JSON."""
    columns = {"chrF": _chrf, **MEASURES["quality"].columns}
    found: dict[str, Any] = {"recipe": row.entry.name, "label": row.entry.label, "seeds": len(row.results)}
    found |= {name: row.mean(column) for name, column in columns.items()}
    if judged is not None:
        found["against"] = {**judged.difference._asdict(), "p": judged.p_value}
    return found


def _answer(question: Question, rows: Sequence[_Row], exam: Exam, plot: str) -> _Answer:
    """What the lectures say, what was measured, and whether the two agree; nothing if that cannot be told."""
    measure = MEASURES[question.measure]
    named = {row.entry.name: row for row in rows if row.results}
    chosen = [named[name] for name in question.recipes if name in named and _is_measured(measure, named[name])]
    expected = [(one, [named.get(name) for name in one.recipes]) for one in question.expectations()]
    found = [_verdict(one, measure, some, exam) for one, some in expected]
    verdicts = [verdict for verdict in found if verdict is not None]
    alone = len(chosen) < min(2, len(question.recipes))  # of several, one by itself answers nothing
    if alone or (expected and not verdicts):
        return _Answer(question, [], [])
    blocks: list[Block] = [Prose(f"The lectures: {question.lectures}", "claim")] if question.lectures else []
    blocks += _shown(measure, chosen, question.title, plot)
    if verdicts:
        blocks.append(Prose(f"{measure.sums_up[0].upper()}{measure.sums_up[1:]}:"))
    blocks += [Prose(verdict.text, "agrees" if verdict.agrees else "differs") for verdict in verdicts]
    if question.ours:
        blocks.append(Prose(question.ours))
    return _Answer(question, blocks, verdicts)


def _shown(measure: Measure, rows: Sequence[_Row], title: str, plot: str) -> list[Block]:
    """What was measured: curves and their numbers, or a table."""
    if measure.curves:
        series = [_series(curve, row) for curve in measure.curves for row in rows]
        picture = Picture(svg_curves(series, across=measure.across), title, plot)
        return [picture, *(_curve_table(curve, rows, measure.across) for curve in measure.curves)]
    columns = measure.columns
    cells = [[row.entry.label, *(row.told(c, _form(name)) for name, c in columns.items())] for row in rows]
    return [_with_known(["", *columns], cells)]


def _is_measured(measure: Measure, row: _Row) -> bool:
    return any(row.mean(column) is not None for column in (measure.summary, *measure.columns.values()))


def _verdict(expected: Expected, measure: Measure, rows: Sequence[_Row | None], exam: Exam) -> Verdict | None:
    """Judge what is expected of one recipe or two, if both were measured, by the seeds that both have."""
    there = [row for row in rows if row is not None]
    if len(there) < len(rows):
        return None
    found = [row.by_seed(measure.summary) for row in there]
    shared = set.intersection(*map(set, found))
    if not shared:
        return None
    sides = [
        Side(row.entry.label, [values[seed] for seed in shared], min(values.values()), max(values.values()))
        for row, values in zip(there, found, strict=True)
    ]
    tested = _test(there[0], there[1], exam) if len(there) > 1 and measure is MEASURES["quality"] else None
    return judge(expected, measure, sides, tested)


def _series(curve: Curve, row: _Row) -> Series:
    points = _mean_points(curve, row)
    return Series(curve.panel, row.entry.name, [x for _, x, _ in points], [y for _, _, y in points])


def _curve_table(curve: Curve, rows: Sequence[_Row], across: str) -> Table:
    every = [_mean_points(curve, row) for row in rows]
    names = [name for name, _, _ in max(every, key=len)]
    cells = [[row.entry.label, *(short(y) for _, _, y in points)] for row, points in zip(rows, every, strict=True)]
    return Table([f"{curve.panel}, by {across}", *names], cells)


def _mean_points(curve: Curve, row: _Row) -> list[tuple[str, float, float]]:
    """The mean of all seeds, at every point that all of them have."""
    every = [{name: (x, y) for name, x, y in points} for one in row.results if (points := curve.points(one.figures))]
    shared = [name for name in (every[0] if every else ()) if all(name in one for one in every)]
    return [(name, every[0][name][0], statistics.mean(one[name][1] for one in every)) for name in shared]


def _form(name: str) -> str:
    return "{:.3f}" if any(word in name for word in ("loss", "layer", "÷", "a piece")) else "{:.1f}"


def _without_translations(figures: Figures) -> dict[str, Any]:
    return {name: value for name, value in figures.items() if name not in ("translations", "key")}
