"""`dragoman serve`: translation over HTTP."""

import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer

from dragoman.cli import show
from dragoman.cli.model import tell_engine
from dragoman.cli.options import Quiet, Threads
from dragoman.errors import DataError
from dragoman.server.limits import Limits

if TYPE_CHECKING:
    from dragoman.server.models import Models

_ANY = ("0.0.0.0", "::")  # noqa: S104 -- compared with, not listened on

ModelPaths = Annotated[
    list[Path] | None,
    typer.Option(
        "--model",
        "-m",
        metavar="DIR",
        help="A model to serve, or one in the box by its direction, such as es-en; may be given several times.",
        show_default="all in the box",
    ),
]
Host = Annotated[str, typer.Option("--host", metavar="ADDRESS", help="The address to listen on.")]
Port = Annotated[int, typer.Option("--port", metavar="N", min=0, max=65535, help="The port; 0 is any that is free.")]
Names = Annotated[
    list[str] | None,
    typer.Option("--name", metavar="HOST", help="A host name by which clients come.", show_default=False),
]
Url = Annotated[
    str | None,
    typer.Option("--url", metavar="URL", help="The address that clients see, behind a proxy.", show_default=False),
]
Keys = Annotated[
    Path | None,
    typer.Option("--keys", metavar="FILE", help="Let in only who has one of its lines as key.", show_default=False),
]
Characters = Annotated[
    int | None,
    typer.Option(
        "--characters", metavar="N", min=1, help="Most characters of a request.", show_default=str(Limits.characters)
    ),
]
Seconds = Annotated[
    float | None,
    typer.Option(
        "--seconds", metavar="X", min=0.1, help="Longest time for a request.", show_default=f"{Limits.seconds:g}"
    ),
]
PerMinute = Annotated[
    int | None,
    typer.Option("--per-minute", metavar="N", min=1, help="Most requests of a client.", show_default="any number"),
]
NoFiles = Annotated[bool, typer.Option("--no-files", help="Translate no files.")]
Metrics = Annotated[bool, typer.Option("--metrics", help="Show counters for Prometheus at /metrics.")]
Suggestions = Annotated[
    Path | None,
    typer.Option("--suggestions", metavar="FILE", help="Write clients' suggestions there.", show_default=False),
]


def serve(  # noqa: PLR0913 -- an option each
    *,
    model: ModelPaths = None,
    host: Host = "127.0.0.1",
    port: Port = 5000,
    name: Names = None,
    url: Url = None,
    keys: Keys = None,
    characters: Characters = None,
    seconds: Seconds = None,
    per_minute: PerMinute = None,
    no_files: NoFiles = False,
    metrics: Metrics = False,
    suggestions: Suggestions = None,
    threads: Threads = None,
    quiet: Quiet = False,
) -> None:
    """Translate over HTTP, for clients of the LibreTranslate API; /docs tells more.

    Ctrl-C stops it, once it has finished what it has accepted.

    \b
    Examples:
      dragoman serve                                           the models in the box
      dragoman serve -m my-model -m es-en --port 8080          one's own, and one in the box
      dragoman serve -m my-model --host 0.0.0.0 --name translate.example.org --keys keys.txt
    """  # noqa: D301 -- \b keeps the examples' lines apart
    from dragoman.checkpoint import boxed, find_model
    from dragoman.server.app import create_app
    from dragoman.server.metrics import Metrics as Counters
    from dragoman.server.models import Models, Served
    from dragoman.server.run import bind, run
    from dragoman.server.service import Options

    wishes: dict[str, Any] = {"characters": characters, "seconds": seconds, "per_minute": per_minute}
    limits = dataclasses.replace(Limits(), **{what: wish for what, wish in wishes.items() if wish is not None})
    names = (*(name or ()), host, *_names_of(url))
    options = Options(_read_keys(keys), names, url or "", not no_files, metrics, suggestions)
    counters = Counters()
    paths = [find_model(one) for one in model or boxed() or [None]]
    with bind(host, port) as sock:
        models = Models([Served(path, threads=threads, told=counters.tell_batch) for path in paths])
        app = create_app(models, counters, limits, options)
        address = sock.getsockname()
        run(app, sock, limits, lambda: None if quiet else _tell(models, limits, address, is_open=not options.keys))


def _names_of(url: str | None) -> list[str]:
    """Return the host name of the address that clients see."""
    if url is None:
        return []
    try:
        parts = urlsplit(url)
        found = parts.hostname if parts.scheme in ("http", "https") and not (parts.query or parts.fragment) else None
    except ValueError:  # of brackets that do not match
        found = None
    if not found:
        raise DataError(f"{url}: is not an address of a service", hint="write it like https://translate.example.org")
    return [found]


def _read_keys(path: Path | None) -> frozenset[str]:
    if path is None:
        return frozenset()
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: is not UTF-8 ({error.reason})", hint="save it as UTF-8") from error
    keys = frozenset(line.strip() for line in text.splitlines() if line.strip())
    if not keys:
        raise DataError(f"{path}: holds no key", hint="write one key on each line")
    return keys


def _tell(models: "Models", limits: Limits, address: tuple[str, int], *, is_open: bool) -> None:
    host, port = address[:2]
    shown = f"[{host}]" if ":" in host else host
    show.heading(f"http://{shown}:{port}")
    show.facts((f"{one.source} → {one.target}", str(one.directory.path)) for one in models)
    sys.stdout.flush()
    for one in models:
        tell_engine(one.recipe, "fast")
    if is_open and host in _ANY:
        show.note(
            f"anybody who reaches this machine may translate {limits.characters:,} characters at a time; "
            "--keys lets in only those with a key"
        )
