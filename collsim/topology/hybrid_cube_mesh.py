"""The eight V100 of a DGX-1: NVLink as a hybrid cube mesh, one or two links to a neighbour.

Two boards of four, on each every GPU is joined to the three others; and every GPU to its
counterpart on the other board. That takes the six links of a V100: two of its four
neighbours have two links, the others one.

A pair without a link of its own goes over one GPU in between, which NCCL does too ("NVB"
paths, `src/graph/paths.cc` of 2.30.7: at most one GPU on the way, and NVLink only), and
not over PCIe: that way is longer and slower. Where several GPUs lie in between, the wider
way is taken, then the one over the GPU with the smaller number.
"""

from typing import Final

from collsim.core.cluster import Cluster
from collsim.core.link import LinkClass
from collsim.topology._node import check_gpus, mesh, plural, widened
from collsim.topology._shape import Key, NodeShape

__all__ = ["SHAPE", "WIRING", "hybrid_cube_mesh"]

# Links of every pair, as `nvidia-smi topo -m` shows them: NV1 or NV2.
WIRING: Final = dict.fromkeys(
    [(0, 1), (0, 2), (1, 3), (2, 6), (3, 7), (4, 5), (4, 6), (5, 7)], 1
) | dict.fromkeys([(0, 3), (0, 4), (1, 2), (1, 5), (2, 3), (4, 7), (5, 6), (6, 7)], 2)


def hybrid_cube_mesh(
    link: LinkClass,
    name: str,
    *,
    gpus: int = 8,
    gamma: float = 0.0,
    launch: float = 0.0,
) -> Cluster:
    """Return one node wired as a DGX-1 with V100.

    Parameters
    ----------
    link : LinkClass
        One NVLink. Where a pair has two, a message uses both: their bandwidth adds up.
    name : str
        Name of the cluster.
    gpus : int
        The first so many of the eight GPUs.
    gamma, launch : float
        As in :class:`collsim.core.cluster.Cluster`, seconds per byte and seconds.

    Examples
    --------
    >>> dgx1 = hybrid_cube_mesh(LinkClass("wire", alpha=1e-6, bandwidth=25e9), "dgx1")
    >>> [dgx1.links.names[i] for i in dgx1.route(0, 7)]
    ['gpu[0]>gpu[4]', 'gpu[4]>gpu[7]']
    """
    gpus = check_gpus(gpus, 8, "hybrid cube mesh")
    both = [
        (a, b, widened(link, width))
        for (one, other), width in WIRING.items()
        for a, b in ((one, other), (other, one))
        if a < gpus and b < gpus
    ]
    both.sort(key=lambda wire: wire[:2])
    each = f"{plural(gpus, 'GPU')} in a hybrid cube mesh"
    return mesh(name, gpus, both, None, each, gamma=gamma, launch=launch)


SHAPE = NodeShape(build=hybrid_cube_mesh, keys={"gpus": Key("count", 8), "link": Key("link")})
