"""Train a Transformer written plainly in PyTorch, as a tutorial would: what one gets without any toolkit.

With `snapshots` in the request, its weights are written every so many seconds of training, under dragoman's names.
"""

import math
import re
import time
from pathlib import Path
from typing import Any

import peer  # type: ignore[import-not-found]
import torch
from torch import Tensor, nn
from torch.nn import functional

# For small networks and the thousand updates of a training of minutes: docs/log.md has what other rates gave.
_PEAK_RATE, _WARM_UP_UPDATES = 3e-3, 400


class Attention(nn.Module):
    """Multi-head attention."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None = None, *, causal: bool = False) -> Tensor:
        """Look from `x` at `memory`."""
        q, k, v = (
            part.unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for part in (self.query(x), self.key(memory), self.value(memory))
        )
        seen = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal)
        joined: Tensor = self.output(seen.transpose(1, 2).flatten(2))
        return joined


class Layer(nn.Module):
    """A pre-norm layer of the encoder, or of the decoder if it looks across."""

    def __init__(self, width: int, heads: int, inner: int, dropout: float, *, across: bool) -> None:
        super().__init__()
        self.attention = Attention(width, heads)
        self.cross = Attention(width, heads) if across else None
        self.feed_forward = nn.Sequential(
            nn.Linear(width, inner), nn.ReLU(), nn.Dropout(dropout), nn.Linear(inner, width)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3 if across else 2))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, source_mask: Tensor, memory: Tensor | None = None) -> Tensor:
        """Attend, look across, feed forward."""
        y = self.norms[0](x)
        if self.cross is None:
            x = x + self.dropout(self.attention(y, y, source_mask))
        else:
            x = x + self.dropout(self.attention(y, y, causal=True))
            x = x + self.dropout(self.cross(self.norms[1](x), memory, source_mask))
        fed: Tensor = x + self.dropout(self.feed_forward(self.norms[-1](x)))
        return fed


class Transformer(nn.Module):
    """Encoder, decoder and one table of embeddings for both and for the output."""

    positions: Tensor

    def __init__(self, request: dict[str, Any]) -> None:
        super().__init__()
        width, sizes = request["width"], (request["width"], request["heads"], request["feed_forward"])
        self.embedding = nn.Embedding(request["vocabulary"], width)
        nn.init.normal_(self.embedding.weight, std=width**-0.5)
        self.dropout = nn.Dropout(request["dropout"])
        self.encoder, self.decoder = (
            nn.ModuleList(Layer(*sizes, request["dropout"], across=across) for _ in range(request["layers"]))
            for across in (False, True)
        )
        self.encoder_norm, self.decoder_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.output = nn.Linear(width, request["vocabulary"])
        self.output.weight = self.embedding.weight
        self.register_buffer("positions", torch.from_numpy(peer.sinusoids(1024, width)))

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Return the scores of every next piece."""
        mask = (source != peer.PAD)[:, None, None, :]
        memory, x = self._embed(source), self._embed(target)
        for layer in self.encoder:
            memory = layer(memory, mask)
        memory = self.encoder_norm(memory)
        for layer in self.decoder:
            x = layer(x, mask, memory)
        scores: Tensor = self.output(self.decoder_norm(x))
        return scores

    def _embed(self, pieces: Tensor) -> Tensor:
        scaled = self.embedding(pieces) * math.sqrt(self.embedding.embedding_dim)
        embedded: Tensor = self.dropout(scaled + self.positions[: pieces.shape[1]])
        return embedded


class Snapshots:
    """Weights, written at intervals of training time; the time that writing takes is not counted."""

    def __init__(self, wanted: dict[str, Any] | None) -> None:
        self._room: Path | None = Path(wanted["room"]) if wanted else None
        self._every: float = wanted["every"] if wanted else math.inf
        self._next = self._every

    def take(self, model: Transformer, clock: Any) -> None:
        """Write the weights if it is time."""
        if self._room is None or clock.seconds < self._next:
            return
        begun = time.perf_counter()
        peer.save_weights(self._room / f"{clock.seconds:.0f}.npz", own_names(model))
        clock.forgive(time.perf_counter() - begun)
        self._next += self._every


_NAMES = (
    (r"^embedding\.weight$", "embedding"),
    (r"^(encoder|decoder)_norm\.", r"\1.norm."),
    (r"^decoder\.(\d+)\.attention\.", r"decoder.\1.self_attention."),
    (r"\.cross\.", ".cross_attention."),
    (r"\.feed_forward\.0\.", ".feed_forward.inner."),
    (r"\.feed_forward\.3\.", ".feed_forward.outer."),
    (r"^encoder\.(\d+)\.norms\.0\.", r"encoder.\1.attention.norm."),
    (r"^encoder\.(\d+)\.norms\.1\.", r"encoder.\1.feed_forward.norm."),
    (r"^decoder\.(\d+)\.norms\.0\.", r"decoder.\1.self_attention.norm."),
    (r"^decoder\.(\d+)\.norms\.1\.", r"decoder.\1.cross_attention.norm."),
    (r"^decoder\.(\d+)\.norms\.2\.", r"decoder.\1.feed_forward.norm."),
    (r"norm\.weight$", "norm.scale"),
    (r"norm\.bias$", "norm.shift"),
)


def own_names(model: Transformer) -> dict[str, Tensor]:
    """The weights under the names of dragoman's `docs/weights.md`."""
    tied_or_fixed = ("output.weight", "positions")
    return {_own_name(name): weight for name, weight in model.state_dict().items() if name not in tied_or_fixed}


def _own_name(name: str) -> str:
    for theirs, ours in _NAMES:
        name = re.sub(theirs, ours, name)
    return name


def main() -> None:
    """Train as requested."""
    request = peer.read_request()
    torch.set_num_threads(request["threads"])
    torch.manual_seed(1)
    model = Transformer(request).train()
    optimiser = torch.optim.Adam(model.parameters(), lr=_PEAK_RATE, betas=(0.9, 0.98), eps=1e-9)
    # The schedule of the paper of 2017: up in a line, then down with the root of the number of updates.
    rates = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda n: min((n + 1) / _WARM_UP_UPDATES, (_WARM_UP_UPDATES / (n + 1)) ** 0.5)
    )
    clock, losses, snapshots = peer.Clock(request), [], Snapshots(request.get("snapshots"))
    for batch in clock.feed(peer.read_batches(request["batches"])):
        source, target, wanted = map(torch.from_numpy, batch)
        scores = model(source, target)
        loss = functional.cross_entropy(
            scores.flatten(0, 1), wanted.flatten(), ignore_index=peer.PAD, label_smoothing=0.1
        )
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        rates.step()
        losses.append(loss.item())
        snapshots.take(model, clock)
    clock.answer(f"torch {torch.__version__}", losses=[losses[0], losses[-1]])


if __name__ == "__main__":
    main()
