"""The critic of professor forcing (Lamb et al. 2016): it tells a decoder that runs freely from one that is led.

A decoder that learns on what a person wrote must translate on what it wrote itself. The critic watches its outputs and
guesses which of the two it was reading; the decoder learns, beside its task, to run freely in a way that the critic
takes for being led.

    p(led | o) = σ(w · max(0, W mean_t [forwards(o)_t; backwards(o)_t]))
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from dragoman.nn.recurrent import GRU, run


class Critic(nn.Module):
    """Reads what a decoder gave out, both ways, and scores how much it looks as if it had been led."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.forwards = GRU(width, width // 2)
        self.backwards = GRU(width, width // 2)
        self.inner = nn.Linear(2 * (width // 2), width)
        self.outer = nn.Linear(width, 1)

    def forward(self, outputs: Float[Tensor, "b t d"], visible: Bool[Tensor, "b t"]) -> Float[Tensor, " b"]:
        """A logit for each sentence: above zero, it was led."""
        ways = (
            run(self.forwards, outputs, visible, backwards=False),
            run(self.backwards, outputs, visible, backwards=True),
        )
        seen = visible[..., None]
        mean = (torch.cat(ways, dim=-1) * seen).sum(dim=1) / seen.sum(dim=1).clamp(min=1)
        scores: Tensor = self.outer(self.inner(mean).relu())
        return scores[:, 0]
