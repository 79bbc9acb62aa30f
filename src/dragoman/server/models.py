"""The models that are served, each loaded once, found by their languages."""

import threading
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

from dragoman.checkpoint import ModelDirectory
from dragoman.engine.base import has_attention
from dragoman.engine.fast import FastEngine
from dragoman.engine.load import load_plain, load_translator
from dragoman.engine.plain import PlainEngine
from dragoman.engine.translator import Translator
from dragoman.errors import ModelError
from dragoman.machine import cores
from dragoman.server.gather import Gather, SharedEngine
from dragoman.server.limits import RefusedError
from dragoman.text import languages

# Codes that clients use for others, in lower case, and the codes that are shown to them.
_ALIASES = {"pb": "pt-br", "zh": "zh-hans", "zt": "zh-hant"}
_SHOWN = {"pb": "pt-BR", "zh": "zh-Hans", "zt": "zh-Hant"}

AUTO = "auto"


class Served:
    """One model and the engine that all requests share."""

    def __init__(self, path: Path, *, threads: int | None = None, told: Callable[[int], None] | None = None) -> None:
        """Load the model; `told` hears the size of every batch."""
        self.directory = ModelDirectory(path)
        self.recipe = self.directory.recipe
        if not (self.recipe.source_language and self.recipe.target_language):
            raise ModelError(
                f"{path}: does not say between which languages it translates",
                hint="train it with --from and --to",
            )
        self.name = path.resolve().name
        self.source, self.target = shown(self.recipe.source_language), shown(self.recipe.target_language)
        self.aligns = has_attention(self.recipe.model)
        self._translator = load_translator(self.directory, threads=threads)
        self.search = self._translator.search
        self.tokenizer = self._translator.tokenizer
        self.limit = self._translator.limit
        engine, workers = self._translator.engine, 1
        if isinstance(engine, FastEngine):
            engine.parts, workers = 1, threads or cores()
        self.gather = Gather(engine, workers=workers, told=told)
        self._opening = threading.Lock()

    def translator(self, engine: SharedEngine) -> Translator:
        """Return a translator for one request; what it remembers is nobody else's."""
        return Translator(engine, self.tokenizer, self.search, max_pieces=self.limit)

    @cached_property
    def piece_ids(self) -> dict[str, int]:
        """The number of every piece."""
        return {piece: number for number, piece in enumerate(self.tokenizer.pieces)}

    @property
    def plain(self) -> PlainEngine:
        """The engine that keeps its steps, loaded when it is first asked for."""
        with self._opening:
            return self._plain

    @cached_property
    def _plain(self) -> PlainEngine:
        engine = self._translator.engine
        return engine if isinstance(engine, PlainEngine) else load_plain(self.directory, self.tokenizer)


class Models:
    """All models of the service."""

    def __init__(self, served: Sequence[Served]) -> None:
        self._by_pair: dict[tuple[str, str], Served] = {}
        for one in served:
            other = self._by_pair.setdefault((one.source, one.target), one)
            if other is not one:
                raise ModelError(
                    f"{one.directory.path} and {other.directory.path} both translate {one.source} to {one.target}",
                    hint="serve one of them",
                )
        self.codes = sorted({code for pair in self._by_pair for code in pair})
        self._shown = {code.lower(): code for code in self.codes}

    def __iter__(self) -> Iterator[Served]:
        return iter(self._by_pair.values())

    def targets(self, source: str) -> list[str]:
        """The languages that one can be translated to, and itself."""
        return sorted({source, *(to for start, to in self._by_pair if start == source)})

    def sources(self, target: str) -> list[str]:
        """The languages that can be translated to one."""
        return [start for start, to in self._by_pair if to == target]

    def code(self, asked: str) -> str:
        """Return the code by which a language is known here."""
        lower = asked.lower()
        found = self._shown.get(_ALIASES.get(lower, lower))
        if found is None:
            raise RefusedError(f"{asked} is not supported")
        return found

    def find(self, source: str, target: str) -> Served | None:
        """Return the model for two known codes; none is needed from a language to itself."""
        if source == target:
            return None
        found = self._by_pair.get((source, target))
        if found is None:
            raise RefusedError(
                f"{languages.name(target)} ({target}) is not available as a target language from "
                f"{languages.name(source)} ({source})"
            )
        return found


def shown(code: str) -> str:
    """Return the code that clients expect for a language."""
    return _SHOWN.get(code, code)
