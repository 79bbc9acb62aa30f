"""Where translations go wrong: in long sentences, far from the word that decides, at the front or in the middle."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from itertools import pairwise
from typing import NamedTuple

from dragoman.evaluation.alignment import Link

LENGTHS = (1, 7, 10, 13, 17, 21, 31, 41, 61)
"""Where the bins of sentences begin, in words."""
DISTANCES = (1, 4, 8, 12)
"""Where the bins of distances begin, in words."""
_PLACES = ("first", "second", "third", "fourth", "last")
_SHORTEST = 10
_FEWEST = 20


class Bin(NamedTuple):
    """Some of the cases, and the figure for them."""

    name: str
    middle: float
    cases: int
    value: float


def in_bins(
    sizes: Sequence[int], edges: Sequence[int], judge: Callable[[list[int]], float], *, fewest: int = _FEWEST
) -> list[Bin]:
    """Judge cases by their size, each bin from one edge to the next; a bin of few cases is one with the next.

    So only one that holds all there are may have too few. `judge` is given the numbers of the cases in a bin.
    """
    lows = list(edges[:1])
    for edge in edges[1:]:
        inside, beyond = sum(lows[-1] <= size < edge for size in sizes), sum(size >= edge for size in sizes)
        if min(inside, beyond) >= fewest:
            lows.append(edge)
    found = []
    for low, high in zip(lows, (*lows[1:], None), strict=True):
        chosen = [n for n, size in enumerate(sizes) if size >= low and (high is None or size < high)]
        if chosen:
            name = f"{low}+" if high is None else f"{low}" if high == low + 1 else f"{low}–{high - 1}"
            middle = sum(sizes[n] for n in chosen) / len(chosen)
            found.append(Bin(name, round(middle, 1), len(chosen), judge(chosen)))
    return found


class Aligned(NamedTuple):
    """A sentence whose words' translations are known, and the translation that was found."""

    source: Sequence[str]
    target: Sequence[str]
    links: Collection[Link]
    found: Sequence[str]


def lost_by_place(sentences: Sequence[Aligned]) -> list[Bin]:
    """The share of source words whose translation is missing, by where in the sentence they stand.

    A word is lost if a target word that it is linked with is in the translation less often than in the reference,
    wherever it is there. Marks are no words: the last of all is nearly never lost. Short sentences have no middle to
    speak of, and are left out.
    """
    lost, seen = [0] * len(_PLACES), [0] * len(_PLACES)
    for source, target, links, found in sentences:
        if len(source) < _SHORTEST:
            continue
        missing = Counter(target) - Counter(found)
        for at, word in enumerate(source):
            wanted = [target[t] for s, t in links if s == at]
            if wanted and word[0].isalnum():
                place = at * len(_PLACES) // len(source)
                seen[place] += 1
                lost[place] += any(missing[one] for one in wanted)
    return [
        Bin(f"{_PLACES[place]} fifth", place + 1, seen[place], missed / seen[place])
        for place, missed in enumerate(lost)
        if seen[place]
    ]


def in_order(found: Sequence[Sequence[str]], wanted: Sequence[Sequence[str]]) -> float | None:
    """Of right words that follow each other, the share that the reference has in the same order.

    Whatever is wrong or missing between them is passed over, and so is a word that stands twice on either side: it says
    nothing of its place. None if no two right words are left.
    """
    right = pairs = 0
    for ours, theirs in zip(found, wanted, strict=True):
        once = {word for word, count in Counter(ours).items() if count == 1}
        places = {word: at for at, word in enumerate(theirs) if theirs.count(word) == 1}
        found_at = [places[word] for word in ours if word in once and word in places]
        right += sum(a < b for a, b in pairwise(found_at))
        pairs += max(0, len(found_at) - 1)
    return right / pairs if pairs else None
