"""The LibreTranslate API: the same paths, parameters, answers and sentences, so that its clients need no change."""

import dataclasses
import json
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from dragoman.config import Search
from dragoman.engine.question import Steps, finish
from dragoman.server import markup
from dragoman.server.answers import Json
from dragoman.server.files import FORMATS, Format, find_format, read_text
from dragoman.server.guard import Handler
from dragoman.server.limits import RefusedError
from dragoman.server.models import AUTO, Served
from dragoman.server.service import Service
from dragoman.server.spec import describe, describe_in_html
from dragoman.server.texts import Manner, translate_pages, translate_texts
from dragoman.server.work import Work, effort
from dragoman.text import languages
from dragoman.text.detect import Guess, detect

Answering = Steps[Response]  # by name, because a function within another is annotated anew for every request
_UNKNOWN = "en"  # what clients are told, with a confidence of 0, if nothing speaks for any language
_GUESS_TIMES = 10  # as much as a translation costs beside the engine, to find out a text's language


class _Route(NamedTuple):
    """From what to what some texts are translated."""

    guesses: list[Guess] | None
    """One for each text, if its language was not given."""
    models: list[Served | None]
    """One for each text; None where it is in the target language already."""


class Api:
    """The routes of the API."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._suggesting = threading.Lock()

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            Route("/translate", self.translate, methods=["POST"]),
            Route("/detect", self.detect, methods=["POST"]),
            Route("/languages", self.languages, methods=["GET"]),
            Route("/translate_file", self.translate_file, methods=["POST"]),
            Route("/download_file/{name}", self.download_file, methods=["GET"]),
            Route("/suggest", self.suggest, methods=["POST"]),
            Route("/frontend/settings", self.settings, methods=["GET"]),
            Route("/health", self.health, methods=["GET"]),
            Route("/spec", self.spec, methods=["GET"]),
            Route("/docs", self.docs, methods=["GET"]),
            Route("/metrics", self.metrics, methods=["GET"]),
        ]

    def direct(self) -> dict[tuple[str, str], Handler]:
        """Return what is asked for so often that finding its route would be felt, by method and path."""
        return {("POST", "/translate"): self.translate}

    async def translate(self, request: Request) -> Response:
        """Translate texts or HTML."""
        asked = await self._service.read(request)
        texts = asked.texts("q")
        source, target = asked.text("source"), asked.text("target")
        alternatives = max(0, asked.number("alternatives", 0, least=None, most=self._service.limits.alternatives))
        form = asked.text("format", "text")
        if form not in ("text", "html"):
            raise RefusedError(f"{form} format is not supported")
        characters = self._service.check_size(texts)
        best, escape = (1, markup.escape) if form == "html" else (1 + alternatives, None)

        def translate(work: Work) -> Answering:
            route = self._route(texts, source, target)
            found = yield from _translate(work, texts, route.models, best, escape)
            answer: dict[str, Any] = {"translatedText": [one[0] for one in found]}
            if route.guesses is not None:
                answer["detectedLanguage"] = [_guess(guess) for guess in route.guesses]
            if alternatives:
                answer["alternatives"] = [_distinct(one) for one in found]
            is_list = asked.is_list("q")
            return Json({name: values if is_list else values[0] for name, values in answer.items()})

        weight = effort(texts, best + (_GUESS_TIMES if source.lower() == AUTO else 0))
        return await self._service.workers.follow(request, characters, translate, effort=weight)

    def _route(self, texts: Sequence[str], source: str, target: str) -> _Route:
        models = self._service.models
        known = None if source.lower() == AUTO else models.code(source)
        to = models.code(target)
        if known is not None:
            return _Route(None, [models.find(known, to)] * len(texts))
        guesses = [self._detect(text, models.sources(to)) for text in texts]
        return _Route(guesses, [models.find(guess.language, to) for guess in guesses])

    def _detect(self, text: str, usual: Sequence[str]) -> Guess:
        """Return the likeliest language, or without confidence one that can be translated."""
        found = detect(text, self._service.models.codes)
        return found[0] if found else Guess(usual[0] if usual else _UNKNOWN, 0.0)

    async def detect(self, request: Request) -> Response:
        """Say which language a text may be in."""
        asked = await self._service.read(request)
        texts = asked.texts("q")
        characters = self._service.check_size(texts)

        def find(_work: Work) -> Response:
            found = detect("\n".join(texts), self._service.models.codes)
            return Json([_guess(guess) for guess in found or [Guess(_UNKNOWN, 0.0)]])

        return await self._service.workers.run(request, characters, find)

    async def languages(self, _request: Request) -> Response:
        """List the languages, and what each can be translated to."""
        models = self._service.models
        return Json(
            [{"code": code, "name": languages.name(code), "targets": models.targets(code)} for code in models.codes]
        )

    async def translate_file(self, request: Request) -> Response:
        """Translate a file and say where it can be fetched."""
        if not self._service.options.files:
            raise RefusedError("Files translation are disabled on this server.", status=403)
        asked = await self._service.read(request)
        upload = asked.file("file")
        source, target = asked.text("source"), asked.text("target")
        form = find_format(upload.name)
        content = read_text(upload.content)
        characters = self._service.check_size([content])

        def translate(work: Work) -> str:
            (model,) = self._route([content], source, target).models
            return _translate_file(work, content, model, form)

        translated = await self._service.workers.run(request, characters, translate)
        name = self._service.store.put(upload.name, form.media_type, translated.encode("utf-8", "replace"))
        base = self._service.options.url or str(request.base_url)
        return Json({"translatedFileUrl": f"{base.rstrip('/')}/download_file/{quote(name)}"})

    async def download_file(self, request: Request) -> Response:
        """Return a translated file."""
        kept = self._service.store.get(request.path_params["name"])
        disposition = f"attachment; filename*=utf-8''{quote(kept.name)}"
        return Response(kept.content, media_type=kept.media_type, headers={"Content-Disposition": disposition})

    async def suggest(self, request: Request) -> Response:
        """Keep a better translation that a client suggests."""
        if self._service.options.suggestions is None:
            raise RefusedError("Suggestions are disabled on this server.", status=403)
        asked = await self._service.read(request)
        models = self._service.models
        suggestion = {name: asked.text(name) for name in ("q", "s")}
        suggestion |= {name: models.code(asked.text(name)) for name in ("source", "target")}
        self._service.check_size([suggestion["q"], suggestion["s"]])
        await self._service.workers.run(request, 0, lambda _work: self._write(suggestion))
        return Json({"success": True})

    def _write(self, suggestion: dict[str, str]) -> None:
        path = self._service.options.suggestions
        assert path is not None
        line = (json.dumps(suggestion, ensure_ascii=False) + "\n").encode("utf-8", "replace")
        try:
            with self._suggesting, path.open("ab") as file:
                if file.tell() + len(line) > self._service.limits.suggested:
                    raise RefusedError("There is no room for more suggestions", status=503)
                file.write(line)
        except OSError as error:
            raise RefusedError("Suggestions cannot be written down", status=503) from error

    async def settings(self, _request: Request) -> Response:
        """Tell pages what the service can do."""
        options, models = self._service.options, self._service.models
        first = next(iter(models))
        pair = {"source": first.source, "target": first.target}
        return Json(
            {
                "charLimit": self._service.limits.characters,
                "frontendTimeout": 500,
                "apiKeys": bool(options.keys),
                "keyRequired": bool(options.keys),
                "suggestions": options.suggestions is not None,
                "filesTranslation": options.files,
                "supportedFilesFormat": [form.suffix for form in FORMATS] if options.files else [],
                "language": {side: {"code": code, "name": languages.name(code)} for side, code in pair.items()},
            }
        )

    async def health(self, _request: Request) -> Response:
        """Say that the service is there."""
        return Json({"status": "ok"})

    async def spec(self, _request: Request) -> Response:
        """Describe the API for programs."""
        return Json(describe(self._service))

    async def docs(self, _request: Request) -> Response:
        """Describe the API for people."""
        return HTMLResponse(describe_in_html(describe(self._service)))

    async def metrics(self, request: Request) -> Response:
        """Return the counters."""
        if not self._service.options.metrics:
            raise RefusedError("Not Found", status=404)
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        if self._service.options.keys and not (kind.lower() == "bearer" and self._service.has_key(token)):
            raise RefusedError("Unauthorized", status=401)
        return Response(self._service.metrics.write(), media_type="text/plain; version=0.0.4; charset=utf-8")


def widened(search: Search, best: int) -> Search:
    """Return a search that finds so many translations."""
    return dataclasses.replace(search, best=best, beam=max(search.beam, best))


def _translate(
    work: Work,
    texts: Sequence[str],
    models: Sequence[Served | None],
    best: int,
    escape: Callable[[str], str] | None,
) -> Steps[list[list[str]]]:
    """Translate each text with its model, one without model not at all; `escape` is for texts with tags."""
    done = {number: [text] for number, text in enumerate(texts) if models[number] is None}
    for model in dict.fromkeys(model for model in models if model is not None):
        numbers = [number for number, one in enumerate(models) if one is model]
        some = [texts[number] for number in numbers]
        manner = Manner(widened(model.search, best), model.aligns, escape or str)
        if escape is None:
            found = yield from translate_texts(work.translator(model), some, manner)
        else:
            pages = yield from translate_pages(work.translator(model), some, manner)
            found = [[page] for page in pages]
        done.update(zip(numbers, found, strict=True))
    return [done[number] for number in range(len(texts))]


def _translate_file(work: Work, content: str, model: Served | None, form: Format) -> str:
    escape = form.escape(content)

    def translate(texts: Sequence[str]) -> list[str]:
        return [one[0] for one in finish(_translate(work, texts, [model] * len(texts), 1, escape))]

    return form.translate(content, translate)


def _distinct(found: Sequence[str]) -> list[str]:
    """Return the alternatives: whatever differs from the best and is not empty, each once."""
    best, *others = found
    return [other for other in dict.fromkeys(others) if other.strip() and other != best]


def _guess(guess: Guess) -> dict[str, Any]:
    return {"confidence": guess.confidence, "language": guess.language}
