"""What a training changed that started from a model: before and after, on the new text and on the old domain."""

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from dragoman.checkpoint import write_json
from dragoman.config import Recipe, Search
from dragoman.engine.load import load_translator
from dragoman.evaluation.compare import compare

METRICS: Final = {"bleu": "BLEU", "chrf": "chrF", "ter": "TER"}
"""The scores of a card, and what they are called."""

FEW: Final = 30
"""Sources, of which a bootstrap sees less than there is to see: intervals of fewer are too narrow to prove anything."""

_VERDICTS = {"unsure": "may be luck"}
_TEXTS = {"new": "new text", "old": "old domain"}


class Before(NamedTuple):
    """What the model made of the two texts before it learned anything more."""

    new: list[str]
    old: list[str]
    seconds: float
    """How long the old domain's text took."""


def look_before(run: Path, new: Sequence[str], old: Sequence[str], search: Search) -> Before:
    """Translate what will be judged with the model as it was, once for the whole training.

    The search is for the new text; the old domain's is translated as the model does by itself.
    """
    file = run / "before.json"
    try:
        known = Before(**json.loads(file.read_text(encoding="utf-8")))
        if (len(known.new), len(known.old)) == (len(new), len(old)):  # an older version judged by fewer
            return known
    except (OSError, ValueError, TypeError):  # not there, or not whole: it can be made again
        pass
    translator = load_translator(run / "start")
    found = [t.text for t in translator.translate(new, search=search)]
    begun = time.monotonic()
    before = Before(found, [t.text for t in translator.translate(old)], time.monotonic() - begun)
    write_json(file, before._asdict())
    return before


class Started(NamedTuple):
    """The model that a training started from, for its card."""

    name: str
    sha256: str
    before: Before
    attribution: bytes | None
    """From whose text it had learned, if it says so."""

    def credit(self) -> bytes | None:
        """What the model that comes of it owes: the text that stands in the first one's weights is in its own too."""
        if self.attribution is None:
            return None
        told = (
            f"This model began from {self.name}, and went on learning from other text, of which nothing is said here."
        )
        return f"{told} Of {self.name}:\n\n".encode() + self.attribution


def compare_texts(
    before: Sequence[str], after: Sequence[str], pairs: Sequence[tuple[str, str]], language: str
) -> dict[str, Any]:
    """Compare the translations of some pairs' sources before and after, as the card tells it."""
    sources, references = zip(*pairs, strict=True)
    tree: dict[str, Any] = {"pairs": len(references), "sources": len(set(sources))}
    for name, one in zip(METRICS, compare(before, after, references, language=language, sources=sources), strict=True):
        change = one.difference
        difference, low, high = (round(value, 2) for value in (change.score, change.low, change.high))
        tree[name] = {
            "before": {"score": round(one.first.score, 2), "signature": one.signature},
            "after": {"score": round(one.second.score, 2), "signature": one.signature},
            "difference": [difference, low, high],
            "p": round(one.p_value, 4),
            "verdict": "unsure" if low <= 0 <= high else one.verdict,
        }
    return tree


FORGOTTEN: Final = "No test set of its old domain was given (--old-test), so what it may have forgotten is not known."
CHANGE_COLUMNS = ("", "before", "after", "difference", "verdict", "95 % of draws", "pairs")


def kept_start(card: Mapping[str, Any]) -> str:
    """Say that a training left the model as it was, if it did; empty if it did not."""
    if "start" not in card or card["training"]["best_update"]:
        return ""
    name = card["start"]["name"]
    return f"Nothing that was learned scored better on dev: the model is the one that it began from, {name}."


def change_rows(start: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The table of before and after, from the card of a model that was started from another."""
    return [
        (f"{told}, {name}", *_change(start[text], metric))
        for text, told in _TEXTS.items()
        if text in start
        for metric, name in METRICS.items()
    ]


def change_caveats(start: Mapping[str, Any]) -> list[str]:
    """What the table of before and after cannot tell."""
    few = [
        f"{_many(start[text])} of {told} are too few: whatever they say of before and after proves nothing."
        for text, told in _TEXTS.items()
        if text in start and are_few(start[text])
    ]
    chosen = (
        "Some pairs of new text also chose which weights are kept, which flatters these a little; dragoman evaluate "
        f"with a test set of its own does not, --against the model that it began from ({start['name']})."
    )
    if "old" not in start:
        return [*few, chosen, FORGOTTEN]
    own = f"The old domain is what {start['name']} held out itself, and chose its weights by; --old-test takes another."
    return [*few, chosen, *([own] if start["old"].get("of_start") else [])]


def change_in_words(start: Mapping[str, Any]) -> str:
    """What the training changed, in one line."""
    told = [
        f"{name} from {start[text]['bleu']['before']['score']:.1f} to {start[text]['bleu']['after']['score']:.1f} BLEU "
        f"on {start[text]['pairs']:,} pairs"
        for text, name in _TEXTS.items()
        if text in start
    ]
    return "; ".join(told)


def unseen(card: Mapping[str, Any]) -> str:
    """Say who has not seen the pairs that a model was judged by."""
    if "start" not in card:
        return "that it never saw"
    return f"that this training did not see, though {card['start']['name']}, from which it began, may have"


def chose_weights(pairs: int, recipe: Recipe) -> str:
    """Say which of the pairs that a model was judged by were looked at while it learned."""
    scored = min(pairs, recipe.training.score_pairs)
    return f"{'they' if scored == pairs else f'the first {scored:,} of them'} also chose its weights"


def are_few(judged: Mapping[str, Any]) -> bool:
    """Tell whether too few sources were judged to prove anything; cards of before count pairs alone."""
    return bool(judged.get("sources", judged["pairs"]) < FEW)


def _many(judged: Mapping[str, Any]) -> str:
    sources = judged.get("sources", judged["pairs"])
    return f"{judged['pairs']:,} pairs" + (f" of {sources:,} sources" if sources < judged["pairs"] else "")


def _change(judged: Mapping[str, Any], metric: str) -> tuple[str, ...]:
    """The cells of one row; with another digit where a bound that is not zero would look like it."""
    one = judged[metric]
    before, after = one["before"]["score"], one["after"]["score"]
    difference, low, high = one["difference"]
    digits = 2 if any(0 < abs(bound) < 0.05 for bound in (low, high)) else 1
    verdict = "too few to tell" if are_few(judged) else _VERDICTS.get(one["verdict"], one["verdict"])
    return (
        f"{before:.{digits}f}",
        f"{after:.{digits}f}",
        f"{difference:+z.{digits}f}",
        verdict if any(one["difference"]) else "no difference",
        f"{low:+z.{digits}f} to {high:+z.{digits}f}",
        f"{judged['pairs']:,}",
    )
