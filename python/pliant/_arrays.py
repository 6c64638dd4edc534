"""Arrays of the package: their types, and how they go to the compiled part."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ._pliant import ControlError

Array = NDArray[np.float64]
Values = Sequence[float] | Array


def vector(values: Values) -> Array:
    """The numbers as an array of one dimension. Raises `ControlError` for anything else."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ControlError(f"expected numbers in one dimension: {error}") from None
    if array.dtype.kind not in "fiub":
        raise ControlError(f"expected real numbers, not an array of dtype {array.dtype}")
    if array.ndim != 1:
        raise ControlError(f"expected numbers in one dimension, not an array of shape {array.shape}")
    return np.ascontiguousarray(array, np.float64)


def floats(values: Values) -> list[float]:
    numbers: list[float] = vector(values).tolist()
    return numbers


def packed(values: Values) -> bytes:
    return vector(values).tobytes()


def unpacked(values: bytes) -> Array:
    return np.frombuffer(values, np.float64)
