"""Two binary trees over the same ranks: who forwards in one is a leaf in the other."""

from dataclasses import dataclass

__all__ = ["Edge", "two_trees"]


@dataclass(frozen=True)
class Edge:
    """A message's way from a rank to its child, in one of the two trees.

    Parameters
    ----------
    src, dst : int
        Places in the order of ranks; 0 is the root of both trees.
    tree : int
        0 or 1.
    first : int
        The round in which the first chunk goes this way; the others follow every second
        round.
    """

    src: int
    dst: int
    tree: int
    first: int


def two_trees(ranks: int) -> list[Edge]:
    """Return the edges of both trees, so timed that no rank sends or receives twice a round.

    Rank 0 stands above two binary trees of the others. Edges have two colours, even and odd
    rounds: the two by which a rank sends differ, and so do the two by which it receives.

    Examples
    --------
    >>> [(e.src, e.dst, e.tree, e.first) for e in two_trees(4)]
    [(0, 2, 0, 0), (2, 1, 0, 2), (2, 3, 0, 1), (0, 1, 1, 1), (1, 3, 1, 2), (1, 2, 1, 3)]
    """
    edges = _edges(ranks)
    colour = _colours(edges)
    reached: dict[tuple[int, int], int] = {(0, 0): 0, (1, 0): 0}
    timed = []
    for number, (tree, src, dst) in enumerate(edges):
        first = reached[tree, src]
        first += (first + colour[number]) % 2
        reached[tree, dst] = first + 1
        timed.append(Edge(src, dst, tree, first))
    return timed


def _edges(ranks: int) -> list[tuple[int, int, int]]:
    """Return (tree, src, dst), parents before their children.

    Tree 0 is in order: leaves are the odd places. Tree 1 is its mirror image where that
    turns odd into even, and else tree 0 shifted by one.
    """
    others = ranks - 1

    def second(place: int) -> int:
        return others + 1 - place if others % 2 == 0 else (place - 2) % others + 1

    edges = []
    for tree in range(2):
        ranges = [(0, 1, ranks)]
        while ranges:
            parent, low, high = ranges.pop(0)
            if low == high:
                continue
            # The largest complete left half: places 1, 2, 3 below 4, whatever is right of it.
            middle = low - 1 + (1 << ((high - low).bit_length() - 1))
            ends = (parent, middle)
            src, dst = ends if tree == 0 else (second(end) if end else 0 for end in ends)
            edges.append((tree, src, dst))
            ranges += [(middle, low, middle), (middle, middle + 1, high)]
    return edges


def _colours(edges: list[tuple[int, int, int]]) -> list[int]:
    """Return 0 or 1 per edge; edges that share a sender, or a receiver, differ.

    No rank sends or receives by more than two edges, so that edges form chains and even
    circles, and the colours alternate along them.
    """
    touching: dict[tuple[str, int], list[int]] = {}
    for number, (_, src, dst) in enumerate(edges):
        touching.setdefault(("src", src), []).append(number)
        touching.setdefault(("dst", dst), []).append(number)
    colour = [-1] * len(edges)
    for start in range(len(edges)):
        if colour[start] >= 0:
            continue
        colour[start] = 0
        waiting = [start]
        while waiting:
            number = waiting.pop()
            _, src, dst = edges[number]
            for other in touching["src", src] + touching["dst", dst]:
                if colour[other] < 0:
                    colour[other] = 1 - colour[number]
                    waiting.append(other)
    return colour
