"""What machine this is."""

import os


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not on every system, but where it is, it knows of containers
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
