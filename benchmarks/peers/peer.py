"""What the peers' programs share: the request, the clock, dragoman's weights under other names, the answer.

It runs inside the peers' environments and needs NumPy and safetensors only.
"""

import json
import re
import resource
import sys
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

PAD, UNKNOWN, START, END = range(4)
Ids = NDArray[np.int64]
Weights = dict[str, NDArray[np.float32]]


class Batch(NamedTuple):
    """Some pairs, padded; `target` begins with <s>, `source` and `wanted` end with </s>."""

    source: Ids
    target: Ids
    wanted: Ids

    @property
    def pieces(self) -> int:
        """Target pieces without the padding."""
        return int(np.count_nonzero(self.wanted != PAD))


class Sizes(NamedTuple):
    """The sizes of a model of dragoman's."""

    vocabulary: int
    width: int
    heads: int
    feed_forward: int
    encoder_layers: int
    decoder_layers: int


def read_request() -> dict[str, Any]:
    """Read the request named on the command line."""
    if len(sys.argv) != 2:
        sys.exit(f"usage: {Path(sys.argv[0]).name} REQUEST.json")
    request: dict[str, Any] = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    return request


def answer(**values: Any) -> None:
    """Print the answer, one line of JSON, and with it the most memory that this process took."""
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({**values, "megabytes": megabytes}), flush=True)


def read_batches(path: str) -> list[Batch]:
    """Read the batches to learn from."""
    with np.load(path) as arrays:
        count = sum(name.startswith("source_") for name in arrays.files)
        return [Batch(*(arrays[f"{side}_{n}"] for side in Batch._fields)) for n in range(count)]


class Clock:
    """Hands out batches, first to warm up and then for some seconds, and counts what is learned meanwhile."""

    def __init__(self, request: Mapping[str, Any]) -> None:
        self._warm_up, self._limit = int(request.get("warm_up", 3)), float(request["seconds"])
        self.updates, self.pieces, self.seconds, self._begun = 0, 0, 0.0, 0.0

    def feed(self, batches: Sequence[Batch]) -> Iterator[Batch]:
        """Yield batch after batch, until the time is over; each must be learned before the next is asked for."""
        endless = _epochs(batches)
        for _ in range(self._warm_up):
            yield next(endless)
        self._begun = time.perf_counter()
        while self.seconds < self._limit:
            batch = next(endless)
            yield batch
            self.updates, self.pieces = self.updates + 1, self.pieces + batch.pieces
            self.seconds = time.perf_counter() - self._begun

    def forgive(self, seconds: float) -> None:
        """Leave out time that was not spent learning."""
        self._begun += seconds

    def answer(self, version: str, **more: Any) -> None:
        """Print what was measured."""
        speed = self.pieces / self.seconds
        answer(pieces_per_second=speed, updates=self.updates, seconds=self.seconds, version=version, **more)


def _epochs(batches: Sequence[Batch]) -> Iterator[Batch]:
    """Yield the batches as they are given, then again and again, each time in another order."""
    yield from batches
    drawn = np.random.default_rng(1)
    while True:
        yield from (batches[n] for n in drawn.permutation(len(batches)))


def save_weights(path: Path, weights: Mapping[str, Any]) -> None:
    """Write tensors as arrays."""
    np.savez(path, **{name: weight.detach().numpy() for name, weight in weights.items()})


def read_sources(request: Mapping[str, Any]) -> list[list[int]]:
    """Read the sentences to translate: a JSON list of lists of ids, or an .npz with one array for each sentence."""
    path = Path(request["source"])
    if path.suffix == ".npz":
        with np.load(path) as arrays:
            sources = [arrays[name].tolist() for name in arrays.files]
    else:
        sources = json.loads(path.read_text(encoding="utf-8"))
    return sources[: request.get("limit")]


def translate_all(
    sources: Sequence[list[int]], request: Mapping[str, Any], translate: Callable[[list[list[int]]], list[list[int]]]
) -> dict[str, Any]:
    """Translate in batches of like length, end marks added, after one batch to warm up unless `cold`; time it.

    Outputs are cut before the end mark and come in the order of the sources.
    """
    ended = [[*source, END] for source in sources]
    order = sorted(range(len(ended)), key=lambda n: -len(ended[n]))
    size = int(request["batch"])
    if not request.get("cold"):
        translate([ended[n] for n in order[-size:]])
    outputs: list[list[int]] = [[] for _ in sources]
    begun = time.perf_counter()
    for start in range(0, len(order), size):
        chosen = order[start : start + size]
        for n, output in zip(chosen, translate([ended[n] for n in chosen]), strict=True):
            outputs[n] = output[: output.index(END)] if END in output else output
    seconds = time.perf_counter() - begun
    return {"sentences_per_second": len(sources) / seconds, "seconds": seconds, "outputs": outputs}


def pad(rows: Sequence[list[int]], with_: int = PAD) -> Ids:
    """Stack rows of different lengths."""
    padded = np.full((len(rows), max(map(len, rows))), with_, np.int64)
    for line, row in zip(padded, rows, strict=True):
        line[: len(row)] = row
    return padded


def read_model(directory: str) -> tuple[Sizes, Weights]:
    """Read a model of dragoman's: tied, pre-norm, with sinusoidal positions."""
    from safetensors.numpy import load_file

    weights: Weights = load_file(Path(directory) / "weights.safetensors")
    recipe = tomllib.loads((Path(directory) / "recipe.toml").read_text(encoding="utf-8"))["model"]
    if "embedding" not in weights or "encoder.norm.scale" not in weights or "encoder.positions" in weights:
        sys.exit(f"{directory}: only a tied pre-norm model with sinusoidal positions can be given to a peer")
    vocabulary, width = weights["embedding"].shape
    inner = weights["encoder.0.feed_forward.inner.bias"].shape[0]
    return Sizes(
        vocabulary, width, recipe["heads"], inner, _layers(weights, "encoder"), _layers(weights, "decoder")
    ), weights


def _layers(weights: Weights, side: str) -> int:
    return 1 + max(int(found[1]) for name in weights if (found := re.match(rf"{side}\.(\d+)\.", name)))


def rename(weights: Weights, names: Mapping[str, str]) -> Weights:
    """Give weights the names of a peer; `N` in a name stands for the layer's number."""
    leaves = {"weight": "weight", "bias": "bias", "scale": "weight", "shift": "bias"}
    renamed: Weights = {}
    for name, weight in weights.items():
        stem, _, leaf = name.rpartition(".")
        numbers = re.findall(r"\.(\d+)\.", stem)
        general = re.sub(r"\.\d+\.", ".N.", stem)
        if general in names:
            renamed[f"{names[general].replace('.N.', f'.{numbers[0]}.' if numbers else '.N.')}.{leaves[leaf]}"] = weight
    return renamed


def sinusoids(length: int, width: int) -> NDArray[np.float32]:
    """Dragoman's positions: sines in the even columns and cosines in the odd ones, from position 0."""
    angles = np.arange(length)[:, None] / 10_000 ** (np.arange(0, width, 2) / width)
    table = np.zeros((length, width))
    table[:, 0::2], table[:, 1::2] = np.sin(angles), np.cos(angles)
    return table.astype(np.float32)
