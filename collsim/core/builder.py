"""The builder: an author says who sends which pieces to whom; the rest follows."""

from collections.abc import Callable
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from collsim.core._operands import by_message, check_places, join, repeated, rows_of, whole
from collsim.core.collective import Collective, check_count, check_ranks, check_root
from collsim.core.dependencies import MAX_CARRIED, dependencies, with_turns
from collsim.core.schedule import COPY, REDUCE, Schedule
from collsim.core.setting import Setting
from collsim.core.symmetry import Fold
from collsim.errors import InputError, TooLargeError

__all__ = ["Builder"]

# Channels are stored in 16 bits.
MAX_CHANNELS: Final = 2**15

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]


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
    multicast : bool
        Whether the switch of every node takes messages too: that of node k is number P + k.

    Attributes
    ----------
    pieces : int64 array, shape (blocks, parts)
        Numbers of the pieces. Row i holds the parts of block i of the collective, those of
        the first channel first.
    setting : Setting
        Who is near whom.
    fold : Fold, optional
        Under which renamings a few ranks stand for all; None where all are listed.

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
        multicast: bool = False,
    ) -> None:
        self.collective = collective
        self.ranks = check_ranks(ranks)
        self.root = check_root(root, ranks)
        self.chunks = check_count("chunks", chunks)
        self.channels = check_count("channels", channels)
        self.setting = Setting(ranks, node, multicast)
        self.parts = parts = check_count("parts", parts) * channels
        blocks = collective.blocks(ranks)
        if blocks * parts > MAX_CARRIED:
            raise TooLargeError(
                f"builder: {collective.name} on {ranks} ranks has {blocks * parts:,} pieces, "
                f"more than the {MAX_CARRIED:,} that fit into memory"
            )
        self.pieces = np.arange(blocks * parts, dtype=np.int64).reshape(blocks, parts)
        self._scratch = 0
        self._round = -1
        self._carried = 0
        # Of each call: senders, receivers, pieces, places; kind, channel, round, width, strict.
        self._ends: list[tuple[Int32, Int32]] = []
        self._pieces: list[Int32] = []
        self._into: list[Int32 | None] = []
        # And how many messages: of one call, or a row for each of a block's.
        self._alike: list[tuple[int, int, int, int, bool, int] | Int64] = []
        self.fold: Fold | None = None
        self._turn: list[Int32] = []
        self._in_turns = False

    @property
    def every(self) -> Int64:
        """Ranks whose messages are to be listed: all, or those that stand for all."""
        return np.arange(self.ranks if self.fold is None else self.fold.step)

    def share(self, channel: int) -> Int64:
        """Return the pieces of one channel.

        Parameters
        ----------
        channel : int
            Its number, from 0.

        Returns
        -------
        int64 array, shape (blocks, parts of the channel)
            Numbers of its pieces, as in :attr:`pieces`.

        Raises
        ------
        InputError
            If there is no such channel.
        """
        if not 0 <= channel < self.channels:
            raise InputError(
                f"builder: channel is {channel}, expected 0 to {self.channels - 1}"
            )
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
            Whether a message with a turn also waits for the strict one of the same number
            of queue that its sender listed before it.

        Raises
        ------
        InputError
            If lengths disagree, or there is no such channel.
        TooLargeError
            If all messages together carry more than fits into memory.

        Examples
        --------
        Two messages at once, each with a half of the buffer:

        >>> from collsim.core.collective import collective
        >>> b = Builder(collective("broadcast"), ranks=3, parts=2)
        >>> b.copy([0, 0], [1, 2], [[0], [1]])
        >>> b.finish().fraction
        array([0.5, 0.5])
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
        """List messages that combine with what the receiver has.

        Parameters
        ----------
        src, dst, pieces, into, channel, turn, strict
            As of :meth:`copy`.
        """
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
        self._count(max(carried.size, messages))
        self._ends.append((source, target))
        self._pieces.append(carried.ravel())
        self._into.append(None if places is None else places.ravel())
        alike = (kind, channel, max(self._round, 0), carried.shape[1], strict, messages)
        self._alike.append(alike)
        self._in_turns |= turn is not None
        queue = np.atleast_1d(whole("turn", -1 if turn is None else turn))
        self._turn.append(np.broadcast_to(queue, (messages,)))

    def block(self, kind: int, src: ArrayLike, dst: ArrayLike, pieces: ArrayLike) -> None:
        """List many rounds at once, in which every message carries one piece.

        Parameters
        ----------
        kind : int
            `COPY` or `REDUCE`.
        src, dst : int array, shape (R, C, K) or broadcast to it
            Senders and receivers: of R new rounds, C channels, K messages.
        pieces : int array, shape (R, C, K)
            What each carries; it keeps its place.

        Raises
        ------
        InputError
            If `pieces` has no three axes, or there are too many channels.
        TooLargeError
            If all messages together carry more than fits into memory.

        Examples
        --------
        >>> from collsim.core.collective import collective
        >>> b = Builder(collective("broadcast"), ranks=3)
        >>> b.block(COPY, [[[0]], [[1]]], [[[1]], [[2]]], [[[0]], [[0]]])
        >>> len(b.finish()), b.finish().rounds
        (2, 2)
        """
        carried = whole("pieces", pieces)
        if carried.ndim != 3:
            raise InputError(f"builder: pieces has shape {carried.shape}, expected three axes")
        rounds, channels, messages = carried.shape
        if channels > MAX_CHANNELS:
            raise InputError(f"builder: {channels} channels, expected at most {MAX_CHANNELS}")
        self._count(carried.size)
        source, target = (
            np.broadcast_to(whole(name, end), carried.shape)
            for name, end in (("src", src), ("dst", dst))
        )
        self._ends.append((source, target))
        self._pieces.append(carried.ravel())
        self._into.append(None)
        alike = np.empty((rounds, channels, 6), dtype=np.int64)
        alike[:] = (kind, 0, 0, 1, False, messages)
        alike[:, :, 1] = np.arange(channels)
        alike[:, :, 2] = self._round + 1 + np.arange(rounds)[:, None]
        self._alike.append(alike.reshape(-1, 6))
        self._round += rounds
        self._turn.append(np.broadcast_to(np.int32(-1), carried.size))

    def expect(self, pieces: int) -> None:
        """Refuse a schedule whose messages will carry too many pieces, before any is listed.

        Raises
        ------
        TooLargeError
            If they are more than what is simulated.
        """
        if self._carried + pieces > MAX_CARRIED:
            raise TooLargeError(
                f"builder: {self.collective.name} on {self.ranks} ranks sends more than "
                f"{MAX_CARRIED:,} pieces, which is more than fits into memory"
            )

    def _count(self, pieces: int) -> None:
        """Count pieces that are carried, which must not become too many."""
        self.expect(pieces)
        self._carried += pieces

    def _memories(self) -> int:
        """Return of how many ranks and switches the places are told apart."""
        return self.ranks + self.setting.agents.size

    def finish(self) -> Schedule:
        """Derive the dependencies and return the schedule.

        Returns
        -------
        Schedule
            Every message in the order in which it was listed, and the dependencies that no
            others imply.

        Raises
        ------
        InputError
            If a sender, receiver or place does not exist.
        """
        # What was given call by call is let go of as it is joined: it is as much again.
        src, dst = (join([ends[i] for ends in self._ends]) for i in range(2))
        self._ends = [(src, dst)]
        piece = into = join(self._pieces)
        if any(places is not None for places in self._into):
            pairs = zip(self._pieces, self._into, strict=True)
            into = join([p if places is None else places for p, places in pairs])
        self._pieces, self._into = [piece], [None if into is piece else into]
        n = src.size
        rows = [np.zeros((0, 6), dtype=np.int64), *(np.atleast_2d(one) for one in self._alike)]
        kinds, channels, rounds, widths, strict, counts = np.concatenate(rows).T
        kind = np.repeat(kinds.astype(np.int8), counts)
        width = int(widths[0]) if n and (widths == widths[0]).all() else 0
        rows_at = partial(rows_of, width, widths, counts)
        later: dict[str, Callable[[], NDArray[np.generic]]] = {
            "round": partial(np.repeat, rounds.astype(np.int32), counts),
            "piece_ptr": rows_at,
        }
        # Rows of one width need no pointers.
        ptr = width or rows_at()
        if not width:
            later["piece_ptr"] = partial(np.asarray, ptr)
        slots = self.pieces.size + self._scratch
        parties = self._memories()
        check_places(src, dst, piece, into, parties, slots)
        each = kind if width == 1 else np.repeat(kind, width or np.diff(ptr))
        accesses = (each, ptr, piece, into, slots)
        if self._in_turns:
            turn = join(self._turn)
            self._turn = [turn]
            if (turn >= 0).any():
                strictly = np.repeat(strict, counts) == 1
                accesses = with_turns(each, rows_at(), piece, into, slots, turn, strictly)
        dep_ptr, dep = dependencies(src, dst, *accesses, parties)
        last = max(int(src.max(initial=0)), int(dst.max(initial=0)))
        rounds = rounds[counts > 0]
        return Schedule.derived(
            later,
            width=width,
            rounds=int(rounds.max()) + 1 if n else 0,
            turns=int(np.count_nonzero(rounds[1:] != rounds[:-1])) + 1 if n else 0,
            collective=self.collective,
            ranks=self.ranks,
            root=self.root,
            parts=self.parts,
            scratch=self._scratch,
            src=src,
            dst=dst,
            kind=kind,
            channel=repeated(channels.astype(np.int16), counts),
            piece=piece,
            into=into,
            dep_ptr=dep_ptr,
            dep=dep,
            agents=max(0, last + 1 - self.ranks),
        )
