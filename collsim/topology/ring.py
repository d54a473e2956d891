"""One node whose GPUs stand in a ring: each is joined to the two beside it."""

from collsim.core.cluster import Cluster
from collsim.core.link import LinkClass
from collsim.topology._node import check_gpus, plural
from collsim.topology._shape import Key, NodeShape
from collsim.topology.torus import rings

__all__ = ["SHAPE", "ring"]

_MOST = 4096


def ring(
    gpus: int, link: LinkClass, name: str, *, gamma: float = 0.0, launch: float = 0.0
) -> Cluster:
    """Return one node with a cable from every GPU to the next, and from the last to the first.

    Messages go the short way round, of two equal ways upwards, and pay the alpha of every
    cable on the way.

    Parameters
    ----------
    gpus : int
        GPUs of the node.
    link : LinkClass
        From a GPU to its neighbour.
    name : str
        Name of the cluster.
    gamma, launch : float
        As in :class:`collsim.core.cluster.Cluster`, seconds per byte and seconds.

    Examples
    --------
    >>> wire = LinkClass("wire", alpha=1e-6, bandwidth=1e9)
    >>> five = ring(5, wire, "five")
    >>> [five.links.names[i] for i in five.route(0, 3)]
    ['gpu[0]>gpu[4]', 'gpu[4]>gpu[3]']
    """
    gpus = check_gpus(gpus, _MOST, "ring")
    return rings((gpus,), link, name, f"{plural(gpus, 'GPU')} in a ring", gamma, launch)


SHAPE = NodeShape(build=ring, keys={"gpus": Key("count"), "link": Key("link")})
