"""The fast engine: CTranslate2, on a directory that `dragoman.engine.export` wrote.

CTranslate2 takes a vocabulary of the wrong length without a word and then reads beyond its matrices, and it
cuts long sources silently. So the directory is checked before it is loaded, and every request before it is
run.
"""

import json
import os
import struct
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, final

import ctranslate2

from dragoman.arrays import Array
from dragoman.config import Search
from dragoman.engine.base import Hypothesis, Limits, check_request, is_empty, samples, translate_nothing
from dragoman.engine.shortlist import SHORTLIST
from dragoman.errors import ModelError
from dragoman.machine import cores
from dragoman.text.tokenizer import END, SPECIALS, START

MODEL, CONFIG, VOCABULARY = "model.bin", "config.json", "shared_vocabulary.json"
_SETTINGS = {
    "decoder_start_token": SPECIALS[START],
    "eos_token": SPECIALS[END],
    "add_source_bos": False,
    "add_source_eos": False,
}
_BINARY_VERSION = 6
_BATCH_PIECES = 256  # few enough to lie in the cache and to keep all workers busy to the end
_SEEDS = 2**32 - 1  # one less than its seeds are wide: CTranslate2 takes the last one to mean "no seed"
_SEEDING = threading.Lock()
_DEAD = -5e9  # half of what CTranslate2 gives to a slot of the beam that holds nothing
_MEND = "export the model again"


@final
class FastEngine:
    """Translates with single-threaded workers, one for every core: the best throughput for many sentences."""

    def __init__(self, directory: Path, *, threads: int | None = None, shortlist: bool = False) -> None:
        """With `shortlist`, score only the pieces that the directory's list holds to be likely."""
        if shortlist and not (directory / SHORTLIST).is_file():
            raise ModelError(
                f"{directory}: has no shortlist",
                hint="translate without it; a model gets one where it pays and costs little, as card.json says",
            )
        self._directory, self._shortlist = directory, shortlist
        self._pieces, self._limits = _inspect(directory)
        self._ids = {piece: number for number, piece in enumerate(self._pieces)}
        self._translator = self._load(threads or cores())
        self.parts = threads or cores()
        """How many parts a call is cut into, so that no worker is left without work; 1 for who calls from threads."""

    @property
    def max_source(self) -> int:
        """The most source pieces it takes: one less than the model has positions, for the end mark."""
        return self._limits.source

    @property
    def max_target(self) -> int:
        """The most pieces of a translation."""
        return self._limits.target

    def translate(
        self,
        sources: Sequence[Sequence[int]],
        search: Search,
        *,
        prefixes: Sequence[Sequence[int]] | None = None,
        attention: bool = False,
    ) -> list[list[Hypothesis]]:
        """Return for every source its `search.best` hypotheses, best first, each beginning with its prefix.

        CTranslate2 takes a batch with one prefix for a batch with many, and treats the end mark otherwise in
        it; so sources with and without a prefix run apart, and what a source gets does not depend on its
        neighbours.
        """
        check_request(sources, prefixes, search, self._limits)
        forced: list[Sequence[int]] = list(prefixes) if prefixes is not None else [() for _ in sources]
        found = [
            translate_nothing(source, prefix, attention=attention) if is_empty(source) else []
            for source, prefix in zip(sources, forced, strict=True)
        ]
        for with_prefix in (False, True):
            chosen = [n for n, prefix in enumerate(forced) if not found[n] and bool(prefix) is with_prefix]
            if chosen:
                some = [sources[number] for number in chosen]
                given = [forced[number] for number in chosen] if with_prefix else None
                results = self._run(some, given, search, attention=attention)
                rows = self._first_rows(some, search) if attention else [None] * len(some)
                for number, result, row in zip(chosen, results, rows, strict=True):
                    found[number] = self._read(result, len(sources[number]), search, row)
        return found

    def _first_rows(self, sources: Sequence[Sequence[int]], search: Search) -> Sequence[Sequence[float] | None]:
        """Return where each source is looked at first, if CTranslate2 does not say so itself.

        With a beam and a batch it mixes up the first rows of attention: all sources but one get another
        one's. What is looked at first does not depend on the search, so one greedy step says it right.
        """
        if samples(search) or search.beam == 1 or len(sources) == 1:
            return [None] * len(sources)
        step = replace(search, beam=1, best=1, max_length=1)
        return [result.attention[0][0] for result in self._run(sources, None, step, attention=True)]

    def _run(
        self,
        sources: Sequence[Sequence[int]],
        prefixes: Sequence[Sequence[int]] | None,
        search: Search,
        *,
        attention: bool,
    ) -> Sequence[Any]:
        lengths = [len(source) + 1 for source in sources]
        share = -(-sum(lengths) // self.parts)
        run = self._draw if samples(search) else self._search
        return run(
            search,
            source=[[*self._words(source), self._pieces[END]] for source in sources],
            target_prefix=None if prefixes is None else [self._words(prefix) for prefix in prefixes],
            max_batch_size=max(*lengths, 1, min(share, _BATCH_PIECES)),
            batch_type="tokens",
            num_hypotheses=search.best,
            length_penalty=search.length_penalty,
            use_vmap=self._shortlist and prefixes is None and not samples(search),
            max_input_length=0,
            max_decoding_length=min(search.max_length, self._limits.target),
            min_decoding_length=0,
            return_end_token=True,
            return_scores=True,
            return_attention=attention,
        )

    def _search(self, search: Search, **options: Any) -> Sequence[Any]:
        results: Sequence[Any] = self._translator.translate_batch(beam_size=search.beam, **options)
        return results

    def _draw(self, search: Search, **options: Any) -> Sequence[Any]:
        """Draw translations with a translator of its own.

        CTranslate2's seed is global, and a worker reads it once, when it first draws. So the same seed draws
        the same translations only in a new worker, only if there is one of them, and only one call at a time.
        """
        with _SEEDING:
            ctranslate2.set_random_seed(search.seed % _SEEDS)
            results: Sequence[Any] = self._load(1).translate_batch(
                beam_size=1,
                sampling_topk=min(search.top_k, self._limits.vocabulary),
                sampling_topp=search.top_p,
                sampling_temperature=search.temperature,
                **options,
            )
        return results

    def _load(self, workers: int) -> Any:
        try:
            return ctranslate2.Translator(str(self._directory), inter_threads=workers, intra_threads=1)
        except (RuntimeError, ValueError) as error:
            raise ModelError(f"{self._directory}: CTranslate2 cannot load it ({error})", hint=_MEND) from error

    def _words(self, ids: Sequence[int]) -> list[str]:
        return [self._pieces[number] for number in ids]

    def _read(self, result: Any, source: int, search: Search, first_row: Sequence[float] | None) -> list[Hypothesis]:
        """Turn CTranslate2's words into pieces, and take off the end mark that shows that it has finished."""
        attentions = result.attention or [None] * len(result.hypotheses)
        found = []
        for words, score, rows in zip(result.hypotheses, result.scores, attentions, strict=True):
            if score * len(words) ** search.length_penalty < _DEAD:
                continue
            ids = tuple(self._ids[word] for word in words)
            finished = ids[-1] == END
            ids = ids[:-1] if finished else ids
            looked = rows if first_row is None else [first_row, *rows[1:]]
            found.append(Hypothesis(ids, score, finished, _cut(looked, len(ids), source)))
        return found


def _cut(rows: Sequence[Sequence[float]] | None, target: int, source: int) -> Array | None:
    """Leave out what belongs to end marks and padding."""
    if rows is None:
        return None
    import numpy as np

    return np.array([row[:source] for row in rows[:target]], dtype=np.float32).reshape(target, source)


def _inspect(directory: Path) -> tuple[list[str], Limits]:
    """Read what CTranslate2 does not check: the vocabulary against the model, and its number of positions."""
    missing = [name for name in (MODEL, CONFIG, VOCABULARY) if not (directory / name).is_file()]
    if missing:
        raise ModelError(f"{directory}: no {', no '.join(missing)}", hint=_MEND)
    try:
        shapes = read_shapes(directory / MODEL)
        rows = shapes["decoder/projection/weight"][0]
        source = shapes["encoder/position_encodings/encodings"][0]
        target = shapes["decoder/position_encodings/encodings"][0]
    except (KeyError, IndexError, UnicodeDecodeError, struct.error) as error:
        raise ModelError(f"{directory / MODEL}: damaged, or not a Transformer ({error!r})", hint=_MEND) from error
    settings = _read_json(directory / CONFIG)
    if not (isinstance(settings, dict) and settings.items() >= _SETTINGS.items()):
        raise ModelError(f"{directory / CONFIG}: not what dragoman wrote", hint=_MEND)
    pieces = _read_json(directory / VOCABULARY)
    if not (isinstance(pieces, list) and all(isinstance(piece, str) for piece in pieces)):
        raise ModelError(f"{directory / VOCABULARY}: not a list of pieces", hint=_MEND)
    if len(pieces) != rows or len(set(pieces)) != rows:
        raise ModelError(
            f"{directory / VOCABULARY}: {len(set(pieces))} different pieces, but the model knows {rows}",
            hint=_MEND,
        )
    return pieces, Limits(rows, source - 1, target)


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except ValueError as error:
        raise ModelError(f"{path}: not JSON ({error})", hint=_MEND) from error


def read_shapes(path: Path) -> dict[str, tuple[int, ...]]:
    """Return the shapes of all arrays in a `model.bin`, without reading the arrays."""
    with path.open("rb") as file:
        (version,) = _unpack(file, "I")
        if version != _BINARY_VERSION:
            raise ModelError(f"{path}: binary version {version}, but this program reads {_BINARY_VERSION}", hint=_MEND)
        _string(file), _unpack(file, "I")  # the model's kind and revision
        shapes = dict(_shapes(file))
        for _ in range(_unpack(file, "I")[0]):
            alias = _string(file)
            shapes[alias] = shapes[_string(file)]
    return shapes


def _shapes(file: BinaryIO) -> Iterator[tuple[str, tuple[int, ...]]]:
    for _ in range(_unpack(file, "I")[0]):
        name = _string(file)
        (rank,) = _unpack(file, "B")
        yield name, _unpack(file, f"{rank}I")
        _, size = _unpack(file, "=BI")
        file.seek(size, os.SEEK_CUR)


def _string(file: BinaryIO) -> str:
    (length,) = _unpack(file, "H")
    (text,) = _unpack(file, f"{length}s")
    return bytes(text).rstrip(b"\0").decode()


def _unpack(file: BinaryIO, form: str) -> tuple[Any, ...]:
    return struct.unpack(form, file.read(struct.calcsize(form)))
