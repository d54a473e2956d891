"""Nodes of any shape with one NIC per GPU; a leaf switch per rail, a spine over the leaves."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from collsim.core.cluster import Cluster, Cut, Router
from collsim.core.collective import check_ranks
from collsim.core.link import Bundle, LinkClass, Links
from collsim.errors import InputError
from collsim.topology._compose import Copies, copy_devices, copy_links, merge_links
from collsim.topology._shape import Key, NetworkShape
from collsim.topology.switch import switch

__all__ = ["SHAPE", "join", "rails"]

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class _Rails:
    """Inside a node over its own links; between nodes from the sender's NIC to the receiver's.

    Rails meet in a spine that never blocks (rail-optimized fabrics), so a message that
    changes rails pays no more than one that stays on its own.
    """

    nodes: int
    gpus: int
    inside: Router
    copies: Copies
    base: int

    def __call__(self, src: IntArray, dst: IntArray) -> tuple[IntArray, IntArray]:
        node = src // self.gpus
        far = node != dst // self.gpus
        near = np.flatnonzero(~far)
        near_ptr, near_link = self.inside(src[near] % self.gpus, dst[near] % self.gpus)
        counts = np.where(far, 2, 0)
        counts[near] = np.diff(near_ptr)
        ptr = np.zeros(src.size + 1, dtype=np.int64)
        np.cumsum(counts, out=ptr[1:])
        link = np.empty(ptr[-1], dtype=np.int64)
        inside = np.repeat(~far, counts)
        link[inside] = self.copies(near_link, np.repeat(node, counts)[inside])
        first = ptr[:-1][far]
        link[first] = self.base + src[far]
        link[first + 1] = self.base + self.nodes * self.gpus + dst[far]
        return ptr, link


def join(
    node: Cluster,
    nodes: int,
    link: LinkClass,
    nics: int | None = None,
    oversubscription: float = 1.0,
) -> Cluster:
    """Return copies of a node joined by rails.

    Parameters
    ----------
    node : Cluster
        One node; name, gamma, launch and multicast are taken from it.
    nodes : int
        Number of copies.
    link : LinkClass
        From a NIC to its leaf switch; alpha is that of a whole message through the switch.
    nics : int, optional
        NICs of a node: as many as GPUs.
    oversubscription : float
        1: the spine above the leaf switches never blocks.

    Raises
    ------
    InputError
        If there is not one NIC per GPU, or the rails are oversubscribed.

    Examples
    --------
    >>> near = LinkClass("near", alpha=1e-6, bandwidth=4e9)
    >>> far = LinkClass("far", alpha=5e-6, bandwidth=1e9)
    >>> join(switch(4, near, "four"), 2, far).shape
    '2 nodes of 4 GPUs on a switch, one NIC per GPU on rails'
    """
    nodes, gpus = check_ranks(nodes), node.ranks
    if nics not in {None, gpus}:
        raise InputError(f"nics: got {nics!r}, expected one per GPU, {gpus}")
    if oversubscription != 1:
        raise InputError(
            f"oversubscription: got {oversubscription!r}, expected 1, as the spine never blocks"
        )
    ranks = nodes * gpus
    inside, copies = copy_links(node.links, nodes, gpus, len(node.devices))
    up, down = ([f"nic[{r}].{way}" for r in range(ranks)] for way in ("up", "down"))
    devices = copy_devices(node.devices, nodes)
    every = np.arange(ranks)
    leaf = ranks + len(devices) + every % gpus
    where = np.arange(ranks) // gpus
    each = node.shape.removeprefix("one node, ")
    near, far = gpus > 1, nodes > 1
    ends = [(node.least_alpha, node.least_busy)] * near + [(link.alpha, link.busy)] * far
    return replace(
        node,
        ranks=ranks,
        links=merge_links(
            inside,
            Links.assemble(
                Bundle(up, link, True, every, leaf), Bundle(down, link, False, leaf, every)
            ),
        ),
        router=_Rails(nodes, gpus, node.router, copies, len(inside)),
        least_alpha=min((alpha for alpha, _ in ends), default=0.0),
        least_busy=min((busy for _, busy in ends), default=0.0),
        node=where,
        cuts=(
            *(_widen(cut, nodes, link.bandwidth) for cut in node.cuts),
            Cut("node", where.copy(), gpus * link.bandwidth, gpus * link.bandwidth),
        ),
        uniform=None,
        ways=max(node.ways * near + far, 1),
        devices=(*devices, *(f"leaf[{i}]" for i in range(gpus))),
        shape=f"{nodes} nodes of {each}, one NIC per GPU on rails",
    )


def _widen(cut: Cut, nodes: int, bandwidth: float) -> Cut:
    """Return a cut of a node for all copies of it: its groups have NICs too."""
    groups = int(cut.group.max()) + 1
    group = (np.arange(nodes)[:, None] * groups + cut.group).ravel()
    nics = int(np.bincount(cut.group).max()) * bandwidth
    return Cut(cut.name, group, cut.out_rate + nics, cut.in_rate + nics)


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
    """Return several nodes, each on a switch, joined by rails.

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
    ['nic[0].up', 'nic[2].down']
    >>> [cluster.links.names[i] for i in cluster.route(0, 3)]
    ['nic[0].up', 'nic[3].down']
    """
    node = switch(gpus, inside, name, gamma=gamma, launch=launch, multicast=multicast)
    return join(node, nodes, between)


SHAPE = NetworkShape(
    build=join,
    keys={
        "link": Key("link"),
        "nics": Key("count", None),
        "oversubscription": Key("number", 1.0),
    },
)
