"""What a question of a comparison may ask for: which figures are shown, and the one number that sums them up.

Each measure reads the figures of one trained model (`dragoman.jobs.comparison.figures`). Where a recipe was run with
several seeds, what is shown is their mean.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from dragoman.jobs.comparison.times import LENGTHS

Figures = Mapping[str, Any]
Column = Callable[[Figures], float | None]


class Curve(NamedTuple):
    """A list of the figures, drawn as a line for each recipe: what stands across, what upwards."""

    panel: str
    key: str
    across: str
    upwards: str
    scale: float = 1.0

    def points(self, figures: Figures) -> list[tuple[str, float, float]]:
        """Name, place across, and value of every point."""
        return [
            (_named(one) or str(one[self.across]), float(one[self.across]), self.scale * float(one[self.upwards]))
            for one in figures.get(self.key) or ()
        ]


def _named(one: Mapping[str, Any]) -> str | None:
    """The name of a bin, and how many cases are in it."""
    return f"{one['name']} ({one['cases']:,})" if "name" in one else None


class Measure(NamedTuple):
    """What is shown, and what it comes to."""

    sums_up: str
    """What the one number is, in words."""
    summary: Column
    margin: float
    """A difference of less than this is none to speak of."""
    curves: tuple[Curve, ...] = ()
    across: str = ""
    columns: Mapping[str, Column] = {}
    counted: bool = False
    """Whether it follows from the recipe alone, whatever the seed."""


def _fall(key: str) -> Column:
    """From the first bin to the last."""

    def fall(figures: Figures) -> float | None:
        bins = figures.get(key)
        return float(bins[0]["value"] - bins[-1]["value"]) if bins and len(bins) > 1 else None

    return fall


def _place(figures: Figures) -> float | None:
    bins = figures.get("place")
    return 100 * float(bins[0]["value"] - bins[-1]["value"]) if bins else None


def _middle(figures: Figures) -> float | None:
    bins = figures.get("place")
    if not bins:
        return None
    ends = (bins[0]["value"] + bins[-1]["value"]) / 2
    return 100 * float(bins[len(bins) // 2]["value"] - ends)


def _bleu(figures: Figures) -> float:
    return float(figures["scores"]["bleu"]["score"])


def _percent(*path: str) -> Column:
    def found(figures: Figures) -> float | None:
        value: Any = figures
        for name in path:
            value = value.get(name) if value is not None else None
        return None if value is None else 100 * float(value)

    return found


def _gap(figures: Figures) -> float | None:
    leading = figures["leading"]
    return None if leading is None else 100 * float(leading["led"] - leading["free"])


def _disorder(figures: Figures) -> float | None:
    kept = figures.get("in_order")  # unknown where it was measured before this was counted
    return None if kept is None else 100 * (1 - float(kept))


def _growth(figures: Figures) -> float:
    steps = figures["steps"]
    return float(steps[-1]["reading"] / steps[0]["reading"])


def _gradient(state: str, side: str, layer: int) -> Column:
    """The length of a layer's gradient; layer -1 is the last."""

    def found(figures: Figures) -> float | None:
        gradients = figures["gradients"] or {}
        layers = [norm for name, norm in gradients.get(state, {}).items() if name.startswith(side)]
        return float(layers[layer]) if layers else None

    return found


def _ratio(first: Column, second: Column) -> Column:
    def found(figures: Figures) -> float | None:
        above, below = first(figures), second(figures)
        return above / below if above is not None and below else None

    return found


def _milliseconds(way: str, length: int) -> Column:
    """What a sentence of so many pieces took; see `dragoman.jobs.comparison.times`."""

    def found(figures: Figures) -> float | None:
        return next((float(one[way]) for one in figures.get("times") or () if one["length"] == length), None)

    return found


def _per_piece(way: str, length: int) -> Column:
    whole = _milliseconds(way, length)
    return lambda figures: None if (taken := whole(figures)) is None else taken / length


_PLACE = Curve("% of source words not translated", "place", "middle", "value", 100)
_FIRST, _LAST = _gradient("fresh", "encoder", 0), _gradient("fresh", "decoder", -1)
_SHORTEST, *_, _LONG, _LONGEST = LENGTHS

MEASURES: Mapping[str, Measure] = {
    "length": Measure(
        "BLEU lost from the shortest sentences to the longest",
        _fall("length"),
        1.0,
        (Curve("BLEU", "length", "middle", "value"),),
        "words in the source",
    ),
    "distance": Measure(
        "points lost from the nearest deciding words to the farthest",
        _fall("distance"),
        3.0,
        (Curve("% of contrast pairs right", "distance", "middle", "value"),),
        "words between the ambiguous word and the one that decides",
    ),
    "place": Measure(
        "how many more of the first words are lost than of the last, in points",
        _place,
        1.0,
        (_PLACE,),
        "where in the source the word stands, in fifths",
    ),
    "middle": Measure(
        "how many more words are lost in the middle than at the ends, in points",
        _middle,
        1.0,
        (_PLACE,),
        "where in the source the word stands, in fifths",
    ),
    "steps": Measure(
        f"how many times as many dependent steps a pair of {_LONGEST} pieces takes as one of {_SHORTEST}",
        _growth,
        0.5,
        (
            Curve("dependent steps, given pair", "steps", "length", "reading"),
            Curve("dependent steps, translating", "steps", "length", "writing"),
        ),
        "pieces each way",
        counted=True,
    ),
    "times": Measure(
        f"how many times as long a given pair of {_LONGEST} pieces takes as one of {_LONG}",
        _ratio(_milliseconds("reading", _LONGEST), _milliseconds("reading", _LONG)),
        1.5,  # once as long, and what a clock may be wrong by
        (
            Curve("ms, given pair", "times", "length", "reading"),
            Curve("ms, translating", "times", "length", "writing"),
        ),
        "pieces each way",
    ),
    "pace": Measure(
        f"ms for each of {_LONGEST} pieces of a given pair",
        _per_piece("reading", _LONGEST),
        0.0,
        columns={
            f"{name}, {length} pieces: ms a piece": _per_piece(way, length)
            for name, way in (("given pair", "reading"), ("translating", "writing"))
            for length in LENGTHS
        },
    ),
    "quality": Measure(
        "BLEU",
        _bleu,
        0.5,
        columns={
            "BLEU": _bleu,
            "exact %": _percent("exact"),
            "contrasts %": _percent("contrasts"),
            "alignment error %": _percent("alignment"),
        },
    ),
    "order": Measure(
        "of right words that follow each other, how many stand in a wrong order, in percent",
        _disorder,
        0.5,
        columns={
            "BLEU": _bleu,
            "sentences exact %": _percent("exact"),
            "sentences with the right words %": _percent("same_words"),
            "in a wrong order %": _disorder,
        },
    ),
    "gap": Measure(
        "how many more pieces are right when led than when running freely, in points",
        _gap,
        0.5,
        columns={
            "loss when led": lambda figures: None if figures["leading"] is None else float(figures["leading"]["loss"]),
            "right when led %": _percent("leading", "led"),
            "right when free %": _percent("leading", "free"),
            "gap": _gap,
            "BLEU": _bleu,
        },
    ),
    "gradients": Measure(
        "the first encoder layer's gradient, before training, as a share of the last decoder layer's",
        _ratio(_FIRST, _LAST),
        0.05,
        columns={
            "fresh: first encoder layer": _FIRST,
            "fresh: last decoder layer": _LAST,
            "fresh: first ÷ last": _ratio(_FIRST, _LAST),
            "trained: first encoder layer": _gradient("trained", "encoder", 0),
            "trained: last decoder layer": _gradient("trained", "decoder", -1),
            "BLEU": _bleu,
        },
    ),
}
