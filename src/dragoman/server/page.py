"""The page: its files, its copy for a disk, and the tour's chapters.

The first thing that it shows comes with it: `web/stored.json` holds what the demo model answered to the lectures' first
sentence, in the form in which a page that was saved holds its answers.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from dragoman.draw.document import content_hash, embedded_json
from dragoman.errors import RecipeError
from dragoman.jobs.flows import known_sentences
from dragoman.server.answers import Json
from dragoman.server.bundle import bundle
from dragoman.server.limits import RefusedError
from dragoman.server.service import Service
from dragoman.tour import as_json, find, table_of_contents, tell

_MEDIA = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "json": "application/json",
    "svg": "image/svg+xml",
}
_LANGUAGE = "en"  # that the page speaks
_INDEX, _OFFLINE, _STORED, _MAIN = "index.html", "offline.html", "stored.json", "main.js"
_STYLES = '<link rel="stylesheet" href="page/style.css">\n<link rel="stylesheet" href="page/views.css">'
_SCRIPT = '<script type="module" src="page/main.js"></script>'
_ICON = '<link rel="icon" href="page/icon.svg">'
_ANSWERS = '<script type="application/json" id="answers">{}</script>'
_COMMON = "default-src 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; "
_POLICY = f"{_COMMON}script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; frame-ancestors 'none'"


class File(NamedTuple):
    """One file of the page, as it is sent."""

    content: bytes
    media_type: str
    tag: str


class Page:
    """The routes of the page."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            Route("/", self.index, methods=["GET"]),
            Route("/page/{name:path}", self.file, methods=["GET"]),
            Route("/v1/tour", self.contents, methods=["GET"]),
            Route("/v1/tour/{chapter}", self.chapter, methods=["POST"]),
        ]

    async def index(self, request: Request) -> Response:
        """Return the page."""
        return _send(page_files()[_INDEX], request)

    async def file(self, request: Request) -> Response:
        """Return a file of the page."""
        found = page_files().get(request.path_params["name"])
        if found is None:
            raise RefusedError("Not Found", status=404)
        return _send(found, request)

    async def contents(self, _request: Request) -> Response:
        """List the tour's chapters, and the sentences worth trying with a model of the built-in corpus."""
        chapters = [heading._asdict() for heading in table_of_contents(_LANGUAGE)]
        return Json({"chapters": chapters, "sentences": known_sentences()})

    async def chapter(self, request: Request) -> Response:
        """Compute a chapter, with some of its inputs changed."""
        asked = await self._service.read(request)
        settings = asked.strings("settings") or []
        size = self._service.check_size(settings)
        name = request.path_params["chapter"]
        return await self._service.workers.look(request, size, lambda _work: Json(_tell(name, settings)))


def _tell(chapter: str, settings: list[str]) -> dict[str, Any]:
    try:
        (told,) = tell([find(chapter)], settings, _LANGUAGE)
    except RecipeError as error:  # whose hint is for a terminal
        raise RefusedError(error.message) from error
    return as_json(told)


def _send(file: File, request: Request) -> Response:
    """Answer with a file, or say that the client has it already."""
    headers = {"ETag": file.tag, "Cache-Control": "no-cache", "Content-Security-Policy": _POLICY}
    headers["Referrer-Policy"] = "no-referrer"
    if request.headers.get("if-none-match") == file.tag:
        return Response(status_code=304, headers=headers)
    return Response(file.content, headers={**headers, "Content-Type": file.media_type})


@cache
def page_files() -> Mapping[str, File]:
    """Read all files of the page."""
    texts = dict(_read(files("dragoman.server").joinpath("web"), ""))
    stored = embedded_json(json.loads(texts.pop(_STORED)))
    texts[_OFFLINE] = _offline(texts)
    ahead = "".join(
        f'<link rel="modulepreload" href="page/{name}">\n' for name in sorted(texts) if name.endswith(".js")
    )
    texts[_INDEX] = _put(_put(texts[_INDEX], _STYLES, ahead + _STYLES), _ANSWERS, _ANSWERS.replace("{}", stored))
    return {
        name: File(text.encode(), _MEDIA[name.rpartition(".")[2]], f'"{content_hash(text)[7:31]}"')
        for name, text in texts.items()
    }


def _read(place: Traversable, path: str) -> Iterator[tuple[str, str]]:
    for one in place.iterdir():
        if one.is_dir():
            yield from _read(one, f"{path}{one.name}/")
        elif one.name.rpartition(".")[2] in _MEDIA:
            yield path + one.name, one.read_text(encoding="utf-8")


def _offline(texts: Mapping[str, str]) -> str:
    """Write the page as one file; whoever saves it puts the answers in."""
    style = texts["style.css"] + texts["views.css"]
    script = bundle(texts, _MAIN)
    policy = f"{_COMMON}script-src '{content_hash(script)}'; style-src '{content_hash(style)}'"
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    page = _put(texts[_INDEX], _ICON, meta)
    page = _put(page, _STYLES, f"<style>{style}</style>")
    page = _put(page, '<html lang="en">', '<html lang="en" data-offline>')
    return _put(page, _SCRIPT, f'<script type="module">{script}</script>')


def _put(page: str, old: str, new: str) -> str:
    """Replace what must be there once."""
    if page.count(old) != 1:
        raise ValueError(f"the page has {page.count(old)} places that read {old}")
    return page.replace(old, new)
