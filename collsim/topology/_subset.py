"""A cluster of some ranks of another one."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from collsim.core.cluster import Cluster, Router
from collsim.errors import InputError

__all__ = ["subset"]

IntArray = NDArray[np.int64]


def subset(cluster: Cluster, ranks: Iterable[int]) -> Cluster:
    """Return the cluster that a group of ranks has to itself.

    All links stay, as routes may lead over them; nodes without a rank of the group are
    gone, and the others are numbered anew. A lower bound there is that of the whole
    cluster's least latency.

    Parameters
    ----------
    cluster : Cluster
        Whose ranks they are.
    ranks : iterable of int
        Rank r of the result is ``ranks[r]``.

    Raises
    ------
    InputError
        If there is none, one is named twice, or the cluster has not so many.

    Examples
    --------
    >>> two = Cluster.load("dgx-h100", nodes=2)
    >>> pair = subset(two, [3, 11])
    >>> pair.ranks, pair.nodes, pair.route(0, 1) == two.route(3, 11)
    (2, 2, True)
    """
    place = np.array(list(ranks))
    wrong = place.size == 0 or place.dtype.kind not in "iu"
    if wrong or place.min() < 0 or place.max() >= cluster.ranks:
        raise InputError(
            f"group: got ranks {place.tolist()}, expected some of 0 to {cluster.ranks - 1}"
        )
    if np.unique(place).size < place.size:
        raise InputError(f"group: got ranks {place.tolist()}, expected each once")
    place = place.astype(np.int64)
    node = np.unique(cluster.node[place], return_inverse=True)[1]
    cuts = tuple(
        replace(cut, group=np.unique(cut.group[place], return_inverse=True)[1])
        for cut in cluster.cuts
    )
    inside = cluster.in_switch
    links = replace(cluster.links, tail=None, head=None)
    return replace(
        cluster,
        ranks=place.size,
        node=node.astype(np.int64),
        links=links,
        router=_Of(cluster.router, place),
        devices=(),
        cuts=cuts,
        local=None if cluster.local is None else cluster.local[place],
        delay=None if cluster.delay is None else cluster.delay[place],
        order=None,
        in_switch=None if inside is None else inside.of(place),
        shape=f"{place.size} rank{'s' * (place.size > 1)} of {cluster.shape}",
    )


@dataclass(frozen=True, eq=False)
class _Of:
    """The routes between some ranks."""

    whole: Router
    place: IntArray

    def __call__(self, src: IntArray, dst: IntArray) -> tuple[IntArray, IntArray]:
        return self.whole(self.place[src], self.place[dst])
