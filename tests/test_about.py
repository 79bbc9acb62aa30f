"""What a model says of itself."""

import json
from pathlib import Path
from typing import Any

import pytest

from dragoman.checkpoint import ATTRIBUTION, BOX, ModelDirectory
from dragoman.jobs.about import about_model
from dragoman.training.sizes import CorpusSize, fill
from run_command import Cli
from tiny_model import RECIPE, make_tiny_model

BOXED = BOX / "en-es"
CARD = {name: told for name, told in json.loads((BOXED / "card.json").read_text("utf-8")).items() if name != "sha256"}


def make(path: Path, **told: Any) -> Path:
    """Make a model whose card says what one in the box does, but for this."""
    return make_tiny_model(path, recipe=fill(RECIPE, CorpusSize(500, 500)), card={**CARD, **told})


def test_the_model_in_the_box_says_what_it_is_and_whom_it_owes(cli: Cli) -> None:
    said = cli("about")
    assert said.code == 0, said.err
    assert said.out.startswith("en-es (in the box)\n  translates  English → Spanish\n")
    for part in (
        "149,203 pairs learned from",
        "BLEU 45.0 (40.9 to 48.7)",
        "7,193,408 parameters",
        "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0",
        "CC BY 2.0 FR",
        "What it can do, and what it cannot",
        "_anna",
    ):
        assert part in said.out
    assert f"(infull:{BOXED / ATTRIBUTION})" in "".join(said.out.split())
    assert said.err == "note: in the box: en-es; -m names another, or a directory\n"


def test_as_json_it_is_the_card_and_the_attribution_in_full(cli: Cli) -> None:
    said = cli("about", "-m", "en-es", "--json")
    told = json.loads(said.out)
    assert told.pop("attribution") == (BOXED / ATTRIBUTION).read_text(encoding="utf-8")
    assert told == ModelDirectory("en-es").card


def test_a_model_that_began_from_another_says_what_changed(tmp_path: Path) -> None:
    scores = {"bleu": {"before": {"score": 12.04}, "after": {"score": 31.06}}}
    model = make(tmp_path / "m", start={"name": "en-es", "new": scores, "old": scores})
    told = about_model(ModelDirectory(model))
    assert ("began from", "en-es, new text from 12.0 to 31.1 BLEU; old domain from 12.0 to 31.1 BLEU") in told.facts
    assert (told.title, told.attribution) == ("m", "")


def test_a_model_without_attention_links_no_words(tmp_path: Path) -> None:
    models = make(tmp_path / "with"), make(tmp_path / "without", alignment=None)
    some, fewer = ([name for name, _ in about_model(ModelDirectory(model)).facts] for model in models)
    assert [name for name in some if name not in fewer] == ["word links"]


@pytest.mark.parametrize("missing", ["dev", "training", "corpus", "fast", "created"])
def test_a_card_that_says_too_little_is_refused_in_words(cli: Cli, tmp_path: Path, missing: str) -> None:
    model = make(tmp_path / "m", **{missing: None})
    said = cli("about", "-m", model)
    assert said.code == 1
    assert said.out == ""
    assert "says too little, or something else than a card does" in said.err


def test_what_steers_a_terminal_does_not_get_there(cli: Cli, tmp_path: Path) -> None:
    model = make(tmp_path / "m", dragoman="\x1b[2J")
    said = cli("about", "-m", model)
    assert said.code == 0, said.err
    assert "\x1b" not in said.out
