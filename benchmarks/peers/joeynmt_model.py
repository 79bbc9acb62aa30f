"""Joey NMT's Transformer in a given size, as its own configuration describes it.

Joey NMT gives 0 to <unk> and 1 to <pad>, the other way round than dragoman; so the two change places, in all that goes
in and in all that comes out.
"""

from types import SimpleNamespace
from typing import Any

import numpy as np
import peer  # type: ignore[import-not-found]
from joeynmt.model import Model, build_model  # type: ignore[import-not-found]
from joeynmt.vocabulary import Vocabulary  # type: ignore[import-not-found]

_SPECIALS: dict[str, Any] = {
    "unk_token": "<unk>",
    "pad_token": "<pad>",
    "bos_token": "<s>",
    "eos_token": "</s>",
    "sep_token": None,
    "unk_id": 0,
    "pad_id": 1,
    "bos_id": 2,
    "eos_id": 3,
    "sep_id": None,
    "lang_tags": [],
}


def swap(ids: peer.Ids) -> peer.Ids:
    """Let <pad> and <unk> change places."""
    swapped: peer.Ids = np.where(ids <= 1, 1 - ids, ids)
    return swapped


def build(sizes: peer.Sizes, dropout: float) -> Model:
    """Build the model: pre-norm, tied, with sinusoidal positions."""
    sides = {"encoder": sizes.encoder_layers, "decoder": sizes.decoder_layers}
    config: dict[str, Any] = {
        side: {
            "type": "transformer",
            "num_layers": layers,
            "num_heads": sizes.heads,
            "hidden_size": sizes.width,
            "ff_size": sizes.feed_forward,
            "dropout": dropout,
            "layer_norm": "pre",
            "embeddings": {"embedding_dim": sizes.width, "scale": True, "dropout": dropout},
        }
        for side, layers in sides.items()
    }
    pieces = Vocabulary([str(number) for number in range(4, sizes.vocabulary)], SimpleNamespace(**_SPECIALS))
    tied = {"tied_embeddings": True, "tied_softmax": True}
    return build_model({**config, **tied}, src_vocab=pieces, trg_vocab=pieces)
