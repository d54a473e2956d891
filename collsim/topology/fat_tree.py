"""Nodes of any shape in a fat tree of two or three levels, with any oversubscription."""

import numpy as np

from collsim.core.cluster import Cluster
from collsim.core.collective import check_ranks
from collsim.core.link import LinkClass
from collsim.errors import InputError
from collsim.topology._network import Tier, connect
from collsim.topology._nics import nics_of, trunk
from collsim.topology._shape import Key, NetworkShape

__all__ = ["SHAPE", "join"]


def join(
    node: Cluster,
    nodes: int,
    link: LinkClass,
    nodes_per_leaf: int,
    nics: int | None = None,
    oversubscription: float = 1.0,
    leaves_per_pod: int | None = None,
    pod_oversubscription: float = 1.0,
    trunk_link: LinkClass | None = None,
) -> Cluster:
    """Return copies of a node joined by a fat tree.

    All NICs of a node are on one leaf switch. Messages between leaves share the cables
    from the leaf switch up: as many as the NICs below it, divided by the oversubscription.

    Parameters
    ----------
    node : Cluster
        One node; name, gamma, launch and multicast are taken from it.
    nodes : int
        Number of copies.
    link : LinkClass
        From a NIC to its leaf switch; alpha is that of a whole message.
    nodes_per_leaf : int
        Nodes on a leaf switch.
    nics : int, optional
        NICs of a node, as in :func:`collsim.topology.rails.join`.
    oversubscription : float
        Capacity of the NICs on a leaf switch, divided by that of its cables up.
    leaves_per_pod : int, optional
        Leaf switches under one spine; more of them are joined by a core, the third level.
        Without, all leaves are under one spine.
    pod_oversubscription : float
        Capacity of the cables into a pod's spine from below, divided by that of its
        cables to the core.
    trunk_link : LinkClass, optional
        One cable from a switch up; its alpha is paid on top, once per level. By default
        one like those of the NICs, without more alpha.

    Raises
    ------
    InputError
        For an oversubscription of 0, one of pods without pods, or as rails do.

    Examples
    --------
    >>> from collsim.topology.switch import switch
    >>> wire = LinkClass("wire", alpha=1e-6, bandwidth=1e9)
    >>> tree = join(switch(1, wire, "one"), 8, wire, 4, oversubscription=2.0)
    >>> [tree.links.names[i] for i in tree.route(0, 4)]
    ['nic[0].up', 'leaf[0].up', 'leaf[1].down', 'nic[4].down']
    >>> [(cut.name, cut.out_rate) for cut in tree.cuts][-1]
    ('leaf', 2000000000.0)
    """
    nodes = check_ranks(nodes)
    cards = nics_of(node, nics)
    leaf = np.repeat(np.arange(nodes) // nodes_per_leaf, cards.count)
    below = nodes_per_leaf * cards.count * cards.lanes
    up = trunk("uplink", link, below, oversubscription, trunk_link)
    tiers = [Tier("leaf", leaf, up, "leaf")]
    said = f"{cards.phrase} in a fat tree, {nodes_per_leaf} to a leaf"
    if oversubscription != 1:
        said += f", oversubscribed {oversubscription:g}:1"
    if leaves_per_pod is None:
        if pod_oversubscription != 1:
            raise InputError(
                f"pod_oversubscription: got {pod_oversubscription:g}, but there are no pods; "
                "expected leaves_per_pod"
            )
        tiers.append(Tier("spine", np.zeros_like(leaf)))
    else:
        whole = oversubscription * pod_oversubscription
        over = trunk("pod uplink", link, leaves_per_pod * below, whole, trunk_link)
        tiers.append(Tier("spine", leaf // leaves_per_pod, over, "pod"))
        tiers.append(Tier("core", np.zeros_like(leaf)))
        said += f", {leaves_per_pod} leaves to a pod"
        if pod_oversubscription != 1:
            said += f", these {pod_oversubscription:g}:1"
    return connect(node, nodes, link, cards, tiers, said)


SHAPE = NetworkShape(
    build=join,
    keys={
        "link": Key("link"),
        "nodes_per_leaf": Key("count"),
        "nics": Key("count", None),
        "oversubscription": Key("number", 1.0),
        "leaves_per_pod": Key("count", None),
        "pod_oversubscription": Key("number", 1.0),
        "trunk_link": Key("link", None),
    },
)
