"""The builder: an author says who sends which pieces to whom; the rest follows."""

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from collsim.core.collective import Collective, check_count, check_ranks, check_root
from collsim.core.depend import derive
from collsim.core.schedule import COPY, REDUCE, Schedule
from collsim.core.setting import Setting
from collsim.errors import InputError, TooLargeError

__all__ = ["COMPILE_FROM", "MAX_CARRIED", "Builder"]

# Pieces carried, over all messages, that a machine of some 8 GB still simulates. A ring
# all_reduce on 4,096 ranks has 33.5 million.
MAX_CARRIED: Final = 40_000_000
# Channels and places are stored in 16 and 32 bits.
MAX_CHANNELS: Final = 2**15
MAX_INT: Final = 2**31 - 1
# Beside COPY and REDUCE, for dependencies alone: what is written at both ends.
_TURN: Final = 3

# Below so many accesses plain Python is done before numba is even imported (about 0.5 s).
COMPILE_FROM: Final = 200_000

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
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
        Equal parts into which a channel cuts its share of every block; see :attr:`pieces`.
    node : int array, shape (P,), optional
        Node of every rank; None means that all are on one.
    channels : int
        Copies of the algorithm that run at once, each on its share of every block.

    Attributes
    ----------
    pieces : int64 array, shape (blocks, parts)
        Numbers of the pieces. Row i holds the parts of block i of the collective, those of
        the first channel first.
    setting : Setting
        Who is near whom.

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
        self,
        collective: Collective,
        ranks: int,
        root: int = 0,
        chunks: int = 1,
        parts: int = 1,
        *,
        node: ArrayLike | None = None,
        channels: int = 1,
    ) -> None:
        self.collective = collective
        self.ranks = check_ranks(ranks)
        self.root = check_root(root, ranks)
        self.chunks = check_count("chunks", chunks)
        self.channels = check_count("channels", channels)
        self.setting = Setting(ranks, node)
        self.parts = parts = check_count("parts", parts) * channels
        blocks = collective.blocks(ranks)
        if blocks * parts > MAX_CARRIED:
            raise TooLargeError(
                f"builder: {collective.name} on {ranks} ranks has {blocks * parts:,} pieces, "
                f"more than the {MAX_CARRIED:,} that are simulated"
            )
        self.pieces = np.arange(blocks * parts, dtype=np.int64).reshape(blocks, parts)
        self._scratch = 0
        self._round = -1
        self._carried = 0
        # Of each call: senders, receivers, pieces, places; kind, channel, round, width, strict.
        self._ends: list[tuple[Int32, Int32]] = []
        self._pieces: list[Int32] = []
        self._into: list[Int32 | None] = []
        self._alike: list[tuple[int, int, int, int, bool]] = []
        self._turn: list[Int32] = []

    def share(self, channel: int) -> Int64:
        """Return the pieces of one channel, shape (blocks, parts of the channel)."""
        width = self.parts // self.channels
        return self.pieces[:, channel * width : (channel + 1) * width]

    def next_round(self) -> None:
        """Begin a new round: what follows may happen at once, and after what came before."""
        self._round += 1

    def scratch(self, places: int) -> Int64:
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
        turn: ArrayLike | None = None,
        strict: bool = False,
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
        turn : int or int array, shape (k,), optional
            Number of a queue, from 0, that the receiver keeps: the message sets off when the
            one listed before it in that queue is there. Without it, a rank that has many
            chunks ready has its ports promised to all of them, before what it forwards.
        strict : bool
            Whether a message with a turn also waits for the strict one that its sender
            listed before it.
        """
        self._add(COPY, src, dst, pieces, into, channel, turn, strict)

    def reduce(
        self,
        src: ArrayLike,
        dst: ArrayLike,
        pieces: ArrayLike,
        into: ArrayLike | None = None,
        channel: int = 0,
        turn: ArrayLike | None = None,
        strict: bool = False,
    ) -> None:
        """List messages that combine with what the receiver has; as :meth:`copy` otherwise."""
        self._add(REDUCE, src, dst, pieces, into, channel, turn, strict)

    def _add(
        self,
        kind: int,
        src: ArrayLike,
        dst: ArrayLike,
        pieces: ArrayLike,
        into: ArrayLike | None,
        channel: int,
        turn: ArrayLike | None,
        strict: bool,
    ) -> None:
        source, target = np.atleast_1d(_whole("src", src)), np.atleast_1d(_whole("dst", dst))
        messages = source.size
        if not 0 <= channel < MAX_CHANNELS:
            raise InputError(f"builder: channel is {channel}, expected 0 to {MAX_CHANNELS - 1}")
        if target.size != messages:
            raise InputError(f"builder: {messages} senders but {target.size} receivers")
        carried = _by_message("pieces", pieces, messages)
        places = None if into is None else _by_message("into", into, messages)
        if places is not None and places.shape != carried.shape:
            raise InputError(
                f"builder: into has shape {places.shape}, expected {carried.shape}"
            )
        self._carried += max(carried.size, messages)
        if self._carried > MAX_CARRIED:
            raise TooLargeError(
                f"builder: {self.collective.name} on {self.ranks} ranks sends more than "
                f"{MAX_CARRIED:,} pieces, which is more than is simulated"
            )
        self._ends.append((source, target))
        self._pieces.append(carried.ravel())
        self._into.append(None if places is None else places.ravel())
        alike = (kind, channel, max(self._round, 0), carried.shape[1], strict)
        self._alike.append(alike)
        queue = np.atleast_1d(_whole("turn", -1 if turn is None else turn))
        self._turn.append(np.broadcast_to(queue, (messages,)))

    def finish(self) -> Schedule:
        """Derive the dependencies and return the schedule."""
        counts = np.array([source.size for source, _ in self._ends], dtype=np.int64)
        src, dst = (_join([ends[i] for ends in self._ends]) for i in range(2))
        piece = into = _join(self._pieces)
        if any(places is not None for places in self._into):
            pairs = zip(self._pieces, self._into, strict=True)
            into = _join([p if places is None else places for p, places in pairs])
        alike = np.array(self._alike, dtype=np.int64).reshape(-1, 5).T
        kind, channel, rounds = (
            np.repeat(column.astype(dtype), counts)
            for column, dtype in zip(alike, (np.int8, np.int16, np.int32), strict=False)
        )
        piece_ptr = np.zeros(src.size + 1, dtype=np.int64)
        piece_ptr[1:] = np.repeat(alike[3], counts)
        np.cumsum(piece_ptr, out=piece_ptr)
        slots = self.pieces.size + self._scratch
        _check_places(src, dst, piece, into, self.ranks, slots)
        accesses = (np.repeat(kind, np.diff(piece_ptr)), piece_ptr, piece, into, slots)
        turn = _join(self._turn)
        if (turn >= 0).any():
            accesses = _with_turns(*accesses, turn, np.repeat(alike[4], counts) == 1)
        dep_ptr, dep = _dependencies(src, dst, *accesses, self.ranks)
        return Schedule(
            collective=self.collective,
            ranks=self.ranks,
            root=self.root,
            parts=self.parts,
            scratch=self._scratch,
            src=src,
            dst=dst,
            kind=kind,
            channel=channel,
            round=rounds,
            piece_ptr=piece_ptr,
            piece=piece,
            into=into,
            dep_ptr=dep_ptr,
            dep=dep,
        )


def _join(arrays: list[Int32]) -> Int32:
    return np.concatenate(arrays) if arrays else np.empty(0, dtype=np.int32)


def _whole(name: str, values: ArrayLike) -> Int32:
    """Return whole numbers of 32 bits; others are refused, not cut off."""
    array = np.asarray(values)
    if array.size and array.dtype.kind not in "iu":
        raise InputError(f"builder: {name} is {values!r}, expected whole numbers")
    if array.size and (array.min() < -MAX_INT - 1 or array.max() > MAX_INT):
        raise InputError(f"builder: {name} is {values!r}, expected numbers below 2^31")
    return array.astype(np.int32, copy=False)


def _by_message(name: str, pieces: ArrayLike, messages: int) -> Int32:
    array = _whole(name, pieces)
    if array.ndim == 1 and messages == 1:
        return array.reshape(1, -1)
    if array.ndim != 2 or array.shape[0] != messages:
        raise InputError(
            f"builder: {name} has shape {array.shape}, "
            f"expected one row for each of {messages} messages"
        )
    return array


def _check_places(
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


def _with_turns(
    kind: NDArray[np.int8],
    ptr: Int64,
    piece: Int32,
    into: Int32,
    slots: int,
    turn: Int32,
    strict: NDArray[np.bool_],
) -> tuple[NDArray[np.int8], Int64, Int32, Int32, int]:
    """Let every message that has a turn also write a place of its queue at the receiver.

    A strict one writes a place at its sender, too, which others read in vain.
    """
    takes = turn >= 0
    at, queues = ptr[1:][takes], int(turn.max()) + 1
    longer = np.zeros_like(ptr)
    np.cumsum(takes, out=longer[1:])
    return (
        np.insert(kind, at, np.where(strict[takes], _TURN, COPY).astype(np.int8)),
        ptr + longer,
        np.insert(piece, at, slots + queues + ~strict[takes]),
        np.insert(into, at, slots + turn[takes]),
        slots + queues + 2,
    )


def _dependencies(
    src: Int32,
    dst: Int32,
    kind: NDArray[np.int8],
    ptr: Int64,
    piece: Int32,
    into: Int32,
    slots: int,
    ranks: int,
) -> tuple[Int64, Int32]:
    n, accesses = src.size, piece.size
    places = ranks * slots
    if places > max(4 * accesses, 1024):
        # Most places are never touched: number those that are.
        width = np.diff(ptr)
        read, write = (np.repeat(end.astype(np.int64) * slots, width) for end in (src, dst))
        used, packed = np.unique(
            np.concatenate([read + piece, write + into]), return_inverse=True
        )
        places, slots = used.size, 0
        piece, into = packed[:accesses].astype(np.int32), packed[accesses:].astype(np.int32)
    compiled = accesses >= COMPILE_FROM
    kernel: Derive = derive
    if compiled:
        # Loaded by name: the compiler lives a floor above, and only large jobs need it.
        from collsim.registry import member

        kernel = member("collsim.engine", "compiled", "derive", "kernel")  # type: ignore[assignment]

    def work(size: int, fill: int | None) -> Int32 | list[int]:
        if not compiled:
            return [fill or 0] * size
        # Memory of `empty` and `zeros` costs nothing until somebody touches it.
        if fill is None:
            return np.empty(size, dtype=np.int32)
        return np.full(size, fill, np.int32) if fill else np.zeros(size, dtype=np.int32)

    arrays = (kind, ptr, src, dst, piece, into)
    inputs = list(arrays) if compiled else [array.tolist() for array in arrays]
    capacity = n + accesses + 64
    while True:
        dep_ptr = np.zeros(n + 1, dtype=np.int64) if compiled else [0] * (n + 1)
        dep = work(capacity, None)
        total = kernel(
            n,
            slots,
            *inputs,
            work(places, -1),
            *(work(size, 0) for size in (places, n, n)),
            *(work(size, None) for size in (places, 2 * accesses, 2 * accesses, *[n] * 7)),
            dep_ptr,
            dep,
        )
        if total >= 0:
            return np.asarray(dep_ptr, dtype=np.int64), np.array(dep[:total], dtype=np.int32)
        capacity *= 4
        if capacity > 2 * MAX_CARRIED:
            raise TooLargeError(
                f"builder: {n:,} messages wait for more than {capacity // 4:,} others, "
                "which is more than is simulated"
            )
