"""Memory is kept between updates: the kernel is asked for the same page once."""

import platform
import subprocess
import sys

import pytest

_COUNT = """
import resource, sys
import numpy as np
from dragoman.training.memory import keep_memory
if sys.argv[1] == "keep":
    keep_memory()
np.ones(4_000_000)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(5):
    np.ones(4_000_000)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(how: str) -> int:
    done = subprocess.run([sys.executable, "-c", _COUNT, how], capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the allocator that gives memory back is glibc's")
def test_large_arrays_cost_no_new_pages_once_memory_is_kept() -> None:
    assert faults("keep") * 10 < faults("give back")
