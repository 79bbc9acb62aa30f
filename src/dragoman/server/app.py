"""The application: a function of its parts."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response

from dragoman.server.answers import TOLD, to_response
from dragoman.server.api import Api
from dragoman.server.guard import Guard
from dragoman.server.inside import Inside
from dragoman.server.limits import Limits
from dragoman.server.metrics import Metrics
from dragoman.server.models import Models
from dragoman.server.page import Page
from dragoman.server.service import Options, make_service
from dragoman.server.v1 import V1

_SMALL, _EFFORT = 2_000, 3  # bytes below which an answer is not compressed, and how hard it is


def create_app(
    models: Models, metrics: Metrics, limits: Limits | None = None, options: Options | None = None
) -> Starlette:
    """Make an application that serves some models; it closes them when it stops."""
    limits, options = limits or Limits(), options or Options()
    service = make_service(models, metrics, limits, options)

    @asynccontextmanager
    async def live(_app: Starlette) -> AsyncIterator[None]:
        yield
        service.close()

    large = [*V1(service).routes(), *Inside(service).routes(), *Page(service).routes()]
    for route in large:
        route.app = GZipMiddleware(route.app, minimum_size=_SMALL, compresslevel=_EFFORT)
    api = Api(service)
    routes = [*api.routes(), *large]
    paths = {route.path.partition("/{")[0] for route in routes}
    app = Starlette(
        routes=routes,
        lifespan=live,
        middleware=[
            Middleware(Guard, limits=limits, names=options.names, metrics=metrics, paths=paths, direct=api.direct())
        ],
        exception_handlers=dict.fromkeys(TOLD, _answer),
    )
    app.state.service = service
    return app


async def _answer(_request: Request, error: Exception) -> Response:
    return to_response(error)
