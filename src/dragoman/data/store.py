"""The corpus on disk: encoded once, memory-mapped, so that training needs memory for a batch and not for the corpus.

    text.tsv      every pair as text, source ⇥ target, a line each: as the model will read it, and as it is to write it
    pieces.bin    every pair's pieces, source then target, 16 or 32 bits each
    starts.bin    for every pair the place of its first piece and of its line (2 × 64 bits)
    lengths.bin   for every pair the number of source and of target pieces (2 × 16 bits)
    corpus.json   how many pairs, how wide a piece

The text is kept because subword sampling cuts it anew in every epoch. A store is written into a directory beside its
final one and renamed when it is whole, so a store that exists is complete.
"""

import json
import mmap
import os
import shutil
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dragoman.checkpoint import sync_directory, write_json
from dragoman.errors import DataError
from dragoman.text.tokenizer import Tokenizer, normalise

_CHUNK = 4096


class Encoded(NamedTuple):
    """What encoding kept and what it had to leave out."""

    pairs: int
    too_long: int


def write_store(path: Path, pairs: Iterable[tuple[str, str]], tokenizer: Tokenizer, max_length: int) -> Encoded:
    """Encode pairs of text into a store; a pair with a side longer than `max_length` is left out and counted."""
    part = path.with_name(path.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    wide = np.dtype("<u2") if len(tokenizer) <= 2**16 else np.dtype("<u4")
    kept = too_long = pieces_at = text_at = 0
    with (
        (part / "text.tsv").open("wb") as text_file,
        (part / "pieces.bin").open("wb") as pieces_file,
        (part / "starts.bin").open("wb") as starts_file,
        (part / "lengths.bin").open("wb") as lengths_file,
    ):
        remaining = iter(pairs)
        while chunk := list(islice(remaining, _CHUNK)):
            starts, lengths = [], []
            texts = [(tokenizer.familiar(source), normalise(target)) for source, target in chunk]
            sources, targets = (tokenizer.encode_all(side) for side in zip(*texts, strict=True))
            for (source_text, target_text), source, target in zip(texts, sources, targets, strict=True):
                if not source or not target or max(len(source), len(target)) > max_length:
                    too_long += 1
                    continue
                line = f"{source_text}\t{target_text}\n".encode()
                text_file.write(line)
                pieces_file.write(np.array(source + target, wide).tobytes())
                starts.append((pieces_at, text_at))
                lengths.append((len(source), len(target)))
                pieces_at += len(source) + len(target)
                text_at += len(line)
                kept += 1
            starts_file.write(np.array(starts, "<u8").tobytes())
            lengths_file.write(np.array(lengths, "<u2").tobytes())
    if kept == 0:
        raise DataError(
            f"no pair is left to train on ({too_long} were longer than {max_length} pieces)",
            hint="raise pieces.max_length, or look at the corpus with `dragoman check`",
        )
    for file in part.iterdir():
        with file.open("rb") as written:
            os.fsync(written.fileno())
    write_json(part / "corpus.json", {"pairs": kept, "too_long": too_long, "piece": wide.str})
    shutil.rmtree(path, ignore_errors=True)
    part.rename(path)
    sync_directory(path.parent)
    return Encoded(kept, too_long)


class Store:
    """A corpus that has been encoded: pairs by number, read from disk as they are asked for."""

    def __init__(self, path: Path) -> None:
        self._maps: list[mmap.mmap] = []
        try:
            about = json.loads((path / "corpus.json").read_text(encoding="utf-8"))
            self.encoded = Encoded(about["pairs"], about["too_long"])
            self._text = self._map(path / "text.tsv")
            self._pieces = np.frombuffer(self._map(path / "pieces.bin"), about["piece"])
            self._starts = np.frombuffer(self._map(path / "starts.bin"), "<u8").reshape(-1, 2)
            self.lengths: NDArray[np.uint16] = np.frombuffer((path / "lengths.bin").read_bytes(), "<u2").reshape(-1, 2)
            if not self._is_whole():
                raise ValueError("its parts differ in length")
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise DataError(
                f"{path}: the encoded corpus is damaged ({error})", hint="delete the run/ directory and train again"
            ) from error

    def __len__(self) -> int:
        return self.encoded.pairs

    def _is_whole(self) -> bool:
        """Tell whether the parts hold as much as they say of each other: a file cut short is seen, however little."""
        if not len(self) == len(self._starts) == len(self.lengths) > 0:
            return False
        pieces, text = self._starts[-1].tolist()
        ends = pieces + int(self.lengths[-1].sum(dtype=np.int64)), self._text.find(b"\n", text) + 1
        return ends == (len(self._pieces), len(self._text))

    def pieces(self, number: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """The pieces of a pair, as they were cut once and for all."""
        start, (source, target) = int(self._starts[number, 0]), self.lengths[number].tolist()
        return self._pieces[start : start + source], self._pieces[start + source : start + source + target]

    def text(self, number: int) -> tuple[str, str]:
        """The text of a pair."""
        start = int(self._starts[number, 1])
        line = self._text[start : self._text.find(b"\n", start)].decode()
        source, _, target = line.partition("\t")
        return source, target

    def texts(self) -> Iterator[tuple[str, str]]:
        """The text of all pairs, in order."""
        return map(self.text, range(len(self)))

    def forget(self) -> None:
        """Give the pages read so far back to the system; they come again when they are asked for.

        Mapped pages count as this process's memory, and without this a long training would hold the whole corpus.
        """
        for mapped in self._maps:
            mapped.madvise(mmap.MADV_DONTNEED)

    def _map(self, path: Path) -> mmap.mmap:
        with path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        mapped.madvise(mmap.MADV_RANDOM)
        self._maps.append(mapped)
        return mapped
