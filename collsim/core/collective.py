"""Collectives, each defined by its pre- and postcondition over blocks of data.

A *block* is a part of the data that the collective itself tells apart: the
one array of a broadcast, the P shares of an all_gather, the P x P messages of
an all_to_all. Before the call, some ranks hold their own contribution to some
blocks; after it, some ranks must hold the whole of some blocks. Algorithms are
checked against nothing else.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from collsim.core.arguments import checked
from collsim.errors import InputError, UnknownNameError
from collsim.units import MAX_RANKS

__all__ = [
    "COLLECTIVES",
    "OPS",
    "Collective",
    "check_count",
    "check_ranks",
    "check_root",
    "collective",
]

IntArray = NDArray[np.int64]
Places = tuple[IntArray, IntArray]

OPS: Final = ("sum", "prod", "min", "max", "avg")


@dataclass(frozen=True)
class Collective:
    """A collective: who holds what before, who must hold what after.

    Parameters
    ----------
    name : str
        Canonical name, such as ``"all_reduce"``.
    rooted : bool
        Whether one rank, the root, plays a special part.
    reduces : bool
        Whether blocks are combined; the result holds one contribution of every
        rank. Otherwise a block has one origin and is copied.
    split : int
        How the buffer of n bytes is cut: 0 not at all (one block of n bytes, or
        one per rank for ``sendrecv``), 1 into P shares, 2 into P shares per rank.
    before, after : callable
        ``(ranks, root) -> (rank, block)``, two integer arrays of equal length:
        the places that hold data before the call, and that must hold the whole
        result after it. Every other place may hold anything.
    bus : callable
        ``ranks -> float``: bus bandwidth / algorithm bandwidth (nccl-tests).
    """

    name: str
    rooted: bool
    reduces: bool
    split: int
    before: Callable[[int, int], Places]
    after: Callable[[int, int], Places]
    bus: Callable[[int], float]

    def blocks(self, ranks: int) -> int:
        """Return how many blocks there are: 1, P or P squared.

        Examples
        --------
        >>> collective("all_to_all").blocks(4)
        16
        """
        if self.name == "sendrecv":
            return ranks
        return int(ranks**self.split)

    def share(self, ranks: int) -> float:
        """Return one block's share of the buffer of n bytes.

        Examples
        --------
        >>> collective("all_gather").share(4)
        0.25
        """
        return 1.0 if self.split == 0 else 1.0 / ranks

    def bus_factor(self, ranks: int) -> float:
        """Return bus bandwidth / algorithm bandwidth, as nccl-tests defines it.

        Source: nccl-tests, doc/PERFORMANCE.md.

        Examples
        --------
        >>> collective("all_reduce").bus_factor(8)
        1.75
        """
        return self.bus(ranks)

    def origin(self, ranks: int, root: int = 0) -> IntArray:
        """Return, per block, the rank whose data it is; -1 where all ranks contribute."""
        origin = np.full(self.blocks(ranks), -1, dtype=np.int64)
        if not self.reduces:
            rank, block = self.before(ranks, root)
            origin[block] = rank
        return origin


def _one(rank: int, blocks: int) -> Places:
    return np.full(blocks, rank, dtype=np.int64), np.arange(blocks, dtype=np.int64)


def _each_its_own(ranks: int) -> Places:
    every = np.arange(ranks, dtype=np.int64)
    return every, every.copy()


def _all_hold(ranks: int, blocks: int) -> Places:
    rank = np.repeat(np.arange(ranks, dtype=np.int64), blocks)
    return rank, np.tile(np.arange(blocks, dtype=np.int64), ranks)


def _messages(ranks: int, by_destination: bool) -> Places:
    block = np.arange(ranks * ranks, dtype=np.int64)
    return (block % ranks if by_destination else block // ranks), block


def _next(ranks: int) -> Places:
    every = np.arange(ranks, dtype=np.int64)
    return (every + 1) % ranks, every


def _unity(_: int) -> float:
    return 1.0


def _others(ranks: int) -> float:
    return (ranks - 1) / ranks


def _twice_others(ranks: int) -> float:
    return 2 * (ranks - 1) / ranks


_ALL: Final = {
    c.name: c
    for c in (
        Collective(
            "broadcast",
            True,
            False,
            0,
            lambda p, r: _one(r, 1),
            lambda p, r: _all_hold(p, 1),
            _unity,
        ),
        Collective(
            "reduce",
            True,
            True,
            0,
            lambda p, r: _all_hold(p, 1),
            lambda p, r: _one(r, 1),
            _unity,
        ),
        Collective(
            "scatter",
            True,
            False,
            1,
            lambda p, r: _one(r, p),
            lambda p, r: _each_its_own(p),
            _others,
        ),
        Collective(
            "gather",
            True,
            False,
            1,
            lambda p, r: _each_its_own(p),
            lambda p, r: _one(r, p),
            _others,
        ),
        Collective(
            "all_gather",
            False,
            False,
            1,
            lambda p, r: _each_its_own(p),
            lambda p, r: _all_hold(p, p),
            _others,
        ),
        Collective(
            "reduce_scatter",
            False,
            True,
            1,
            lambda p, r: _all_hold(p, p),
            lambda p, r: _each_its_own(p),
            _others,
        ),
        Collective(
            "all_reduce",
            False,
            True,
            0,
            lambda p, r: _all_hold(p, 1),
            lambda p, r: _all_hold(p, 1),
            _twice_others,
        ),
        Collective(
            "all_to_all",
            False,
            False,
            2,
            lambda p, r: _messages(p, by_destination=False),
            lambda p, r: _messages(p, by_destination=True),
            _others,
        ),
        Collective(
            "sendrecv",
            False,
            False,
            0,
            lambda p, r: _each_its_own(p),
            lambda p, r: _next(p),
            _unity,
        ),
    )
}

COLLECTIVES: Final = tuple(_ALL)
_SPELLINGS: Final = {name.replace("_", ""): name for name in _ALL}


@checked
def collective(name: str | Collective) -> Collective:
    """Return a collective by its name, in any usual spelling.

    Parameters
    ----------
    name : str or Collective
        For example ``"all_reduce"``, ``"allreduce"``, ``"all-reduce"``, ``"AllReduce"``; a
        collective is returned as it is.

    Returns
    -------
    Collective
        Its pre- and postcondition, size convention and bus-bandwidth factor.

    Raises
    ------
    UnknownNameError
        If there is none of that name; names the nearest.

    Examples
    --------
    >>> collective("AllToAll").name
    'all_to_all'
    """
    if isinstance(name, Collective):
        return name
    key = re.sub(r"[\s_-]", "", name).lower()
    if key not in _SPELLINGS:
        raise UnknownNameError("collective", name, COLLECTIVES)
    return _ALL[_SPELLINGS[key]]


def check_count(name: str, count: object) -> int:
    """Return the count, or raise InputError if it is not a whole number from 1 up."""
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise InputError(f"{name}: got {count!r}, expected a whole number from 1 up")
    return int(count)


def check_ranks(ranks: object) -> int:
    """Return the rank count; InputError if it is no whole number from 1 to 2**20."""
    found = check_count("ranks", ranks)
    if found > MAX_RANKS:
        raise InputError(f"ranks: got more than {MAX_RANKS}, expected at most that")
    return found


def check_root(root: object, ranks: int) -> int:
    """Return the root, or raise InputError if it is no rank."""
    if (
        isinstance(root, bool)
        or not isinstance(root, int | np.integer)
        or not 0 <= root < ranks
    ):
        raise InputError(f"root: got {root!r}, expected a rank from 0 to {ranks - 1}")
    return int(root)
