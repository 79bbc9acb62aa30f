"""Beyond the LibreTranslate API: what a translation is worth, which word became which, and what happened inside."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from dragoman.engine.question import Steps, finish
from dragoman.engine.trace import Trace
from dragoman.engine.translator import Sentence, Translation
from dragoman.errors import DataError
from dragoman.jobs.translate import Asked, check_prefix, text_alignment
from dragoman.server import placeholders, traces
from dragoman.server.answers import Json
from dragoman.server.api import Answering, widened
from dragoman.server.guard import OWN_PAGE
from dragoman.server.limits import RefusedError
from dragoman.server.models import Served
from dragoman.server.parameters import Parameters
from dragoman.server.service import Service
from dragoman.server.work import Work, effort

_LOST = "placeholders"  # a flag beside the engine's own: a URL or placeholder is missing, or there is one too many


class _Wanted(NamedTuple):
    """What is asked about some texts."""

    texts: list[str]
    prefixes: list[str]
    best: int
    alignments: bool


class V1:
    """The routes under /v1."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            Route("/v1/models", self.models, methods=["GET"]),
            Route("/v1/translate", self.translate, methods=["POST"]),
            Route(OWN_PAGE, self.trace, methods=["POST"]),
            Route(f"{OWN_PAGE}/head", self.head, methods=["POST"]),
        ]

    async def models(self, _request: Request) -> Response:
        """List the models and their shapes."""
        return Json([_shape(model) for model in self._service.models])

    async def translate(self, request: Request) -> Response:
        """Translate texts, with scores, flags and pieces of every sentence."""
        asked = await self._service.read(request)
        texts = asked.texts("q")
        model = self._service.model(asked)
        prefixes = asked.texts("prefix") if asked.is_list("prefix") else [asked.text("prefix", "")] * len(texts)
        if len(prefixes) != len(texts):
            raise RefusedError(f"Invalid request: there are {len(prefixes)} prefixes for {len(texts)} texts")
        best = asked.number("best", 1, least=1, most=1 + self._service.limits.alternatives)
        wanted = _Wanted(texts, prefixes, best, _alignments(asked, model))
        begun = list(dict.fromkeys(prefixes))
        characters = self._service.check_size(texts) + self._service.check_size(begun)

        def translate(work: Work) -> Answering:
            found = yield from _translate(work, model, wanted)
            told = [_tell(text, one, wanted) for text, one in zip(texts, found, strict=True)]
            return Json({"model": model.name, "translations": told})

        weight = effort([*texts, *begun], best)
        return await self._service.workers.follow(request, characters, translate, effort=weight)

    async def trace(self, request: Request) -> Response:
        """Return an overview of what happened inside while a sentence was translated."""
        asked = await self._service.read(request)
        return await self._look(request, asked, traces.overview)

    async def head(self, request: Request) -> Response:
        """Return the numbers of one head."""
        asked = await self._service.read(request)
        kind = asked.text("kind")
        layer, number = (asked.number(name, 0, least=1) for name in ("layer", "head"))
        return await self._look(request, asked, lambda seen, _model: traces.head(seen, kind, layer, number))

    async def _look(
        self, request: Request, asked: Parameters, tell: Callable[[Trace, Served], dict[str, Any]]
    ) -> Response:
        text, model = asked.text("q"), self._service.model(asked)
        pieces, prefix = asked.strings("pieces"), asked.text("prefix", "")
        characters = self._service.check_size([text])

        def follow(work: Work) -> Response:
            return Json(tell(self._trace(work, model, text, prefix, pieces), model))

        return await self._service.workers.look(request, characters, follow)

    def _trace(self, work: Work, model: Served, text: str, prefix: str, pieces: Sequence[str] | None) -> Trace:
        """Follow the pieces that the fast engine chooses, or those that it has chosen before."""
        traces.check_sentence(text, model)
        if pieces is None:
            (translation,) = finish(_translate(work, model, _Wanted([text], [prefix], 1, alignments=False)))
            path = traces.path_of(translation.sentences[0], model)
        else:
            path = traces.given_path(text, pieces, model)
        return traces.trace(path, model, self._service.limits.traced)


def _shape(model: Served) -> dict[str, Any]:
    shape = model.recipe.model
    return {
        "name": model.name,
        "source": model.source,
        "target": model.target,
        "kind": shape.kind,
        "encoderLayers": shape.encoder_layers,
        "decoderLayers": shape.decoder_layers,
        "width": shape.width,
        "heads": shape.heads,
        "pieces": len(model.tokenizer),
        "alignments": model.aligns,
        "search": {"beam": model.search.beam, "length_penalty": model.search.length_penalty},
    }


def _alignments(asked: Parameters, model: Served) -> bool:
    wanted = asked.flag("alignments")
    if wanted and not model.aligns:
        raise RefusedError("Invalid request: the model has no attention to align words by")
    return wanted


def _translate(work: Work, model: Served, wanted: _Wanted) -> Steps[list[Translation]]:
    search = widened(model.search, wanted.best)
    translator = work.translator(model)
    room = dataclasses.replace(search, max_length=min(search.max_length, model.limit))
    for prefix in set(wanted.prefixes):
        try:
            check_prefix(translator, Asked(room, prefix))
        except DataError as error:  # whose hint is for a terminal
            raise RefusedError(error.message) from error
    return translator.steps(wanted.texts, search=search, prefixes=wanted.prefixes, alignments=wanted.alignments)


def _tell(text: str, found: Translation, wanted: _Wanted) -> dict[str, Any]:
    sentences = [_tell_sentence(sentence, alignments=wanted.alignments) for sentence in found.sentences]
    told: dict[str, Any] = {
        "text": found.text,
        "score": found.score,
        "flags": sorted({flag for sentence in sentences for flag in sentence["flags"]}),
        "sentences": sentences,
    }
    if wanted.best > 1:
        told["alternatives"] = [{"text": one.text, "score": one.score} for one in found.alternatives]
    if wanted.alignments:
        told["alignment"] = text_alignment(text, found)
    return told


def _tell_sentence(sentence: Sentence, *, alignments: bool) -> dict[str, Any]:
    lost = not placeholders.survive(sentence.source, sentence.target)
    told: dict[str, Any] = {
        "source": sentence.source,
        "text": sentence.target,
        "score": sentence.score,
        "flags": sorted([*sentence.flags, *([_LOST] if lost else [])]),
        "sourcePieces": sentence.source_pieces,
        "pieces": sentence.target_pieces,
    }
    if alignments:
        told["alignment"] = sentence.alignment or ()
    return told
