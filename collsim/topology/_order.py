"""Which rank sits on which GPU, and groups of ranks."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from collsim.core.arguments import checked
from collsim.core.cluster import Cluster, Router
from collsim.errors import InputError, UnknownNameError

__all__ = ["groups", "reorder"]

IntArray = NDArray[np.int64]

_ORDERS: Final = ("inside", "across")
_GROUPS: Final = ("inside", "across", "all")


@checked
def reorder(cluster: Cluster, order: str | Iterable[int]) -> Cluster:
    """Return a cluster whose ranks are placed in another order.

    Parts keep their names: ``nic[3]`` is where it was, whichever rank now uses it.

    Parameters
    ----------
    cluster : Cluster
        As it is built: rank r on GPU r, node by node.
    order : str or iterable of int
        Rank r sits where rank ``order[r]`` was. ``"inside"`` fills one node after the
        other, as NCCL builds rings; ``"across"`` deals ranks out to the nodes in turn.

    Returns
    -------
    Cluster
        Another one; the given one stays as it is.

    Raises
    ------
    UnknownNameError
        For a name that is none of these.
    InputError
        If a rank is missing, out of range or there twice.

    Examples
    --------
    >>> dealt = reorder(Cluster.load("dgx-h100", nodes=2), "across")
    >>> dealt.node[:4].tolist(), dealt.vertex(1)
    ([0, 1, 0, 1], 'gpu[8]')
    """
    said = "in another order"
    if isinstance(order, str):
        if order not in _ORDERS:
            raise UnknownNameError("order", order, _ORDERS)
        said = f"{order} nodes"
        key = (cluster.node, _local(cluster))
        place = np.lexsort(key if order == "across" else key[::-1])
    else:
        place = _checked(list(order), cluster.ranks)
    ranks, links = cluster.ranks, cluster.links
    if (place == np.arange(ranks)).all():
        return cluster
    rank_of = np.empty(ranks, dtype=np.int64)
    rank_of[place] = np.arange(ranks)

    def moved(ends: IntArray | None) -> IntArray | None:
        if ends is None:
            return None
        return np.where(ends < ranks, rank_of[np.minimum(ends, ranks - 1)], ends)

    return replace(
        cluster,
        links=replace(links, tail=moved(links.tail), head=moved(links.head)),
        router=_Placed(cluster.router, place),
        node=cluster.node[place],
        cuts=tuple(replace(cut, group=cut.group[place]) for cut in cluster.cuts),
        local=None if cluster.local is None else cluster.local[place],
        delay=None if cluster.delay is None else cluster.delay[place],
        in_switch=None if cluster.in_switch is None else cluster.in_switch.of(place),
        order=place if cluster.order is None else cluster.order[place],
        shape=f"{cluster.shape}, ranks {said}",
    )


@dataclass(frozen=True, eq=False)
class _Placed:
    """The routes between the places of ranks."""

    usual: Router
    place: IntArray

    def __call__(self, src: IntArray, dst: IntArray) -> tuple[IntArray, IntArray]:
        return self.usual(self.place[src], self.place[dst])


@checked
def groups(cluster: Cluster, kind: str) -> tuple[tuple[int, ...], ...]:
    """Return groups of ranks that run collectives of their own at the same time.

    Parameters
    ----------
    cluster : Cluster
        Whose ranks are grouped.
    kind : {"inside", "across", "all"}
        The ranks of each node (tensor parallel); those of the same index in each node
        (data parallel); or all in one.

    Returns
    -------
    tuple of tuple of int, shape (groups, ranks of one)
        The ranks of each group, as ``Job`` takes them.

    Raises
    ------
    UnknownNameError
        For any other kind.

    Examples
    --------
    >>> two = Cluster.load("dgx-h100", nodes=2, gpus_per_node=2)
    >>> groups(two, "inside"), groups(two, "across")
    (((0, 1), (2, 3)), ((0, 2), (1, 3)))
    """
    if kind not in _GROUPS:
        raise UnknownNameError("kind of group", kind, _GROUPS)
    if kind == "all":
        return (tuple(range(cluster.ranks)),)
    of = cluster.node if kind == "inside" else _local(cluster)
    return tuple(tuple(np.flatnonzero(of == group).tolist()) for group in np.unique(of))


def _local(cluster: Cluster) -> IntArray:
    """Return the index of every rank among those of its node."""
    local = np.empty(cluster.ranks, dtype=np.int64)
    for node in np.unique(cluster.node):
        mine = np.flatnonzero(cluster.node == node)
        local[mine] = np.arange(mine.size)
    return local


def _checked(order: list[int], ranks: int) -> IntArray:
    place = np.array(order)
    if place.size and not np.issubdtype(place.dtype, np.integer):
        raise InputError(f"order: got {order!r}, expected whole numbers")
    if place.shape != (ranks,):
        raise InputError(
            f"order: got {len(order)} ranks, expected each of 0 to {ranks - 1} once"
        )
    wrong = place[(place < 0) | (place >= ranks)]
    if wrong.size:
        raise InputError(f"order: got rank {wrong[0]}, expected each of 0 to {ranks - 1} once")
    distinct, counts = np.unique(place, return_counts=True)
    if distinct.size < ranks:
        twice = distinct[counts > 1][0]
        raise InputError(
            f"order: rank {twice} is there twice, expected each of 0 to {ranks - 1} once"
        )
    return place.astype(np.int64)
