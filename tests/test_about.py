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
        "Tatoeba test: BLEU 46.7, chrF 65.9",
        "Flores dev: BLEU 10.1, chrF 39.1",
        "7,193,408 parameters",
        "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0",
        "CC BY 2.0 FR",
        "What it can do, and what it cannot",
        "_anna",
    ):
        assert part in said.out
    assert f"(infull:{BOXED / ATTRIBUTION})" in "".join(said.out.split())
    assert said.err == "note: in the box: en-es, es-en; -m names another, or a directory\n"


def test_as_json_it_is_the_card_and_the_attribution_in_full(cli: Cli) -> None:
    said = cli("about", "-m", "en-es", "--json")
    told = json.loads(said.out)
    assert told.pop("attribution") == (BOXED / ATTRIBUTION).read_text(encoding="utf-8")
    assert told == ModelDirectory("en-es").card


def test_a_model_that_began_from_another_says_what_changed(tmp_path: Path) -> None:
    scores = {"pairs": 17, "bleu": {"before": {"score": 12.04}, "after": {"score": 31.06}}}
    model = make(tmp_path / "m", start={"name": "en-es", "new": scores, "old": scores})
    told = about_model(ModelDirectory(model))
    changed = "new text from 12.0 to 31.1 BLEU on 17 pairs; old domain from 12.0 to 31.1 BLEU on 17 pairs"
    assert ("began from", f"en-es, {changed}") in told.facts
    assert (told.title, told.attribution) == ("m", "")
    training = {**CARD["training"], "best_update": 0}
    kept = make(tmp_path / "kept", training=training, start={"name": "en-es", "new": scores})
    assert ("began from", "en-es, whose weights it kept") in about_model(ModelDirectory(kept)).facts


def test_pairs_are_only_said_to_be_new_to_it_if_they_must_be(tmp_path: Path) -> None:
    scores = {"pairs": 17, "bleu": {"before": {"score": 12.04}, "after": {"score": 31.06}}}
    begun = make(tmp_path / "begun", start={"name": "en-es", "new": scores})
    for model, said in (
        (make(tmp_path / "m"), "pairs that it never saw; they also chose its weights"),
        (begun, "pairs that this training did not see, though en-es, from which it began, may have; they also"),
    ):
        assert said in dict(about_model(ModelDirectory(model)).facts)["scores"]


def test_what_was_mixed_in_is_counted_apart(tmp_path: Path) -> None:
    counts = {"pairs": 801, "read": 600}
    for mixed, said in (
        ({}, "801 pairs learned from, of 600 that were read"),
        ({"mixed": {"used": 240}}, "801 pairs learned from, of 600 that were read and 240 others that were mixed in"),
    ):
        model = make(tmp_path / str(len(mixed)), corpus={**CARD["corpus"], **counts, **mixed})
        assert ("text", said) in about_model(ModelDirectory(model)).facts


def test_a_model_without_attention_links_no_words(tmp_path: Path) -> None:
    models = make(tmp_path / "with"), make(tmp_path / "without", alignment=None)
    some, fewer = ([name for name, _ in about_model(ModelDirectory(model)).facts] for model in models)
    assert [name for name in some if name not in fewer] == ["word links"]


def test_scores_on_test_sets_are_told_with_their_signatures(cli: Cli, tmp_path: Path) -> None:
    """The name of a test set is anybody's, and steers no terminal."""
    counted = {name: {"score": 17.31, "signature": "nrefs:2"} for name in ("bleu", "chrf", "ter")}
    tests = [{"name": "News\x1b[2J", "pairs": 1301, "date": "2026-11-18", **counted}]
    said = cli("about", "-m", make(tmp_path / "m", tests=tests))
    assert said.code == 0, said.err
    assert "News�[2J: BLEU 17.3, chrF 17.3, TER 17.3; 1,301 pairs, measured 2026-11-18" in said.out
    assert "nrefs:2 (News�[2J)" in said.out
    assert "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0 (dev)" in said.out
    assert json.loads(cli("about", "-m", tmp_path / "m", "--json").out)["tests"] == tests


@pytest.mark.parametrize("missing", ["dev", "training", "corpus", "fast", "created", "tests"])
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
