"""`dragoman check`: what a corpus holds, what would be dropped and why, and what training would do."""

import difflib
import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from dragoman.cli import show
from dragoman.cli.options import Files, From, Json, RecipeFile, Settings, To
from dragoman.errors import DataError
from dragoman.jobs.describe import in_words

if TYPE_CHECKING:
    from dragoman.config import Recipe
    from dragoman.data.cleaning import Dropped, Report
    from dragoman.data.corpus import Tally
    from dragoman.jobs.check import Checked, Forecast

_FEW = 1000

Dev = Annotated[
    list[Path] | None,
    typer.Option(
        "--dev", metavar="FILE", help="A dev set; pairs whose source stands in it are leaks.", show_default=False
    ),
]
Test = Annotated[
    list[Path] | None,
    typer.Option(
        "--test", metavar="FILE", help="A test set; pairs whose source stands in it are leaks.", show_default=False
    ),
]
List = Annotated[
    str | None,
    typer.Option(
        "--list", metavar="FILTER", help="Instead of the tables, list what this filter drops.", show_default=False
    ),
]
DroppedTo = Annotated[
    Path | None,
    typer.Option(
        "--dropped", metavar="TSV", help="Write all that is dropped: place, filter, pair.", show_default=False
    ),
]
CleanTo = Annotated[
    Path | None, typer.Option("--clean", metavar="TSV", help="Write a cleaned copy.", show_default=False)
]


def check(  # noqa: PLR0913 -- an option each
    files: Files,
    *,
    source: From = None,
    target: To = None,
    dev: Dev = None,
    test: Test = None,
    listed: List = None,
    dropped_to: DroppedTo = None,
    clean_to: CleanTo = None,
    recipe_file: RecipeFile = None,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Say what a corpus holds, what would be dropped and why, and what training on it would do.

    Nothing is changed. Every filter's line shows how many pairs it drops and one of them; --list shows all of
    a filter's. How long training takes is an estimate, from how fast this machine multiplies.

    \b
    Examples:
      dragoman check pairs.tsv
      dragoman check train.en train.de --from en --to de --test test.tsv
      dragoman check memory.tmx --from en --to es --list numbers-disagree
      dragoman check pairs.tsv --set cleaning.max_ratio=3 --clean cleaned.tsv --dropped dropped.tsv
    """  # noqa: D301 -- \b keeps the examples' lines apart
    from dragoman.jobs.check import Corpus, Wishes
    from dragoman.jobs.check import check as check_corpus

    recipe = _recipe(recipe_file, settings, source, target, files)
    if listed is not None:
        _check_filter(listed)
        if as_json:
            raise DataError("--list and --json cannot be given together", hint="--dropped writes all that is dropped")

    def show_dropped(dropped: "Dropped") -> None:
        if dropped.reason == listed:
            _print_dropped(dropped)

    with show.progress("reading", "pairs") as tell:
        wishes = Wishes(clean_to, dropped_to, show_dropped if listed else None, tell)
        checked = check_corpus(Corpus(files, dev or (), test or ()), recipe, wishes)
    if as_json:
        print(json.dumps(_as_dict(checked), indent=2, ensure_ascii=False))
    elif listed is None:
        _print_report(files, recipe, checked)
        if checked.forecast is not None:
            show.line()
            _print_forecast(_Said(files, dev or [], test or [], recipe_file, settings or []), recipe, checked.forecast)
    else:
        show.note(f"{listed} drops {show.count(checked.report.dropped[listed], 'pair')} of {checked.report.read:,}")
    for path, what, many in (
        (clean_to, "kept", checked.report.kept),
        (dropped_to, "dropped", sum(checked.report.dropped.values())),
    ):
        if path is not None:
            show.note(f"{show.count(many, 'pair')} {what}, written to {path}")
    _tell_what_is_wrong(checked)


def _tell_what_is_wrong(checked: "Checked") -> None:
    """Note what a training would suffer from; complain if there is nothing to train on."""
    from dragoman.training.sizes import FEWEST_PAIRS

    report = checked.report
    if checked.doubt:
        show.note(checked.doubt)
    if not report.kept:
        raise DataError(
            f"none of {show.count(report.read, 'pair')} is left to learn from",
            hint="see above what dropped them; cleaning can be changed with --set cleaning.NAME=VALUE",
        )
    if report.kept < FEWEST_PAIRS:
        show.note(
            f"{show.count(report.kept, 'pair')} left: too few for `dragoman train`, which takes {FEWEST_PAIRS} or more"
        )


def _recipe(
    recipe_file: Path | None,
    settings: Sequence[str] | None,
    source: str | None,
    target: str | None,
    files: Sequence[Path],
) -> "Recipe":
    from dragoman.config import Recipe
    from dragoman.jobs.request import speak
    from dragoman.recipe import override, read_recipe

    recipe = override(read_recipe(recipe_file) if recipe_file else Recipe(), settings or [])
    return speak(recipe, (source, target), files)


def _check_filter(name: str) -> None:
    from dragoman.data.cleaning import FILTERS

    if name not in FILTERS:
        near = difflib.get_close_matches(name, FILTERS, n=1, cutoff=0.5)
        guess = f"; did you mean '{near[0]}'?" if near else ""
        raise DataError(f"there is no filter '{name}'{guess}", hint=f"the filters are {', '.join(FILTERS)}")


def _print_dropped(dropped: "Dropped") -> None:
    columns = (dropped.where, dropped.pair.source, dropped.pair.target)
    print("\t".join(show.printable(text.replace("\t", " ")) for text in columns))


def _as_dict(checked: "Checked") -> dict[str, object]:
    from dragoman.recipe import write_recipe

    forecast = checked.forecast
    tree: dict[str, object] = {
        **checked.report.as_dict(),
        "distinct_words": checked.words,
        "readers": checked.tally.as_dict(),
        "swapped": checked.doubt,
    }
    if forecast is not None:
        tree["forecast"] = {
            "pairs": forecast.pairs,
            "held_out": forecast.held_out,
            "parameters": forecast.parameters,
            "pieces_an_epoch": forecast.pieces,
            "pieces_a_second": round(forecast.pieces_a_second),
            "seconds_an_epoch": round(forecast.seconds_an_epoch, 1),
            "epochs": forecast.epochs,
            "minutes": forecast.minutes,
            "start": forecast.start,
            "recipe": write_recipe(forecast.recipe),
        }
    return tree


def _print_report(files: Sequence[Path], recipe: "Recipe", checked: "Checked") -> None:
    report = checked.report
    _print_corpus(files, recipe, checked)
    if report.dropped:
        show.line()
        _print_dropped_table(report)
    if report.kept:
        show.line()
        show.heading("Words in a pair's longer side")
        show.bars([(name, number) for name, number in report.as_dict()["lengths"].items()])


def _print_corpus(files: Sequence[Path], recipe: "Recipe", checked: "Checked") -> None:
    from dragoman.data.words import MOST_WORDS
    from dragoman.text.languages import name

    report, languages = checked.report, (recipe.source_language, recipe.target_language)
    named = f"  ({name(languages[0])} → {name(languages[1])})" if all(languages) else ""
    show.heading(", ".join(path.name for path in files) + named)
    rows = [("read", show.count(report.read, "pair"))]
    if report.read:
        rows.append(("kept", f"{show.count(report.kept, 'pair')}, {show.share(report.kept, report.read)}"))
    if report.kept:
        for side in ("source", "target"):
            words, characters, distinct = (
                getattr(report, f"{side}_{what}") if what != "distinct" else getattr(report, f"distinct_{side}s")
                for what in ("words", "characters", "distinct")
            )
            mean = f"{words / report.kept:.1f} a text of {characters / report.kept:.0f} characters"
            rows.append((side, f"{words:,} words, {mean}; {distinct:,} different texts"))
        more = "over " if checked.words >= MOST_WORDS else ""
        rows.append(("words", f"{more}{checked.words:,} different ones on both sides"))
    rows += _tally_rows(checked.tally)
    show.facts(rows)


def _tally_rows(tally: "Tally") -> list[tuple[str, str]]:
    """Say what the readers met, in words; nothing of what they did not meet."""
    said = (
        (tally.extra_columns, "column", "lines with more than two columns; the rest is ignored"),
        (tally.cut_lines, "cut", "lines too long to be read whole"),
        (tally.units, "TMX", "units"),
        (tally.units_without_pair, "TMX", "units without both languages"),
        (tally.extra_variants, "TMX", "pairs beyond the first of their unit"),
        (tally.inline_tags, "TMX", "inline tags left out"),
    )
    return [(name, f"{number:,} {text}") for number, name, text in said if number]


def _print_dropped_table(report: "Report") -> None:
    from dragoman.data.cleaning import FILTERS

    show.heading(f"Dropped: {show.count(sum(report.dropped.values()), 'pair')}")
    rows = []
    for name, meaning in FILTERS.items():
        if number := report.dropped[name]:
            example = report.examples[name][0]
            pair = f"{_short(example.pair.source)} → {_short(example.pair.target)}"
            rows.append((name, f"{number:,}", show.share(number, report.read), f"{meaning}\n{example.where}: {pair}"))
    show.table(("filter", "pairs", "share", "why, and the first one"), rows, right=(1, 2), grow=3)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 40 else text[:39] + "…"


class _Said(NamedTuple):
    """What was said of the text and the recipe; a training of it has to be told the same."""

    files: Sequence[Path]
    dev: Sequence[Path]
    test: Sequence[Path]
    recipe_file: Path | None
    settings: Sequence[str]

    def command(self, recipe: "Recipe", how: str, value: str) -> str:
        """The training to begin; one that starts from a model has that model's network and vocabulary."""
        starting = how == "--start"
        shape = ("model.", "pieces.") if starting else ()
        named: list[tuple[str, Sequence[str | Path | None]]] = [
            ("--from", [recipe.source_language]),
            ("--to", [recipe.target_language]),
            ("--dev", self.dev),
            ("--test", self.test),
            ("--recipe", [] if starting else [self.recipe_file]),
            ("--set", [setting for setting in self.settings if not setting.startswith(shape)]),
        ]
        said = [str(word) for option, values in named for one in values if one for word in (option, one)]
        return shlex.join(["dragoman", "train", *map(str, self.files), *said, "--out", "my-model", how, value])


def _print_forecast(said: _Said, recipe: "Recipe", forecast: "Forecast") -> None:
    model, training = forecast.recipe.model, forecast.recipe.training
    show.heading("Training would")
    learn = f"learn from {show.count(forecast.pairs, 'pair')}"
    if forecast.held_out:
        learn += f" and hold out about {forecast.held_out:,} to judge the model by"
    speed = f"{show.about(forecast.pieces_a_second)} target pieces a second here"
    epoch = f"{show.duration(forecast.seconds_an_epoch)} for an epoch of {show.about(forecast.pieces)}"
    rows = [
        ("data", learn),
        ("pieces", f"cut text into a vocabulary of {forecast.recipe.pieces.size:,} pieces"),
        ("model", f"train a {in_words(model)}: {show.about(forecast.parameters)} parameters"),
        ("batch", f"take {training.batch_pieces:,} pieces an update, rate {training.peak_rate:.2g}"),
        ("time", f"see about {speed}: {epoch}"),
    ]
    show.facts(rows)
    if forecast.pairs < _FEW:
        show.note(
            f"{show.count(forecast.pairs, 'pair')} are very few: a model can learn these sentences, but no language"
        )
    show.line()
    show.line(
        f"About {show.about(forecast.epochs)} epochs should do; an estimate, since training measures before it plans:"
    )
    print(f"  {said.command(recipe, '--minutes', str(forecast.minutes))}")  # whole, however long, to be copied
    if forecast.start:
        show.line()
        show.line("So few pairs do better on top of a model that knows these languages:")
        print(f"  {said.command(recipe, '--start', forecast.start)}")
