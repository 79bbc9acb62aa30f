"""The graphics card, if one is asked for: fused attention, bfloat16 and compiled code, from the code of the CPU.

None of this has been measured: the machines that dragoman is developed on have no such card.
"""

import torch

from dragoman.errors import TrainingError


def precision(device: torch.device) -> torch.autocast:
    """The numbers that a network computes with: float32 on the cores, bfloat16 where that is several times as fast."""
    return torch.autocast(device.type, torch.bfloat16, enabled=device.type != "cpu")


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
