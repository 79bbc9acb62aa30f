"""From trained weights to a model that can be used: exported, checked, its card written."""

import dataclasses
import datetime as dt
import json
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

import dragoman
from dragoman.checkpoint import ATTRIBUTION, save_model, write_bytes
from dragoman.config import Search
from dragoman.engine.base import Engine, Head, cross_heads, has_attention, needs_plain
from dragoman.engine.export import export
from dragoman.engine.fast import FastEngine
from dragoman.engine.plain import PlainEngine
from dragoman.engine.shortlist import SHORTLIST, SMALLEST_VOCABULARY
from dragoman.engine.translator import Translation, Translator
from dragoman.evaluation.alignment import BestHead, best_head, count_rows, lexical_links
from dragoman.evaluation.compare import estimate
from dragoman.evaluation.scores import bleu, chrf
from dragoman.jobs.change import Started, compare_texts
from dragoman.jobs.evaluate import Evaluation, TestSet, score_translations
from dragoman.jobs.journal import read_log
from dragoman.jobs.prepare import DEV, Prepared
from dragoman.jobs.report import Outcome, write_report
from dragoman.jobs.shortlist import add_shortlist

Weights = Mapping[str, NDArray[np.float32]]
Kind = Literal["float32", "int8"]

INT8_MAY_LOSE = 0.3
"""chrF on dev that int8 may lose against float32 and still be used."""
SHORTLIST_MAY_LOSE = 0.1
"""BLEU on dev that a shortlist may lose and still be used."""
_ALIGNED_PAIRS, _ALIGNED_ROWS = 100, 2_000_000
_LEXICON_PAIRS, _LEXICON_ROWS = 3000, 8_000_000
"""Pairs from which an alignment is learned, and at most so many rows of them: long sentences have many."""


class Candidate(NamedTuple):
    """One export, and what it makes of the dev set."""

    kind: Kind
    directory: Path
    translations: list[Translation]
    chrf: float
    seconds: float


def make_translator(prepared: Prepared, weights: Weights, directory: Path, search: Search) -> Translator:
    """Translate with weights as the finished model would; a directory is lent for exporting them."""
    if needs_plain(prepared.recipe.model):
        return _translator(prepared, PlainEngine(prepared.recipe.model, weights), search)
    export(prepared.recipe.model, weights, prepared.tokenizer.pieces, directory, quantization="float32")
    return _translator(prepared, FastEngine(directory), search)


def _translator(prepared: Prepared, engine: Engine, search: Search) -> Translator:
    return Translator(engine, prepared.tokenizer, search, max_pieces=prepared.recipe.pieces.max_length)


def finish(
    out: Path, prepared: Prepared, weights: Weights, training: Mapping[str, Any], started: Started | None = None
) -> dict[str, Any]:
    """Write the model directory from trained weights, with a report; return its card.

    `started` is what is known of the model that the training started from, if it did.
    """
    recipe = prepared.recipe
    dev = prepared.judged
    aligned = choose_head(prepared, weights) if has_attention(recipe.model) else None
    head = aligned.head if aligned else None
    shutil.rmtree(out / "fast", ignore_errors=True)
    if why := needs_plain(recipe.model):
        engine: Engine = PlainEngine(recipe.model, weights, alignment=head)
        translations = _as_finished(prepared, engine).translate([source for source, _ in dev])
        fast: dict[str, Any] = {"use": None, "why": why}
    else:
        translations, fast = _serve_fast(out, prepared, weights, dev, head)
        engine = FastEngine(out / "fast" / fast["use"])
    sources, references = (list(side) for side in zip(*dev, strict=True))
    test = TestSet(sources, references, [f"run/{DEV}, line {n}" for n in range(1, len(dev) + 1)])
    evaluation = score_translations(translations, test, language=recipe.target_language)
    card: dict[str, Any] = {
        "dragoman": dragoman.__version__,
        "created": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "from": recipe.source_language,
        "to": recipe.target_language,
        "corpus": prepared.corpus,
        "training": dict(training),
        "dev": _score(evaluation, test, recipe.target_language),
        "fast": fast,
        "alignment": aligned
        and {
            **aligned.head._asdict(),
            "rate": round(aligned.rate, 4),
            "against": "IBM model 1 on dev",
        },
    }
    if started is not None:
        card["start"] = _change(prepared, engine, started, evaluation)
    _report(out, prepared, card, evaluation, test)
    beside = [file for file in (out / "fast").rglob("*") if file.is_file()]
    if started is not None and (credit := started.credit()) is not None:
        write_bytes(out / ATTRIBUTION, credit)
        beside.append(out / ATTRIBUTION)
    save_model(out, recipe, prepared.tokenizer.model, weights, card, beside)
    return card


def _score(evaluation: Evaluation, test: TestSet, language: str) -> dict[str, Any]:
    """The scores of the held-out part, each with its signature and the bounds of its 95 % interval."""
    told: dict[str, Any] = {"pairs": len(test.sources), "sources": len(set(test.sources))}
    intervals = estimate(evaluation.translations, test.references, sources=test.sources, language=language)
    for (name, one), (_, _, bounds) in zip(evaluation.scores._asdict().items(), intervals, strict=True):
        told[name] = {
            "score": round(one.value, 2),
            "signature": one.signature,
            "low": round(bounds.low, 2),
            "high": round(bounds.high, 2),
        }
    return told


def _change(prepared: Prepared, engine: Engine, started: Started, evaluation: Evaluation) -> dict[str, Any]:
    """Which model the training started from, and both texts before and after."""
    language, before = prepared.recipe.target_language, started.before
    told: dict[str, Any] = {
        "name": started.name,
        "sha256": started.sha256,
        "new": compare_texts(before.new, evaluation.translations, prepared.judged, language),
    }
    if prepared.old:
        found = _translator(prepared, engine, prepared.recipe.search).translate([source for source, _ in prepared.old])
        told["old"] = compare_texts(before.old, [t.text for t in found], prepared.old, language)
        told["old"]["of_start"] = bool(prepared.corpus.get("old_of_start"))
    return told


def _report(out: Path, prepared: Prepared, card: dict[str, Any], evaluation: Evaluation, test: TestSet) -> None:
    run = out / "run"
    asked, read = (json.loads((run / f"{name}.json").read_text(encoding="utf-8")) for name in ("request", "corpus"))
    curves = run / "curves.svg"
    drawn = curves.read_text(encoding="utf-8") if curves.exists() else ""
    log = read_log(run / "log.jsonl")
    write_report(out, Outcome(card, prepared.recipe, asked, test, evaluation, read["examples"], log, drawn))


def _serve_fast(
    out: Path, prepared: Prepared, weights: Weights, dev: Sequence[tuple[str, str]], head: Head | None
) -> tuple[list[Translation], dict[str, Any]]:
    """Export the weights in both kinds; return the better's translations of dev, and what the card says of both."""
    tried = [_try(kind, out, prepared, weights, dev, head) for kind in ("float32", "int8")]
    float32, int8 = tried
    chosen = int8 if is_int8_good(float32.chrf, int8.chrf) else float32
    return chosen.translations, {
        "use": chosen.kind,
        "why": f"int8 may lose at most {INT8_MAY_LOSE} chrF on dev",
        **{c.kind: {"chrf": round(c.chrf, 3), "seconds": round(c.seconds, 2)} for c in tried},
        "shortlist": _shorten(chosen, tried, prepared, dev),
    }


def is_int8_good(float32: float, int8: float) -> bool:
    """Tell whether int8's chrF is near enough to float32's."""
    return float32 - int8 < INT8_MAY_LOSE


def _try(
    kind: Kind, out: Path, prepared: Prepared, weights: Weights, dev: Sequence[tuple[str, str]], head: Head | None
) -> Candidate:
    directory = out / "fast" / kind
    directory.parent.mkdir(exist_ok=True)
    export(prepared.recipe.model, weights, prepared.tokenizer.pieces, directory, quantization=kind, alignment=head)
    return _judge(kind, directory, prepared, dev)


def _judge(
    kind: Kind, directory: Path, prepared: Prepared, dev: Sequence[tuple[str, str]], *, shortlist: bool = False
) -> Candidate:
    translator = _as_finished(prepared, FastEngine(directory, shortlist=shortlist))
    begun = time.monotonic()
    found = translator.translate([source for source, _ in dev])
    seconds = time.monotonic() - begun
    return Candidate(kind, directory, found, chrf([t.text for t in found], [target for _, target in dev]), seconds)


def _as_finished(prepared: Prepared, engine: Engine) -> Translator:
    """Make a translator that searches as the finished model will."""
    return _translator(prepared, engine, search_as_finished(prepared))


def search_as_finished(prepared: Prepared) -> Search:
    """The finished model's search, no longer than any sensible translation of dev.

    A model that has learned little may never come to an end.
    """
    search = prepared.recipe.search
    longest = in_passing(prepared).max_length
    return dataclasses.replace(search, max_length=min(search.max_length, longest))


def _shorten(
    chosen: Candidate, tried: Sequence[Candidate], prepared: Prepared, dev: Sequence[tuple[str, str]]
) -> dict[str, Any] | None:
    """Add shortlists to the exports, if the vocabulary is large and the dev set's BLEU stays; say how it went."""
    if len(prepared.tokenizer) < SMALLEST_VOCABULARY:
        return None
    add_shortlist(prepared, [candidate.directory for candidate in tried])
    short = _judge(chosen.kind, chosen.directory, prepared, dev, shortlist=True)
    references, language = [target for _, target in dev], prepared.recipe.target_language
    texts = [[t.text for t in one.translations] for one in (chosen, short)]
    before, after = (bleu(some, references, language) for some in texts)
    kept = before - after <= SHORTLIST_MAY_LOSE
    if not kept:
        for candidate in tried:
            (candidate.directory / SHORTLIST).unlink()
    return {
        "kept": kept,
        "why": f"a shortlist may lose at most {SHORTLIST_MAY_LOSE} BLEU on dev",
        "lost": round(before - after, 3),
        "same": sum(a == b for a, b in zip(*texts, strict=True)),
        "seconds": round(short.seconds, 2),
    }


def choose_head(prepared: Prepared, weights: Weights) -> BestHead:
    """Find the cross-attention head that agrees best, on dev, with a word alignment learned from the text alone.

    The alignment is IBM model 1's, from a part of the training text and the dev pairs together, piece by piece.
    """
    texts = prepared.dev[:_ALIGNED_PAIRS]
    tokenizer = prepared.tokenizer
    engine = PlainEngine(prepared.recipe.model, weights)
    limit = min(prepared.recipe.pieces.max_length, engine.max_source - 1)
    encoded = [(tokenizer.read(source), tokenizer.encode(target)) for source, target in texts]
    dev = _within(_ALIGNED_ROWS, ((s, t) for s, t in encoded if 0 < len(s) <= limit and 0 < len(t) <= limit))
    if not dev:
        return BestHead(Head(cross_heads(prepared.recipe.model).layers - 1, 0), 1.0)
    numbers = np.random.default_rng(1).permutation(len(prepared.store))[:_LEXICON_PAIRS]
    drawn = map(prepared.store.pieces, numbers.tolist())
    some = _within(_LEXICON_ROWS, ((s.tolist(), t.tolist()) for s, t in drawn))
    links = lexical_links([*dev, *some])[: len(dev)]
    forced = engine.force([s for s, _ in dev], [t for _, t in dev])
    return best_head([list(f.attention) for f in forced], links)


def _within(rows: int, pairs: Iterable[tuple[list[int], list[int]]]) -> list[tuple[list[int], list[int]]]:
    """Take pairs until they have so many rows for a lexicon to be learned from."""
    taken = 0
    kept: list[tuple[list[int], list[int]]] = []
    for pair in pairs:
        kept.append(pair)
        taken += count_rows(*pair)
        if taken >= rows:
            break
    return kept


def in_passing(prepared: Prepared) -> Search:
    """The search for scoring while training: greedy, and no longer than twice the longest reference."""
    longest = max(len(ids) for ids in prepared.tokenizer.encode_all([t for _, t in prepared.dev]))
    return dataclasses.replace(prepared.recipe.search, beam=1, best=1, top_k=1, max_length=min(2 * longest + 10, 512))
