"""What a collective does, on four ranks: who holds what before, and who after."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from collsim.core.collective import Collective

__all__ = ["Example", "Holding", "example"]

_EXAMPLE_RANKS: Final = 4
_LETTERS: Final = "abcd"


@dataclass(frozen=True)
class Holding:
    """What one rank holds, element by element; empty where it may hold anything.

    Parameters
    ----------
    rank : int
        The rank.
    before, after : tuple of str
        In letters: ``a2`` is element 2 of rank 0, ``b2`` that of rank 1.
    before_values, after_values : tuple of int
        The same in numbers.
    """

    rank: int
    before: tuple[str, ...]
    after: tuple[str, ...]
    before_values: tuple[int, ...]
    after_values: tuple[int, ...]


@dataclass(frozen=True)
class Example:
    """A collective on four ranks.

    Parameters
    ----------
    root : int or None
        The rank that plays a special part; None without one.
    ranks : tuple of Holding
        In order.
    note : str
        What there is to say of the numbers, if anything.
    """

    root: int | None
    ranks: tuple[Holding, ...]
    note: str = ""


def example(kind: Collective, root: int = 0) -> Example:
    """Return the before and after of a collective on four ranks, sums where it reduces.

    Parameters
    ----------
    kind : Collective
        Any.
    root : int
        Its root; one beyond the four ranks becomes 0.

    Examples
    --------
    >>> from collsim.core.collective import collective
    >>> first = example(collective("reduce_scatter")).ranks[0]
    >>> first.after, first.after_values
    (('a0+b0+c0+d0',), (6,))
    """
    root = root if root < _EXAMPLE_RANKS else 0
    value: Callable[[int, int], int] = _VALUES.get(kind.name, _staircase)
    origin = [int(o) for o in kind.origin(_EXAMPLE_RANKS, root)]
    holdings: list[tuple[list[str], list[str], list[int], list[int]]] = [
        ([], [], [], []) for _ in range(_EXAMPLE_RANKS)
    ]
    for rank, block in zip(
        *(x.tolist() for x in kind.before(_EXAMPLE_RANKS, root)), strict=True
    ):
        for element in _elements(kind, block):
            holdings[rank][0].append(_symbol(kind, rank, element))
            holdings[rank][2].append(value(rank, element))
    for rank, block in _places(kind.after(_EXAMPLE_RANKS, root)):
        givers = range(_EXAMPLE_RANKS) if origin[block] < 0 else [origin[block]]
        for element in _elements(kind, block):
            holdings[rank][1].append(
                "+".join(_symbol(kind, giver, element) for giver in givers)
            )
            holdings[rank][3].append(sum(value(giver, element) for giver in givers))
    return Example(
        root if kind.rooted else None,
        tuple(
            Holding(rank, tuple(before), tuple(after), tuple(values), tuple(results))
            for rank, (before, after, values, results) in enumerate(holdings)
        ),
        _NOTES.get(kind.name, ""),
    )


def _staircase(rank: int, element: int) -> int:
    return rank + element


def _places(places: tuple[NDArray[np.int64], NDArray[np.int64]]) -> list[tuple[int, int]]:
    rank, block = places
    return [(int(r), int(b)) for r, b in zip(rank, block, strict=True)]


def _elements(kind: Collective, block: int) -> list[int]:
    """Return which elements of a rank's four a block holds."""
    if kind.split == 0 and kind.name != "sendrecv":
        return list(range(_EXAMPLE_RANKS))
    return [block % _EXAMPLE_RANKS]


def _symbol(kind: Collective, rank: int, element: int) -> str:
    # Where every rank brings one element, its letter says it all.
    return _LETTERS[rank] if kind.name in _ONE_EACH else f"{_LETTERS[rank]}{element}"


_ONE_EACH: Final = ("gather", "all_gather", "sendrecv")
# All others: rank r holds r, r + 1, r + 2, r + 3. The shares of all_gather are what
# reduce_scatter leaves behind, so that the two make an all_reduce.
_VALUES: Final[dict[str, Callable[[int, int], int]]] = {
    "gather": lambda rank, element: rank,
    "sendrecv": lambda rank, element: rank,
    "scatter": lambda rank, element: element,
    "broadcast": lambda rank, element: element,
    "all_gather": lambda rank, element: 6 + 4 * rank,
    "all_to_all": lambda rank, element: _EXAMPLE_RANKS * rank + element,
}
_NOTES: Final = {
    "all_gather": "here the results of reduce_scatter's example; both make an all_reduce",
}
