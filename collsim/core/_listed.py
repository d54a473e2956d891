"""What an author has listed so far: messages, call by call, in the form that costs least."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from collsim.core._operands import MAX_CHANNELS, by_message, whole
from collsim.errors import InputError

__all__ = ["Int32", "Int64", "Listed"]

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]


class Listed:
    """Messages in program order.

    Attributes
    ----------
    ends : list of (int32 array, int32 array)
        Of each call the senders and the receivers.
    pieces, into : list of int32 array
        What they carry, and the places that they write; None where data keep their place.
    alike : list
        Of each call, what its messages have in common: kind, channel, round, width, whether
        turns are strict, and how many messages they are. A row for each of a block's.
    turn : list of int32 array
        Number of a queue at the receiver, or -1.
    in_turns : bool
        Whether any call has named a queue.
    round : int
        Of what was listed last; -1 before the first.
    """

    def __init__(self) -> None:
        self.ends: list[tuple[Int32, Int32]] = []
        self.pieces: list[Int32] = []
        self.into: list[Int32 | None] = []
        self.alike: list[tuple[int, int, int, int, bool, int] | Int64] = []
        self.turn: list[Int32] = []
        self.in_turns = False
        self.round = -1

    def add(
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
        """List messages of the round, as of `Builder.copy`.

        Raises
        ------
        InputError
            If lengths disagree, or there is no such channel.
        """
        source, target = np.atleast_1d(whole("src", src)), np.atleast_1d(whole("dst", dst))
        messages = source.size
        if not 0 <= channel < MAX_CHANNELS:
            raise InputError(f"builder: channel is {channel}, expected 0 to {MAX_CHANNELS - 1}")
        if target.size != messages:
            raise InputError(f"builder: {messages} senders but {target.size} receivers")
        carried = by_message("pieces", pieces, messages)
        places = None if into is None else by_message("into", into, messages)
        if places is not None and places.shape != carried.shape:
            raise InputError(
                f"builder: into has shape {places.shape}, expected {carried.shape}"
            )
        queue = np.atleast_1d(whole("turn", -1 if turn is None else turn))
        if queue.shape not in {(1,), (messages,)}:
            raise InputError(
                f"builder: turn has shape {queue.shape}, expected one for each of {messages} "
                "messages"
            )
        if messages:
            # Messages listed before the first round is begun are of the first one.
            self.round = max(self.round, 0)
        self.ends.append((source, target))
        self.pieces.append(carried.ravel())
        self.into.append(None if places is None else places.ravel())
        alike = (kind, channel, max(self.round, 0), carried.shape[1], strict, messages)
        self.alike.append(alike)
        self.in_turns |= turn is not None
        self.turn.append(np.broadcast_to(queue, (messages,)))

    def add_block(self, kind: int, src: ArrayLike, dst: ArrayLike, carried: Int32) -> None:
        """List messages of many new rounds, as of `Builder.block`.

        Raises
        ------
        InputError
            If senders or receivers don't go with the pieces, or there are too many channels.
        """
        rounds, channels, messages = carried.shape
        if channels > MAX_CHANNELS:
            raise InputError(f"builder: {channels} channels, expected at most {MAX_CHANNELS}")
        self.ends.append((_as_many("src", src, carried), _as_many("dst", dst, carried)))
        self.pieces.append(carried.ravel())
        self.into.append(None)
        alike = np.empty((rounds, channels, 6), dtype=np.int64)
        alike[:] = (kind, 0, 0, 1, False, messages)
        alike[:, :, 1] = np.arange(channels)
        alike[:, :, 2] = self.round + 1 + np.arange(rounds)[:, None]
        self.alike.append(alike.reshape(-1, 6))
        self.round += rounds
        self.turn.append(np.broadcast_to(np.int32(-1), carried.size))


def _as_many(name: str, ends: ArrayLike, carried: Int32) -> Int32:
    """Return a sender or receiver for every piece of a block."""
    given = whole(name, ends)
    try:
        return np.broadcast_to(given, carried.shape)
    except ValueError:
        raise InputError(
            f"builder: {name} has shape {given.shape}, expected {carried.shape}"
        ) from None
