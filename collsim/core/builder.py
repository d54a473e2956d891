"""The builder: an author says who sends which pieces to whom; the rest follows."""

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from collsim.core.collective import Collective, check_ranks, check_root
from collsim.core.depend import derive
from collsim.core.schedule import COPY, REDUCE, Schedule
from collsim.errors import InputError

__all__ = ["COMPILE_FROM", "Builder"]

# Below so many accesses plain Python is done before numba is even imported (about 0.5 s).
COMPILE_FROM: Final = 200_000

Derive = Callable[..., int]


class Builder:
    """Collects operations in program order and derives their dependencies.

    Parameters
    ----------
    collective : Collective
        What is being built.
    ranks : int
        Rank count P.
    root : int
        Root of a rooted collective.
    chunks : int
        Into how many chunks the user wants a pipelined message cut.
    parts : int
        Equal parts into which every block is cut; see :attr:`pieces`.

    Attributes
    ----------
    pieces : int64 array, shape (blocks, parts)
        Numbers of the pieces. Row i holds the parts of block i of the collective.

    Examples
    --------
    A broadcast from rank 0 to two others, one after the other:

    >>> from collsim.core.collective import collective
    >>> b = Builder(collective("broadcast"), ranks=3)
    >>> for rank in (1, 2):
    ...     b.next_round()
    ...     b.copy(0, rank, b.pieces[0])
    >>> schedule = b.finish()
    >>> len(schedule), schedule.rounds
    (2, 2)
    """

    def __init__(
        self, collective: Collective, ranks: int, root: int = 0, chunks: int = 1, parts: int = 1
    ) -> None:
        self.collective = collective
        self.ranks = check_ranks(ranks)
        self.root = check_root(root, ranks)
        if chunks < 1 or parts < 1:
            raise InputError(f"chunks: got {min(chunks, parts)}, expected a whole number from 1 up")
        self.chunks = chunks
        self.parts = parts
        blocks = collective.blocks(ranks)
        self.pieces = np.arange(blocks * parts, dtype=np.int64).reshape(blocks, parts)
        self._scratch = 0
        self._round = -1
        self._ops: list[tuple[NDArray[np.int32], ...]] = []
        self._pieces: list[NDArray[np.int32]] = []
        self._into: list[NDArray[np.int32] | None] = []

    def next_round(self) -> None:
        """Begin a new round: what follows may happen at once, and after what came before."""
        self._round += 1

    def scratch(self, places: int) -> NDArray[np.int64]:
        """Return the numbers of so many further places, empty at every rank before the call."""
        first = self.pieces.size + self._scratch
        self._scratch += places
        return np.arange(first, first + places, dtype=np.int64)

    def copy(
        self,
        src: ArrayLike,
        dst: ArrayLike,
        pieces: ArrayLike,
        into: ArrayLike | None = None,
        channel: int = 0,
    ) -> None:
        """List messages that overwrite at the receiver.

        Parameters
        ----------
        src, dst : int or int array, shape (k,)
            Sender and receiver of one message, or of k messages at once.
        pieces : int array, shape (m,) or (k, m)
            What one message carries, or what each of the k messages carries.
        into : int array, same shape as `pieces`, optional
            Places to write at the receiver, where data don't keep their place.
        channel : int
            Which of several parallel channels carries them.
        """
        self._add(COPY, src, dst, pieces, into, channel)

    def reduce(
        self,
        src: ArrayLike,
        dst: ArrayLike,
        pieces: ArrayLike,
        into: ArrayLike | None = None,
        channel: int = 0,
    ) -> None:
        """List messages that combine with what the receiver has; as :meth:`copy` otherwise."""
        self._add(REDUCE, src, dst, pieces, into, channel)

    def _add(
        self,
        kind: int,
        src: ArrayLike,
        dst: ArrayLike,
        pieces: ArrayLike,
        into: ArrayLike | None,
        channel: int,
    ) -> None:
        source = np.atleast_1d(np.asarray(src, dtype=np.int32))
        target = np.atleast_1d(np.asarray(dst, dtype=np.int32))
        messages = source.size
        if target.size != messages:
            raise InputError(f"builder: {messages} senders but {target.size} receivers")
        carried = _by_message("pieces", pieces, messages)
        places = None if into is None else _by_message("into", into, messages)
        if places is not None and places.shape != carried.shape:
            raise InputError(f"builder: into has shape {places.shape}, expected {carried.shape}")
        row = np.empty((4, messages), dtype=np.int32)
        row[0], row[1], row[2], row[3] = kind, channel, max(self._round, 0), carried.shape[1]
        self._ops.append((source, target, *row))
        self._pieces.append(carried.ravel())
        self._into.append(None if places is None else places.ravel())

    def finish(self) -> Schedule:
        """Derive the dependencies and return the schedule."""
        if self._ops:
            columns = [np.concatenate(c) for c in zip(*self._ops, strict=True)]
            piece = np.concatenate(self._pieces)
        else:
            columns = [np.empty(0, dtype=np.int32)] * 6
            piece = np.empty(0, dtype=np.int32)
        src, dst, kind, channel, rounds, width = columns
        into = piece
        if any(places is not None for places in self._into):
            pairs = zip(self._pieces, self._into, strict=True)
            into = np.concatenate([p if places is None else places for p, places in pairs])
        piece_ptr = np.zeros(src.size + 1, dtype=np.int64)
        np.cumsum(width, out=piece_ptr[1:])
        slots = self.pieces.size + self._scratch
        _check_places(src, dst, piece, into, self.ranks, slots)
        dep_ptr, dep = _dependencies(src, dst, kind, piece_ptr, piece, into, slots, self.ranks)
        return Schedule(
            collective=self.collective,
            ranks=self.ranks,
            root=self.root,
            parts=self.parts,
            scratch=self._scratch,
            src=src,
            dst=dst,
            kind=kind.astype(np.int8),
            channel=channel.astype(np.int16),
            round=rounds,
            piece_ptr=piece_ptr,
            piece=piece,
            into=into,
            dep_ptr=dep_ptr,
            dep=dep,
        )


def _by_message(name: str, pieces: ArrayLike, messages: int) -> NDArray[np.int32]:
    array = np.asarray(pieces, dtype=np.int32)
    if array.ndim == 1 and messages == 1:
        return array.reshape(1, -1)
    if array.ndim != 2 or array.shape[0] != messages:
        raise InputError(
            f"builder: {name} has shape {array.shape}, expected one row for each of {messages} messages"
        )
    return array


def _check_places(
    src: NDArray[np.int32],
    dst: NDArray[np.int32],
    piece: NDArray[np.int32],
    into: NDArray[np.int32],
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


def _dependencies(
    src: NDArray[np.int32],
    dst: NDArray[np.int32],
    kind: NDArray[np.int32],
    ptr: NDArray[np.int64],
    piece: NDArray[np.int32],
    into: NDArray[np.int32],
    slots: int,
    ranks: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    n, accesses = src.size, piece.size
    width = np.diff(ptr)
    read = np.repeat(src.astype(np.int64) * slots, width) + piece
    write = np.repeat(dst.astype(np.int64) * slots, width) + into
    places = ranks * slots
    if places > max(4 * accesses, 1024):
        _, packed = np.unique(np.concatenate([read, write]), return_inverse=True)
        read, write = packed[:accesses], packed[accesses:]
        places = int(packed.max()) + 1 if accesses else 0
    compiled = accesses >= COMPILE_FROM
    kernel: Derive = derive
    if compiled:
        # Loaded by name: the compiler lives a floor above, and only large jobs need it.
        from collsim.registry import member

        kernel = member("collsim.engine", "compiled", "derive", "kernel")  # type: ignore[assignment]

    def work(size: int) -> NDArray[np.int32] | list[int]:
        return np.full(size, -1, dtype=np.int32) if compiled else [-1] * size

    def feed(values: NDArray[np.signedinteger], dtype: type) -> NDArray[np.signedinteger] | list[int]:
        return values.astype(dtype, copy=False) if compiled else values.tolist()

    capacity = n + accesses + 64
    while True:
        dep_ptr = np.zeros(n + 1, dtype=np.int64) if compiled else [0] * (n + 1)
        dep = work(capacity)
        total = kernel(
            n,
            feed(kind, np.int32),
            feed(ptr, np.int64),
            feed(read, np.int32),
            feed(write, np.int32),
            *(work(places) for _ in range(3)),
            *(work(2 * accesses) for _ in range(2)),
            *(work(n) for _ in range(9)),
            dep_ptr,
            dep,
        )
        if total >= 0:
            return (
                np.asarray(dep_ptr, dtype=np.int64),
                np.array(dep[:total], dtype=np.int32),
            )
        capacity *= 4
