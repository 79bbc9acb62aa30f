"""What is answered under /v1, as schemas, and the small ones that all are put together from."""

from collections.abc import Collection, Mapping
from typing import Any, get_args

from dragoman.draw.attention import KINDS
from dragoman.engine.beam import Fate

Schema = dict[str, Any]

STRING: Schema = {"type": "string"}
TEXT: Schema = {"type": "string", "minLength": 1}
NUMBER: Schema = {"type": "number"}
BOOLEAN: Schema = {"type": "boolean"}
OBJECT: Schema = {"type": "object"}


def whole(least: int, most: int | None = None) -> Schema:
    """A whole number within bounds."""
    return {"type": "integer", "minimum": least} | ({} if most is None else {"maximum": most})


def many(schema: Schema) -> Schema:
    """A list."""
    return {"type": "array", "items": schema}


def one_or_many(schema: Schema) -> Schema:
    """One or a list."""
    return {"oneOf": [schema, many(schema)]}


def an_object(properties: Mapping[str, Schema], optional: Collection[str] = ()) -> Schema:
    """An object; what is not optional must be there."""
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": dict(properties), "required": required}


def _named(*names: str) -> Schema:
    return {"type": "string", "enum": list(names)}


_ROWS = many(many(NUMBER))
_LINKS = {**many({**many(whole(0)), "minItems": 2, "maxItems": 2}), "description": "Words from 0: source, target."}
_LIKELY = {
    **many({**many({"oneOf": [STRING, NUMBER]}), "minItems": 2, "maxItems": 2}),
    "description": "A piece and its number.",
}
_SEARCH = an_object({"beam": whole(1), "length_penalty": NUMBER})
_SENTENCE = an_object(
    {
        "source": STRING,
        "text": STRING,
        "score": NUMBER,
        "flags": many(STRING),
        "sourcePieces": many(STRING),
        "pieces": many(STRING),
        "alignment": _LINKS,
    },
    optional=["alignment"],
)
_TRANSLATION = an_object(
    {
        "text": STRING,
        "score": NUMBER,
        "flags": many(STRING),
        "sentences": many(_SENTENCE),
        "alternatives": many(an_object({"text": STRING, "score": NUMBER})),
        "alignment": _LINKS,
    },
    optional=["alternatives", "alignment"],
)
_PLACE = an_object({"kind": _named(*KINDS), "layer": whole(1), "head": whole(1)})
_MAPS = {**many(many(many(whole(0, 1000)))), "description": "For every head, rows of thousandths."}
_BRANCH = an_object(
    {
        "parent": {**whole(-1), "description": "The number of the branch before it; -1 at the root."},
        "depth": whole(0),
        "piece": STRING,
        "total": NUMBER,
        "score": NUMBER,
        "fate": _named(*get_args(Fate)),
    }
)
_THOUGHT = an_object({"text": STRING, "pieces": many(STRING), "probabilities": many(NUMBER), "likeliest": many(STRING)})

MODEL = an_object(
    {
        "name": STRING,
        "source": STRING,
        "target": STRING,
        "kind": STRING,
        "encoderLayers": whole(1),
        "decoderLayers": whole(1),
        "width": whole(1),
        "heads": {**whole(1), "nullable": True},
        "pieces": whole(1),
        "alignments": BOOLEAN,
        "search": _SEARCH,
    }
)
TRANSLATIONS = an_object({"model": STRING, "translations": many(_TRANSLATION)})
OVERVIEW = an_object(
    {
        "version": whole(1),
        "text": STRING,
        "sourcePieces": many(STRING),
        "readPieces": many(STRING),
        "pieces": many(STRING),
        "writtenPieces": many(STRING),
        "probabilities": many(NUMBER),
        "likeliest": many(_LIKELY),
        "attention": many(an_object({"kind": _named(*KINDS), "layer": whole(1), "heads": _MAPS})),
        "bestHead": {**_PLACE, "nullable": True},
    }
)
HEAD = an_object(
    {
        "queries": _ROWS,
        "keys": _ROWS,
        "values": _ROWS,
        "scores": {**_ROWS, "description": "Before anything is hidden."},
        "weights": _ROWS,
        "context": _ROWS,
    }
)
ALTERNATIVE = an_object(
    {"piece": STRING, "probability": NUMBER, "text": STRING, "pieces": many(STRING), "alignment": _LINKS}
)
WAY = an_object(
    {"stages": many(an_object({"name": STRING, "vector": many(NUMBER)})), "logSum": NUMBER, "logits": _LIKELY},
    optional=["logSum", "logits"],
)
FLOWS = an_object(
    {"readings": many(an_object({"name": STRING, "weights": _ROWS, "errorRate": {**NUMBER, "nullable": True}}))}
)
TREE = an_object(
    {
        "model": STRING,
        "text": STRING,
        "beam": whole(1),
        "penalty": {**whole(0), "description": "The length penalty in hundredths."},
        "best": many(whole(0)),
        "branches": many(_BRANCH),
    }
)
WHAT_IF = an_object({"original": _THOUGHT, "changed": _THOUGHT, "forced": _THOUGHT})
MEANING = an_object({"model": STRING, "stages": many(an_object({"name": STRING, "cosines": _ROWS, "places": _ROWS}))})
