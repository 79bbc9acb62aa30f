"""Make `web/stored.json`, which the page shows before its model has answered, by asking a service with the demo model.

    dragoman serve -m demo-model
    python -m dragoman.server.stored http://localhost:5000 > src/dragoman/server/web/stored.json

Every answer stands under the words of its question, as `web/service.js` writes them.
"""

import json
import sys
from typing import Any
from urllib.request import Request, urlopen

from dragoman.data.grammar import lectures

_WORD = "orilla"  # the one that is explained: it could have been another kind of bank


def store(service: str) -> dict[str, Any]:
    """Ask about the lectures' first sentence, as the page does."""
    answers: dict[str, Any] = {}

    def ask(path: str, body: dict[str, Any] | None = None) -> Any:
        words = "" if body is None else json.dumps(body, ensure_ascii=False, separators=(",", ":"))
        request = Request(f"{service}/{path}", words.encode() or None, {"Content-Type": "application/json"})  # noqa: S310 -- of one's own
        with urlopen(request) as answer:  # noqa: S310
            return answers.setdefault(f"{path} {words}".strip(), json.load(answer))

    (model, *_) = ask("v1/models")
    pair = {"source": model["source"], "target": model["target"]}
    sentence = {"q": lectures()[0].first.source, **pair}
    (translation,) = ask("v1/translate", {**sentence, "alignments": True})["translations"]
    pieces = translation["sentences"][0]["pieces"]
    step = next((number for number, piece in enumerate(pieces) if _WORD in piece), 0)
    ask("v1/trace", {**sentence, "pieces": pieces})
    ask("v1/trace/alternatives", {**sentence, "pieces": pieces, "at": step})
    return {"state": {**sentence, "step": step}, "answers": answers}


if __name__ == "__main__":
    print(json.dumps(store(sys.argv[1].rstrip("/")), ensure_ascii=False, separators=(",", ":")))
