"""What all routes share: the models, the limits, and who may use them."""

import hmac
from dataclasses import dataclass, field
from pathlib import Path

from starlette.requests import Request

from dragoman.server.files import Store
from dragoman.server.limits import Limits, Rates, RefusedError
from dragoman.server.metrics import Metrics
from dragoman.server.models import Models, Served
from dragoman.server.parameters import Parameters, read_parameters
from dragoman.server.work import Workers


@dataclass(frozen=True)
class Options:
    """What an operator chooses."""

    keys: frozenset[str] = frozenset()
    """Who has none of them is turned away; without any, all are let in."""
    names: tuple[str, ...] = ()
    """Host names by which the service is reached, besides numbers and localhost."""
    url: str = ""
    """The address by which it is reached from outside, if a proxy stands before it."""
    files: bool = True
    """Whether files are translated."""
    metrics: bool = False
    """Whether counters are shown; to those with a key, if there are keys."""
    suggestions: Path | None = None
    """Where better translations that clients suggest are written, as JSON lines; without it they are refused."""


@dataclass(frozen=True)
class Service:
    """The parts of one service."""

    models: Models
    limits: Limits
    options: Options
    metrics: Metrics
    workers: Workers
    store: Store
    rates: Rates = field(default_factory=lambda: Rates(None))

    async def read(self, request: Request) -> Parameters:
        """Read a request's parameters, and check that the client may ask for anything."""
        parameters = await read_parameters(request, self.limits)
        key = parameters.text("api_key", "")
        is_known = bool(key) and self.has_key(key)
        self.rates.count(f"key {key}" if is_known else f"host {request.client.host if request.client else ''}")
        if self.options.keys and not key:
            raise RefusedError("Please contact the server operator to get an API key")
        if self.options.keys and not is_known:
            raise RefusedError("Invalid API key", status=403)
        return parameters

    def has_key(self, key: str) -> bool:
        """Tell whether a key is one of those that are let in."""
        given = key.encode("utf-8", "replace")
        return any(hmac.compare_digest(given, known.encode()) for known in self.options.keys)

    def model(self, asked: Parameters) -> Served:
        """Return the model for the languages that are asked for, which must be two."""
        source, target = (self.models.code(asked.text(side)) for side in ("source", "target"))
        found = self.models.find(source, target)
        if found is None:
            raise RefusedError(f"Invalid request: source and target are both {source}")
        return found

    def check_size(self, texts: list[str]) -> int:
        """Refuse what is too much for a request, and return how many characters it has."""
        characters = sum(map(len, texts))
        for number, most in ((len(texts), self.limits.texts), (characters, self.limits.characters)):
            if number > most:
                raise RefusedError(f"Invalid request: request ({number}) exceeds text limit ({most})")
        return characters

    def close(self) -> None:
        """Finish what was accepted."""
        self.workers.close()
        for model in self.models:
            model.gather.close()


def make_service(models: Models, metrics: Metrics, limits: Limits, options: Options) -> Service:
    """Put the parts together, and let the counters watch them."""
    workers = Workers(limits, busy=lambda: max(model.gather.seconds_left() for model in models))
    metrics.watch("requests_at_work", "Requests at work or waiting.", lambda: workers.requests)
    metrics.watch("characters_at_work", "Characters of these requests.", lambda: workers.characters)
    metrics.watch("pieces_waiting", "Pieces that wait for an engine.", lambda: sum(m.gather.waiting for m in models))
    return Service(models, limits, options, metrics, workers, Store(limits), Rates(limits.per_minute))
