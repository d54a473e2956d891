"""A schedule: every message of a collective, as arrays, whatever the size."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from collsim.core.arguments import checked
from collsim.core.collective import Collective, check_count, check_ranks, check_root
from collsim.errors import InputError

__all__ = ["COPY", "REDUCE", "Schedule"]

COPY: Final = 0
REDUCE: Final = 1


@checked
@dataclass(frozen=True, eq=False)
class Schedule:
    """Operations in program order, and which earlier ones each must wait for.

    Built once by :class:`~collsim.core.builder.Builder`, simulated at every size:
    what an operation carries is a fraction of the buffer.

    Parameters
    ----------
    collective : Collective
        What the schedule is meant to do.
    ranks, root : int
        Rank count P, and the root (0 where there is none).
    parts : int
        Equal parts into which every block of the collective is cut. Piece
        ``block * parts + part`` is a place in every rank's memory.
    scratch : int
        Further places of every rank, of a piece's size, empty before the call;
        they are numbered after the pieces.
    src, dst : int32 array, shape (N,)
        Sender and receiver of each operation.
    kind : int8 array, shape (N,)
        `COPY` overwrites at the receiver, `REDUCE` combines.
    channel : int16 array, shape (N,)
        Which of several parallel channels it belongs to.
    round : int32 array, shape (N,)
        The round in which the author listed it; for the reader, not for the engine.
    piece_ptr : int64 array, shape (N + 1,)
        Operation i carries ``piece[piece_ptr[i]:piece_ptr[i + 1]]``, as one message.
    piece, into : int32 array, shape (M,)
        The places read at the sender, and those written at the receiver (the
        same array where data keep their place).
    dep_ptr : int array, shape (N + 1,)
        Operation i waits for ``dep[dep_ptr[i]:dep_ptr[i + 1]]``, all below i.
    dep : int32 array, shape (D,)
        Dependencies; none is implied by the others.
    agents : int
        Switches that take part: senders and receivers from P on, the one of node k as
        P + k. Their memory is empty before the call, and adding up costs them no time; a
        sum is handed to one rank, and gone.

    Raises
    ------
    InputError
        If lengths disagree, a rank, piece or dependency is out of range, or a switch sends
        to a switch.

    Examples
    --------
    >>> from collsim.algorithms import build
    >>> schedule = build("broadcast", "mst", 4)
    >>> schedule.src.tolist(), schedule.dst.tolist(), schedule.waits_for(1).tolist()
    ([0, 0, 2], [2, 1, 3], [])
    """

    collective: Collective
    ranks: int
    root: int
    parts: int
    scratch: int
    src: NDArray[np.int32]
    dst: NDArray[np.int32]
    kind: NDArray[np.int8]
    channel: NDArray[np.int16]
    round: NDArray[np.int32]
    piece_ptr: NDArray[np.int64]
    piece: NDArray[np.int32]
    into: NDArray[np.int32]
    dep_ptr: NDArray[np.int64]
    dep: NDArray[np.int32]
    agents: int = 0

    @classmethod
    @checked
    def derived(
        cls, later: Mapping[str, Callable[[], NDArray[np.generic]]], **columns: object
    ) -> "Schedule":
        """Return a schedule of columns that a builder has checked and derived.

        Parameters
        ----------
        later : dict of callable
            Columns that are made when first asked for: what few numbers imply takes memory
            only where somebody reads it.
        **columns
            All others, and properties that are known.

        Returns
        -------
        Schedule
            As one that is made of all columns at once.
        """
        schedule = object.__new__(cls)
        schedule.__dict__.update(columns, _later=dict(later))
        for column in columns.values():
            if isinstance(column, np.ndarray):
                column.flags.writeable = False
        schedule._check_agents()
        return schedule

    def _check_agents(self) -> None:
        """Refuse messages from a switch to a switch."""
        if self.agents and (np.minimum(self.src, self.dst) >= self.ranks).any():
            first = int(np.flatnonzero(np.minimum(self.src, self.dst) >= self.ranks)[0])
            raise InputError(
                f"schedule: operation {first} goes from the {self.party(self.src[first])} to "
                f"the {self.party(self.dst[first])}, expected a rank at one end"
            )

    if not TYPE_CHECKING:
        # Type checkers go by the fields above.
        def __getattr__(self, name):
            """Make a column when it is first asked for."""
            make = self.__dict__.get("_later", {}).get(name)
            if make is None:
                raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
            column = make()
            column.flags.writeable = False
            self.__dict__[name] = column
            return column

    def __post_init__(self) -> None:
        check_root(self.root, check_ranks(self.ranks))
        check_count("parts", self.parts)
        if self.scratch < 0:
            raise InputError(f"scratch: got {self.scratch}, expected 0 or more places")
        if self.agents < 0:
            raise InputError(f"agents: got {self.agents}, expected 0 or more switches")
        n = self.src.size
        for name in ("dst", "kind", "channel", "round"):
            if getattr(self, name).shape != (n,):
                raise InputError(
                    f"schedule: {name} has {getattr(self, name).size} entries, expected {n}"
                )
        _check_pointers("piece_ptr", self.piece_ptr, n, self.piece.size)
        if self.into.shape != self.piece.shape:
            raise InputError(
                f"schedule: into has {self.into.size} entries, expected {self.piece.size}"
            )
        _check_pointers("dep_ptr", self.dep_ptr, n, self.dep.size)
        _check_range("src", self.src, self.parties)
        _check_range("dst", self.dst, self.parties)
        self._check_agents()
        _check_range("piece", self.piece, self.places)
        _check_range("into", self.into, self.places)
        _check_range("kind", self.kind, 2)
        if self.dep.size:
            _check_range("dep", self.dep, n)
            late = self.dep >= np.repeat(np.arange(n, dtype=np.int32), np.diff(self.dep_ptr))
            if late.any():
                first = int(np.flatnonzero(late)[0])
                raise InputError(
                    f"schedule: dep[{first}] is {int(self.dep[first])}, expected an operation "
                    "before the one that waits for it"
                )
        for f in fields(self):
            value = getattr(self, f.name)
            if isinstance(value, np.ndarray):
                value.flags.writeable = False

    def __repr__(self) -> str:
        what = f"{len(self)} operations in {self.rounds} rounds"
        return f"<Schedule of {self.collective.name} on {self.ranks} ranks: {what}>"

    def __len__(self) -> int:
        return int(self.src.size)

    @property
    def parties(self) -> int:
        """Number of those that send and receive: ranks, and switches that take part."""
        return self.ranks + self.agents

    @checked
    def party(self, index: int) -> str:
        """Return how to call a sender or receiver: a rank's number, or a switch.

        Parameters
        ----------
        index : int
            A rank, or from P on the switch of a node.

        Returns
        -------
        str
            Such as ``"3"`` or ``"switch of node 0"``.

        Examples
        --------
        >>> from collsim.algorithms import build
        >>> nvls = build("all_reduce", "nvls", 4, multicast=True)
        >>> nvls.party(3), nvls.party(4)
        ('3', 'switch of node 0')
        """
        return str(index) if index < self.ranks else f"switch of node {index - self.ranks}"

    @property
    def pieces(self) -> int:
        """Number of pieces: blocks of the collective times `parts`."""
        return self.collective.blocks(self.ranks) * self.parts

    @property
    def places(self) -> int:
        """Number of places in each rank's memory: pieces and scratch."""
        return self.pieces + self.scratch

    @property
    def piece_share(self) -> float:
        """One piece's share of the buffer of n bytes."""
        return self.collective.share(self.ranks) / self.parts

    @cached_property
    def width(self) -> int:
        """Pieces that every operation carries; 0 where they carry unequally many.

        Examples
        --------
        >>> from collsim.algorithms import build
        >>> build("all_reduce", "ring", 4).width, build("scatter", "mst", 4).width
        (1, 0)
        """
        widths = np.diff(self.piece_ptr)
        return int(widths[0]) if widths.size and (widths == widths[0]).all() else 0

    @property
    def fraction(self) -> NDArray[np.float64]:
        """Bytes of each operation as a fraction of n, shape (N,)."""
        return np.diff(self.piece_ptr) * self.piece_share

    @cached_property
    def rounds(self) -> int:
        """Number of rounds in which the author listed the operations."""
        return int(self.round.max()) + 1 if len(self) else 0

    @cached_property
    def turns(self) -> int:
        """Number of runs of operations of one round, in program order.

        Examples
        --------
        >>> from collsim.algorithms import build
        >>> build("broadcast", "mst", 8).turns
        3
        """
        changes = np.count_nonzero(self.round[1:] != self.round[:-1])
        return int(changes) + 1 if len(self) else 0

    @checked
    def carried(self, operation: int) -> NDArray[np.int32]:
        """Return the places that an operation reads at its sender.

        Parameters
        ----------
        operation : int
            Its number, from 0.

        Returns
        -------
        int32 array
            Pieces, and scratch after them.
        """
        return self.piece[self.piece_ptr[operation] : self.piece_ptr[operation + 1]]

    @checked
    def written(self, operation: int) -> NDArray[np.int32]:
        """Return the places that an operation writes at its receiver.

        Parameters
        ----------
        operation : int
            Its number, from 0.

        Returns
        -------
        int32 array
            Pieces, and scratch after them.
        """
        return self.into[self.piece_ptr[operation] : self.piece_ptr[operation + 1]]

    @checked
    def waits_for(self, operation: int) -> NDArray[np.int32]:
        """Return the operations that an operation waits for.

        Parameters
        ----------
        operation : int
            Its number, from 0.

        Returns
        -------
        int32 array
            Their numbers, all lower than its own.
        """
        return self.dep[self.dep_ptr[operation] : self.dep_ptr[operation + 1]]


def _check_pointers(name: str, pointers: NDArray[np.int64], n: int, total: int) -> None:
    if pointers.shape != (n + 1,) or pointers[0] != 0 or pointers[-1] != total:
        raise InputError(f"schedule: {name} must have {n + 1} entries, from 0 to {total}")
    if n and (np.diff(pointers) < 0).any():
        raise InputError(f"schedule: {name} must not decrease")


def _check_range(name: str, values: NDArray[np.signedinteger], limit: int) -> None:
    if values.size and (int(values.min()) < 0 or int(values.max()) >= limit):
        wrong = int(np.flatnonzero((values < 0) | (values >= limit))[0])
        raise InputError(
            f"schedule: {name}[{wrong}] is {int(values[wrong])}, expected 0 to {limit - 1}"
        )
