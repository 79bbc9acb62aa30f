"""Every mechanism with the same commands: trained, taken up exactly, translated with, looked into."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from dragoman.checkpoint import ModelDirectory
from dragoman.data.grammar import generate
from dragoman.jobs.train import train
from dragoman.training.events import Saved
from run_command import Cli
from tiny_recipe import TINY, TRANSFORMER

KINDS = {
    **{f"scores {name}": (*TRANSFORMER, f"model.scores={name}") for name in ("dot", "cosine", "additive", "linear")},
    **{f"positions {name}": (*TRANSFORMER, f"model.positions={name}") for name in ("none", "learned", "rotary")},
    **{f"norm {name}": (*TRANSFORMER, f"model.norm={name}") for name in ("post", "none")},
    "no residual": (*TRANSFORMER, "model.residual=false"),
    "parallel": (*TRANSFORMER, "training.forcing=scheduled", "training.forcing_updates=2"),
    **{f"look {name}": ("model.kind=recurrent", f"model.look={name}") for name in ("last", "mean", "fixed", "mlp")},
    "look cosine": ("model.kind=recurrent", "model.look=cosine", "model.cell=gru", "model.two_way=false"),
    "look dot": ("model.kind=recurrent", "model.look=dot", "model.attend=after", "model.input_feeding=true"),
    "professor": ("model.kind=recurrent", "training.forcing=professor"),
}
KINDS |= {f"{name} shared": (*KINDS[name], "training.processes=2") for name in ("parallel", "professor")}
FAST = ("positions none", "positions learned", "norm post", "parallel", "parallel shared")
WHY_PLAIN = {
    "scores": "CTranslate2 knows no {} scores",
    "positions": "rotary positions are not exported",
    "norm": "CTranslate2 has no layers without normalisation",
    "no": "CTranslate2 has no layers without normalisation or residual paths",
    "look": "CTranslate2 has no recurrent layers",
    "professor": "CTranslate2 has no recurrent layers",
}
STEPS = 5


class StoppedError(Exception):
    """What ends a training in the middle."""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "pairs.tsv"
    path.write_text("".join(f"{e.source}\t{e.target}\n" for e in generate(200, seed=7)), encoding="utf-8")
    return path


def learn(corpus: Path, out: Path, settings: Sequence[str], *, stop_at: int | None = None) -> None:
    def observe(event: object) -> None:
        if isinstance(event, Saved) and event.update == stop_at:
            raise StoppedError

    train(
        [corpus], out=out, source_language="en", target_language="es", steps=STEPS, settings=settings, observe=observe
    )


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_commands_do_for_all(kind: str, corpus: Path, tmp_path: Path, cli: Cli) -> None:
    settings = [*TINY, *KINDS[kind]]
    whole, parted = tmp_path / "whole", tmp_path / "parted"
    learn(corpus, whole, settings)
    with pytest.raises(StoppedError):
        learn(corpus, parted, settings, stop_at=2)
    train(out=parted, resume=True)
    weights, same = (ModelDirectory(path).weights() for path in (whole, parted))
    assert weights.keys() == same.keys()
    assert all(np.array_equal(weights[name], same[name]) for name in weights)

    said = cli("translate", "-m", whole, "The dog sees the cat.")
    exported = cli("export", "-m", whole, tmp_path / "exported")
    assert (said.code, said.out.count("\n")) == (0, 1)
    assert said.err.count("the plain engine translates, which is slower") == (kind not in FAST)
    assert ("cannot be exported" in exported.err, exported.code == 0) == (kind not in FAST, kind in FAST)
    if kind not in FAST:
        family, _, name = kind.partition(" ")
        why = WHY_PLAIN[family].format(name)
        assert why in said.err
        assert why in exported.err
    said = cli("look", "-m", whole, "The dog sees the cat.")
    assert said.code == 0, said.err
    assert "a row looks, a column is looked at" in said.out
