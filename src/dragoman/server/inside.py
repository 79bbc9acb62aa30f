"""What the page asks for beyond a trace: alternatives, one vector's way, the beam's tree, what-ifs, meanings."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, get_args

import numpy as np
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from dragoman.config import Search
from dragoman.engine.base import Head, Hypothesis, is_empty
from dragoman.engine.beam import best_of, grow
from dragoman.engine.links import links_from_attention
from dragoman.engine.plain import PlainEngine
from dragoman.engine.trace import Trace
from dragoman.engine.what_if import Change, Kind, Way, change_heads
from dragoman.jobs.flows import read_flows
from dragoman.jobs.meaning import compare
from dragoman.jobs.way import likeliest, stages
from dragoman.server import traces
from dragoman.server.answers import Json
from dragoman.server.guard import OWN_PAGE
from dragoman.server.limits import RefusedError
from dragoman.server.models import Served
from dragoman.server.parameters import Parameters
from dragoman.server.service import Service
from dragoman.server.work import Work
from dragoman.text.tokenizer import END, normalise

WIDEST = 10
MOST_PENALTY = 300  # hundredths
MOST_SENTENCES = 8
SIDES = ("source", "target")
_ALTERNATIVES = 6
_LOGITS = 8
_CHANGES = 64


class Followed(NamedTuple):
    """One sentence, its model, and what happened inside."""

    work: Work
    model: Served
    path: traces.Path
    trace: Trace


class Inside:
    """The routes under /v1/trace that only the page needs."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def routes(self) -> list[Route]:
        """Return the routes."""
        asked = (self.alternatives, self.way, self.flows, self.beam, self.what_if, self.meaning)
        names = ("alternatives", "way", "flows", "beam", "what-if", "meaning")
        return [
            Route(f"{OWN_PAGE}/{name}", answer, methods=["POST"]) for name, answer in zip(names, asked, strict=True)
        ]

    async def alternatives(self, request: Request) -> Response:
        """Return what else could have been written at one place, and how the translation would have gone on."""
        asked = await self._service.read(request)
        at = asked.number("at", 0)
        return await self._follow(request, asked, lambda seen: _alternatives(seen, at, self._search(seen.model)))

    async def way(self, request: Request) -> Response:
        """Return one position's vectors from the embedding to the choice."""
        asked = await self._service.read(request)
        side, at = asked.text("side"), asked.number("at", 0)
        if side not in SIDES:
            raise RefusedError("Invalid request: side parameter is not source or target")
        return await self._follow(request, asked, lambda seen: _way(seen, side, at))

    async def flows(self, request: Request) -> Response:
        """Return one head's weights beside other readings of where a translation came from."""
        asked = await self._service.read(request)
        layer, head = (asked.number(name, 1, least=1) for name in ("layer", "head"))
        return await self._follow(request, asked, lambda seen: _flows(seen, Head(layer - 1, head - 1)))

    async def beam(self, request: Request) -> Response:
        """Return the tree of hypotheses; the length penalty is told in hundredths."""
        asked = await self._service.read(request)
        model = self._service.model(asked)
        text = asked.text("q")
        beam = asked.number("beam", model.search.beam, least=1, most=WIDEST)
        usual = round(100 * model.search.length_penalty)
        penalty = asked.number("penalty", usual, most=MOST_PENALTY)
        search = replace(self._search(model), beam=beam, length_penalty=penalty / 100)
        return await self._run(request, [text], lambda work: _beam(work, model, self._source(text, model), search))

    async def what_if(self, request: Request) -> Response:
        """Return a translation beside the one that changed heads, or another sentence, would have led to."""
        asked = await self._service.read(request)
        instead = asked.text("instead", asked.text("q"))
        changes = [_change(written, way) for way in get_args(Way) for written in asked.strings(way) or []]
        if len(changes) > _CHANGES:
            raise RefusedError(f"Invalid request: {len(changes)} heads are changed, more than {_CHANGES}")

        def tell(seen: Followed) -> dict[str, Any]:
            return _what_if(seen, self._source(instead, seen.model), changes, self._search(seen.model))

        return await self._follow(request, asked, tell)

    async def meaning(self, request: Request) -> Response:
        """Return how alike one word is in several sentences, layer by layer."""
        asked = await self._service.read(request)
        model, sentences, word = self._service.model(asked), asked.texts("sentences"), asked.text("word")
        if len(sentences) > MOST_SENTENCES:
            raise RefusedError(f"Invalid request: there are {len(sentences)} sentences, more than {MOST_SENTENCES}")

        def tell(_work: Work) -> dict[str, Any]:
            for sentence in sentences:
                self._source(sentence, model)
            found = compare(model.plain, model.tokenizer, sentences, word)
            stages = [{name: _listed(part) for name, part in stage._asdict().items()} for stage in found]
            return {"model": model.name, "stages": stages}

        return await self._run(request, [*sentences, word], tell)

    def _search(self, model: Served) -> Search:
        """How the page searches: no further than can be traced."""
        return replace(model.search, best=1, max_length=min(model.search.max_length, self._service.limits.traced))

    def _source(self, text: str, model: Served) -> list[int]:
        traces.check_sentence(text, model)
        pieces = traces.given_path(text, (), model).source
        most = self._service.limits.traced
        if len(pieces) > most or is_empty(pieces):
            raise RefusedError(
                f"Invalid request: the sentence has {len(pieces)} pieces, but a trace has at most {most}"
            )
        return pieces

    async def _follow(self, request: Request, asked: Parameters, tell: Callable[[Followed], Any]) -> Response:
        """Follow a sentence along given pieces, and tell something about what was seen."""
        text, pieces, model = asked.text("q"), asked.strings("pieces"), self._service.model(asked)
        if pieces is None:
            raise RefusedError("Invalid request: missing pieces parameter")

        def follow(work: Work) -> Any:
            traces.check_sentence(text, model)
            path = traces.given_path(text, pieces, model)
            return tell(Followed(work, model, path, traces.trace(path, model, self._service.limits.traced)))

        return await self._run(request, [text], follow)

    async def _run(self, request: Request, texts: list[str], do: Callable[[Work], Any]) -> Response:
        """Do something in a thread, where it is made into JSON too: all numbers of a model's inside are many."""
        return await self._service.workers.look(request, self._service.check_size(texts), lambda work: Json(do(work)))


def _check_place(at: int, length: int) -> None:
    if at >= length:
        raise RefusedError(f"Invalid request: there is no place {at} among {length}")


def _alternatives(seen: Followed, at: int, search: Search) -> list[dict[str, Any]]:
    """Force each of the likeliest pieces in turn, and let the fast engine write the rest."""
    _check_place(at, len(seen.trace.predicted))
    row = seen.trace.decoder.log_probabilities[at]
    likely = [int(piece) for piece in np.argsort(row)[: -_ALTERNATIVES - 1 : -1]]
    begun = seen.path.target[:at]
    going = [piece for piece in likely if piece != END and at + 1 < search.max_length]
    found: dict[int, Hypothesis] = {}
    if going:
        engine = seen.work.translator(seen.model).engine
        prefixes = [[*begun, piece] for piece in going]
        best = engine.translate([seen.path.source] * len(going), search, prefixes=prefixes, attention=seen.model.aligns)
        found = {piece: several[0] for piece, several in zip(going, best, strict=True)}
    return [_alternative(seen, piece, float(row[piece]), found.get(piece), begun) for piece in likely]


def _alternative(
    seen: Followed, piece: int, chance: float, best: Hypothesis | None, begun: Sequence[int]
) -> dict[str, Any]:
    tokenizer = seen.model.tokenizer
    pieces = list(begun) if best is None else list(best.pieces)
    names = _names(seen.model, pieces)
    links: Sequence[tuple[int, int]] = ()
    if best is not None and best.attention is not None:
        links = sorted(links_from_attention(best.attention, _names(seen.model, seen.path.source), names))
    return {
        "piece": tokenizer.pieces[piece],
        "probability": _rounded(np.exp(chance)),
        "text": normalise(tokenizer.decode(pieces)),
        "pieces": names,
        "alignment": links,
    }


def _way(seen: Followed, side: str, at: int) -> dict[str, Any]:
    steps = seen.trace.encoder if side == "source" else seen.trace.decoder
    _check_place(at, len(steps.embedded))
    told: dict[str, Any] = {"stages": [{"name": name, "vector": _listed(part[at])} for name, part in stages(steps)]}
    if side == "target":
        choice = likeliest(seen.trace.decoder.logits[at], _LOGITS)
        told["logSum"] = _rounded(choice.log_sum)
        told["logits"] = [(seen.model.tokenizer.pieces[piece], _rounded(logit)) for piece, logit in choice.logits]
    return told


def _flows(seen: Followed, head: Head) -> dict[str, Any]:
    crossed = seen.trace.decoder.crossed
    if not (head.layer < len(crossed) and head.head < len(crossed[0])):
        raise RefusedError(f"Invalid request: there is no head {head.head + 1} in layer {head.layer + 1}")
    found = read_flows(seen.model.plain, seen.model.tokenizer, seen.trace, head)
    readings = [{"name": one.name, "weights": _listed(one.weights), "errorRate": one.error_rate} for one in found]
    return {"readings": readings}


def _beam(work: Work, model: Served, source: list[int], search: Search) -> dict[str, Any]:
    branches = grow(model.plain, source, search, check=work.check)
    best = best_of(branches)
    pieces = [branches[number].piece for number in best if branches[number].piece != END]
    return {
        "model": model.name,
        "text": normalise(model.tokenizer.decode(pieces)),
        "beam": search.beam,
        "penalty": round(100 * search.length_penalty),
        "best": best,
        "branches": [
            {
                **branch._asdict(),
                "piece": model.tokenizer.pieces[branch.piece],
                "total": _rounded(branch.total),
                "score": _rounded(branch.score),
            }
            for branch in branches
        ],
    }


def _change(written: str, way: Way) -> Change:
    """Read what the page writes for a head: its kind, layer and number, such as "cross 2 3"."""
    kind, _, numbers = written.rpartition(" ")
    kind, _, layer = kind.rpartition(" ")
    if kind not in get_args(Kind) or not (layer.isdecimal() and numbers.isdecimal() and len(layer + numbers) < 9):
        raise RefusedError(f"Invalid request: {way} parameter has no head that reads like 'cross 1 2'")
    named: Any = kind
    return Change(named, int(layer) - 1, int(numbers) - 1, way)


def _what_if(seen: Followed, source: list[int], changes: Sequence[Change], search: Search) -> dict[str, Any]:
    engine = change_heads(seen.model.plain, changes) if changes else seen.model.plain
    written = list(engine.translate([source], search, watch=lambda _step: seen.work.check())[0][0].pieces)
    return {
        "original": _told(seen.model, seen.model.plain, seen.path.source, seen.path.target),
        "changed": _told(seen.model, engine, source, written),
        "forced": _told(seen.model, engine, source, seen.path.target),
    }


def _told(model: Served, engine: PlainEngine, source: Sequence[int], target: Sequence[int]) -> dict[str, Any]:
    """What an engine thought of a translation, and what it would rather have written at each place."""
    trace = engine.trace(source, target)
    rows = trace.decoder.log_probabilities
    chosen = np.exp(rows[np.arange(len(rows)), list(trace.predicted)])
    return {
        "text": normalise(model.tokenizer.decode(target)),
        "pieces": _names(model, trace.predicted),
        "probabilities": _listed(chosen),
        "likeliest": _names(model, rows.argmax(axis=-1).tolist()),
    }


def _names(model: Served, pieces: Sequence[int]) -> list[str]:
    return [model.tokenizer.pieces[piece] for piece in pieces]


def _rounded(number: Any) -> float:
    return round(float(number), traces.DIGITS)


def _listed(part: Any) -> Any:
    return np.round(part.astype(np.float64), traces.DIGITS).tolist() if isinstance(part, np.ndarray) else part
