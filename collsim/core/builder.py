"""The builder: an author says who sends which pieces to whom; the rest follows."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from collsim.core._derived import derived
from collsim.core._listed import Listed
from collsim.core._operands import whole
from collsim.core.arguments import checked
from collsim.core.collective import Collective, check_count, check_ranks, check_root
from collsim.core.collective import collective as known
from collsim.core.dependencies import MAX_CARRIED
from collsim.core.schedule import COPY, REDUCE, Schedule
from collsim.core.setting import Setting
from collsim.core.symmetry import Fold
from collsim.errors import InputError, TooLargeError

__all__ = ["Builder"]

Int64 = NDArray[np.int64]


@checked
class Builder:
    """Collects operations in program order and derives their dependencies.

    Parameters
    ----------
    collective : Collective or str
        What is being built, or its name.
    ranks : int
        Rank count P.
    root : int
        Root of a rooted collective.
    chunks : int
        Into how many chunks the user wants a pipelined message cut.
    parts : int, optional
        Equal parts into which a channel cuts its share of every block; see :attr:`pieces`.
        None means one for each chunk.
    node : int array, shape (P,), optional
        Node of every rank; None means that all are on one.
    channels : int
        Copies of the algorithm that run at once, each on its share of every block.
    multicast : bool
        Whether the switch of every node takes messages too: that of node k is number P + k.
    rings : int array, shape (rings, ranks of a node), optional
        In which orders rings pass through a node, as ``cluster.setting.rings`` has them.

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

    >>> b = Builder("broadcast", ranks=3)
    >>> for rank in (1, 2):
    ...     b.next_round()
    ...     b.copy(0, rank, b.pieces[0])
    >>> schedule = b.finish()
    >>> len(schedule), schedule.rounds
    (2, 2)

    What is pipelined has a piece of every block for each chunk:

    >>> Builder("broadcast", ranks=3, chunks=4).pieces
    array([[0, 1, 2, 3]])
    """

    def __init__(
        self,
        collective: Collective | str,
        ranks: int,
        root: int = 0,
        chunks: int = 1,
        parts: int | None = None,
        *,
        node: ArrayLike | None = None,
        channels: int = 1,
        multicast: bool = False,
        rings: ArrayLike | None = None,
    ) -> None:
        self.collective = named = known(collective)
        self.ranks = check_ranks(ranks)
        self.root = check_root(root, ranks)
        self.chunks = check_count("chunks", chunks)
        self.channels = check_count("channels", channels)
        self.setting = Setting(ranks, node, multicast, rings)
        parts = self.chunks if parts is None else parts
        self.parts = parts = check_count("parts", parts) * channels
        blocks = named.blocks(ranks)
        if blocks * parts > MAX_CARRIED:
            raise TooLargeError(
                f"builder: {named.name} on {ranks} ranks has {blocks * parts:,} pieces, "
                f"more than the {MAX_CARRIED:,} that fit into memory"
            )
        self.pieces = np.arange(blocks * parts, dtype=np.int64).reshape(blocks, parts)
        self._scratch = 0
        self._carried = 0
        self._listed = Listed()
        self.fold: Fold | None = None

    @property
    def every(self) -> Int64:
        """Ranks whose messages are to be listed: all, or those that stand for all."""
        return np.arange(self.ranks if self.fold is None else self.fold.step)

    @checked
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
        self._listed.round += 1

    @checked
    def scratch(self, places: int) -> Int64:
        """Return the numbers of so many further places, empty at every rank before the call.

        Raises
        ------
        InputError
            If it is no count, or more than a schedule can hold.
        """
        first = self.pieces.size + self._scratch
        if not 0 <= places <= MAX_CARRIED - first:
            raise InputError(
                f"builder: got {places} places of scratch, expected 0 or more, and with "
                f"{first:,} others at most {MAX_CARRIED:,}"
            )
        self._scratch += places
        return np.arange(first, first + places, dtype=np.int64)

    @checked
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

    @checked
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
        source, carried = np.atleast_1d(whole("src", src)), whole("pieces", pieces)
        self._count(max(carried.size, source.size))
        self._listed.add(kind, source, dst, carried, into, channel, turn, strict)

    @checked
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
            If it is neither kind, `pieces` has no three axes, or there are too many channels.
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
        if kind not in {COPY, REDUCE}:
            raise InputError(f"builder: kind: got {kind!r}, expected {COPY} or {REDUCE}")
        carried = whole("pieces", pieces)
        if carried.ndim != 3:
            raise InputError(f"builder: pieces has shape {carried.shape}, expected three axes")
        self._count(carried.size)
        self._listed.add_block(kind, src, dst, carried)

    @checked
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
        return derived(
            self._listed,
            self._memories(),
            self.pieces.size + self._scratch,
            collective=self.collective,
            ranks=self.ranks,
            root=self.root,
            parts=self.parts,
            scratch=self._scratch,
        )
