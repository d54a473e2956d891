"""Numbers that give a mistake away, and what a collective must make of them.

Every element of every contribution is a number of its own, drawn from its rank, its block
and its place in it; all sums are whole numbers that the type holds exactly. So a piece that
came from the wrong rank, moved by one place or was counted twice shows at the elements that
it touched, and results are compared for equality.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from collsim.core.collective import Collective
from collsim.errors import UnknownNameError

__all__ = ["BATCH", "contribution", "expected"]

Values = NDArray[np.float64]

BATCH: Final = 1 << 20
"""Elements that are made or compared at once, so that large buffers need little memory."""

# Whole numbers up to here are exact in each type (and in a double, in which they are made).
_EXACT: Final = {
    "int8": 2**7 - 1,
    "uint8": 2**8 - 1,
    "int32": 2**31 - 1,
    "uint32": 2**32 - 1,
    "int64": 2**50,
    "uint64": 2**50,
    "half": 2**11,
    "float": 2**24,
    "double": 2**50,
    "bfloat16": 2**8,
}


def contribution(
    rank: int, block: int, first: int, last: int, ranks: int, dtype: str, op: str | None
) -> Values:
    """Return a rank's elements `first` to `last` of a block.

    Parameters
    ----------
    rank, block : int
        Whose, and of which block.
    first, last : int
        Elements of the block, the last one not included.
    ranks : int
        Rank count P.
    dtype : str
        Type that must hold them, and the result, exactly.
    op : str, optional
        How they are combined; None if they are only copied.

    Examples
    --------
    >>> contribution(0, 0, 0, 3, 4, "float", "sum").tolist()
    [787068.0, 2830401.0, 639691.0]
    """
    if dtype not in _EXACT:
        raise UnknownNameError("dtype", dtype, tuple(_EXACT))
    drawn = _drawn(rank, block, first, last)
    limit = _EXACT[dtype]
    if op == "prod":
        # Powers of two: exact in every type, and no more than 2^6.
        return 1.0 + (drawn % 2 if rank < 6 else np.zeros_like(drawn)).astype(np.float64)
    if op == "sum":
        limit //= ranks
    if op == "avg":
        # Multiples of P, so that the sum can be divided, before adding or after.
        limit //= ranks * ranks
    scale = ranks if op == "avg" else 1
    return (drawn % np.uint64(max(2, limit))).astype(np.float64) * scale


def _drawn(rank: int, block: int, first: int, last: int) -> NDArray[np.uint64]:
    """Return numbers of 61 bits that look random (the mixing of splitmix64)."""
    seed = (rank * 0x9E3779B97F4A7C15 + block * 0xC2B2AE3D27D4EB4F + 0x165667B19E3779F9) % 2**64
    x = np.arange(first, last, dtype=np.uint64) * np.uint64(0x9FB21C651E98DF25)
    x ^= np.uint64(seed)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x ^= x >> np.uint64(shift)
        x *= np.uint64(factor)
    x ^= x >> np.uint64(31)
    return x >> np.uint64(3)


def expected(
    kind: Collective,
    ranks: int,
    root: int,
    block: int,
    first: int,
    last: int,
    dtype: str,
    op: str,
) -> Values:
    """Return what elements `first` to `last` of a block must be after the call.

    Examples
    --------
    >>> from collsim.core.collective import collective
    >>> kind = collective("all_reduce")
    >>> mine, other = (contribution(r, 0, 0, 2, 2, "float", "max") for r in (0, 1))
    >>> (expected(kind, 2, 0, 0, 0, 2, "float", "max") == np.maximum(mine, other)).all()
    np.True_
    """
    rank, held = kind.before(ranks, root)
    origins = np.sort(rank[held == block]).tolist()
    how = op if kind.reduces else None
    result = contribution(origins[0], block, first, last, ranks, dtype, how)
    for other in origins[1:]:
        more = contribution(other, block, first, last, ranks, dtype, how)
        if op == "prod":
            result *= more
        elif op == "min":
            np.minimum(result, more, out=result)
        elif op == "max":
            np.maximum(result, more, out=result)
        else:
            result += more
    return result / ranks if how == "avg" else result
