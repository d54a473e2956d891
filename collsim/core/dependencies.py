"""Which messages wait for which: what they read and write, and the turns that they take."""

import sys
from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from collsim.core.dependencies_kernel import derive
from collsim.core.memory import allowed
from collsim.core.schedule import COPY
from collsim.errors import TooLargeError

__all__ = ["COMPILE_FROM", "MAX_CARRIED", "dependencies", "with_turns"]

# Pieces carried, over all messages, that fit into the memory of this machine: at 64 bytes
# each (a ring all_reduce takes 50 to 60, the simulation included), at 192 where it takes
# walks back to tell what implies what. Operations are numbered in 31 bits, one of which the
# engine has another use for.
MAX_CARRIED: Final = min(allowed(64), 2**30)
_MAX_WALKED: Final = min(allowed(192), 2**30)
# Where each of many messages waits for each of many others, finding these takes long before
# it takes memory.
_MOST_WAITS: Final = 80_000_000
# Below so many accesses plain Python is done before numba is even imported (about 0.5 s).
COMPILE_FROM: Final = 200_000
# The same where numba is there already; both kernels give the same.
_LOADED_FROM: Final = 500
# So many answers are kept at most: some 50 MB, touched by long pipelines alone.
_KEPT: Final = 2**22
# Beside COPY and REDUCE, for dependencies alone: what is written at both ends.
_TURN: Final = 3

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Derive = Callable[..., int]


def with_turns(
    kind: NDArray[np.int8],
    ptr: Int64,
    piece: Int32,
    into: Int32,
    slots: int,
    turn: Int32,
    strict: NDArray[np.bool_],
) -> tuple[NDArray[np.int8], Int64, Int32, Int32, int]:
    """Let every message that has a turn also write a place of its queue at the receiver.

    A strict one also writes a place of that queue at its sender; what others read there
    says nothing.
    """
    takes = turn >= 0
    at, queues = ptr[1:][takes], int(turn.max()) + 1
    own = np.where(strict[takes], queues + turn[takes], 2 * queues)
    longer = np.zeros_like(ptr)
    np.cumsum(takes, out=longer[1:])
    return (
        np.insert(kind, at, np.where(strict[takes], _TURN, COPY).astype(np.int8)),
        ptr + longer,
        np.insert(piece, at, slots + own),
        np.insert(into, at, slots + turn[takes]),
        slots + 2 * queues + 1,
    )


def dependencies(
    src: Int32,
    dst: Int32,
    kind: NDArray[np.int8],
    ptr: Int64 | int,
    piece: Int32,
    into: Int32,
    slots: int,
    ranks: int,
) -> tuple[Int32 | Int64, Int32]:
    """Return what every message waits for: where its own are, and all of them.

    Parameters
    ----------
    src, dst : int array, shape (N,)
        Sender and receiver of every message.
    kind, piece, into : int arrays, shape (M,)
        Of every access; see :func:`collsim.core.dependencies_kernel.derive`.
    ptr : int array, shape (N + 1,), or int
        Where the accesses of each message begin; or how many there are, of every message.
    slots, ranks : int
        Places of every rank, and ranks.
    """
    n, accesses = src.size, piece.size
    every = ptr if isinstance(ptr, int) else 0
    rows = np.zeros(1, dtype=np.int64) if isinstance(ptr, int) else ptr
    places = ranks * slots
    loaded = "collsim.engine.compiled" in sys.modules
    compiled = accesses >= (_LOADED_FROM if loaded else COMPILE_FROM)
    kernel: Derive = derive
    if compiled:
        # Loaded by name: the compiler lives a floor above, and only large jobs need it.
        from collsim.registry import member

        kernel = member("collsim.engine", "compiled", "derive", "kernel")  # type: ignore[assignment]
    if places > max(4 * accesses, 1024):
        # Most places are never touched: number those that are.
        if compiled and slots <= 8 * accesses:
            pack = member("collsim.engine", "compiled", "pack", "kernel")
            first, order = np.zeros(ranks + 2, dtype=np.int64), np.empty(2 * accesses, np.int64)
            read, written = (np.empty(accesses, dtype=np.int32) for _ in range(2))
            work_for = (first, order, np.zeros(slots, dtype=np.int32), read, written)
            places = pack(every, rows, src, dst, piece, into, *work_for)  # type: ignore[operator]
            piece, into = read, written
        else:
            width = every or np.diff(rows)
            ends = (np.repeat(end.astype(np.int64) * slots, width) for end in (src, dst))
            used, packed = np.unique(
                np.concatenate([e + p for e, p in zip(ends, (piece, into), strict=True)]),
                return_inverse=True,
            )
            places = used.size
            piece, into = packed[:accesses].astype(np.int32), packed[accesses:].astype(np.int32)
        slots = 0

    def work(size: int, fill: int | None) -> Int32 | list[int]:
        if not compiled:
            return [fill or 0] * size
        # Memory of `empty` and `zeros` costs nothing until somebody touches it.
        if fill is None:
            return np.empty(size, dtype=np.int32)
        return np.full(size, fill, np.int32) if fill else np.zeros(size, dtype=np.int32)

    arrays = (kind, rows, src, dst, piece, into)
    inputs = list(arrays) if compiled else [array.tolist() for array in arrays]
    capacity = n + accesses + 64
    kept = min(1 << (2 * n + 1).bit_length(), _KEPT)
    while True:
        wide = np.dtype(np.int32 if capacity < 2**31 else np.int64)
        dep_ptr = np.zeros(n + 1, dtype=wide) if compiled else [0] * (n + 1)
        dep = work(capacity, None)
        total = kernel(
            n,
            slots,
            every,
            accesses <= _MAX_WALKED,
            *inputs,
            work(2 * places, 0),
            np.zeros(places, dtype=np.int8) if compiled else [0] * places,
            *(work(n, 0) for _ in range(2)),
            *(work(size, None) for size in (2 * accesses, 2 * accesses, *[n] * 7)),
            work(n, 0),
            work(n, None),
            *(work(kept, 0) for _ in range(4)),
            dep_ptr,
            dep,
        )
        if total >= 0:
            # A view: what lies behind it was never touched, so it takes no memory.
            return np.asarray(dep_ptr, dtype=wide), np.asarray(dep[:total], dtype=np.int32)
        if total == -2:
            raise TooLargeError(
                f"builder: messages that carry {accesses:,} pieces wait for several others "
                f"each, which takes more memory than there is for {_MAX_WALKED:,}"
            )
        capacity *= 4
        if capacity > max(_MOST_WAITS, 8 * accesses):
            raise TooLargeError(
                f"builder: {n:,} messages wait for more than {capacity // 4:,} others, "
                "which is more than is simulated"
            )
