"""Renamings of ranks under which a schedule stays what it is, and their representatives."""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from collsim.core.collective import Collective
from collsim.core.setting import Setting
from collsim.errors import InputError

__all__ = ["Axes", "Fold", "Symmetry", "axes_of"]

IntArray = NDArray[np.int64]

# Of an array of pieces: the length of every axis, and how many ranks one step along it is;
# 0 where renaming leaves it alone.
Axes = tuple[tuple[int, int], ...]


def _parts_stay(_setting: Setting, _chunks: int, _channels: int) -> Axes:
    """Return no axes: renaming ranks leaves the parts of every block alone."""
    return ()


def _one_rank(_setting: Setting, _channels: int) -> int:
    """Return 1: the schedule is the same after renaming by any number of ranks."""
    return 1


@dataclass(frozen=True)
class Symmetry:
    """What the author of an algorithm claims: renamed ranks do the same.

    Parameters
    ----------
    kind : {"shift", "xor"}
        Rank r becomes ``(r + k) mod P``, or ``r XOR k`` on a power of two of ranks.
    axes : callable
        ``(setting, chunks, channels) -> Axes``: the parts of a block as an array, the axes
        of which are renamed with the ranks; no axes where all parts stay.
    step : callable
        ``(setting, channels) -> int``: k is a multiple of it.

    Examples
    --------
    >>> Symmetry("shift").step(Setting(8), 1)
    1
    """

    kind: Literal["shift", "xor"]
    axes: Callable[[Setting, int, int], Axes] = _parts_stay
    step: Callable[[Setting, int], int] = _one_rank


@dataclass(frozen=True)
class Fold:
    """A group of renamings, and the ranks that stand for all.

    Every rank is one of the representatives 0 to ``step - 1``, renamed by so many turns.

    Parameters
    ----------
    kind : {"shift", "xor"}
        Rank r becomes ``(r + turn * step) mod P``, or ``r XOR (turn * step)``.
    ranks : int
        Rank count P.
    step : int
        How many representatives there are: a divisor of P below P.

    Raises
    ------
    InputError
        If the step does not divide P, or one of them is no power of two for XOR.

    Examples
    --------
    >>> fold = Fold("shift", 12, 4)
    >>> fold.turns, fold.moved(np.array([1, 11]), 1).tolist()
    (3, [5, 3])
    """

    kind: str
    ranks: int
    step: int

    def __post_init__(self) -> None:
        if self.kind not in ("shift", "xor"):
            raise InputError(f"fold: got {self.kind!r}, expected shift or xor")
        if not 0 < self.step < self.ranks or self.ranks % self.step:
            raise InputError(
                f"fold: got a step of {self.step}, expected a divisor of {self.ranks} below it"
            )
        if self.kind == "xor" and (
            self.ranks & (self.ranks - 1) or self.step & (self.step - 1)
        ):
            raise InputError(
                f"fold: {self.step} of {self.ranks} ranks, expected powers of two for xor"
            )

    @property
    def turns(self) -> int:
        """Number of renamings, the one that changes nothing included."""
        return self.ranks // self.step

    @property
    def generators(self) -> tuple[int, ...]:
        """Turns of which all others are made.

        Examples
        --------
        >>> Fold("shift", 8, 1).generators, Fold("xor", 8, 1).generators
        ((1,), (1, 2, 4))
        """
        if self.kind == "shift":
            return (1,)
        return tuple(1 << bit for bit in range(self.turns.bit_length() - 1))

    def moved(self, rank: IntArray, turn: IntArray | int) -> IntArray:
        """Return ranks renamed by some turns."""
        return self._along(rank, turn, self.ranks, 1)

    def back(self, turn: IntArray) -> IntArray:
        """Return the turns that undo some others."""
        return -turn % self.turns if self.kind == "shift" else turn

    def after(self, first: IntArray, second: IntArray) -> IntArray:
        """Return the turns that do what two others do, one after the other."""
        return (first + second) % self.turns if self.kind == "shift" else first ^ second

    def _along(self, index: IntArray, turn: IntArray | int, length: int, unit: int) -> IntArray:
        by = np.asarray(turn, dtype=np.int64) * (self.step // unit)
        if self.kind == "xor":
            return index ^ by
        found: IntArray = np.asarray(index + by)
        # Nearly everywhere cheaper than a remainder: turns stay below those of the whole.
        if by.size and int(by.min()) >= 0 and int(by.max()) <= length:
            np.subtract(found, length, out=found, where=found >= length)
            return found
        return found % length

    def pieces(self, piece: IntArray, turn: IntArray, axes: Axes) -> IntArray:
        """Return what pieces are called after so many turns.

        Parameters
        ----------
        piece : int array
            Numbers of pieces; those beyond the axes are scratch places, which stay.
        turn : int array, same shape or broadcast
            By how many turns each is renamed.
        axes : Axes
            Pieces as an array.

        Examples
        --------
        >>> fold = Fold("shift", 4, 2)
        >>> fold.pieces(np.array([0, 5, 9]), np.array(1), ((2, 0), (4, 1))).tolist()
        [2, 7, 9]
        """
        count = prod(length for length, _ in axes)
        moves = any(unit for _, unit in axes)
        if not moves:
            return piece
        found = np.zeros_like(piece)
        left, below = piece, 1
        for length, unit in reversed(axes):
            left, index = np.divmod(left, length)
            found += below * (self._along(index, turn, length, unit) if unit else index)
            below *= length
        return np.where(piece < count, found, piece)

    def check(self, axes: Axes, pieces: int) -> Axes:
        """Return the axes of so many pieces, or raise InputError if they don't fit."""
        if prod(length for length, _ in axes) != pieces:
            raise InputError(f"fold: axes {axes} do not make {pieces} pieces")
        for length, unit in axes:
            if unit and (length * unit != self.ranks or self.step % unit):
                raise InputError(
                    f"fold: an axis of {length}, {unit} ranks a step, does not go around the "
                    f"{self.ranks} ranks in steps of {self.step}"
                )
        return axes


def axes_of(
    kind: Collective,
    symmetry: Symmetry,
    setting: Setting,
    chunks: int,
    channels: int,
    parts: int,
) -> Axes:
    """Return all pieces of an algorithm as an array: blocks, then the parts of each.

    Examples
    --------
    >>> from collsim.core.collective import collective
    >>> axes_of(collective("all_gather"), Symmetry("shift"), Setting(4), 1, 2, 2)
    ((4, 1), (2, 0))
    """
    by_rank = 1 if kind.name == "sendrecv" else kind.split
    own = symmetry.axes(setting, chunks, channels) or ((parts, 0),)
    return (*((setting.ranks, 1),) * by_rank, *own)
