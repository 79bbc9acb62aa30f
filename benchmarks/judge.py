"""Score weights as they come out of a training, with the engine that ships."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.corpus import Text
from dragoman.config import Recipe
from dragoman.engine.export import export
from dragoman.engine.fast import FastEngine
from dragoman.engine.translator import Translator
from dragoman.evaluation.scores import bleu
from dragoman.text.tokenizer import Tokenizer


def judge(
    recipe: Recipe, weights: Mapping[str, NDArray[np.float32]], tokenizer: Tokenizer, text: Text, room: Path
) -> float:
    """BLEU on a text's dev pairs, with the recipe's own search; a room is needed for the exported model."""
    sources, references = zip(*text.dev, strict=True)
    export(recipe.model, dict(weights), tokenizer.pieces, room / "judged", quantization="float32")
    engine = FastEngine(room / "judged")
    translator = Translator(engine, tokenizer, recipe.search, max_pieces=recipe.pieces.max_length)
    return bleu([t.text for t in translator.translate(sources)], references, text.languages[1])
