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
from dragoman.training.device import products
from dragoman.training.gradients import build_pupil, find_gradients
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
        recipe = parse_recipe(about["recipe"], where="the recipe")
        self._settings = recipe.training
        self._pupil = build_pupil(recipe, about["vocabulary"])
        self._parameters = list(self._pupil.parameters().values())
        rooms = share_memory(int(sys.argv[1]), about["processes"], self._parameters)
        for parameter, weight in zip(self._parameters, in_room(rooms[0], self._parameters), strict=True):
            parameter.data = weight
        self._room = rooms[self._part]
        self._gradients = in_room(self._room, self._parameters)

    def learn(self, about: dict[str, Any], ask: IO[bytes]) -> float:
        """Leave the gradients of the rows that follow, and return their loss."""
        rows = _rows(ask, about["shapes"])
        update, pieces = about["update"], about["pieces"]
        loss = find_gradients(self._pupil, self._settings, rows, update, pieces=pieces, part=self._part)
        for parameter, gradient in zip(self._parameters, self._gradients, strict=True):
            assert parameter.grad is not None
            gradient.copy_(parameter.grad)
        return loss

    def orthogonalise(self, about: dict[str, Any]) -> float:
        """Make the matrices in the room orthogonal."""
        for stack in in_room(self._room, [torch.empty(shape, device="meta") for shape in about["orthogonalise"]]):
            stack.copy_(orthogonalise(stack, products(self._settings)))
        return 0.0


def _rows(ask: IO[bytes], shapes: list[list[int]]) -> Batch:
    def read(shape: list[int]) -> Numbers:
        count = int(np.prod(shape))
        return np.frombuffer(bytearray(ask.read(count * 8)), np.int64).reshape(shape)

    return Batch(*map(read, shapes))


if __name__ == "__main__":
    main()
