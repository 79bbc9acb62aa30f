"""Other toolkits, measured on equal terms: the same batches, the same weights, the same cores.

Each peer runs in an environment of its own (`environment.py`), as a program that reads a request in JSON and answers
with one line of JSON; nothing of dragoman is imported there. `others.md` tells of those that cannot be measured.
"""

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.peers.environment import PeerError, python_of
from dragoman.machine import cores

Peer = TypeVar("Peer", bound=tuple[Any, ...])

_HERE = Path(__file__).parent
TRAINING = {
    "joeynmt": "joeynmt_train.py",
    "transformers": "transformers_train.py",
    "eole": "eole_train.py",
    "plain_torch": "plain_torch.py",
}
TRANSLATION = {"joeynmt": "joeynmt_translate.py", "transformers": "transformers_translate.py"}
_PATIENCE = 1800
"""Seconds that a peer may take beyond those that it is asked to."""


def wanted_peers(peers: Sequence[Peer]) -> list[Peer]:
    """Those that PEERS asks for: none with 0, with `few` those against which a figure is wanted, else all.

    What is wanted stands last.
    """
    match os.environ.get("PEERS"):
        case "0":
            return []
        case "few":
            return [peer for peer in peers if peer[-1] is not None]
        case _:
            return list(peers)


def train_speed(peer: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    """Let a peer learn from given batches: target pieces a second, or `failed` with the reason.

    `batches`, `vocabulary`, `width`, `layers`, `heads`, `feed_forward`, `dropout`, `seconds`; `threads` are
    as many as there are cores and `warm_up` is 3 batches unless given.
    """
    return _run(peer, TRAINING, spec)


def translate_speed(peer: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    """Let a peer translate with a model of dragoman's: sentences a second and the outputs, or `failed`.

    `model`, `source`, `beam`, `max_length`, `batch`; `threads` are as many as there are cores unless given, and a
    `limit`, a `min_length` and `cold`, without anything to warm up, may be.
    """
    return _run(peer, TRANSLATION, spec)


def _run(peer: str, programs: Mapping[str, str], spec: Mapping[str, Any]) -> dict[str, Any]:
    """Run a peer's program in its environment and read its answer."""
    if peer not in programs:
        return {"failed": f"no such peer: {peer}; there are {', '.join(programs)}"}
    try:
        python = python_of(peer)
    except PeerError as error:
        return {"failed": str(error)}
    spec = {"threads": cores(), **spec}
    patience = _PATIENCE + spec.get("seconds", 0)
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as request:
        json.dump({name: str(value) if isinstance(value, Path) else value for name, value in spec.items()}, request)
        request.flush()
        begun = time.perf_counter()
        try:
            done = subprocess.run(
                [str(python), str(_HERE / programs[peer]), request.name],
                capture_output=True,
                text=True,
                check=False,
                timeout=patience,
                env=_surroundings(spec["threads"]),
            )
        except subprocess.TimeoutExpired:
            return {"failed": f"{programs[peer]} took longer than {patience:.0f} s"}
        whole = time.perf_counter() - begun
    lines = done.stdout.strip().splitlines()
    if done.returncode or not lines:
        return {"failed": " | ".join(done.stderr.strip().splitlines()[-5:]) or f"exit code {done.returncode}"}
    answer: dict[str, Any] = json.loads(lines[-1])
    return {**answer, "whole_seconds": whole}


def _surroundings(threads: int) -> dict[str, str]:
    """The environment variables of a peer: its threads, and no way to this project's modules or to the network."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return {**kept, "OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads), "HF_HUB_OFFLINE": "1"}
