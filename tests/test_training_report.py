"""The report at the end of a training."""

import re
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import dragoman
from dragoman.checkpoint import ModelDirectory
from dragoman.data.grammar import generate
from dragoman.draw.report import markdown_report
from dragoman.engine.translator import Translation
from dragoman.jobs import evaluate
from dragoman.jobs.report import Outcome, report_blocks
from dragoman.jobs.train import train
from dragoman.recipe import read_recipe

SETTINGS = [
    "model.encoder_layers=1",
    "model.decoder_layers=1",
    "model.width=24",
    "model.heads=2",
    "model.feed_forward=32",
    "pieces.size=420",
    "training.batch_pieces=256",
    "training.scorings=3",
    "training.score_pairs=5",
    "training.judge_pairs=23",
    "training.processes=1",
]
STEPS = 12


class Words(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.tags: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not {"src", "href"} & {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.found.append(data)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    room = tmp_path_factory.mktemp("report")
    lines = [f"{e.source}\t{e.target}" for e in generate(400, seed=7)]
    lines += ["<b>In 1984</b>\tEn 1985", "The same words\tthe same words", "\tnada"]
    (room / "pairs.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return train(
        [room / "pairs.tsv"],
        out=room / "model",
        source_language="en",
        target_language="es",
        steps=STEPS,
        settings=SETTINGS,
    )


@pytest.fixture(scope="module")
def card(model: Path) -> Mapping[str, Any]:
    return ModelDirectory(model).card


@pytest.fixture(scope="module")
def markdown(model: Path) -> str:
    return (model / "report.md").read_text(encoding="utf-8")


def table(markdown: str, first: str) -> list[list[str]]:
    """The rows of the table whose first column is called so, without those of its head."""
    rows = markdown[markdown.index(f"| {first} |") :].partition("\n\n")[0].splitlines()
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows[2:]]


def test_the_page_and_the_markdown_say_the_same(model: Path, markdown: str) -> None:
    page = Words((model / "report.html").read_text(encoding="utf-8"))
    told = " ".join(" ".join(page.found).split())
    headings = re.findall(r"^##? (.*)$", markdown, re.MULTILINE)
    assert headings == [
        "English → Spanish: how the training went",
        "Scores on the held-out part",
        "Quality by length",
        "The worst sentences",
        "The text",
        "The training",
    ]
    assert all(heading in told for heading in headings)
    cells = [cell for line in markdown.splitlines() if line.startswith("| ") for cell in line.strip("| ").split(" | ")]
    assert [cell for cell in cells if cell not in told and not cell.startswith("---")] == []
    assert page.tags.count("svg") == 2
    assert "script" not in page.tags


def test_every_score_lies_in_its_interval(card: Mapping[str, Any], markdown: str) -> None:
    rows = table(markdown, "")
    assert [row[0] for row in rows] == ["BLEU", "chrF", "TER"]
    for name, row in zip(("bleu", "chrf", "ter"), rows, strict=True):
        one = card["dev"][name]
        assert one["low"] <= one["score"] <= one["high"]
        assert row[1:] == [f"{one['score']:.1f}", f"{one['low']:.1f} to {one['high']:.1f}"]
        assert one["signature"].replace("|", "\\|") in markdown


def test_every_sentence_has_its_length_and_few_are_not_judged_apart(card: Mapping[str, Any], markdown: str) -> None:
    rows = table(markdown, "words in the source")
    assert sum(int(row[1]) for row in rows) == card["dev"]["pairs"] == 23
    assert len(rows) == 2
    for _, sentences, score, interval in rows:
        assert int(sentences) >= 10
        low, high = map(float, interval.split(" to "))
        assert low <= float(score) <= high


def test_the_files_are_named_but_not_where_they_lie(model: Path, markdown: str) -> None:
    assert "\n- text: pairs.tsv\n\n403 pairs were read" in markdown
    assert str(model.parent) not in markdown


def test_ten_sentences_are_shown_the_worst_first_and_each_with_a_reason(markdown: str) -> None:
    worst = [float(score) for score in re.findall(r"^- chrF ([\d.]+): run/dev.tsv, line \d+$", markdown, re.MULTILINE)]
    assert len(worst) == 10
    assert worst == sorted(worst)
    assert len(re.findall(r"^- wrong: \S", markdown, re.MULTILINE)) == 10


def test_the_sentences_stand_where_it_says(model: Path, markdown: str) -> None:
    lines = (model / "run" / "dev.tsv").read_text(encoding="utf-8").splitlines()
    found = re.findall(r"run/dev.tsv, line (\d+)$(.*?)\n\n", markdown + "\n\n", re.MULTILINE | re.DOTALL)
    assert len(found) == 10
    for line, told in found:
        assert all(side in told.replace("\\", "") for side in lines[int(line) - 1].split("\t"))


def test_where_nothing_is_wrong_nothing_is_shown_as_the_worst(model: Path, card: Mapping[str, Any]) -> None:
    texts = ["El perro ve al gato.", "La casa es azul."]
    test = evaluate.TestSet(["The dog sees the cat.", "The house is blue."], texts, ["1", "2"])
    right = evaluate.score_translations(
        [Translation(text, (), 0.0, frozenset()) for text in texts], test, language="es"
    )
    blocks = report_blocks(Outcome(card, read_recipe(model / "recipe.toml"), {}, test, right, {}, [], ""))
    assert "every translation is its reference to the letter" in markdown_report("Report", blocks)
    assert "wrong:" not in markdown_report("Report", blocks)


def test_what_was_dropped_is_told_with_its_reason_and_one_of_each(markdown: str) -> None:
    rows = table(markdown, "dropped")
    assert ["numbers-disagree: the two sides hold different numbers", "1"] in rows
    assert ["empty-side: a side is empty or white space", "1"] in rows
    assert r"- numbers-disagree: pairs.tsv:401: \<b\>In 1984\</b\> ⇥ En 1985" in markdown


def test_the_training_is_told(model: Path, markdown: str) -> None:
    assert "Transformer of 1+1 layers, width 24, 2 heads, feed-forward 32" in markdown
    assert f"- run: {STEPS} updates" in markdown
    assert [row[0] for row in table(markdown, "update")] == ["4", "8", "12"]
    (figure,) = re.findall(r"!\[Training curves\]\((.*)\)", markdown)
    assert (model / figure).exists()


def test_the_report_is_for_people_and_no_part_of_the_model(model: Path, card: Mapping[str, Any]) -> None:
    assert not [name for name in card["sha256"] if name.startswith("report")]
    (model / "report.md").write_text("my own notes", encoding="utf-8")
    assert dragoman.load(model).translate(["We ate."])[0].text


def told_of(model: Path, card: Mapping[str, Any]) -> str:
    test = evaluate.TestSet(["The house is blue."], ["La casa es azul."], ["1"])
    found = evaluate.score_translations([Translation("La casa.", (), 0.0, frozenset())], test, language="es")
    outcome = Outcome(card, read_recipe(model / "recipe.toml"), {}, test, found, {}, [], "")
    return markdown_report("Report", report_blocks(outcome))


def test_pairs_that_were_mixed_in_are_not_counted_among_those_that_were_read(
    model: Path, card: Mapping[str, Any]
) -> None:
    mixed = {"read": 40, "kept": 30, "dropped": {"copied": 10}, "used": 20, "share": 0.25}
    counts = {"read": 70, "kept": 63, "held_out": 3, "pairs": 80, "mixed": mixed}
    assert (
        "70 pairs were read and 63 kept; 3 of them were held out. 20 others were mixed in, 25% of each epoch, drawn "
        "from 30 that were left of 40 after cleaning (dropped: 10 copied). In all, 80 were learned from.\n"
    ) in told_of(model, {**card, "corpus": {**card["corpus"], **counts}})


def test_of_few_pairs_the_intervals_are_not_trusted(model: Path, card: Mapping[str, Any]) -> None:
    for pairs, said in ((29, "by bootstrap; of so few pairs they are too narrow."), (30, "by bootstrap. The")):
        assert said in told_of(model, {**card, "dev": {**card["dev"], "pairs": 100, "sources": pairs}})
        before = {name: one for name, one in card["dev"].items() if name != "sources"}
        assert said in told_of(model, {**card, "dev": {**before, "pairs": pairs}}), "as in a card that does not tell"


def test_it_says_of_how_many_held_out_pairs_some_were_drawn(model: Path, card: Mapping[str, Any]) -> None:
    for there, said in ((2000, "17 pairs, drawn from 2,000; of TER"), (17, "17 pairs; of TER")):
        told = {**card, "dev": {**card["dev"], "pairs": 17}, "corpus": {**card["corpus"], "dev": there}}
        assert said in told_of(model, told)
