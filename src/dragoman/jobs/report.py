"""The report at the end of a training: how good the model is, where it fails, and what it was made from.

    MODEL/report.html, MODEL/report.md

Written before the card, so that a finished model has one. No hash covers it: nothing reads it but people, who may write
into it.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dragoman.checkpoint import write_bytes
from dragoman.config import Recipe
from dragoman.data.cleaning import FILTERS
from dragoman.draw.curves import Series, svg_curves
from dragoman.draw.report import Block, Facts, Heading, Picture, Prose, Table, html_report, markdown_report
from dragoman.evaluation.breakdown import LENGTHS, in_bins
from dragoman.evaluation.compare import estimate
from dragoman.evaluation.faults import split_words
from dragoman.jobs.change import (
    CHANGE_COLUMNS,
    METRICS,
    are_few,
    change_caveats,
    change_rows,
    chose_weights,
    kept_start,
    unseen,
)
from dragoman.jobs.describe import minutes, training_in_words
from dragoman.jobs.evaluate import Evaluation, TestSet, worst
from dragoman.text import languages
from dragoman.text.languages import has_no_spaces

_WORST = 10
_FEWEST = 10  # sentences of like length, to be judged apart from the others
_FILES = {"train": "text", "mix": "mixed in", "dev": "dev", "test": "test", "old_test": "old domain"}
_CHARACTERS = (1, 11, 21, 31, 51)
"""Where the bins of sentences begin in a language whose words have no spaces between them."""


class Outcome(NamedTuple):
    """What there is to report of."""

    card: Mapping[str, Any]
    recipe: Recipe
    request: Mapping[str, Any]
    """What was asked for, the files among it."""
    test: TestSet
    """The held-out part."""
    evaluation: Evaluation
    examples: Mapping[str, Sequence[Mapping[str, str]]]
    """Some dropped pairs of each filter."""
    log: Sequence[Mapping[str, Any]]
    curves: str


def write_report(out: Path, outcome: Outcome) -> None:
    """Write the report as a page and as Markdown."""
    recipe = outcome.recipe
    source, target = (languages.name(code) for code in (recipe.source_language, recipe.target_language))
    title = f"{source or 'source'} → {target or 'target'}: how the training went"
    blocks = report_blocks(outcome)
    write_bytes(out / "report.html", html_report(title, blocks).encode("utf-8", "replace"))
    write_bytes(out / "report.md", markdown_report(title, blocks).encode("utf-8", "replace"))


def report_blocks(outcome: Outcome) -> list[Block]:
    """Put a training into words, tables and pictures."""
    return [
        *_summary(outcome),
        *_change(outcome.card),
        *_scores(outcome),
        *_by_length(outcome),
        *_worst(outcome),
        *_text(outcome),
        *_training(outcome),
    ]


def _summary(outcome: Outcome) -> list[Block]:
    card, dev = outcome.card, outcome.card["dev"]
    took = minutes(card["training"]["seconds"])
    kept = kept_start(card)
    return [
        Prose(
            f"dragoman {card['dragoman']}, {card['created'][:10]}. Trained for {took} on {card['corpus']['pairs']:,} "
            f"pairs. On {dev['pairs']:,} pairs {unseen(card)}: BLEU {dev['bleu']['score']}, "
            f"chrF {dev['chrf']['score']}."
        ),
        *([Prose(kept, "differs")] if kept else []),
    ]


def _change(card: Mapping[str, Any]) -> list[Block]:
    """What became of the model that the training began from; nothing if it is still the same."""
    start = card.get("start")
    if start is None or kept_start(card):
        return []
    return [
        Heading("Before and after"),
        Prose(f"The training began from the model {start['name']} (weights {start['sha256'][:12]}…)."),
        Table(CHANGE_COLUMNS, change_rows(start)),
        *(Prose(caveat, "differs") for caveat in change_caveats(start)),
        Prose(
            "Differences and their intervals by paired bootstrap; before and after have the same signatures.", "note"
        ),
        Facts([(name, start["new"][key]["after"]["signature"]) for key, name in METRICS.items()]),
    ]


def _scores(outcome: Outcome) -> list[Block]:
    dev = outcome.card["dev"]
    rows = [
        [name, f"{dev[key]['score']:.1f}", f"{dev[key]['low']:.1f} to {dev[key]['high']:.1f}"]
        for key, name in METRICS.items()
    ]
    there = outcome.card["corpus"]["dev"]
    drawn = f", drawn from {there:,}" if there > dev["pairs"] else ""
    few = "; of so few pairs they are too narrow" if are_few(dev) else ""
    chose = chose_weights(dev["pairs"], outcome.recipe)
    return [
        Heading("Scores on the held-out part"),
        Table(["", "score", "95 % interval"], rows),
        Prose(
            f"{dev['pairs']:,} pairs{drawn}; of TER less is better. {chose[0].upper()}{chose[1:]}, by their chrF, "
            "which flatters a little; dragoman evaluate with a test set of its own does not."
        ),
        Prose(f"The intervals are by bootstrap{few}. The signatures say how each score was counted.", "note"),
        Facts([(name, dev[key]["signature"]) for key, name in METRICS.items()]),
    ]


def _by_length(outcome: Outcome) -> list[Block]:
    language, test, found = outcome.recipe.source_language, outcome.test, outcome.evaluation.translations
    unit, edges = ("characters", _CHARACTERS) if has_no_spaces(language) else ("words", LENGTHS)
    sizes = [max(1, len(split_words(source, language))) for source in test.sources]
    bounds: list[tuple[float, float]] = []

    def judge(some: list[int]) -> float:
        sources = [test.sources[n] for n in some]
        ((_, _, one),) = estimate(
            [found[n] for n in some], [test.references[n] for n in some], sources=sources, names=["chrf"]
        )
        bounds.append((one.low, one.high))
        return one.score

    bins = in_bins(sizes, edges, judge, fewest=_FEWEST)
    across = f"{unit} in the source"
    blocks: list[Block] = [Heading("Quality by length")]
    if len(bins) > 1:
        line = Series("chrF", "chrF", [one.middle for one in bins], [one.value for one in bins], bounds=bounds)
        blocks.append(Picture(svg_curves([line], across=across)))
    rows = [
        [one.name, str(one.cases), f"{one.value:.1f}", f"{low:.1f} to {high:.1f}"]
        for one, (low, high) in zip(bins, bounds, strict=True)
    ]
    return [*blocks, Table([across, "sentences", "chrF", "95 % interval"], rows)]


def _worst(outcome: Outcome) -> list[Block]:
    evaluation, test = outcome.evaluation, outcome.test
    low = worst(evaluation, test, _WORST, language=outcome.recipe.target_language)
    blocks: list[Block] = [
        Heading("The worst sentences"),
        Prose(
            f"Least like their references, by the chrF of the sentence. {evaluation.flagged:,} of "
            f"{len(test.sources):,} translations are flagged."
        ),
        *([] if low else [Prose("There is none: every translation is its reference to the letter.")]),
    ]
    for one in low:
        rows = [
            (f"chrF {one.chrf:.1f}", one.place),
            ("source", one.source),
            ("model", one.translation),
            ("reference", one.reference),
        ]
        blocks.append(Facts([*rows, ("wrong", "; ".join(one.faults))]))
    return blocks


def _text(outcome: Outcome) -> list[Block]:
    """What was read, kept and dropped."""
    corpus = outcome.card["corpus"]
    rows = [[f"{name}: {FILTERS[name]}", f"{count:,}"] for name, count in corpus["dropped"].items()]
    if corpus["too_many_pieces"]:
        most = outcome.recipe.pieces.max_length
        rows.append([f"too-many-pieces: a side has more than {most} pieces", f"{corpus['too_many_pieces']:,}"])
    blocks: list[Block] = [
        Heading("The text"),
        Facts([(told, ", ".join(names)) for told, names in _files(outcome.request).items() if names]),
        Prose(
            f"{corpus['read']:,} pairs were read and {corpus['kept']:,} kept; {corpus['held_out']:,} of them were held "
            f"out.{_mixed(corpus.get('mixed'))} {corpus['pairs']:,} were learned from."
        ),
    ]
    doubts = filter(None, map(corpus.get, ("swapped", "spelt")))
    blocks += [Prose(f"{doubt[0].upper()}{doubt[1:]}.", "differs") for doubt in doubts]
    met = [f"{count:,} {name.replace('_', ' ')}" for name, count in corpus["readers"].items() if count]
    if met:
        blocks.append(Prose(f"Met while reading: {', '.join(met)}."))
    if not rows:
        return [*blocks, Prose("Nothing was dropped.")]
    shown = [
        (name, f"{pair['where']}: {pair['source']} ⇥ {pair['target']}")
        for name, pairs in outcome.examples.items()
        for pair in pairs[:1]
    ]
    some: list[Block] = [Prose("One of each:"), Facts(shown)] if shown else []
    return [*blocks, Table(["dropped", "pairs"], rows), *some]


def _files(request: Mapping[str, Any]) -> dict[str, list[str]]:
    """The files that were given, by their names alone: where they lie is nobody else's business."""
    return {told: [Path(name).name for name in request.get(kind, ())] for kind, told in _FILES.items()}


def _mixed(mixed: Mapping[str, Any] | None) -> str:
    if mixed is None:
        return ""
    dropped = ", ".join(f"{count:,} {name}" for name, count in mixed["dropped"].items()) or "none"
    return (
        f" {mixed['used']:,} others were mixed in, {mixed['share']:.0%} of each epoch, drawn from {mixed['kept']:,} "
        f"that were left of {mixed['read']:,} after cleaning (dropped: {dropped}). In all,"
    )


def _training(outcome: Outcome) -> list[Block]:
    told = training_in_words(outcome.card, outcome.recipe)
    scored = [[f"{e['update']:,}", f"{e['chrf']:.2f}"] for e in outcome.log if e["event"] == "scored"]
    changed = [e for e in outcome.log if e["event"] == "replanned"]
    if changed:
        first, last = changed[0]["before"], changed[-1]["updates"]
        told.append(("plan", f"changed on the way, from {first:,} to {last:,} updates: {changed[-1]['why']}"))
    picture = [Picture(outcome.curves, "Training curves", "run/curves.svg")] if outcome.curves else []
    return [Heading("The training"), Facts(told), *picture, Table(["update", "dev chrF (greedy)"], scored)]
