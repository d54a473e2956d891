"""What a builder is given: whole numbers in range, a row per message."""

from typing import Final, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from collsim.errors import InputError

__all__ = ["MAX_CHANNELS", "by_message", "check_places", "join", "repeated", "rows_of", "whole"]

# Places are stored in 32 bits, channels in 16.
MAX_INT: Final = 2**31 - 1
MAX_CHANNELS: Final = 2**15

Int32 = NDArray[np.int32]


Scalar = TypeVar("Scalar", bound=np.generic)


def join(arrays: list[Int32]) -> Int32:
    """Return all numbers of some arrays of any shape, one after the other."""
    if all(array.ndim == 1 for array in arrays):
        return np.concatenate(arrays) if arrays else np.empty(0, dtype=np.int32)
    joined = np.empty(sum(array.size for array in arrays), dtype=np.int32)
    start = 0
    for array in arrays:
        joined[start : start + array.size].reshape(array.shape)[...] = array
        start += array.size
    return joined


def repeated(values: NDArray[Scalar], counts: NDArray[np.int64]) -> NDArray[Scalar]:
    """Return every value as often as it counts; without memory if all are equal."""
    if values.size and (values == values[0]).all():
        return np.broadcast_to(values[0], int(counts.sum()))
    return np.repeat(values, counts)


def rows_of(
    width: int, widths: NDArray[np.int64], counts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return where the row of each message begins, and where the last one ends.

    Parameters
    ----------
    width : int
        Of every row, or 0 where they are of unequal widths.
    widths, counts : int array
        Of the rows of each call, and how many there are.
    """
    n = int(counts.sum())
    if width:
        return np.arange(0, width * n + 1, width, dtype=np.int64)
    ptr = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.repeat(widths, counts), out=ptr[1:])
    return ptr


def whole(name: str, values: ArrayLike) -> Int32:
    """Return whole numbers of 32 bits; others are refused, not cut off."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise InputError(f"builder: {name} has rows of unequal lengths") from None
    if array.dtype == np.int32:
        return array
    if array.size and array.dtype.kind not in "iu":
        raise InputError(f"builder: {name} is {values!r}, expected whole numbers")
    if array.size and (array.min() < -MAX_INT - 1 or array.max() > MAX_INT):
        raise InputError(f"builder: {name} is {values!r}, expected numbers below 2^31")
    return array.astype(np.int32, copy=False)


def by_message(name: str, pieces: ArrayLike, messages: int) -> Int32:
    array = whole(name, pieces)
    if array.ndim == 1 and messages == 1:
        return array.reshape(1, -1)
    if array.ndim != 2 or array.shape[0] != messages:
        raise InputError(
            f"builder: {name} has shape {array.shape}, "
            f"expected one row for each of {messages} messages"
        )
    return array


def check_places(
    src: Int32,
    dst: Int32,
    piece: Int32,
    into: Int32,
    ranks: int,
    slots: int,
) -> None:
    for name, values, limit in (
        ("src", src, ranks),
        ("dst", dst, ranks),
        ("piece", piece, slots),
        ("into", into, slots),
    ):
        if values.size and not 0 <= int(values.min()) <= int(values.max()) < limit:
            raise InputError(
                f"builder: {name} runs from {values.min()} to {values.max()}, "
                f"expected 0 to {limit - 1}"
            )
