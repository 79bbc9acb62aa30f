"""What machine this is."""

import os
from pathlib import Path


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not on every system, but where it is, it knows of containers
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def environment_of_programs() -> dict[str, str]:
    """The environment in which another process of this interpreter finds this library, wherever it was loaded from."""
    library = str(Path(__file__).parents[1])
    return {**os.environ, "PYTHONPATH": os.pathsep.join([library, os.environ.get("PYTHONPATH", "")])}


def multiplies_bfloat16() -> bool:
    """Whether the processor has instructions for products of bfloat16; only Linux tells."""
    try:
        told = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").split()
    except OSError:
        return False
    return not {"avx512_bf16", "amx_bf16"}.isdisjoint(told)
