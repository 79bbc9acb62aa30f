"""A process that helps to learn: it computes the gradients of the rows it is given, and nothing else.

Started by `dragoman.training.crew`, which describes what passes between the two.
"""

import json
import signal
import sys
from typing import IO, Any

import numpy as np
import torch

from dragoman.data.batches import Batch, Numbers
from dragoman.recipe import parse_recipe
from dragoman.training.crew import LOSS, fix_threads, in_room, share_memory
from dragoman.training.learner import Learner
from dragoman.training.memory import keep_memory
from dragoman.training.muon import orthogonalise


def main() -> None:
    """Help until there is nothing more to do."""
    for number in (signal.SIGINT, signal.SIGTERM):  # these are for the process that leads, which saves before it ends
        signal.signal(number, signal.SIG_IGN)
    keep_memory()
    ask, answer = sys.stdin.buffer, sys.stdout.buffer
    helper: _Helper | None = None
    while line := ask.readline():
        about = json.loads(line)
        if "recipe" in about:
            helper = _Helper(about)
            continue
        assert helper is not None
        done = helper.orthogonalise(about) if "orthogonalise" in about else helper.learn(about, ask)
        answer.write(LOSS.pack(done))
        answer.flush()


class _Helper:
    """A network that shares its weights, and a room to leave results in."""

    def __init__(self, about: dict[str, Any]) -> None:
        fix_threads(about["threads"])
        self._part = about["part"]
        self._learner = Learner(parse_recipe(about["recipe"], where="the recipe"), about["vocabulary"])
        parameters = self._learner.parameters
        rooms = share_memory(int(sys.argv[1]), about["processes"], parameters)
        for parameter, weight in zip(parameters, in_room(rooms[0], parameters), strict=True):
            parameter.data = weight
        self._room = rooms[self._part]
        self._gradients = in_room(self._room, parameters)

    def learn(self, about: dict[str, Any], ask: IO[bytes]) -> float:
        """Leave the gradients of the rows that follow, and return their loss."""
        rows = _rows(ask, about["shapes"])
        loss = self._learner.gradients(rows, about["update"], pieces=about["pieces"], part=self._part)
        for parameter, gradient in zip(self._learner.parameters, self._gradients, strict=True):
            assert parameter.grad is not None
            gradient.copy_(parameter.grad)
        return loss

    def orthogonalise(self, about: dict[str, Any]) -> float:
        """Make the matrices in the room orthogonal."""
        for stack in in_room(self._room, [torch.empty(shape, device="meta") for shape in about["orthogonalise"]]):
            stack.copy_(orthogonalise(stack))
        return 0.0


def _rows(ask: IO[bytes], shapes: list[list[int]]) -> Batch:
    def read(shape: list[int]) -> Numbers:
        count = int(np.prod(shape))
        return np.frombuffer(bytearray(ask.read(count * 8)), np.int64).reshape(shape)

    return Batch(*map(read, shapes))


if __name__ == "__main__":
    main()
