"""Where a network learns and with what numbers: float32 or bfloat16, on the cores or on a graphics card.

The card takes fused attention and compiled code, from the code of the cores. None of that has been measured: the
machines that dragoman is developed on have no such card.
"""

import torch

from dragoman.config import Training
from dragoman.errors import TrainingError


def products(settings: Training) -> torch.dtype:
    """The numbers that products of matrices are computed with."""
    rough = settings.device != "cpu" if settings.precision is None else settings.precision == "bfloat16"
    return torch.bfloat16 if rough else torch.float32


def computing(settings: Training) -> torch.autocast:
    """While a network computes, its products are of such numbers."""
    kind = products(settings)
    return torch.autocast(settings.device, torch.bfloat16, enabled=kind is torch.bfloat16)


def put_on(network: torch.nn.Module, device: str) -> None:
    """Move a network to where it learns."""
    if device == "cpu":
        return
    if not torch.cuda.is_available():
        raise TrainingError(
            "this PyTorch finds no graphics card",
            hint="install a PyTorch that was built for yours, or train on the cores: --set training.device=cpu",
        )
    torch.set_float32_matmul_precision("high")
    network.to(device)
    network.compile(dynamic=True)
