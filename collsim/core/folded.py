"""A folded schedule: the operations of a few ranks, which stand for those of all.

A schedule is symmetric where renaming ranks, and pieces with them, gives the same schedule.
Then the operations that representatives send say everything: every other operation is one of
them, renamed. Its receiver is renamed into the representatives too, together with the places
that it writes there; so each of them sees all that happens to its memory, and who waits for
whom follows as ever.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from collsim.core.builder import Builder
from collsim.core.collective import Collective
from collsim.core.schedule import Schedule
from collsim.core.setting import Setting
from collsim.core.symmetry import Axes, Fold
from collsim.errors import InputError

__all__ = ["Folded", "FoldedBuilder"]

IntArray = NDArray[np.int64]
Int32 = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Folded:
    """Operations of representatives, one for every orbit of operations.

    Parameters
    ----------
    schedule : Schedule
        Of the rank count P of the whole, but all senders and receivers are representatives.
        Places are those of the whole.
    fold : Fold
        The renamings.
    axes : Axes
        How pieces are renamed with the ranks.
    turn : int32 array, shape (N,)
        The receiver of operation i is ``fold.moved(dst[i], turn[i])`` when its sender is the
        representative ``src[i]`` itself.
    call_ptr : int64 array, shape (C + 1,)
        Operations ``call_ptr[c]`` up to ``call_ptr[c + 1]`` were listed at once. Among those of
        one turn the order is that of the representatives; it may not be among others.
    """

    schedule: Schedule
    fold: Fold
    axes: Axes
    turn: Int32
    call_ptr: IntArray

    def __post_init__(self) -> None:
        schedule, step = self.schedule, self.fold.step
        if schedule.ranks != self.fold.ranks or schedule.agents:
            raise InputError(
                f"folded: a schedule of {schedule.ranks} ranks and {schedule.agents} switches, "
                f"expected {self.fold.ranks} ranks and none"
            )
        if self.turn.shape != (len(schedule),) or self.call_ptr[-1] != len(schedule):
            raise InputError("folded: expected one turn, and one call, for every operation")
        ends = max(int(schedule.src.max(initial=0)), int(schedule.dst.max(initial=0)))
        if ends >= step:
            raise InputError(f"folded: rank {ends} is none of the {step} representatives")
        for array in (self.turn, self.call_ptr):
            array.flags.writeable = False

    def __repr__(self) -> str:
        return f"<Folded: {self.said}>"

    def __len__(self) -> int:
        return len(self.schedule)

    @property
    def operations(self) -> int:
        """Number of operations for which these stand."""
        return len(self.schedule) * self.fold.turns

    @property
    def said(self) -> str:
        """How many ranks are simulated, and why that is all.

        Examples
        --------
        >>> from collsim.algorithms import build_folded
        >>> build_folded("all_gather", "ring", Fold("shift", 16, 8)).said
        '8 of 16 ranks simulated; the others are the same by a shift of 8'
        """
        fold = self.fold
        how = "a shift of" if fold.kind == "shift" else "XOR with multiples of"
        return (
            f"{fold.step:,} of {fold.ranks:,} ranks simulated; the others are the same by "
            f"{how} {fold.step}"
        )

    @property
    def receiver(self) -> Int32:
        """Receiver of every operation in the whole, shape (N,)."""
        found = self.schedule.dst.copy()
        moved = np.flatnonzero(self.turn)
        found[moved] = self.fold.moved(
            found[moved].astype(np.int64), self.turn[moved].astype(np.int64)
        )
        return found


class FoldedBuilder(Builder):
    """A builder for the messages of representatives alone.

    What is listed must hold one message of every orbit; see :attr:`Builder.every`. A message
    of another rank is renamed into that of a representative.

    Parameters
    ----------
    kind : Collective
        What is being built.
    setting : Setting
        Ranks of the whole, without switches.
    fold : Fold
        The renamings.
    axes : Axes
        How pieces are renamed.
    chunks, parts, channels : int
        As in :class:`Builder`.
    """

    def __init__(
        self,
        kind: Collective,
        setting: Setting,
        fold: Fold,
        axes: Axes,
        chunks: int = 1,
        parts: int = 1,
        channels: int = 1,
    ) -> None:
        super().__init__(
            kind, setting.ranks, 0, chunks, parts, node=setting.node, channels=channels,
            rings=setting.rings,
        )  # fmt: skip
        self.fold: Fold = fold
        self.axes = fold.check(axes, self.pieces.size)
        self._turns: list[Int32] = []

    def _add(self, *given: object) -> None:
        super()._add(*given)  # type: ignore[arg-type]
        rows = self._listed.ends[-1][0].size, int(np.asarray(self._listed.alike[-1]).ravel()[3])
        pieces, into = self._listed.pieces[-1].reshape(rows), self._listed.into[-1]
        ends = tuple(end.reshape(-1, 1) for end in self._listed.ends[-1])
        self._rename(ends, pieces, pieces if into is None else into.reshape(rows), (rows[0], 1))

    def block(self, kind: int, src: ArrayLike, dst: ArrayLike, pieces: ArrayLike) -> None:
        """List many rounds at once; see :meth:`Builder.block`."""
        super().block(kind, src, dst, pieces)
        # All rounds may go the same ways: what renames one of them then renames all.
        rows = np.shape(pieces)
        carried = self._listed.pieces[-1].reshape(rows)
        ends = tuple(np.array(end, ndmin=3) for end in (src, dst))
        self._rename(ends, carried, carried, rows)

    def _rename(
        self,
        ends: tuple[NDArray[Any], ...],
        pieces: Int32,
        into: Int32,
        messages: tuple[int, ...],
    ) -> None:
        """Rename the messages that were listed last into those of representatives.

        Parameters
        ----------
        ends : tuple of int array
            Senders and receivers, to be broadcast against the pieces; as many axes.
        pieces, into : int array
            Places read and written.
        messages : tuple of int
            Shape of an array with one entry for each message.
        """
        fold = self.fold
        (away, src), (at, dst) = (np.divmod(end.astype(np.int64), fold.step) for end in ends)
        turn = fold.after(at, fold.back(away)).astype(np.int32)

        def each(values: NDArray[Any]) -> Int32:
            return np.broadcast_to(values.astype(np.int32), messages).ravel()

        self._turns.append(each(turn))
        self._listed.ends[-1] = each(src), each(dst)
        read = self._places(pieces, fold.back(away))
        written = self._places(into, fold.back(at))
        self._listed.pieces[-1] = read.ravel()
        self._listed.into[-1] = None if written is read else written.ravel()

    def _places(self, places: Int32, turn: IntArray) -> Int32:
        """Return places renamed by turns that are broadcast against them."""
        some = turn != 0
        if not some.any():
            return places
        renamed = places.copy()
        if turn.shape[0] == 1:
            # The same in every row.
            here = np.broadcast_to(some[0], places.shape[1:])
            by = np.broadcast_to(turn[0], places.shape[1:])[here]
            renamed[:, here] = self.fold.pieces(places[:, here].astype(np.int64), by, self.axes)
            return renamed
        where, by = (np.broadcast_to(values, places.shape) for values in (some, turn))
        renamed[where] = self.fold.pieces(places[where].astype(np.int64), by[where], self.axes)
        return renamed

    def _memories(self) -> int:
        return self.fold.step

    def folded(self) -> Folded:
        """Derive the dependencies and return the folded schedule."""
        schedule = self.finish()
        counts = [np.atleast_2d(one)[:, 5] for one in self._listed.alike]
        call_ptr = np.cumsum(np.concatenate([[0], *counts]))
        turn = np.concatenate([np.zeros(0, np.int32), *self._turns])
        return Folded(schedule, self.fold, self.axes, turn, call_ptr)
