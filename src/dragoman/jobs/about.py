"""What a model says of itself, for people who are to trust it: scores, text, training, and what it owes to whom."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from dragoman.checkpoint import BOX, COPY_AGAIN, ModelDirectory
from dragoman.errors import ModelError
from dragoman.jobs.change import METRICS, change_in_words, chose_weights, kept_start, unseen
from dragoman.jobs.describe import training_in_words
from dragoman.jobs.measure import measured_in_words, signatures_in_words
from dragoman.text import languages


class About(NamedTuple):
    """A model in words."""

    title: str
    facts: list[tuple[str, str]]
    attribution: str
    """From whose text it has learned, in Markdown; empty if it does not say so."""


def about_model(directory: ModelDirectory) -> About:
    """Put a model's card, recipe and attribution into words."""
    try:
        facts = list(_facts(directory))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelError(
            f"{directory.path / 'card.json'}: says too little, or something else than a card does ({error!r})",
            hint=COPY_AGAIN,
        ) from error
    box = " (in the box)" if directory.path.parent == BOX else ""
    credit = directory.attribution() or b""
    return About(f"{directory.path.name}{box}", facts, credit.decode("utf-8", "replace"))


def _facts(directory: ModelDirectory) -> Iterator[tuple[str, str]]:
    card, recipe = directory.card, directory.recipe
    source, target = map(languages.name, (recipe.source_language, recipe.target_language))
    yield "translates", f"{source or 'source'} → {target or 'target'}"
    yield "made", f"{card['created'][:10]}, by dragoman {card['dragoman']}"
    if "start" in card:
        changed = "whose weights it kept" if kept_start(card) else change_in_words(card["start"])
        yield "began from", f"{card['start']['name']}, {changed}"
    corpus, dev = card["corpus"], card["dev"]
    mixed = f" and {corpus['mixed']['used']:,} others that were mixed in" if corpus.get("mixed") else ""
    yield "text", f"{corpus['pairs']:,} pairs learned from, of {corpus['read']:,} that were read{mixed}"
    judged = f"on {dev['pairs']:,} pairs {unseen(card)}; {chose_weights(dev['pairs'], recipe)}"
    yield "scores", f"{', '.join(_scores(dev))}; {judged}"
    yield from measured_in_words(card.get("tests", ()))
    yield from training_in_words(card, recipe)
    if card.get("alignment"):
        yield "word links", _alignment(card["alignment"])
    yield "files", f"{sum((directory.path / name).stat().st_size for name in card['sha256']) / 1e6:.1f} MB"
    yield from signatures_in_words(card)


def _scores(dev: Mapping[str, Any]) -> Iterator[str]:
    for name, title in METRICS.items():
        one = dev[name]
        yield f"{title} {one['score']:.1f} ({one['low']:.1f} to {one['high']:.1f})"


def _alignment(best: Mapping[str, Any]) -> str:
    return (
        f"from head {best['head'] + 1} of layer {best['layer'] + 1}, whose alignment error is {best['rate']:.2f} "
        f"against {best['against']}"
    )
