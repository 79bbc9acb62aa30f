"""The parameters of a request: from a JSON body, a form or the query, read alike."""

import json
from typing import Any, NamedTuple

from starlette.datastructures import UploadFile
from starlette.requests import Request

from dragoman.server.limits import Limits, RefusedError

_MOST_FIELDS = 50
_INVALID_JSON = "Invalid JSON format"
_TEXT = "q"


class Upload(NamedTuple):
    """A file that was sent."""

    name: str
    content: bytes


class Parameters:
    """What was asked for; everything that is wrong with it is a `RefusedError`."""

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text that must be there, unless there is a default, and not be empty."""
        value = self._values.get(name)
        if value is None or value in ("", []):
            if default is None:
                raise RefusedError(f"Invalid request: missing {name} parameter")
            return default
        if not isinstance(value, str):
            raise RefusedError(f"Invalid request: {name} parameter is not a string")
        return value

    def texts(self, name: str) -> list[str]:
        """Return one text or several as a list."""
        value = self._values.get(name)
        if not isinstance(value, list) or not value:
            return [self.text(name)]
        if not all(isinstance(one, str) for one in value):
            raise RefusedError(f"Invalid request: {name} parameter is not a string or a list of strings")
        return value

    def is_list(self, name: str) -> bool:
        """Tell whether several values were given."""
        return isinstance(self._values.get(name), list)

    def number(self, name: str, default: int, *, least: int | None = 0, most: int | None = None) -> int:
        """Return a whole number within bounds."""
        value = self._values.get(name)
        try:
            number = default if value is None or value == "" else int(value)
        except (TypeError, ValueError, OverflowError) as error:
            raise RefusedError(f"Invalid request: {name} parameter is not a number") from error
        if least is not None and number < least:
            raise RefusedError(f"Invalid request: {name} parameter must be >= {least}")
        if most is not None and number > most:
            raise RefusedError(f"Invalid request: {name} parameter must be <= {most}")
        return number

    def flag(self, name: str) -> bool:
        """Return whether something is wanted."""
        value = self._values.get(name, False)
        if isinstance(value, bool):
            return value
        if str(value).lower() in ("true", "1", "false", "0"):
            return str(value).lower() in ("true", "1")
        raise RefusedError(f"Invalid request: {name} parameter is not true or false")

    def strings(self, name: str) -> list[str] | None:
        """Return a list of strings, if it was given."""
        value = self._values.get(name)
        if value is None:
            return None
        if not (isinstance(value, list) and all(isinstance(one, str) for one in value)):
            raise RefusedError(f"Invalid request: {name} parameter is not a list of strings")
        return value

    def file(self, name: str) -> Upload:
        """Return a file that must be there."""
        value = self._values.get(name)
        if not isinstance(value, Upload):
            raise RefusedError(f"Invalid request: missing {name} parameter")
        if not value.name:
            raise RefusedError("Invalid request: empty file")
        return value


async def read_parameters(request: Request, limits: Limits) -> Parameters:
    """Read a request's parameters; what is in the body comes before what is in the query."""
    query: dict[str, Any] = dict(request.query_params) if request.scope["query_string"] else {}
    kind = next((value for name, value in request.scope["headers"] if name == b"content-type"), b"")
    kind = kind.partition(b";")[0].strip().lower()
    if kind == b"application/json" or kind.endswith(b"+json"):
        return Parameters({**query, **_parse(await request.body())})
    if kind in (b"application/x-www-form-urlencoded", b"multipart/form-data"):
        async with request.form(max_files=1, max_fields=_MOST_FIELDS, max_part_size=limits.body) as form:
            query |= {name: await _take(value) for name, value in form.items()}
    return Parameters({name: _normalise(value) if name == _TEXT else value for name, value in query.items()})


def _parse(body: bytes) -> dict[str, Any]:
    try:
        tree = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RefusedError(_INVALID_JSON) from error
    if not isinstance(tree, dict):
        raise RefusedError(_INVALID_JSON)
    return tree


def _normalise(text: Any) -> Any:
    """End lines as LibreTranslate does, except in JSON; whoever sends a form cannot choose how its lines end."""
    return "\n".join(text.splitlines()) or text if isinstance(text, str) else text


async def _take(value: str | UploadFile) -> str | Upload:
    """Take a field of a form: text or a file."""
    if isinstance(value, str):
        return value
    return Upload(value.filename or "", await value.read())
