"""Translation against other toolkits: the same weights, the same sentences, and translations that must be alike.

A peer gets the sentences as they suit it: sorted by length, all of them, and cut into batches; it is measured on some
of the batches, evenly spread. Ours is measured just before it and just after it.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.figure import Figure
from benchmarks.peers import translate_speed, wanted_peers
from benchmarks.ways import BEAM, LONGEST, Bench
from dragoman.evaluation.scores import bleu

_PEERS = (
    ("transformers", "one sentence at a time, as its pipelines do", 1, 64, 15.0),
    ("transformers", "batches of 32, sorted by length for it", 32, 320, 15.0),
    ("joeynmt", "batches of 32, sorted by length for it", 32, 192, 30.0),
)
"""Other toolkits: how they are called, in what batches, how many sentences; how many times as fast ours should be."""
_SHORTLY = 4000  # sentences
_ALIKE = 60.0
"""The BLEU against ours below which a peer does not do the same work: its search may differ, its weights must not."""


def against_peers(bench: Bench, model: Path, room: Path) -> Iterator[Figure]:
    """Ours as it comes, against other toolkits with the same weights."""
    peers, source, ours = wanted_peers(_PEERS), room / "sources.json", bench.text_to_text()
    before = bench.speed(ours, _SHORTLY) if peers else 0.0
    for peer, way, batch, limit, wanted in peers:
        chosen = spread(bench.encoded, batch, limit)
        source.write_text(json.dumps([bench.encoded[n] for n in chosen]), encoding="utf-8")
        spec = {"model": model, "source": source, "beam": BEAM, "max_length": LONGEST, "batch": batch}
        found = translate_speed(peer, spec)
        after = bench.speed(ours, _SHORTLY)
        if "failed" in found:
            yield Figure(f"{peer}, {way}: not measured ({found['failed'][:200]})", met=False)
        else:
            yield _against_peer(bench, f"{found['version']}, {way}", found, chosen, (before + after) / 2, wanted)
        before = after


def _against_peer(
    bench: Bench, name: str, found: dict[str, Any], chosen: list[int], ours: float, wanted: float
) -> Figure:
    theirs = [bench.tokenizer.decode(ids) for ids in found["outputs"]]
    own = [t.text.strip() for t in bench.ours().translate([bench.sentences[n] for n in chosen])]
    same, alike = sum(a == b for a, b in zip(theirs, own, strict=True)), bleu(theirs, own, bench.text.languages[1])
    told = f"{same} of {len(own)} translations are ours, BLEU {alike:.0f} against ours"
    if alike < _ALIKE:
        return Figure(f"{name}: not measured, since it does not translate alike ({told})", met=False)
    ratio = ours / found["sentences_per_second"]
    return Figure(
        f"{name}: {found['sentences_per_second']:.1f} sentences/s ({told}); dragoman {ours:.0f} before and after, "
        f"{ratio:.1f} × ({wanted:g} wanted)",
        ratio >= wanted,
    )


def spread(encoded: list[list[int]], size: int, limit: int) -> list[int]:
    """Sort all sentences by length, cut them into whole batches, and take some of these, evenly spread."""
    order = sorted(range(len(encoded)), key=lambda n: len(encoded[n]))
    batches = [order[at : at + size] for at in range(0, len(order) - size + 1, size)] or [order]
    count = min(len(batches), limit // size)
    return [n for number in range(count) for n in batches[(2 * number + 1) * len(batches) // (2 * count)]]
