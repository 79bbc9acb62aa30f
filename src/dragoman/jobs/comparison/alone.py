"""A process that makes one run of a comparison, beside others.

Started by `dragoman.jobs.comparison.side_by_side` on cores of its own. It reads what is to be done, a line of JSON, and
writes what happens, a line of JSON for each event; the last line holds the figures, or why there are none.
"""

import json
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

from dragoman.errors import DragomanError
from dragoman.jobs.comparison.findings import Budget
from dragoman.jobs.comparison.work import Data, Work, settle, train_and_measure
from dragoman.jobs.events import Ready
from dragoman.jobs.train import stopping


def main() -> None:
    """Do what the first line asks for."""
    asked = json.loads(sys.stdin.readline())
    *texts, source, target = asked["data"]
    learn, dev, test = ([Path(path) for path in paths] for paths in texts)
    try:
        data, exam = settle(Path(asked["out"]), Data(learn, dev, test, source, target))
        work = Work(Path(asked["model"]), asked["settings"], data, Budget(*asked["budget"]))
        with stopping():  # who is asked to end while measuring has measured soon
            _say({"figures": train_and_measure(work, exam, _tell)})
    except DragomanError as error:
        _say({"error": [type(error).__name__, error.message, error.hint]})
    except Exception:  # noqa: BLE001 -- it is raised again where there is someone to read it
        _say({"broken": traceback.format_exc()})


def _tell(event: Any) -> None:
    """Pass an event on, but for what only this process can use: the corpus itself."""
    if not isinstance(event, Ready):
        _say({"event": type(event).__name__, "fields": list(event)})


def _say(told: dict[str, Any]) -> None:
    try:
        print(json.dumps(told), flush=True)
    except BrokenPipeError:  # nobody listens any more: save, and end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        signal.raise_signal(signal.SIGTERM)


if __name__ == "__main__":
    main()
