"""Shortlists: which pieces are worth scoring, and what becomes of translations when only those are scored."""

from pathlib import Path

import numpy as np
import pytest

import dragoman
from dragoman.checkpoint import ModelDirectory
from dragoman.config import Search
from dragoman.data.grammar import generate
from dragoman.engine.export import export
from dragoman.engine.fast import FastEngine
from dragoman.engine.shortlist import SHORTLIST, write_shortlist
from dragoman.errors import ModelError
from dragoman.evaluation.lexicon import likely_targets
from dragoman.jobs.shortlist import common_pieces
from dragoman.text.tokenizer import END, UNKNOWN
from random_weights import TINY, VOCABULARY, random_pieces, random_weights

ODD, EVEN = range(5, VOCABULARY, 2), range(4, VOCABULARY, 2)
SEARCH = Search(beam=3, max_length=13)
SETTINGS = [
    *("model.encoder_layers=1", "model.decoder_layers=1", "model.width=16", "model.heads=2", "model.feed_forward=16"),
    *("pieces.size=420", "training.batch_pieces=512", "training.score_pairs=7", "training.processes=1"),
]


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    export(TINY, random_weights(TINY, seed=1), random_pieces(), tmp_path / "model", quantization="float32")
    return tmp_path / "model"


def sources(count: int) -> list[list[int]]:
    rng = np.random.default_rng(7)
    return [rng.integers(4, VOCABULARY, 6).tolist() for _ in range(count)]


def said(engine: FastEngine, search: Search = SEARCH, prefixes: list[list[int]] | None = None) -> list[set[int]]:
    return [set(one.pieces) for one, *_ in engine.translate(sources(20), search, prefixes=prefixes)]


def test_only_what_is_listed_is_said(directory: Path) -> None:
    write_shortlist(directory / SHORTLIST, random_pieces(), list(ODD), {})
    assert any(pieces & set(EVEN) for pieces in said(FastEngine(directory)))
    assert all(pieces <= set(ODD) | {UNKNOWN, END} for pieces in said(FastEngine(directory, shortlist=True)))


def test_a_list_of_all_pieces_changes_nothing(directory: Path) -> None:
    full = FastEngine(directory).translate(sources(20), SEARCH)
    write_shortlist(directory / SHORTLIST, random_pieces(), list(range(VOCABULARY)), {})
    short = FastEngine(directory, shortlist=True)
    for (one, *_), (other, *_) in zip(full, short.translate(sources(20), SEARCH), strict=True):
        assert one.pieces == other.pieces
        assert one.score == pytest.approx(other.score, abs=1e-5)


def test_a_source_piece_brings_its_own(directory: Path) -> None:
    write_shortlist(directory / SHORTLIST, random_pieces(), [], {5: [7, 9], 6: [8, 10]})
    engine = FastEngine(directory, shortlist=True)
    for source, allowed in (([5, 5, 5], {7, 9}), ([6, 6], {8, 10}), ([5, 6], {7, 8, 9, 10}), ([11], set())):
        ((found, *_),) = engine.translate([source], Search(beam=1, max_length=9))
        assert set(found.pieces) <= allowed | {UNKNOWN}


def test_prefixes_and_draws_are_free(directory: Path) -> None:
    """What a person asks for need not be likely, and a draw is from the whole distribution."""
    draw = Search(beam=1, best=1, top_k=0, temperature=3.0, max_length=13)
    before = said(FastEngine(directory), draw), said(FastEngine(directory), prefixes=[[4, 6]] * 20)
    write_shortlist(directory / SHORTLIST, random_pieces(), list(ODD), {})
    engine = FastEngine(directory, shortlist=True)
    assert (said(engine, draw), said(engine, prefixes=[[4, 6]] * 20)) == before
    assert all({4, 6} <= pieces for pieces in before[1])


def test_what_the_file_cannot_hold_is_left_out(tmp_path: Path) -> None:
    pieces = ["<pad>", "<unk>", "<s>", "</s>", "a", "b c", "d\u2028", "", "é"]
    write_shortlist(tmp_path / "list", pieces, [4, 5, 6], {4: [8, 4], 5: [8], 7: [8], 8: [4]})
    assert (tmp_path / "list").read_bytes().decode() == "\t<unk> </s> a\na\té\n"


def test_the_common_are_the_most_frequent_that_occur() -> None:
    counts = np.array([0, 5, 0, 9, 1, 5])
    assert common_pieces(counts, 9).tolist() == [3, 1, 5, 4]
    assert common_pieces(counts, 2).tolist() == [3, 1]


def test_translations_are_found() -> None:
    """A code in which every word n becomes n + 100, among words that are in every sentence."""
    rng = np.random.default_rng(3)
    pairs = []
    for _ in range(300):
        words = rng.integers(10, 30, 5)
        pairs.append(([1, 2, *words.tolist()], [201, *(words + 100).tolist(), 202]))
    likely = likely_targets(pairs, most=3, rows=10**6, iterations=8)
    assert set(likely) == {1, 2, *range(10, 30)}
    assert all(likely[word][0] == word + 100 for word in range(10, 30))
    assert {201, 202} <= set(likely[1].tolist())
    assert max(map(len, likely.values())) == 3


def test_no_more_is_read_than_was_asked_for() -> None:
    pairs = iter([([1, 2, 2], [3, 4, 5])] * 1000)
    assert likely_targets(pairs, most=2, rows=60)[1].tolist() == [3, 4]
    assert len(list(pairs)) == 990
    assert likely_targets([], most=2, rows=60) == {}
    assert likely_targets([([], [1]), ([1], [])], most=2, rows=60) == {}


@pytest.mark.parametrize(("may_lose", "used"), [(100.0, True), (-100.0, False)])
def test_a_model_has_a_shortlist_if_it_loses_little(
    may_lose: float, used: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dragoman.jobs.finish.SMALLEST_VOCABULARY", 1)
    monkeypatch.setattr("dragoman.jobs.finish.SHORTLIST_MAY_LOSE", may_lose)
    corpus = tmp_path / "pairs.tsv"
    corpus.write_text("".join(f"{e.source}\t{e.target}\n" for e in generate(300, seed=7)), encoding="utf-8")
    dragoman.train(
        [corpus], out=tmp_path / "model", source_language="en", target_language="es", steps=4, settings=SETTINGS
    )
    model = ModelDirectory(tmp_path / "model")
    told = model.card["fast"]["shortlist"]
    assert told["kept"] is used
    assert 0 <= told["same"] <= model.card["dev"]["pairs"]
    for kind in ("float32", "int8"):
        assert (model.exported(kind) / SHORTLIST).is_file() is used
        assert (f"fast/{kind}/{SHORTLIST}" in model.card["sha256"]) is used
    with pytest.raises(ModelError, match="scores every piece"):
        dragoman.load(tmp_path / "model", engine="plain", shortlist=True)
    if used:
        assert dragoman.load(tmp_path / "model", shortlist=True).translate(["The dog sleeps."])[0].text
    else:
        with pytest.raises(ModelError, match="has no shortlist"):
            dragoman.load(tmp_path / "model", shortlist=True)
