"""What a batch teaches: the loss of its target pieces, and the gradients of that loss.

What the decoder reads meanwhile is `training.forcing`. Under professor forcing (Lamb et al. 2016) there are two losses
more: that of the critic, who is to tell whether the decoder was led, and that of the decoder, who is to be taken for
one that was. Where two passes are to agree (`training.agreement`), the batch stands below itself: its rows pass twice,
and other values of each are dropped.
"""

from typing import NamedTuple, assert_never

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.func import functional_call
from torch.nn import functional

from dragoman.config import Recipe, Training
from dragoman.data.batches import Batch
from dragoman.nn.models import Network, build, initialise, silence
from dragoman.nn.professor import Critic
from dragoman.nn.weights import parameters
from dragoman.text.tokenizer import PAD
from dragoman.training.device import computing, products
from dragoman.training.forecast import count_passes
from dragoman.training.loss import agreed_loss, smoothed_loss
from dragoman.training.schedule import teacher_share

_KEEN, _PERFECT = 0.75, 0.99
"""The critic is heeded from the first share of right guesses on, and learns up to the second."""


class Pupil(NamedTuple):
    """A network, and the critic it may have while it learns."""

    network: Network
    critic: Critic | None = None

    def parameters(self) -> dict[str, torch.nn.Parameter]:
        """Everything that learns; the critic is no part of the model that is kept."""
        named = parameters(self.network)
        if self.critic is not None:
            named |= {f"critic.{name}": parameter for name, parameter in self.critic.named_parameters()}
        return named


def build_pupil(recipe: Recipe, vocabulary: int) -> Pupil:
    """Build what a filled recipe describes, with fresh weights."""
    network = build(recipe.model, vocabulary, recipe.pieces.max_length)
    initialise(network, recipe.training.seed)
    if recipe.training.initial == "silent":
        silence(network)
    if recipe.training.forcing != "professor":
        return Pupil(network)
    critic = Critic(network.output.weight.shape[1])
    initialise(critic, recipe.training.seed)
    return Pupil(network, critic)


def find_gradients(pupil: Pupil, settings: Training, batch: Batch, number: int, *, pieces: int, part: int = 0) -> float:
    """Set the gradients of a batch's loss a target piece, and return its cross-entropy, which is what is told.

    A batch may be a part of a larger one, whose number of target pieces is given; each part has its own noise.
    """
    network = pupil.network
    network.train()
    network.noise.restart(settings.seed, number, part)
    device, passes = network.bias.device, count_passes(settings)
    source, target, wanted = (torch.from_numpy(side).to(device, non_blocking=True).repeat(passes, 1) for side in batch)
    counts = wanted != PAD
    with computing(settings):
        given = _given(network, settings, target, number)
        outputs = network(source, source != PAD, target, given)
        judged = None
        if pupil.critic is not None:
            free = network(source, source != PAD, target, torch.zeros_like(counts))
            heeded = 1 - teacher_share(settings.forcing_decay, settings.forcing_updates, number)
            judged = _judge(pupil.critic, outputs, free, counts, heeded)
    decoded, right, kind = outputs[counts].float(), wanted[counts], products(settings)
    output = network.output.weight, network.bias
    if settings.agreement:
        twice = decoded.view(2, -1, decoded.shape[1])
        total, told = agreed_loss(
            twice, *output, right[: len(right) // 2], settings.label_smoothing, settings.agreement, kind
        )
    else:
        total = told = smoothed_loss(decoded, *output, right, settings.label_smoothing, kind)
    loss = total / (passes * pieces)
    network.zero_grad(set_to_none=True)
    if pupil.critic is not None:
        pupil.critic.zero_grad(set_to_none=True)
    torch.autograd.backward(loss if judged is None else loss + judged * (counts.sum() / pieces))
    return (told / (passes * pieces)).item()


def _given(network: Network, settings: Training, target: Int[Tensor, "b t"], number: int) -> Bool[Tensor, "b t"] | None:
    """Which pieces the decoder reads as a person wrote them; None is all."""
    match settings.forcing:
        case "teacher" | "professor":
            return None
        case "scheduled":
            share = teacher_share(settings.forcing_decay, settings.forcing_updates, number)
            return network.noise.kept(target.shape, round((1 - share) * 256)).to(target.device) > 0
        case _:
            assert_never(settings.forcing)


def _judge(
    critic: Critic,
    led: Float[Tensor, "b t d"],
    free: Float[Tensor, "b t d"],
    visible: Bool[Tensor, "b t"],
    heeded: float,
) -> Float[Tensor, ""]:
    """The critic's loss, which only teaches the critic, and the decoder's, which only teaches the decoder.

    A critic that is nearly always right would leave the decoder nothing to learn from, so it waits; one that is often
    wrong is not worth heeding. How much it is heeded grows while the decoder learns: one that cannot translate yet
    would rather give out the same whatever it reads, which nobody can tell from being led.
    """
    told = torch.cat([critic(led.detach(), visible), critic(free.detach(), visible)])
    truth = torch.cat([torch.ones(len(led)), torch.zeros(len(free))]).to(told)
    right = ((told > 0) == (truth > 0)).float().mean()
    at_rest = {name: parameter.detach() for name, parameter in critic.named_parameters()}
    taken = functional_call(critic, at_rest, (free, visible))
    learns = functional.binary_cross_entropy_with_logits(told, truth) * (right < _PERFECT)
    fools = functional.binary_cross_entropy_with_logits(taken, torch.ones_like(taken)) * (right > _KEEN)
    return learns + heeded * fools
