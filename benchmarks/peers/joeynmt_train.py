"""Train Joey NMT on given batches, with its own model, loss, batch class and training loop."""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import joeynmt  # type: ignore[import-not-found]
import joeynmt_model  # type: ignore[import-not-found]
import numpy as np
import peer  # type: ignore[import-not-found]
import torch
from joeynmt.batch import Batch  # type: ignore[import-not-found]
from joeynmt.config import parse_train_args  # type: ignore[import-not-found]
from joeynmt.training import TrainManager  # type: ignore[import-not-found]

_CPU = torch.device("cpu")
_NEVER = 10**9


class Data:
    """Stands in for Joey NMT's dataset: its loop asks for an iterator, and gets the given batches."""

    seed = 0

    def __init__(self, batches: Sequence[peer.Batch], clock: peer.Clock) -> None:
        self._batches, self._clock = batches, clock
        self.batch_sampler = SimpleNamespace(set_seed=lambda _: None, get_state=lambda: None)

    def make_iter(self, **_: Any) -> "Data":
        """Return what the loop goes through."""
        return self

    def __iter__(self) -> Iterator[Batch]:
        """Yield the batches in Joey NMT's own class."""
        for batch in self._clock.feed(self._batches):
            source = torch.from_numpy(joeynmt_model.swap(batch.source))
            whole = np.concatenate([batch.target[:, :1], batch.wanted], axis=1)
            yield Batch(
                src=source,
                src_length=torch.from_numpy((batch.source != peer.PAD).sum(axis=1)),
                src_prompt_mask=None,
                trg=torch.from_numpy(joeynmt_model.swap(whole)),
                trg_prompt_mask=None,
                indices=torch.arange(len(source)),
                device=_CPU,
                pad_index=1,
                eos_index=peer.END,
            )


def main() -> None:
    """Train as requested."""
    request = peer.read_request()
    torch.set_num_threads(request["threads"])
    torch.manual_seed(1)
    sizes = peer.Sizes(
        vocabulary=request["vocabulary"],
        width=request["width"],
        heads=request["heads"],
        feed_forward=request["feed_forward"],
        encoder_layers=request["layers"],
        decoder_layers=request["layers"],
    )
    model = joeynmt_model.build(sizes, request["dropout"])
    model.loss_function = ("crossentropy", 0.1)
    settings = {
        "normalization": "tokens",
        "optimizer": "adam",
        "learning_rate": 5e-4,
        "learning_rate_min": 0.0,
        "learning_rate_warmup": 10,
        "scheduling": "warmupinversesquareroot",
        "clip_grad_norm": 1.0,
        "label_smoothing": 0.1,
        "batch_size": 1,
        "epochs": 1,
        "logging_freq": _NEVER,
        "validation_freq": _NEVER,
    }
    clock = peer.Clock(request)
    data = Data(peer.read_batches(request["batches"]), clock)
    with tempfile.TemporaryDirectory() as room:
        manager = TrainManager(
            rank=0,
            model=model,
            model_dir=Path(room),
            device=_CPU,
            autocast={"device_type": "cpu", "enabled": False},
            train_args=parse_train_args(settings),
        )
        manager.train_and_validate(data, data)
    correct = manager.stats.total_correct / manager.stats.total_tokens
    clock.answer(f"joeynmt {joeynmt.__version__}", correct=correct)


if __name__ == "__main__":
    main()
