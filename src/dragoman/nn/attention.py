"""Attention: every query looks at every key and takes a weighted average of the values.

    Attention(Q, K, V) = softmax(Q Kᵀ / √e) V          (Vaswani et al. 2017, equation 1)

`dot_scores` and `attend` are the formula written out, step by step. What training uses is `dragoman.nn.fused`; tests
hold the two equal. Queries and keys can be compared in other ways, for study: unscaled, by their angle, by a small
network, or by a kernel, which makes attention linear. `MultiHead` owns the four matrices and lets several heads look at
once, each in a narrow space of its own (section 3.2.2).
"""

import math
from typing import Literal, NamedTuple, assert_never

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional

from dragoman.nn.fused import attend_fast
from dragoman.nn.positions import rotate

Comparing = Literal["scaled-dot", "dot", "cosine", "additive", "linear"]


class Attended(NamedTuple):
    """Where each query looked, and what it saw there."""

    weights: Float[Tensor, "*lead q k"]
    context: Float[Tensor, "*lead q e"]


def dot_scores(queries: Float[Tensor, "*lead q e"], keys: Float[Tensor, "*lead k e"]) -> Float[Tensor, "*lead q k"]:
    """Scaled dot product. The root keeps the variance of the scores at 1 whatever e is."""
    return queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])


def cosine_scores(
    queries: Float[Tensor, "*lead q e"], keys: Float[Tensor, "*lead k e"], sharpness: Float[Tensor, "*#lead 1 1"]
) -> Float[Tensor, "*lead q k"]:
    """The cosine of the angle between query and key, times how sharply to look; lengths do not count."""
    return sharpness * (functional.normalize(queries, dim=-1) @ functional.normalize(keys, dim=-1).transpose(-2, -1))


def additive_scores(
    queries: Float[Tensor, "*lead q e"], keys: Float[Tensor, "*lead k e"], mix: Float[Tensor, "*#lead e 1"]
) -> Float[Tensor, "*lead q k"]:
    """A network with one hidden layer (Bahdanau et al. 2015): w·tanh(q + k), its matrices already applied."""
    mixed = (queries[..., :, None, :] + keys[..., None, :, :]).tanh()
    return (mixed @ mix[..., None, :, :])[..., 0]


def positive(x: Float[Tensor, "*any"]) -> Float[Tensor, "*any"]:
    """Linear attention's φ: elu(x) + 1, which is above zero everywhere."""
    return functional.elu(x) + 1


def attend_linear(
    queries: Float[Tensor, "*lead q e"],
    keys: Float[Tensor, "*lead k e"],
    values: Float[Tensor, "*lead k e"],
    visible: Bool[Tensor, "*#lead #q k"],
) -> Attended:
    """Weights φ(q)·φ(k), shared out among what is visible (Katharopoulos et al. 2020), all at once.

    No exponential stands between query and key, so the sum over keys can be kept instead of the keys:
    `attend_step_by_step` is the same, with a state of one size.
    """
    shares = (positive(queries) @ positive(keys).transpose(-2, -1)).masked_fill(~visible, 0)
    weights = shares / shares.sum(dim=-1, keepdim=True).clamp_min(torch.finfo(shares.dtype).tiny)
    return Attended(weights, weights @ values)


def attend_step_by_step(
    queries: Float[Tensor, "*lead t e"], keys: Float[Tensor, "*lead t e"], values: Float[Tensor, "*lead t e"]
) -> Float[Tensor, "*lead t e"]:
    """Causal linear attention as a recurrent network, the fast weight programmer of Schmidhuber (1991).

    S_t = S_{t-1} + φ(k_t) v_tᵀ        z_t = z_{t-1} + φ(k_t)        context_t = φ(q_t) S_t / φ(q_t)·z_t
    """
    memory = values.new_zeros(*values.shape[:-2], values.shape[-1], values.shape[-1])
    total = values.new_zeros(*values.shape[:-2], values.shape[-1], 1)
    contexts = []
    for t in range(values.shape[-2]):
        query, key = positive(queries[..., t, None, :]), positive(keys[..., t, :, None])
        memory, total = memory + key @ values[..., t, None, :], total + key
        contexts.append(query @ memory / (query @ total))
    return torch.cat(contexts, dim=-2)


def attend(
    scores: Float[Tensor, "*lead q k"],
    values: Float[Tensor, "*lead k e"],
    visible: Bool[Tensor, "*#lead #q k"],
) -> Attended:
    """Hide what may not be seen, normalise, and average the values.

    A query that may see nothing gets uniform weights, not NaN: a fully padded row stays harmless.
    """
    hidden = scores.masked_fill(~visible, torch.finfo(scores.dtype).min)
    weights = hidden.softmax(dim=-1)
    return Attended(weights, weights @ values)


def causal(length: int, device: torch.device | None = None) -> Bool[Tensor, "1 1 q k"]:
    """What a decoder may see of its own output: each position itself and what stands before it."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()[None, None]


class MultiHead(nn.Module):
    """Several heads side by side: project to queries, keys and values, attend, join the heads and project back.

    With a base, queries and keys are turned by their places (rotary positions).
    """

    def __init__(
        self, width: int, heads: int, scores: Comparing = "scaled-dot", rotary_base: float | None = None
    ) -> None:
        super().__init__()
        if width % heads:
            raise ValueError(f"width {width} is not a multiple of heads {heads}")
        self.heads = heads
        self.scores = scores
        self.rotary_base = rotary_base
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.output = nn.Linear(width, width)
        if scores == "cosine":
            self.sharpness = nn.Parameter(torch.empty(heads))
        if scores == "additive":
            self.mix = nn.Parameter(torch.empty(heads, width // heads))

    def forward(
        self, x: Float[Tensor, "b q d"], memory: Float[Tensor, "b k d"], visible: Bool[Tensor, "#b #h #q k"]
    ) -> Float[Tensor, "b q d"]:
        """Let every position of `x` look at the visible positions of `memory` (self-attention: at itself)."""
        if x is memory:
            projected = _apply(x, self.query, self.key, self.value)
        else:
            projected = _apply(x, self.query) + _apply(memory, self.key, self.value)
        queries, keys, values = map(self._split, projected)
        if self.rotary_base is not None:
            queries, keys = rotate(queries, self.rotary_base), rotate(keys, self.rotary_base)
        context = self._look(queries, keys, values, visible)
        joined: Tensor = self.output(context.transpose(1, 2).flatten(2))
        return joined

    def _look(self, queries: Tensor, keys: Tensor, values: Tensor, visible: Tensor) -> Float[Tensor, "b h q e"]:
        match self.scores:
            case "scaled-dot":
                return attend_fast(queries, keys, values, visible)
            case "dot":  # the root undoes the division, so that both kinds take the same time
                return attend_fast(queries * math.sqrt(queries.shape[-1]), keys, values, visible)
            case "cosine":
                scores = cosine_scores(queries, keys, self.sharpness[:, None, None])
            case "additive":
                scores = additive_scores(queries, keys, self.mix[..., None])
            case "linear":
                return attend_linear(queries, keys, values, visible).context
            case _:
                assert_never(self.scores)
        return attend(scores, values, visible).context

    def _split(self, x: Float[Tensor, "b t d"]) -> Float[Tensor, "b h t e"]:
        b, t, d = x.shape
        return x.view(b, t, self.heads, d // self.heads).transpose(1, 2)


def _apply(x: Float[Tensor, "b t d"], *maps: nn.Linear) -> tuple[Tensor, ...]:
    """Apply several linear maps to the same vectors, in one product."""
    weight, bias = torch.cat([one.weight for one in maps]), torch.cat([one.bias for one in maps])
    return functional.linear(x, weight, bias).chunk(len(maps), dim=-1)
