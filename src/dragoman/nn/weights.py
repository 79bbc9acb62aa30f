"""The names of the weights in a model directory, and the way between them and the network's own.

`docs/weights.md` is the table. It changes only with the format's version; the network's attribute names may change at
any time, and this file with them.
"""

import re
from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray

from dragoman.nn.models import Network

_RENAMES = (
    (r"\.layers\.(\d+)\.0\.(input|state)\.", r".\1.forward.\2."),
    (r"\.layers\.(\d+)\.1\.(input|state)\.", r".\1.backward.\2."),
    (r"\.cells\.(\d+)", r".\1"),
    (r"\.layers\.(\d+)", r".\1"),
    (r"(attention|feed_forward)_path\.norm", r"\1.norm"),
    (r"norm\.weight$", "norm.scale"),
    (r"norm\.bias$", "norm.shift"),
    (r"positions\.table$", "positions"),
    (r"embedding\.weight$", "embedding"),
    (r"^bias$", "output.bias"),
)
_TIED = {"encoder.embedding", "decoder.embedding", "output.weight"}


def file_name(name: str) -> str:
    """The name in a model directory of a parameter of an untied network."""
    for pattern, replacement in _RENAMES:
        name = re.sub(pattern, replacement, name)
    return name


def parameters(network: Network) -> dict[str, torch.nn.Parameter]:
    """Every parameter once, under its name in a model directory."""
    tied = network.encoder.embedding is network.output
    named: dict[str, torch.nn.Parameter] = {}
    for own, parameter in network.named_parameters():
        name = file_name(own)
        named["embedding" if tied and name in _TIED else name] = parameter
    return named


def to_arrays(network: Network) -> dict[str, NDArray[np.float32]]:
    """Copy the weights out."""
    return {name: p.detach().numpy().copy() for name, p in parameters(network).items()}


def from_arrays(network: Network, arrays: Mapping[str, NDArray[np.float32]]) -> None:
    """Copy weights in; names and shapes must be the network's own, all of them."""
    own = parameters(network)
    wrong = sorted(own.keys() ^ arrays.keys())
    wrong += [name for name in own.keys() & arrays.keys() if own[name].shape != arrays[name].shape]
    if wrong:
        raise ValueError(f"weights that do not fit the network: {', '.join(wrong)}")
    with torch.no_grad():
        for name, parameter in own.items():
            parameter.copy_(torch.from_numpy(np.array(arrays[name])))
