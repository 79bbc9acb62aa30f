import json
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from dragoman.config import Model, Search
from dragoman.engine.base import Head
from dragoman.engine.export import export
from dragoman.engine.fast import FastEngine, read_shapes
from dragoman.engine.layout import LONGEST
from dragoman.engine.plain import PlainEngine
from random_weights import POSITIONS, TINY, VOCABULARY, random_pieces, random_weights

SOURCES = [[5, 6, 7], [23, 19, 17, 13, 11, 7, 5], [29]]


def test_sinusoids_reach_far_and_learned_positions_as_far_as_they_were_learned(tmp_path: Path) -> None:
    for model, rows in ((TINY, LONGEST), (replace(TINY, positions="learned"), POSITIONS)):
        weights = random_weights(model, seed=1)
        export(model, weights, random_pieces(), tmp_path / model.positions, quantization="float32")
        assert FastEngine(tmp_path / model.positions).max_source == rows - 1
        assert PlainEngine(model, weights).max_source == rows - 1


@pytest.mark.parametrize("tied", [True, False])
def test_one_table_is_stored_once(tmp_path: Path, tied: bool) -> None:
    model = replace(TINY, tied=tied)
    export(model, random_weights(model, seed=1), random_pieces(), tmp_path / "out", quantization="float32")
    shapes = read_shapes(tmp_path / "out" / "model.bin")
    assert shapes["decoder/projection/weight"] == (VOCABULARY, model.width)
    tables = 1 if tied else 3
    least = 4 * (tables * VOCABULARY + LONGEST) * (model.width or 0)
    layers = sum(4 * value.size for name, value in random_weights(model, 1).items() if "." in name)
    assert (tmp_path / "out" / "model.bin").stat().st_size == pytest.approx(least + layers, rel=0.1)


def test_int8_is_smaller_and_runs(tmp_path: Path) -> None:
    weights = random_weights(TINY, seed=2)
    export(TINY, weights, random_pieces(), tmp_path / "float32", quantization="float32")
    export(TINY, weights, random_pieces(), tmp_path / "int8", quantization="int8")
    sizes = [(tmp_path / name / "model.bin").stat().st_size for name in ("int8", "float32")]
    assert sizes[0] < sizes[1]
    found = FastEngine(tmp_path / "int8").translate(SOURCES, Search(max_length=13), attention=True)
    assert [len(hypotheses) for hypotheses in found] == [1, 1, 1]
    assert all(np.isfinite(one.score) for hypotheses in found for one in hypotheses)


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("head", [Head(0, 0), Head(1, 3), Head(2, 4)])
def test_the_alignment_head_is_shown_and_changes_nothing(
    tmp_path: Path, norm: Literal["pre", "post"], head: Head
) -> None:
    model = replace(TINY, norm=norm)
    weights = random_weights(model, seed=3)
    search = Search(beam=3, best=3, max_length=11)
    export(model, weights, random_pieces(), tmp_path / "all", quantization="float32")
    export(model, weights, random_pieces(), tmp_path / "one", quantization="float32", alignment=head)
    plain = PlainEngine(model, weights, alignment=head).translate(SOURCES, search, attention=True)
    everything = FastEngine(tmp_path / "all").translate(SOURCES, search)
    shown = FastEngine(tmp_path / "one").translate(SOURCES, search, attention=True)
    for those, these, plain_ones in zip(everything, shown, plain, strict=True):
        for that, this, plain_one in zip(those, these, plain_ones, strict=True):
            assert this.pieces == that.pieces
            assert this.score == pytest.approx(that.score, abs=1e-5)
            assert this.attention is not None
            assert plain_one.attention is not None
            np.testing.assert_allclose(this.attention, plain_one.attention, atol=1e-5)


def test_an_older_directory_is_replaced_whole(tmp_path: Path) -> None:
    out = tmp_path / "out"
    export(TINY, random_weights(TINY, seed=1), random_pieces(), out, quantization="float32")
    (out / "left-over").touch()
    export(TINY, random_weights(TINY, seed=2), random_pieces(), out, quantization="float32")
    assert sorted(path.name for path in out.iterdir()) == [
        "config.json",
        "model.bin",
        "shared_vocabulary.json",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert json.loads((out / "shared_vocabulary.json").read_text()) == random_pieces()


def test_a_failed_export_leaves_the_older_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ctranslate2.specs import transformer_spec

    out = tmp_path / "out"
    export(TINY, random_weights(TINY, seed=1), random_pieces(), out, quantization="float32")
    before = (out / "model.bin").read_bytes()

    def fail(self: object, directory: str) -> None:
        (Path(directory) / "model.bin").write_bytes(b"half")
        raise OSError("the disk is full")

    monkeypatch.setattr(transformer_spec.TransformerSpec, "save", fail)
    with pytest.raises(OSError, match="the disk is full"):
        export(TINY, random_weights(TINY, seed=2), random_pieces(), out, quantization="float32")
    assert (out / "model.bin").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize(
    ("pieces", "message"),
    [
        (random_pieces()[:-1], f"{VOCABULARY - 1} pieces for an embedding of {VOCABULARY} rows"),
        ([*random_pieces()[:-1], "▁w4"], f"{VOCABULARY} pieces, but only {VOCABULARY - 1} different ones"),
        ([*random_pieces()[4:], *random_pieces()[:4]], "the first pieces are .*, not .*<pad>"),
    ],
)
def test_pieces_that_do_not_fit_are_refused(tmp_path: Path, pieces: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        export(TINY, random_weights(TINY, seed=1), pieces, tmp_path / "out", quantization="float32")
    assert not list(tmp_path.iterdir())


def test_a_head_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no head 5 in layer 1: 3 decoder layers of 5 heads"):
        export(
            TINY,
            random_weights(TINY, seed=1),
            random_pieces(),
            tmp_path / "out",
            quantization="float32",
            alignment=Head(1, 5),
        )


def test_open_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="sizes that were never chosen"):
        PlainEngine(Model(), {})
    with pytest.raises(ValueError, match="a width of 35 cannot be shared out among 3 heads"):
        PlainEngine(replace(TINY, heads=3), {})


@pytest.mark.parametrize("quantization", ["float32", "int8"])
def test_exporting_leaves_the_weights_alone(quantization: Literal["float32", "int8"], tmp_path: Path) -> None:
    weights = random_weights(TINY, seed=1)
    before = {name: array.copy() for name, array in weights.items()}
    export(TINY, weights, random_pieces(), tmp_path / "out", quantization=quantization)
    assert all(np.array_equal(before[name], weights[name]) for name in before)
