"""The recurrent family with the same commands as the Transformer: trained, resumed, translated with, looked into."""

from pathlib import Path

import numpy as np
import pytest

from dragoman.checkpoint import ModelDirectory
from dragoman.data.grammar import generate
from dragoman.jobs.look import look, open_model
from dragoman.jobs.train import train
from dragoman.training.events import Saved
from run_command import Cli

SETTINGS = [
    "model.kind=recurrent",
    "model.encoder_layers=1",
    "model.decoder_layers=1",
    "model.width=24",
    "model.look=bilinear",
    "model.decoder_width=20",
    "model.dropout=0.1",
    "pieces.size=420",
    "training.batch_pieces=256",
    "training.scorings=2",
    "training.score_pairs=7",
    "training.peak_rate=0.003",
    "training.forcing=scheduled",
    "training.forcing_updates=10",
    "search.max_length=40",
]
STEPS = 24


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "pairs.tsv"
    path.write_text("".join(f"{e.source}\t{e.target}\n" for e in generate(300, seed=7)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def model(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("recurrent") / "model"
    train([corpus], out=out, source_language="en", target_language="es", steps=STEPS, settings=SETTINGS)
    return out


def test_the_card_says_which_engine_and_why(model: Path) -> None:
    card = ModelDirectory(model).card
    assert card["fast"] == {"use": None, "why": "CTranslate2 has no recurrent layers"}
    assert (card["alignment"]["layer"], card["alignment"]["head"]) == (0, 0)
    assert not (model / "fast").exists()


def test_the_command_translates_and_says_once_that_it_is_slower(model: Path, cli: Cli) -> None:
    said = cli("translate", "-m", model, stdin=b"The dog sees the cat.\n\nThe cat sleeps.\n")
    assert (said.code, said.out.count("\n")) == (0, 3)
    assert said.err.count("the plain engine translates, which is slower: CTranslate2 has no recurrent layers") == 1
    quiet = cli("translate", "-m", model, "--quiet", "--alignments", "The dog sees the cat.")
    assert (quiet.code, quiet.err) == (0, "")


def test_a_shortlist_and_an_export_are_refused_with_the_reason(model: Path, cli: Cli, tmp_path: Path) -> None:
    said = cli("translate", "-m", model, "--shortlist", "The dog sees the cat.")
    assert said.code != 0
    assert "the plain engine scores every piece: CTranslate2 has no recurrent layers" in said.err
    said = cli("export", "-m", model, tmp_path / "out")
    assert said.code != 0
    assert "cannot be exported: CTranslate2 has no recurrent layers" in said.err
    assert not (tmp_path / "out").exists()


def test_it_can_be_looked_into(model: Path, cli: Cli, tmp_path: Path) -> None:
    said = cli("look", "-m", model, "The dog sees the cat.", "--html", tmp_path / "look.html")
    assert said.code == 0, said.err
    assert "W times the encoder's state" in (tmp_path / "look.html").read_text(encoding="utf-8").replace("&#x27;", "'")
    (steps,) = look(open_model(model), "The dog sees the cat.").steps
    powers = np.exp(steps.scores - steps.scores.max(axis=-1, keepdims=True))
    np.testing.assert_allclose(steps.weights, powers / powers.sum(axis=-1, keepdims=True), atol=1e-6)
    np.testing.assert_allclose(steps.context, steps.weights @ steps.values, atol=1e-5)


class StoppedError(Exception):
    """What ends a training in the middle."""


@pytest.mark.parametrize("words", [("--kind", "encoder"), ("--word", "dog")])
def test_what_it_does_not_have_cannot_be_looked_at(model: Path, cli: Cli, words: tuple[str, str]) -> None:
    said = cli("look", "-m", model, "The dog sees the cat.", *words)
    assert (said.code, "this model has no encoder self attention" in said.err) == (1, True)


def test_without_attention_there_is_nothing_to_align_by(corpus: Path, cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "model"
    settings = [*SETTINGS, "model.look=last", "model.decoder_layers=2"]
    train([corpus], out=out, source_language="en", target_language="es", steps=2, settings=settings)
    assert ModelDirectory(out).card["alignment"] is None
    said = cli("translate", "-m", out, "--alignments", "The dog sees the cat.")
    assert said.code != 0
    assert "has no attention to align words by (model.look is last)" in said.err
    assert cli("translate", "-m", out, "The dog sees the cat.").code == 0


def test_a_training_is_taken_up_exactly(model: Path, corpus: Path, tmp_path: Path) -> None:
    saved: list[object] = []

    def stop(event: object) -> None:
        saved.extend([event] * isinstance(event, Saved))
        if len(saved) == 5:
            raise StoppedError

    out, settings = tmp_path / "model", [*SETTINGS, "training.save_seconds=0"]
    with pytest.raises(StoppedError):
        train(
            [corpus], out=out, source_language="en", target_language="es", steps=STEPS, settings=settings, observe=stop
        )
    assert not (out / "card.json").exists()
    train(out=out, resume=True)
    whole, taken_up = ModelDirectory(model).weights(), ModelDirectory(out).weights()
    assert whole.keys() == taken_up.keys()
    for name, array in whole.items():
        np.testing.assert_array_equal(array, taken_up[name])
