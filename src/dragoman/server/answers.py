"""Answers as JSON; the one place where an error becomes one."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import Response

from dragoman.errors import DataError, DragomanError
from dragoman.server.limits import ClientGoneError, RefusedError

_WRITER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_TYPE = (b"content-type", b"application/json")
_LATER = 60  # seconds; when to come back, if nobody knows better
_CLIENT_GONE = 499  # nobody reads it; the log and the counters do


class Json(Response):
    """A JSON body; half characters, which JSON can smuggle in, do not get out."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """Write the body."""
        return _WRITER.encode(content).encode("utf-8", "replace")

    def init_headers(self, headers: Mapping[str, str] | None = None) -> None:
        """Write the headers; most answers have no others than these."""
        own = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in (headers or {}).items()]
        self.raw_headers = [(b"content-length", b"%d" % len(self.body)), _TYPE, *own]


TOLD = (DragomanError, HTTPException, ClientGoneError)
"""The errors that are an answer; any other is a failure of the service."""


def to_response(error: Exception) -> Json:
    """Turn an error into an answer; one that may be gone later says when to come back."""
    match error:
        case RefusedError():
            wait = {} if error.retry_after is None else {"Retry-After": str(error.retry_after)}
            return _tell(error.message, error.status, error.hint, wait)
        case DragomanError():
            return _tell(error.message, 400 if isinstance(error, DataError) else 503, error.hint)
        case HTTPException():
            return _tell(error.detail, error.status_code, headers=error.headers)
        case ClientGoneError():
            return _tell("Client closed the connection", _CLIENT_GONE)
        case _:
            return _tell(HTTPStatus.INTERNAL_SERVER_ERROR.phrase, 500)


def _tell(message: str, status: int, hint: str = "", headers: Mapping[str, str] | None = None) -> Json:
    body = {"error": message} | ({"hint": hint} if hint else {})
    later = {"Retry-After": str(_LATER)} if status == HTTPStatus.SERVICE_UNAVAILABLE else {}
    return Json(body, status, headers={**later, **(headers or {})})
