"""Arrays of the package: their types, and how they go to the compiled part."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Values = Sequence[float] | Array


def floats(values: Values) -> list[float]:
    return [float(x) for x in values]


def packed(values: Values) -> bytes:
    return np.ascontiguousarray(values, np.float64).tobytes()


def unpacked(values: bytes) -> Array:
    return np.frombuffer(values, np.float64)
