"""How fast translating is: against CTranslate2 called directly in every sensible way, and against other toolkits.

All translate the same sentences with the same weights, in one run. MODEL names a model to use; without it one is
trained for MINUTES (5 unless given). SENTENCES is how many are translated (10,000); `PEERS=0` leaves the other toolkits
out (`benchmarks.translation_peers`).
"""

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import ctranslate2

from benchmarks.corpus import Text, read_text
from benchmarks.figure import Figure, dragoman
from benchmarks.figure import run as run_command
from benchmarks.translation_peers import against_peers
from benchmarks.ways import BEAM, Bench, Way, choose_ways
from dragoman.engine.translator import Translation
from dragoman.evaluation.scores import bleu
from dragoman.machine import cores
from dragoman.text.tokenizer import normalise

_WARM = "A man is riding a horse."
_ROUNDS = 5


def run() -> Iterator[Figure]:
    """Measure one after the other."""
    text = read_text()
    with tempfile.TemporaryDirectory() as room:
        model = Path(os.environ["MODEL"]) if "MODEL" in os.environ else _train(text, Path(room))
        bench = Bench(model, text, int(os.environ.get("SENTENCES", "10000")))
        sizes = bench.directory.recipe.model
        yield Figure(
            f"{len(bench.sentences):,} sentences of {text.name}, beam {BEAM}, {sizes.encoder_layers}+"
            f"{sizes.decoder_layers} layers of width {sizes.width}, {len(bench.tokenizer):,} pieces, BLEU "
            f"{bench.directory.card['dev']['bleu']['score']:.1f} on dev"
        )
        for part in (_against_direct(bench), _alone(bench), _warm(bench), against_peers(bench, model, Path(room))):
            yield from map(text.judged, part)


def _train(text: Text, room: Path) -> Path:
    """Train a model of the default shape."""
    source, target = text.languages
    words = ("--from", source, "--to", target, "--minutes", os.environ.get("MINUTES", "5"), "--out", room / "model")
    run_command(dragoman("train", *text.files(room), *words))
    return room / "model"


def _against_direct(bench: Bench) -> Iterator[Figure]:
    """Ours, text to text, against CTranslate2 that gets pieces: as it is documented, and at its best."""
    documented = [Way(kind, 1, cores(), 32, "examples") for kind in bench.directory.kinds()]
    ways = choose_ways(bench)
    slowly = bench.speeds(list(map(bench.direct, documented)), rounds=1)
    ours = [bench.text_to_text(shortlist=shortlist) for shortlist in bench.shortlists]
    speeds = bench.speeds([*map(bench.direct, ways), *ours], rounds=_ROUNDS)
    direct, (full, *short) = speeds[: len(ways)], speeds[len(ways) :]
    for how, some, found in (("as documented", documented, slowly), ("directly", ways, direct)):
        for way, speed in zip(some, found, strict=True):
            yield Figure(f"CTranslate2 {how} ({way}): {speed:.0f} sentences/s")
    slow, fast = max(slowly), max(direct)
    yield Figure(
        f"dragoman ({bench.kind}), text to text: {full:.0f} sentences/s, {full / slow:.1f} × the documented way (4 "
        f"wanted), {full / fast:.2f} × the best (0.97 wanted)",
        full >= 4 * slow and full >= 0.97 * fast,
    )
    yield _with_shortlist(bench, short[0], fast) if short else Figure("the model got no shortlist", met=False)


def _with_shortlist(bench: Bench, speed: float, best: float) -> Figure:
    """What a shortlist gains and loses."""
    sources, references = zip(*bench.text.dev, strict=True)
    ways = [bench.ours(shortlist=shortlist) for shortlist in (False, True)]
    found = [[t.text for t in way.translate(sources)] for way in ways]
    before, after = (bleu(some, references, bench.text.languages[1]) for some in found)
    same = sum(a == b for a, b in zip(*found, strict=True))
    return Figure(
        f"dragoman --shortlist: {speed:.0f} sentences/s, {speed / best:.2f} × the best (1.3 wanted); BLEU on dev "
        f"{after:.2f} against {before:.2f} (0.1 may be lost), {same:,} of {len(sources):,} the same",
        speed >= 1.3 * best and before - after <= 0.1,
    )


def _alone(bench: Bench) -> Iterator[Figure]:
    """Count the sentences that are translated otherwise alone than with others, or than by a bare engine call."""
    for shortlist in bench.shortlists:
        translator = bench.ours(shortlist=shortlist)
        together = translator.translate(bench.sentences)
        alone = [translator.translate([sentence])[0] for sentence in bench.sentences]
        other = [(a, b) for a, b in zip(together, alone, strict=True) if a.text != b.text]
        told = f"{len(other):,} of {len(alone):,}"
        if shortlist:
            why = "a batch may use the pieces that are likely for any sentence of it"
            yield Figure(f"translated otherwise alone than together, with a shortlist: {told} ({why})")
            continue
        apart = max((abs(a.score - b.score) for a, b in other), default=0.0)
        why = f" (scores at most {apart:.4f} apart: sums are rounded in another order)" if other else ""
        yield Figure(f"translated otherwise alone than together, all pieces: {told}{why}", not other)
        yield _against_bare(bench, alone, translator.limit)


def _against_bare(bench: Bench, alone: Sequence[Translation], limit: int) -> Figure:
    """Count the sentences that the engine, called with one at a time, translates otherwise than we do.

    Unless it is told otherwise, CTranslate2 forbids an empty translation and makes up for the missing probability, by
    which the first piece counts for more than the network says; we leave the probabilities as they are.
    """
    number = {piece: n for n, piece in enumerate(bench.tokenizer.pieces)}
    engine, several, other, unexplained = _bare(bench), 0, 0, []
    for ours, ids, pieces in zip(alone, bench.encoded, bench.pieces, strict=True):
        if len(ours.sentences) != 1 or len(ids) > limit:
            several += 1
            continue
        usual, exact = (
            normalise(bench.tokenizer.decode([number[piece] for piece in engine(pieces, least).hypotheses[0]]))
            for least in (1, 0)
        )
        other += ours.text.strip() != usual
        if ours.text.strip() != exact:
            unexplained.append(f"“{ours.text}” for “{exact}”")
    example = f", such as {unexplained[0]}" if unexplained else ""
    return Figure(
        f"translated otherwise than by a bare call with one sentence: {len(unexplained):,} of "
        f"{len(alone) - several:,}{example}; {other:,} if CTranslate2 may make the first piece count for more, as it "
        f"does by default; another {several:,} are not one sentence, or a long one, and were translated in parts",
        not unexplained,
    )


def _bare(bench: Bench) -> Callable[[list[str], int], Any]:
    """CTranslate2, one sentence at a time, with so many pieces at least."""
    engine = ctranslate2.Translator(str(bench.directory.exported(bench.kind)), inter_threads=cores(), intra_threads=1)
    return lambda pieces, least: engine.translate_batch([pieces], min_decoding_length=least, **bench.options)[0]


def _warm(bench: Bench) -> Iterator[Figure]:
    """One short sentence after another, ours and the bare engine in turn."""
    ours, bare = bench.ours(), _bare(bench)
    pieces = [*(bench.tokenizer.pieces[i] for i in bench.tokenizer.encode(_WARM)), "</s>"]
    ways: Sequence[Callable[[], Any]] = (lambda: ours.translate([_WARM]), lambda: bare(pieces, 1))
    times: list[list[float]] = [[], []]
    for _ in range(200):
        for way, spent in zip(ways, times, strict=True):
            begun = time.perf_counter()
            way()
            spent.append(time.perf_counter() - begun)
    one, other = (statistics.median(spent[20:]) for spent in times)
    yield Figure(
        f"one short sentence, warm: {1e3 * one:.2f} ms, {one / other:.2f} × the bare engine call (1.15 wanted at most)",
        one <= 1.15 * other,
    )
