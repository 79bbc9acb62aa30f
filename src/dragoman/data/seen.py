"""Remember which of millions of keys have been seen, in about eight bytes a key.

The keys lie in sorted arrays whose sizes grow like powers of two; two arrays of like size are merged into
one, so a key is moved only a logarithmic number of times, and is looked up in a handful of arrays, many keys
at once.
"""

import numpy as np
import numpy.typing as npt

Keys = npt.NDArray[np.uint64]


class Seen:
    """A set of 64-bit keys that takes and answers many keys at a time."""

    def __init__(self) -> None:
        self._levels: list[Keys] = []  # each sorted, the largest first

    def __len__(self) -> int:
        return sum(map(len, self._levels))

    def add(self, keys: Keys) -> npt.NDArray[np.bool_]:
        """Add keys; tell for each whether it is new, counting the first of several equal ones only."""
        distinct, first = np.unique(keys, return_index=True)
        new = ~self._known(distinct)
        is_new = np.zeros(len(keys), dtype=np.bool_)
        is_new[first[new]] = True
        self._keep(distinct[new])
        return is_new

    def _known(self, keys: Keys) -> npt.NDArray[np.bool_]:
        known = np.zeros(len(keys), dtype=np.bool_)
        for level in self._levels:
            places = np.searchsorted(level, keys)
            places[places == len(level)] = 0
            known |= level[places] == keys
        return known

    def _keep(self, keys: Keys) -> None:
        """Add sorted new keys as the smallest level, then merge levels until each is twice the next."""
        if not len(keys):
            return
        self._levels.append(keys)
        while len(self._levels) > 1 and len(self._levels[-2]) < 2 * len(self._levels[-1]):
            merged = np.concatenate([self._levels.pop(), self._levels.pop()])
            merged.sort(kind="stable")  # radix or merging sort: quick on two sorted runs
            self._levels.append(merged)
