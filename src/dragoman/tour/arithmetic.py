"""Which arithmetic belongs to which chapter: from its inputs to every number that it mentions."""

from collections.abc import Mapping
from typing import Any

from dragoman.tour import comparing, layers, looking, recurrence, writing
from dragoman.tour.fill import Quantities


def compute(chapter: str, inputs: Mapping[str, Any]) -> Quantities:  # noqa: C901, PLR0911, PLR0912 -- a chapter each
    """Compute the quantities of a chapter."""
    match chapter:
        case "bottleneck":
            return recurrence.read(**inputs)
        case "similarity":
            return comparing.compare(**inputs)
        case "weighted-mean":
            return comparing.weigh(**inputs)
        case "scores":
            return comparing.score(**inputs)
        case "query-key-value":
            return looking.look(**inputs)
        case "scaling":
            return looking.scale(**inputs)
        case "heads":
            return looking.split(**inputs)
        case "positions":
            return layers.place(**inputs)
        case "mask":
            return looking.hide(**inputs)
        case "residual-norm":
            return layers.pass_through(**inputs)
        case "encoder-decoder":
            return looking.look_across(**inputs)
        case "writing":
            return writing.write(**inputs)
        case "linear":
            return looking.remember(**inputs)
        case _:
            raise ValueError(f"nothing is known of a chapter {chapter}")
