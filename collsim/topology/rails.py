"""Nodes with a switch inside and one NIC per GPU; NIC i of every node on leaf switch i."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from collsim.core.cluster import Cluster, Cut
from collsim.core.collective import check_ranks
from collsim.core.link import LinkClass, Links

__all__ = ["rails"]

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class _Rails:
    """Inside a node over its switch; between nodes over the receiver's rail.

    A message to another rail first crosses the sender's node to the GPU that sits on
    the receiver's rail, as NCCL does with PXN; rails don't meet outside the nodes.
    """

    nodes: int
    gpus: int

    def __call__(self, src: IntArray, dst: IntArray) -> tuple[IntArray, IntArray]:
        ranks = self.nodes * self.gpus
        far = src // self.gpus != dst // self.gpus
        cross = far & (src % self.gpus != dst % self.gpus)
        inside = ~far
        relay = np.where(far, src - src % self.gpus + dst % self.gpus, dst)
        hops = np.stack([src, ranks + relay, 2 * ranks + relay, 3 * ranks + dst], axis=1)
        used = np.stack([inside | cross, inside | cross, far, far], axis=1)
        ptr = np.zeros(src.size + 1, dtype=np.int64)
        np.cumsum(used.sum(axis=1), out=ptr[1:])
        return ptr, hops[used]


def rails(
    nodes: int,
    gpus: int,
    inside: LinkClass,
    between: LinkClass,
    name: str,
    *,
    gamma: float = 0.0,
    launch: float = 0.0,
    multicast: bool = False,
) -> Cluster:
    """Return several nodes joined by rails.

    Parameters
    ----------
    nodes, gpus : int
        Nodes, and GPUs (and NICs) of each; rank r is GPU ``r % gpus`` of node ``r // gpus``.
    inside, between : LinkClass
        From a GPU to its node's switch, and from a NIC to its leaf switch; alpha is that
        of a whole message through the switch.
    name : str
        Name of the cluster.
    gamma, launch : float
        As in :class:`collsim.core.cluster.Cluster`, seconds per byte and seconds.
    multicast : bool
        Whether the switch inside a node can multicast and reduce.

    Examples
    --------
    >>> near = LinkClass("near", alpha=1e-6, bandwidth=4e9)
    >>> far = LinkClass("far", alpha=5e-6, bandwidth=1e9)
    >>> cluster = rails(2, 2, near, far, "pair")
    >>> [cluster.links.names[i] for i in cluster.route(0, 2)]
    ['far[0].up', 'far[2].down']
    >>> [cluster.links.names[i] for i in cluster.route(0, 3)]
    ['near[0].up', 'near[1].down', 'far[1].up', 'far[3].down']
    """
    nodes, gpus = check_ranks(nodes), check_ranks(gpus)
    ranks = nodes * gpus
    near_up, near_down, far_up, far_down = (
        [f"{link.name}[{r}].{way}" for r in range(ranks)]
        for link in (inside, between)
        for way in ("up", "down")
    )
    node = np.arange(ranks) // gpus
    used = ([inside] if gpus > 1 else []) + ([between] if nodes > 1 else [])
    used = used or [inside]
    everything = sum(link.bandwidth for link in used)
    return Cluster(
        name=name,
        ranks=ranks,
        links=Links.assemble(
            (near_up, inside, True),
            (near_down, inside, False),
            (far_up, between, True),
            (far_down, between, False),
        ),
        router=_Rails(nodes, gpus),
        least_alpha=min(link.alpha for link in used),
        least_busy=min(link.busy for link in used),
        node=node,
        cuts=(
            Cut("rank", np.arange(ranks), everything, everything),
            Cut("node", node, gpus * between.bandwidth, gpus * between.bandwidth),
        ),
        gamma=gamma,
        launch=launch,
        multicast=multicast,
        ways=len(used),
        shape=f"{nodes} nodes of {gpus} GPUs on a switch, one NIC per GPU on rails",
    )
