"""Nodes of any shape on rails: NIC i of every node on leaf i, and a spine over the leaves."""

import numpy as np

from collsim.core.cluster import Cluster
from collsim.core.collective import check_ranks
from collsim.core.link import LinkClass
from collsim.topology._network import Tier, connect
from collsim.topology._nics import nics_of, trunk
from collsim.topology._shape import Key, NetworkShape

__all__ = ["SHAPE", "join"]


def join(
    node: Cluster,
    nodes: int,
    link: LinkClass,
    nics: int | None = None,
    oversubscription: float = 1.0,
) -> Cluster:
    """Return copies of a node joined by rails.

    Where rails are not oversubscribed, the spine in which they meet never blocks, so that
    a message that changes rails pays no more than one that stays on its own.

    Parameters
    ----------
    node : Cluster
        One node; name, gamma, launch and multicast are taken from it.
    nodes : int
        Number of copies.
    link : LinkClass
        From a NIC to its leaf switch; alpha is that of a whole message through the switch.
    nics : int, optional
        NICs of a node: as many as GPUs by default. Of fewer, GPU i uses NIC
        ``i * nics // gpus``; of more, every GPU has several, and a message takes one.
    oversubscription : float
        Capacity of the NICs on a leaf switch, divided by that of its cables to the spine.

    Raises
    ------
    InputError
        If there are more NICs than GPUs, and not as many for every GPU; or for an
        oversubscription of 0.

    Examples
    --------
    >>> from collsim.topology.switch import switch
    >>> near = LinkClass("near", alpha=1e-6, bandwidth=4e9)
    >>> far = LinkClass("far", alpha=5e-6, bandwidth=1e9)
    >>> join(switch(4, near, "four"), 2, far).shape
    '2 nodes of 4 GPUs on a switch, one NIC per GPU on rails'
    >>> shared = join(switch(4, near, "four"), 2, far, nics=2)
    >>> [shared.links.names[i] for i in shared.route(1, 7)]
    ['gpu[1]>nic[0]', 'nic[0].up', 'nic[3].down', 'nic[3]>gpu[7]']
    """
    nodes = check_ranks(nodes)
    cards = nics_of(node, nics)
    leaf = np.tile(np.arange(cards.count), nodes)
    if oversubscription == 1:
        return connect(
            node, nodes, link, cards, [Tier("leaf", leaf)], f"{cards.phrase} on rails"
        )
    up = trunk("uplink", link, nodes * cards.lanes, oversubscription, None)
    tiers = [Tier("leaf", leaf, up), Tier("spine", np.zeros_like(leaf))]
    said = f"{cards.phrase} on rails, oversubscribed {oversubscription:g}:1"
    return connect(node, nodes, link, cards, tiers, said)


SHAPE = NetworkShape(
    build=join,
    keys={
        "link": Key("link"),
        "nics": Key("count", None),
        "oversubscription": Key("number", 1.0),
    },
)
