"""What a training changed that started from a model: before and after, on the new text and on the old domain."""

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from dragoman.checkpoint import write_json
from dragoman.config import Search
from dragoman.engine.load import load_translator
from dragoman.evaluation.compare import compare

METRICS: Final = {"bleu": "BLEU", "chrf": "chrF", "ter": "TER"}
"""The scores of a card, and what they are called."""

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
        return Before(**json.loads(file.read_text(encoding="utf-8")))
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
    before: Sequence[str], after: Sequence[str], references: Sequence[str], language: str
) -> dict[str, Any]:
    """Compare the translations of one text before and after, as the card tells it."""
    tree: dict[str, Any] = {"pairs": len(references)}
    for name, one in zip(METRICS, compare(before, after, references, language=language), strict=True):
        change = one.difference
        tree[name] = {
            "before": {"score": round(one.first.score, 2), "signature": one.signature},
            "after": {"score": round(one.second.score, 2), "signature": one.signature},
            "difference": [round(value, 2) for value in (change.score, change.low, change.high)],
            "p": round(one.p_value, 4),
            "verdict": one.verdict,
        }
    return tree


FORGOTTEN: Final = "No test set of its old domain was given (--old-test), so what it may have forgotten is not known."
CHANGE_COLUMNS = ("", "metric", "pairs", "before", "after", "difference", "95 % of draws", "verdict")


def change_rows(start: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The table of before and after, from the card of a model that was started from another."""
    return [
        (told, name, f"{start[text]['pairs']:,}", *_change(start[text][metric]))
        for text, told in _TEXTS.items()
        if text in start
        for metric, name in METRICS.items()
    ]


def change_in_words(start: Mapping[str, Any]) -> str:
    """What the training changed, in one line."""
    told = [
        f"{name} from {start[text]['bleu']['before']['score']:.1f} to {start[text]['bleu']['after']['score']:.1f} BLEU"
        for text, name in _TEXTS.items()
        if text in start
    ]
    return "; ".join(told)


def _change(one: Mapping[str, Any]) -> tuple[str, ...]:
    difference, low, high = one["difference"]
    return (
        f"{one['before']['score']:.1f}",
        f"{one['after']['score']:.1f}",
        f"{difference:+z.1f}",
        f"{low:+z.1f} to {high:+z.1f}",
        "no difference" if not any(one["difference"]) else _VERDICTS.get(one["verdict"], one["verdict"]),
    )
