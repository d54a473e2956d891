"""Nodes of any shape whose NICs all hang on one switch that never blocks."""

import numpy as np

from collsim.core.cluster import Cluster
from collsim.core.collective import check_ranks
from collsim.core.link import LinkClass
from collsim.topology._network import Tier, connect
from collsim.topology._nics import nics_of
from collsim.topology._shape import Key, NetworkShape

__all__ = ["SHAPE", "join"]


def join(node: Cluster, nodes: int, link: LinkClass, nics: int | None = None) -> Cluster:
    """Return copies of a node joined by one switch.

    Parameters
    ----------
    node : Cluster
        One node; name, gamma, launch and multicast are taken from it.
    nodes : int
        Number of copies.
    link : LinkClass
        From a NIC to the switch; alpha is that of a whole message through the switch.
    nics : int, optional
        NICs of a node, as in :func:`collsim.topology.rails.join`.

    Examples
    --------
    >>> from collsim.topology.switch import switch
    >>> wire = LinkClass("wire", alpha=1e-6, bandwidth=1e9)
    >>> join(switch(1, wire, "one"), 8, wire).uniform
    (1e-06, 1e-09)
    """
    nodes = check_ranks(nodes)
    cards = nics_of(node, nics)
    leaf = np.zeros(nodes * cards.count, dtype=np.int64)
    return connect(
        node, nodes, link, cards, [Tier("leaf", leaf)], f"{cards.phrase} on one switch"
    )


SHAPE = NetworkShape(build=join, keys={"link": Key("link"), "nics": Key("count", None)})
