"""The type of NumPy's arrays, for modules that must load without NumPy.

NumPy takes a tenth of a second to load, and who wants only a translation need not wait for it.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]
else:
    Array = Any
