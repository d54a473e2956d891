"""Rings through a graph of which none uses more than there is: a search that goes back."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

__all__ = ["Rings", "Uses", "disjoint"]

# How many rings may use the cable from one vertex to another.
Uses = tuple[tuple[int, ...], ...]
# The vertices of each in order.
Rings = tuple[tuple[int, ...], ...]

# Steps of one walk, and walks with other ways first. All full meshes up to 16 GPUs need fewer;
# without a limit, a search for what there is not would never end.
_STEPS: Final = 3000
_TURNS: Final = 16


@lru_cache(maxsize=64)
def disjoint(uses: Uses, count: int) -> tuple[Rings | None, int]:
    """Return so many rings that use no cable more often than it allows, and the steps it took.

    A walk from vertex 0 that goes back where it can't go on, over all rings at once: first over
    the cable with the most uses left, then to where the fewest ways lead on. Equal ways are
    taken in another order in each of some walks, none by chance.

    Parameters
    ----------
    uses : tuple of tuples of int
        How many rings may use the cable from one vertex to another; 0 if there is none.
    count : int
        So many rings.

    Returns
    -------
    found : tuple of tuples of int, or None
        The vertices of each ring in order, from 0. None where there are none, or where none
        were found within the limits of the search.
    steps : int
        Vertices that were visited.

    Examples
    --------
    >>> disjoint(((0, 1, 1), (1, 0, 1), (1, 1, 0)), 2)
    (((0, 1, 2), (0, 2, 1)), 6)
    >>> disjoint(((0, 1, 0), (1, 0, 1), (0, 1, 0)), 1)
    (None, 3)
    """
    if min(map(sum, uses)) < count or min(map(sum, zip(*uses, strict=True))) < count:
        return None, 0
    steps = 0
    for turn in range(_TURNS):
        search = _Search(uses, count, turn)
        done = search.walk([0], 1)
        steps += search.steps
        if done:
            return tuple(search.found), steps
        if search.steps <= _STEPS:
            # All ways were tried.
            break
    return None, steps


class _Search:
    """One search; see :func:`disjoint`."""

    def __init__(self, uses: Sequence[Sequence[int]], count: int, turn: int) -> None:
        self.left = [list(row) for row in uses]
        self.count, self.turn = count, turn
        self.found: list[tuple[int, ...]] = []
        self.steps = 0

    def walk(self, path: list[int], seen: int) -> bool:
        """Return whether a ring that began so, and all others, can be completed."""
        self.steps += 1
        if self.steps > _STEPS:
            return False
        here = self.left[path[-1]]
        if len(path) == len(self.left):
            return bool(here[0]) and self._closed(tuple(path), here)
        for way in self._ways(path[-1], seen):
            here[way] -= 1
            if self.walk([*path, way], seen | 1 << way):
                return True
            here[way] += 1
        return False

    def _closed(self, ring: tuple[int, ...], last: list[int]) -> bool:
        last[0] -= 1
        self.found.append(ring)
        if len(self.found) == self.count or self.walk([0], 1):
            return True
        self.found.pop()
        last[0] += 1
        return False

    def _ways(self, here: int, seen: int) -> list[int]:
        left, turn = self.left, self.turn

        def rank(way: int) -> tuple[int, int, int]:
            on = sum(1 for v, uses in enumerate(left[way]) if uses and not seen >> v & 1)
            return -left[here][way], on, ((way - here) * (turn + 1) + turn * way * way) % 61

        ways = [v for v, uses in enumerate(left[here]) if uses and not seen >> v & 1]
        return sorted(ways, key=rank)
