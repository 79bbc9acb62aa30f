"""Run benchmarks by name, or all; each prints what it measured and what was wanted."""

import datetime as dt
import os
import platform
import sys

from benchmarks import cold, demo, install, memory, multi30k, promise, training

ALL = {
    "install": install.run,
    "cold": cold.run,
    "promise": promise.run,
    "memory": memory.run,
    "demo": demo.run,
    "training": training.run,
    "multi30k": multi30k.run,
}


def main(names: list[str]) -> int:
    """Run the benchmarks named; return 1 if one missed its figure."""
    unknown = [name for name in names if name not in ALL]
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are: {', '.join(ALL)}", file=sys.stderr)
        return 2
    print(f"{dt.date.today()}, {os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}")
    missed = False
    for name in names or ALL:
        for figure in ALL[name]():
            print(f"{name}: {figure}", flush=True)
            missed |= figure.met is False
    return int(missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
