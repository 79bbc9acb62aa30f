"""Several processes that learn from a batch together: each takes some of its rows, and all see the same weights.

The products of a small network are too small to keep two cores busy: its threads spend much of an update waiting for
each other. Processes of one thread each wait for each other once an update. The weights lie in shared memory, where
only the process that leads changes them; each helper leaves its gradients beside them.

A helper is a program of its own (`dragoman.training.helper`) that hears over its standard input which rows to learn
from: a line of JSON, then the rows. It ends when that input ends, so it never outlives the training.
"""

import json
import mmap
import os
import struct
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from itertools import accumulate
from typing import IO, Any

import torch
from jaxtyping import Float
from torch import Tensor

from dragoman.config import Recipe
from dragoman.data.batches import Batch, Numbers
from dragoman.errors import UnfinishedError
from dragoman.machine import cores, environment_of_programs
from dragoman.recipe import write_recipe
from dragoman.training.device import products
from dragoman.training.muon import orthogonalise

LOSS = struct.Struct("<d")
_GONE_SECONDS = 5.0
_ALIGNED = 16  # numbers: each array begins where a fast processor likes it


class Crew:
    """The helpers of a training: started early, for loading torch takes them a while; put to work by `sign_on`."""

    def __init__(self, processes: int) -> None:
        self.processes = processes
        self._threads = torch.get_num_threads()
        self._open = ExitStack()
        self._shared = self._open.enter_context(_shared_file()).fileno() if processes > 1 else -1
        self.helpers = [self._start() for _ in range(processes - 1)]
        self._rooms: list[Tensor] = []
        self._gradients: list[list[Tensor]] = []
        self._busy: list[int] = []
        self._kind = torch.float32

    def close(self) -> None:
        """Send the helpers home."""
        for helper in self.helpers:
            helper.kill()
            helper.wait()
            for pipe in (helper.stdin, helper.stdout):
                with suppress(OSError):  # what the helper did not read is lost on nobody
                    if pipe is not None:
                        pipe.close()
        self.helpers = []
        self._open.close()
        torch.set_num_threads(self._threads)

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603 -- our own program, in this interpreter
            [sys.executable, "-m", "dragoman.training.helper", str(self._shared)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=[self._shared],
            start_new_session=True,  # Ctrl-C is for the process that leads, which saves before it ends
            env=environment_of_programs(),
        )

    def sign_on(self, recipe: Recipe, vocabulary: int, parameters: Sequence[torch.nn.Parameter]) -> None:
        """Move the weights into the shared memory, and tell the helpers what network they belong to."""
        self._kind = products(recipe.training)
        fix_threads(max(1, cores() // self.processes))
        if not self.helpers:
            return
        self._rooms = share_memory(self._shared, self.processes, parameters)
        for weight, parameter in zip(in_room(self._rooms[0], parameters), parameters, strict=True):
            weight.copy_(parameter.detach())
            parameter.data = weight
        self._gradients = [in_room(room, parameters) for room in self._rooms[1:]]
        for part in range(1, self.processes):
            about = {
                "recipe": write_recipe(recipe),
                "vocabulary": vocabulary,
                "part": part,
                "processes": self.processes,
                "threads": torch.get_num_threads(),
            }
            self._send(part, about)

    def begin(self, batch: Batch, update: int) -> Batch:
        """Set the helpers to work on a batch, and return the rows that are left for the process that leads."""
        self._busy = [part for part in range(1, self.processes) if part < len(batch.source)]
        for part in self._busy:
            rows = take_part(batch, part, self.processes)
            shapes = [list(array.shape) for array in rows]
            self._send(part, {"update": update, "pieces": batch.pieces, "shapes": shapes}, rows)
        return take_part(batch, 0, self.processes)

    def finish(self, parameters: Sequence[torch.nn.Parameter]) -> float:
        """Wait for the helpers, add their gradients, and return their share of the loss."""
        loss = 0.0
        for part in self._busy:
            loss += LOSS.unpack(self._receive(part))[0]
            for parameter, gradient in zip(parameters, self._gradients[part - 1], strict=True):
                assert parameter.grad is not None
                parameter.grad += gradient
        return loss

    def orthogonalise(self, stacks: Sequence[Float[Tensor, "..."]]) -> list[Float[Tensor, "..."]]:
        """`dragoman.training.muon.orthogonalise` for several stacks of matrices, each process taking some of each."""
        shares = [[stack[part :: self.processes] for stack in stacks] for part in range(self.processes)]
        for part in range(1, self.processes):
            lent = in_room(self._rooms[part], shares[part])
            for place, share in zip(lent, shares[part], strict=True):
                place.copy_(share)
            self._send(part, {"orthogonalise": [list(share.shape) for share in shares[part]]})
            shares[part] = lent
        shares[0] = [orthogonalise(share, self._kind) for share in shares[0]]
        for part in range(1, self.processes):
            self._receive(part)
        found = [torch.empty_like(stack) for stack in stacks]
        for part, done in enumerate(shares):
            for whole, some in zip(found, done, strict=True):
                whole[part :: self.processes] = some
        return found

    def _send(self, part: int, about: dict[str, Any], rows: Sequence[Numbers] = ()) -> None:
        pipe = self.helpers[part - 1].stdin
        assert pipe is not None
        try:
            pipe.write(json.dumps(about).encode() + b"\n" + b"".join(array.tobytes() for array in rows))
            pipe.flush()
        except OSError as error:
            raise self._lost(part) from error

    def _receive(self, part: int) -> bytes:
        pipe = self.helpers[part - 1].stdout
        assert pipe is not None
        answer = pipe.read(LOSS.size)
        if len(answer) < LOSS.size:
            raise self._lost(part)
        return answer

    def _lost(self, part: int) -> UnfinishedError:
        helper = self.helpers[part - 1]
        with suppress(subprocess.TimeoutExpired):  # its pipes close a moment before it is gone
            helper.wait(_GONE_SECONDS)
        return UnfinishedError(
            f"a process that helps with the training ended (exit code {helper.poll()})",
            hint="if memory ran out, set training.processes to 1 in run/recipe.toml of the directory given as --out, "
            "and go on with: dragoman train --resume",
        )


def fix_threads(threads: int) -> None:
    """Use so many threads, neither more nor fewer.

    Unless it has been told, the library that multiplies matrices takes fewer threads on a busy machine, and then it
    rounds differently.
    """
    torch.set_num_threads(threads)


def take_part(batch: Batch, part: int, processes: int) -> Batch:
    """One process's rows of a batch: every so many, since like lengths lie together."""
    return Batch(*(array[part::processes] for array in batch))


def share_memory(descriptor: int, processes: int, parameters: Sequence[Tensor]) -> list[Tensor]:
    """Map the shared memory: first a room for the weights, then one for what each helper has done."""
    room = sum(map(_room, parameters))
    size = processes * room * 4
    if os.fstat(descriptor).st_size < size:
        os.ftruncate(descriptor, size)
    memory = torch.frombuffer(mmap.mmap(descriptor, size), dtype=torch.float32)
    return [memory[start : start + room] for start in range(0, len(memory), room)]


def in_room(room: Tensor, like: Sequence[Tensor]) -> list[Tensor]:
    """Arrays of the shapes of others, one after another in a room."""
    starts = [0, *accumulate(map(_room, like))]
    return [room[start : start + x.numel()].view(x.shape) for start, x in zip(starts, like, strict=False)]


def _room(x: Tensor) -> int:
    return -(-x.numel() // _ALIGNED) * _ALIGNED


def _shared_file() -> IO[bytes]:
    """A file without a name, in memory where the system can."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("dragoman"), "w+b")
    return tempfile.TemporaryFile()
