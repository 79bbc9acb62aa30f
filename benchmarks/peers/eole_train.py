"""Train Eole, the successor of OpenNMT-py, on given batches, with its own model, loss, optimiser and training loop."""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import eole  # type: ignore[import-not-found]
import numpy as np
import peer  # type: ignore[import-not-found]
import torch
from eole.config.run import TrainConfig  # type: ignore[import-not-found]
from eole.inputters.inputter import build_vocab  # type: ignore[import-not-found]
from eole.models.model import get_model_class  # type: ignore[import-not-found]
from eole.trainer import build_trainer  # type: ignore[import-not-found]
from eole.utils.optimizers import Optimizer  # type: ignore[import-not-found]

_CPU = -1
_NEVER = 10**9


def configure(request: dict[str, Any], room: Path) -> TrainConfig:
    """Describe the model and the training in Eole's own terms."""
    pieces = room / "pieces"
    names = ["<blank>", "<unk>", "<s>", "</s>", *map(str, range(4, request["vocabulary"]))]
    pieces.write_text("\n".join(names) + "\n", encoding="utf-8")
    model = {
        "architecture": "transformer",
        "hidden_size": request["width"],
        "layers": request["layers"],
        "heads": request["heads"],
        "transformer_ff": request["feed_forward"],
        "embeddings": {"position_encoding_type": "SinusoidalInterleaved", "word_vec_size": request["width"]},
        "share_embeddings": True,
        "share_decoder_embeddings": True,
        "add_qkvbias": True,
        "add_final_linear_bias": True,
        "add_ffnbias": True,
    }
    training = {
        "model_path": str(room / "model"),
        "dropout": [request["dropout"]],
        "attention_dropout": [0.0],
        "label_smoothing": 0.1,
        "max_grad_norm": 1.0,
        "optim": "adam",
        "learning_rate": 5e-4,
        "normalization": "tokens",
        "param_init_method": "xavier_uniform",
        "compute_dtype": "fp32",
        "gpu_ranks": [],
    }
    sizes = {"src_vocab_size": request["vocabulary"], "tgt_vocab_size": request["vocabulary"]}
    files = {"src_vocab": str(pieces), "tgt_vocab": str(pieces)}
    return TrainConfig(**files, **sizes, share_vocab=True, data={}, model=model, training=training)


def feed(batches: Sequence[peer.Batch], clock: peer.Clock) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield batches as Eole's own reader does."""
    for batch in clock.feed(batches):
        target = np.concatenate([batch.target[:, :1], batch.wanted], axis=1)
        yield (
            {
                "src": torch.from_numpy(batch.source),
                "srclen": torch.from_numpy((batch.source != peer.PAD).sum(axis=1)),
                "tgt": torch.from_numpy(target),
                "tgtlen": torch.from_numpy((target != peer.PAD).sum(axis=1)),
                "cid": ["corpus"] * len(target),
                "cid_line_number": list(range(len(target))),
                "images": None,
                "prefix_len": None,
            },
            0,
        )


def main() -> None:
    """Train as requested."""
    request = peer.read_request()
    torch.set_num_threads(request["threads"])
    torch.manual_seed(1)
    clock, batches = peer.Clock(request), peer.read_batches(request["batches"])
    with tempfile.TemporaryDirectory() as room:
        config = configure(request, Path(room))
        pieces = build_vocab(config, {"src": [], "tgt": []})
        if pieces["src"].lookup_index(3) != "</s>":
            raise SystemExit("Eole numbers the pieces otherwise than it was told")
        model = get_model_class(config.model).for_training(config.model, pieces, config.training, device_id=_CPU)
        optimiser = Optimizer.from_config(model, config, metadata=None)
        trainer = build_trainer(config, _CPU, model, pieces, optimiser)
        told = trainer.train(feed(batches, clock), 0, save_checkpoint_steps=0, valid_steps=_NEVER)
    clock.answer(f"eole {eole.__version__}", perplexity=told.ppl(), correct=told.accuracy() / 100)


if __name__ == "__main__":
    main()
