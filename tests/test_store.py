"""The corpus on disk."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dragoman.data import store as module
from dragoman.data.grammar import generate
from dragoman.data.store import Encoded, Store, write_store
from dragoman.errors import DataError
from dragoman.text.tokenizer import normalise
from tiny_model import tiny_tokenizer

MAX = 23
PAIRS = [(e.source, e.target) for e in generate(41, seed=5)]
texts = st.text(max_size=30)


def write(path: Path, pairs: list[tuple[str, str]], max_length: int = 10_000) -> Encoded:
    return write_store(path, pairs, tiny_tokenizer(), max_length)


@given(pairs=st.lists(st.tuples(texts, texts), min_size=1, max_size=13), chunk=st.sampled_from([1, 3, 4096]))
@example(pairs=[("a\u2026", "b\u2026")], chunk=1)
@settings(max_examples=40)
def test_a_store_gives_back_every_pair_that_fits(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]], chunk: int
) -> None:
    """Whatever the text: tabs, newlines, other scripts, nothing at all."""
    tokenizer = tiny_tokenizer()
    encoded = [(tokenizer.read(source), tokenizer.encode(target)) for source, target in pairs]
    fits = [n for n, sides in enumerate(encoded) if all(0 < len(side) <= MAX for side in sides)]
    path = tmp_path_factory.mktemp("store") / "corpus"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_CHUNK", chunk)
        if not fits:
            with pytest.raises(DataError, match=rf"no pair is left .* \({len(pairs)} were longer than {MAX} pieces\)"):
                write(path, pairs, MAX)
            return
        assert write(path, pairs, MAX) == Encoded(len(fits), len(pairs) - len(fits))
    store = Store(path)
    assert len(store) == len(fits)
    assert store.encoded == Encoded(len(fits), len(pairs) - len(fits))
    assert list(store.texts()) == [(tokenizer.familiar(pairs[n][0]), normalise(pairs[n][1])) for n in fits]
    for number, n in enumerate(fits):
        assert tuple(side.tolist() for side in store.pieces(number)) == encoded[n]
        assert store.lengths[number].tolist() == [len(side) for side in encoded[n]]
        assert tuple(tokenizer.decode(side.tolist()) for side in store.pieces(number)) == store.text(number)


def test_reading_goes_on_after_forgetting(tmp_path: Path) -> None:
    write(tmp_path / "corpus", PAIRS)
    store = Store(tmp_path / "corpus")
    before = [(store.text(n), [side.tolist() for side in store.pieces(n)]) for n in range(len(store))]
    store.forget()
    assert before == [(store.text(n), [side.tolist() for side in store.pieces(n)]) for n in range(len(store))]


def test_large_vocabularies_have_wider_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "narrow", PAIRS)
    monkeypatch.setattr(type(tiny_tokenizer()), "__len__", lambda _: 2**16 + 1)
    write(tmp_path / "wide", PAIRS)
    narrow, wide = Store(tmp_path / "narrow"), Store(tmp_path / "wide")
    assert (tmp_path / "wide" / "pieces.bin").stat().st_size == 2 * (tmp_path / "narrow" / "pieces.bin").stat().st_size
    for number in range(len(PAIRS)):
        for one, other in zip(narrow.pieces(number), wide.pieces(number), strict=True):
            np.testing.assert_array_equal(one, other)


def test_a_store_that_exists_is_whole(tmp_path: Path) -> None:
    """A failure half-way leaves the older store, and the next writing sweeps up after it."""

    def failing() -> list[tuple[str, str]]:
        raise OSError("the disk is full")

    path = tmp_path / "corpus"
    write(path, PAIRS)
    with pytest.raises(OSError, match="the disk is full"):
        write_store(path, (pair for n in range(3) for pair in (PAIRS if n < 2 else failing())), tiny_tokenizer(), MAX)
    assert list(Store(path).texts()) == [tuple(map(normalise, pair)) for pair in PAIRS]
    write(path, PAIRS[:7])
    assert len(Store(path)) == 7
    assert [file.name for file in tmp_path.iterdir()] == ["corpus"]


def cut(name: str, by: int) -> Callable[[Path], object]:
    return lambda path: (path / name).write_bytes((path / name).read_bytes()[:-by])


def change(path: Path, **changes: object) -> None:
    about = json.loads((path / "corpus.json").read_text(encoding="utf-8"))
    (path / "corpus.json").write_text(json.dumps({**about, **changes}), encoding="utf-8")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        *((cut(f"{name}.bin", by), "") for name in ("pieces", "starts", "lengths") for by in (1, 2, 4, 8, 16)),
        *((cut("text.tsv", by), "its parts differ in length") for by in (1, 2)),
        (cut("pieces.bin", 2), "its parts differ in length"),
        (lambda path: (path / "text.tsv").write_bytes(b""), "empty file"),
        (lambda path: (path / "lengths.bin").unlink(), "No such file"),
        (lambda path: (path / "corpus.json").unlink(), "No such file"),
        (lambda path: (path / "corpus.json").write_text("{"), "Expecting"),
        (lambda path: (path / "corpus.json").write_text("[]"), "list indices"),
        (lambda path: (path / "corpus.json").write_text("{}"), "pairs"),
        (lambda path: change(path, pairs=40), "its parts differ in length"),
        (lambda path: change(path, piece="<u4"), ""),
        (lambda path: change(path, piece="no type"), "no type"),
    ],
)
def test_damage_is_seen(tmp_path: Path, damage: Callable[[Path], object], message: str) -> None:
    path = tmp_path / "corpus"
    write(path, PAIRS)
    damage(path)
    with pytest.raises(DataError, match=rf"corpus: the encoded corpus is damaged \(.*{message}") as caught:
        Store(path)
    assert "delete the run/ directory" in caught.value.hint


def test_nothing_to_train_on_is_said_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no pair is left to train on \(41 were longer than 1 pieces\)") as caught:
        write(tmp_path / "corpus", PAIRS, max_length=1)
    assert "pieces.max_length" in caught.value.hint
    assert not (tmp_path / "corpus").exists()
