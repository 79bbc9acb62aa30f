"""Drop the pairs from which a model would learn something wrong, by named filters, and count what each drops.

The filters are asked in the order of `FILTERS`; the first that objects names the reason. One pass, in order,
with a chunk of pairs in memory. The leak filters come from the caller, one for each held-out set: a training
pair whose source stands in the test set makes the test worthless.
"""

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import compress
from typing import Any, Final, NamedTuple

import numpy as np

from dragoman.config import Cleaning
from dragoman.data.corpus import Pair
from dragoman.data.lines import CUT_CHARACTERS
from dragoman.data.numbers import numbers_disagree
from dragoman.data.seen import Keys, Seen
from dragoman.text.tokenizer import normalise

FILTERS: Final = {
    "too-long": "a side has more characters than allowed",
    "undecodable": "a side holds bytes that are not UTF-8, or U+FFFD where some were",
    "control-characters": "a side holds control characters other than tabs",
    "empty-side": "a side is empty or white space",
    "length-ratio": "one side is many times longer than the other",
    "copied": "the target is the source, untranslated",
    "numbers-disagree": "the two sides hold different numbers",
    "dev-leak": "the source stands in the dev set",
    "test-leak": "the source stands in the test set",
    "duplicate": "the same pair, to the letter, came before",
}
"""Name and meaning of every filter, in the order in which they are asked."""

HELD_OUT_SHARE: Final = 1 / 20
"""The most of a corpus that is held out as its dev set."""
EXAMPLES: Final = 5
"""How many dropped pairs of each filter a report keeps to show."""

_CHUNK: Final = 4096
_CHUNK_CHARACTERS: Final = 1 << 22
_RATIO_SLACK: Final = 10  # characters granted to the shorter side: "Go." may well be "Vaya usted con Dios."
_EXAMPLE_CHARACTERS: Final = 200
_ODD: Final = np.uint64(0x9E3779B97F4A7C15)  # tells a pair from the same texts exchanged
_CONTROL = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f]")
_UNDECODABLE = re.compile("[\ufffd\ud800-\udfff]")


class Dropped(NamedTuple):
    """A pair that was dropped, the place it stood, and the name of the filter that objected."""

    where: str
    reason: str
    pair: Pair


@dataclass
class Report:
    """What cleaning read, kept and dropped; counts of characters, words and lengths are of the kept pairs."""

    read: int = 0
    kept: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[Dropped]] = field(default_factory=dict)
    source_characters: int = 0
    target_characters: int = 0
    source_words: int = 0
    target_words: int = 0
    distinct_sources: int = 0
    distinct_targets: int = 0
    lengths: Counter[int] = field(default_factory=Counter)
    """Pairs by the words of their longer side: key n counts lengths from 2ⁿ⁻¹ to 2ⁿ - 1."""

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain values for JSON."""
        return {
            "read": self.read,
            "kept": self.kept,
            "dropped": {name: self.dropped[name] for name in {**FILTERS, **self.dropped} if self.dropped[name]},
            "source": {
                "characters": self.source_characters,
                "words": self.source_words,
                "distinct": self.distinct_sources,
            },
            "target": {
                "characters": self.target_characters,
                "words": self.target_words,
                "distinct": self.distinct_targets,
            },
            "lengths": {_bucket(bits): self.lengths[bits] for bits in sorted(self.lengths)},
            "examples": {
                reason: [{"where": where, "source": pair.source, "target": pair.target} for where, _, pair in examples]
                for reason, examples in self.examples.items()
            },
        }

    def count_dropped(self, dropped: Dropped) -> None:
        """Count a dropped pair under its filter, and keep the first few of each, shortened, to show."""
        self.dropped[dropped.reason] += 1
        examples = self.examples.setdefault(dropped.reason, [])
        if len(examples) < EXAMPLES:
            source, target, where = dropped.pair
            short = Pair(source[:_EXAMPLE_CHARACTERS], target[:_EXAMPLE_CHARACTERS], where)
            examples.append(dropped._replace(pair=short))

    def count_kept(self, pair: Pair) -> None:
        """Count a kept pair's characters and words."""
        source_words, target_words = (
            pair.source.count(" ") + 1,
            pair.target.count(" ") + 1,
        )  # quicker than split
        self.kept += 1
        self.source_characters += len(pair.source)
        self.target_characters += len(pair.target)
        self.source_words += source_words
        self.target_words += target_words
        self.lengths[max(source_words, target_words).bit_length()] += 1


def _bucket(bits: int) -> str:
    first, last = 1 << bits >> 1, (1 << bits) - 1
    return str(first) if first == last else f"{first}-{last}"


def clean(
    pairs: Iterable[Pair],
    settings: Cleaning,
    report: Report,
    *,
    on_dropped: Callable[[Dropped], None] | None = None,
    kept_out: Mapping[str, Container[int]] | None = None,
) -> Iterator[Pair]:
    """Yield the pairs that no filter objects to, in order, and count all of them in `report`.

    `kept_out` maps "dev" and "test" to the source keys (`source_keys`) that must not stand in training text.
    """
    seen = _Known(Seen(), Seen(), Seen())
    known_sources, known_targets = report.distinct_sources, report.distinct_targets
    leaks = {f"{name}-leak": keys for name, keys in (kept_out or {}).items() if keys}
    for chunk in _chunks(pairs):
        reasons = [_objection(source, target, settings) for source, target, _ in chunk]
        _find_leaks(chunk, reasons, leaks)
        _find_duplicates(chunk, reasons, seen, drop=settings.deduplicate)
        report.read += len(chunk)
        kept = []
        for pair, reason in zip(chunk, reasons, strict=True):
            if reason is None:
                report.count_kept(pair)
                kept.append(pair)
                continue
            dropped = Dropped(pair.where, reason, pair)
            report.count_dropped(dropped)
            if on_dropped is not None:
                on_dropped(dropped)
        report.distinct_sources, report.distinct_targets = (
            known_sources + len(seen.sources),
            known_targets + len(seen.targets),
        )
        yield from kept


def _chunks(pairs: Iterable[Pair]) -> Iterator[list[Pair]]:
    """Gather pairs, few if they are long: what is held in memory has a bound whatever the lines are."""
    chunk: list[Pair] = []
    characters = 0
    for pair in pairs:
        chunk.append(pair)
        characters += len(pair.source) + len(pair.target)
        if len(chunk) >= _CHUNK or characters >= _CHUNK_CHARACTERS:
            yield chunk
            chunk, characters = [], 0
    if chunk:
        yield chunk


def _objection(source: str, target: str, settings: Cleaning) -> str | None:
    """Ask the filters that need nothing but the pair itself."""
    longer, shorter = (len(source), len(target)) if len(source) > len(target) else (len(target), len(source))
    if longer > settings.max_characters or longer >= CUT_CHARACTERS:
        return "too-long"
    both = source + target
    if (not both.isascii() and "\ufffd" in both) or not both.isprintable():
        if _UNDECODABLE.search(both):
            return "undecodable"
        if _CONTROL.search(both):
            return "control-characters"
    if not shorter or source.isspace() or target.isspace():
        return "empty-side"
    if longer > settings.max_ratio * (shorter + _RATIO_SLACK):
        return "length-ratio"
    if not settings.keep_copies and is_copy(source, target):
        return "copied"
    if settings.check_numbers and numbers_disagree(source, target):
        return "numbers-disagree"
    return None


def is_copy(source: str, target: str) -> bool:
    """Tell whether the target is the source, whatever its case; what has no letters needs no translating."""
    left, right = source.strip(), target.strip()
    if len(left) != len(right) or left.casefold() != right.casefold():
        return False
    return any(map(str.isalpha, left))


def _find_leaks(chunk: list[Pair], reasons: list[str | None], leaks: Mapping[str, Container[int]]) -> None:
    if not leaks:
        return
    for place, pair in enumerate(chunk):
        if reasons[place] is None:
            key = source_key(pair.source)
            reasons[place] = next((name for name, keys in leaks.items() if key in keys), None)


class _Known(NamedTuple):
    """The pairs, sources and targets kept so far."""

    pairs: Seen
    sources: Seen
    targets: Seen


def _find_duplicates(chunk: list[Pair], reasons: list[str | None], known: _Known, *, drop: bool) -> None:
    """Mark the pairs that came before, and remember the others."""
    places = [place for place, reason in enumerate(reasons) if reason is None]
    sources = _keys(chunk[place].source for place in places)
    targets = _keys(chunk[place].target for place in places)
    is_new = known.pairs.add(sources * _ODD + targets)
    known.sources.add(sources)
    known.targets.add(targets)
    if drop:
        for place in compress(places, ~is_new):
            reasons[place] = "duplicate"


def _keys(texts: Iterable[str]) -> Keys:
    """Hash texts to 64 bits: the chance that any two of three million share a key is one in four million."""
    digests = [blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest() for text in texts]
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64, copy=False)


def source_key(text: str) -> int:
    """Hash a source to 64 bits, the same whatever its case and white space."""
    folded = normalise(text).casefold()
    return int.from_bytes(blake2b(folded.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def source_keys(pairs: Iterable[Pair]) -> frozenset[int]:
    """Return the keys of a held-out set's sources, for `clean`'s `kept_out`."""
    return frozenset(source_key(pair.source) for pair in pairs)


def held_out_draw(source: str, seed: int) -> int:
    """Draw a number of 32 bits for a source: the same on every machine and in every order.

    The pairs whose draw is less than a share of 2³² are held out. All pairs of one source go the same way, so that
    cutting a dev set out of a corpus this way leaks nothing.
    """
    key = source_key(source).to_bytes(8, "little")
    salt = (seed % 2**64).to_bytes(8, "little")
    return int.from_bytes(blake2b(key, digest_size=4, salt=salt).digest(), "little")
