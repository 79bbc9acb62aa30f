import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import chain, product
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from dragoman.config import Model, Search
from dragoman.engine.base import Engine, Hypothesis
from dragoman.engine.export import export
from dragoman.engine.fast import FastEngine
from dragoman.engine.plain import PlainEngine
from dragoman.errors import ModelError
from dragoman.text.tokenizer import END, START
from random_weights import POSITIONS, SHAPES, TINY, VOCABULARY, random_pieces, random_weights

SEARCHES = [
    Search(beam=beam, best=best, length_penalty=penalty, max_length=13)
    for (beam, best), penalty in product(((1, 1), (2, 1), (5, 1), (5, 5)), (0.0, 0.6, 1.0))
]


def make_engines(model: Model, seed: int, directory: Path) -> tuple[PlainEngine, FastEngine]:
    weights = random_weights(model, seed)
    export(model, weights, random_pieces(), directory, quantization="float32")
    return PlainEngine(model, weights), FastEngine(directory, threads=2)


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> tuple[PlainEngine, FastEngine]:
    return make_engines(replace(TINY, tied=False), 11, tmp_path_factory.mktemp("engines") / "model")


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    export(TINY, random_weights(TINY, seed=1), random_pieces(), tmp_path / "model", quantization="float32")
    return tmp_path / "model"


def draw_sentences(seed: int, count: int, shortest: int, longest: int) -> list[list[int]]:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(shortest, longest + 1, count)
    return [rng.integers(4, VOCABULARY, length).tolist() for length in lengths]


def check_same(these: list[list[Hypothesis]], those: list[list[Hypothesis]]) -> None:
    assert [[one.pieces for one in several] for several in these] == [
        [one.pieces for one in several] for several in those
    ]
    for one, other in zip(chain(*these), chain(*those), strict=True):
        assert one.score == pytest.approx(other.score, abs=1e-4)
        assert one.finished == other.finished
        assert one.attention is not None
        assert other.attention is not None
        assert one.attention.shape == other.attention.shape
        np.testing.assert_allclose(one.attention, other.attention, atol=1e-4)


@pytest.mark.parametrize("model", SHAPES, ids=lambda m: f"{m.norm}-{m.positions}-{'tied' if m.tied else 'untied'}")
@pytest.mark.parametrize("seed", [2, 3, 5])
def test_plain_and_fast_find_the_same(model: Model, seed: int, tmp_path: Path) -> None:
    plain, fast = make_engines(model, seed, tmp_path / "model")
    sources = draw_sentences(seed, count=7, shortest=1, longest=13)
    prefixes = draw_sentences(seed + 1, count=7, shortest=0, longest=3)
    for search in SEARCHES:
        for forced in (None, prefixes):
            check_same(
                fast.translate(sources, search, prefixes=forced, attention=True),
                plain.translate(sources, search, prefixes=forced, attention=True),
            )


def test_translations_end_or_are_cut(engines: tuple[PlainEngine, FastEngine]) -> None:
    """Both must happen in these tests, or they show nothing."""
    sources = draw_sentences(1, count=31, shortest=1, longest=13)
    for engine in engines:
        found = list(chain(*engine.translate(sources, Search(beam=2, best=2, max_length=7))))
        assert {one.finished for one in found} == {True, False}
        for one in found:
            assert (len(one.pieces) < 7) if one.finished else (len(one.pieces) == 7)


@pytest.mark.parametrize("which", [0, 1], ids=["plain", "fast"])
@pytest.mark.parametrize("beam", [1, 5])
def test_a_batch_is_one_at_a_time(engines: tuple[PlainEngine, FastEngine], which: int, beam: int) -> None:
    engine: Engine = engines[which]
    sources = draw_sentences(7, count=19, shortest=0, longest=29)
    prefixes = draw_sentences(8, count=19, shortest=0, longest=2)
    search = Search(beam=beam, best=beam, max_length=11)
    check_same(
        engine.translate(sources, search, prefixes=prefixes, attention=True),
        [
            engine.translate([source], search, prefixes=[prefix], attention=True)[0]
            for source, prefix in zip(sources, prefixes, strict=True)
        ],
    )


@pytest.mark.parametrize("which", [0, 1], ids=["plain", "fast"])
def test_nothing_is_translated_by_nothing(engines: tuple[PlainEngine, FastEngine], which: int) -> None:
    engine: Engine = engines[which]
    assert engine.translate([], Search()) == []
    for marks in ([], [START], [END], [END, START, END]):
        assert engine.translate([marks], Search()) == [[Hypothesis((), 0.0, finished=True)]]
    ((one,),) = engine.translate([[]], Search(best=3), prefixes=[[5, 7]], attention=True)
    assert (one.pieces, one.finished) == ((5, 7), True)
    assert one.attention is not None
    assert one.attention.shape == (2, 0)


@pytest.mark.parametrize("which", [0, 1], ids=["plain", "fast"])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_the_longest_sentences_pass_and_longer_ones_are_refused(
    which: int, positions: Literal["sinusoidal", "learned"], tmp_path: Path
) -> None:
    model = replace(TINY, positions=positions, encoder_layers=1, decoder_layers=1)
    engine: Engine = make_engines(model, 1, tmp_path / "model")[which]
    source = [5] * engine.max_source
    assert len(engine.translate([source], Search(beam=1, max_length=3))[0]) == 1
    with pytest.raises(ValueError, match=f"source 0 has {len(source) + 1} pieces; .* at most {len(source)}"):
        engine.translate([[*source, 5]], Search())


@pytest.mark.parametrize("which", [0, 1], ids=["plain", "fast"])
def test_learned_positions_limit_the_translation_too(which: int, tmp_path: Path) -> None:
    model = replace(TINY, positions="learned")
    weights = random_weights(model, seed=1)
    weights["output.bias"][3] = -1e4
    export(model, weights, random_pieces(), tmp_path / "model", quantization="float32")
    engine: Engine = (PlainEngine(model, weights), FastEngine(tmp_path / "model"))[which]
    ((one,),) = engine.translate([[5, 7]], Search())
    assert (len(one.pieces), one.finished) == (POSITIONS, False)


def test_both_engines_draw_from_the_same_distribution(engines: tuple[PlainEngine, FastEngine]) -> None:
    draws = 5000
    for search in (
        Search(top_k=0),
        Search(top_k=3),
        Search(top_k=0, temperature=1.7),
        Search(top_k=0, top_p=0.6),
        Search(top_k=5, top_p=0.8, temperature=2.5),
    ):
        asked = replace(search, best=draws, max_length=1)
        shares = []
        for engine in engines:
            counts = Counter(one.pieces for one in engine.translate([[5, 7, 11]], asked)[0])
            pieces = [(), *((piece,) for piece in range(VOCABULARY))]
            shares.append([counts[piece] / draws for piece in pieces])
        assert shares[0] == pytest.approx(shares[1], abs=0.03)
        if search.top_k:
            assert sum(share > 0 for share in shares[1]) <= search.top_k


def test_a_seed_draws_the_same_again(engines: tuple[PlainEngine, FastEngine]) -> None:
    sources = draw_sentences(3, count=5, shortest=1, longest=13)
    search = Search(top_k=0, temperature=1.5, best=3, max_length=11)
    for engine in engines:
        assert engine.translate(sources, search) == engine.translate(sources, search)
        assert engine.translate(sources, search) != engine.translate(sources, replace(search, seed=2))
        engine.translate(sources, replace(search, seed=-1))


def test_drawing_without_heat_is_greedy(engines: tuple[PlainEngine, FastEngine]) -> None:
    sources = draw_sentences(5, count=7, shortest=1, longest=13)
    for engine in engines:
        greedy = engine.translate(sources, Search(beam=1, max_length=11), attention=True)
        for temperature in (0.0, 1e-3):
            drawn = Search(beam=1, top_k=0, temperature=temperature, max_length=11)
            check_same(engine.translate(sources, drawn, attention=True), greedy)


def test_more_candidates_than_pieces_are_all_of_them(engines: tuple[PlainEngine, FastEngine]) -> None:
    for engine in engines:
        everything = engine.translate([[5, 7]], Search(top_k=10 * VOCABULARY, best=7, max_length=5))
        assert len(everything[0]) == 7


def cut_vocabulary(directory: Path) -> None:
    path = directory / "shared_vocabulary.json"
    path.write_text(json.dumps(random_pieces()[:-1]))


def grow_vocabulary(directory: Path) -> None:
    path = directory / "shared_vocabulary.json"
    path.write_text(json.dumps([*random_pieces(), "▁more"]))


def repeat_a_piece(directory: Path) -> None:
    path = directory / "shared_vocabulary.json"
    path.write_text(json.dumps([*random_pieces()[:-1], "▁w4"]))


def write(name: str, content: bytes) -> Callable[[Path], object]:
    return lambda directory: (directory / name).write_bytes(content)


def remove(name: str) -> Callable[[Path], None]:
    return lambda directory: (directory / name).unlink()


def cut_model(directory: Path) -> None:
    path = directory / "model.bin"
    path.write_bytes(path.read_bytes()[:-1000])


def cut_model_to_a_stump(directory: Path) -> None:
    path = directory / "model.bin"
    path.write_bytes(path.read_bytes()[:100])


def age_model(directory: Path) -> None:
    path = directory / "model.bin"
    path.write_bytes(b"\x05" + path.read_bytes()[1:])


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (cut_vocabulary, "shared_vocabulary.json: 30 different pieces, but the model knows 31"),
        (grow_vocabulary, "shared_vocabulary.json: 32 different pieces, but the model knows 31"),
        (repeat_a_piece, "shared_vocabulary.json: 30 different pieces, but the model knows 31"),
        (write("shared_vocabulary.json", b"{"), "shared_vocabulary.json: not JSON"),
        (write("shared_vocabulary.json", b"\xff\xfe\xff"), "shared_vocabulary.json: not JSON"),
        (write("shared_vocabulary.json", b"[1, 2]"), "shared_vocabulary.json: not a list of pieces"),
        (remove("shared_vocabulary.json"), "no shared_vocabulary.json"),
        (remove("model.bin"), "no model.bin"),
        (remove("config.json"), "no config.json"),
        (write("config.json", b"[]"), "config.json: not what dragoman wrote"),
        (write("config.json", b"{"), "config.json: not JSON"),
        (write("config.json", b'{"add_source_eos": true}'), "config.json: not what dragoman wrote"),
        (write("model.bin", b""), "model.bin: damaged"),
        (write("model.bin", b"\x06\0\0\0" + b"\xff" * 100), "model.bin: damaged"),
        (cut_model, "model.bin: damaged"),
        (cut_model_to_a_stump, "model.bin: damaged"),
        (age_model, "model.bin: binary version 5, but this program reads 6"),
    ],
)
def test_a_damaged_directory_is_refused(directory: Path, damage: Callable[[Path], object], message: str) -> None:
    FastEngine(directory)
    damage(directory)
    with pytest.raises(ModelError, match=message) as caught:
        FastEngine(directory)
    assert caught.value.hint == "export the model again"


def test_what_only_ctranslate2_notices_is_reported_too(directory: Path) -> None:
    path = directory / "model.bin"
    path.write_bytes(path.read_bytes().replace(b"TransformerSpec", b"TransfornerSpec"))
    with pytest.raises(ModelError, match="CTranslate2 cannot load it"):
        FastEngine(directory)


def test_the_fast_engine_starts_without_slow_modules() -> None:
    code = "import sys, dragoman.engine.fast; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"torch", "jaxtyping", "ctranslate2.specs", "ctranslate2.converters"} & set(loaded)
