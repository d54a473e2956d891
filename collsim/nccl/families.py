"""Families of algorithms, each asked for by one name: the fastest of it is taken."""

from collections.abc import Mapping
from typing import Final

from collsim.core.cluster import Cluster
from collsim.core.collective import collective

__all__ = ["FAMILIES", "NCCL_HAS", "PEERS", "SEVERAL", "nccl_algorithms"]

FAMILIES: Final = ("auto", "nccl")
"""Names that mean the fastest of several: of all, of those that NCCL has."""
SEVERAL: Final = (*FAMILIES, "all")
"""Names that mean several algorithms."""
PEERS: Final = "direct"
"""Our name of NCCL's sends and receives, of which it makes what it has no algorithm for."""

_GATHERS: Final = {"ring": "ring", "nvls": "nvls", "pat": "pat"}
_PAIRS: Final = {PEERS: "send/recv"}
NCCL_HAS: Final[Mapping[str, Mapping[str, str]]] = {
    "broadcast": {"ring": "ring"},
    "reduce": {"ring": "ring"},
    "all_gather": _GATHERS,
    "reduce_scatter": _GATHERS,
    "all_reduce": {
        "ring": "ring",
        "double_binary_tree": "tree",
        "nvls": "nvls",
        "nvls_tree": "nvls_tree",
    },
    **dict.fromkeys(("scatter", "gather", "all_to_all", "sendrecv"), _PAIRS),
}
"""What NCCL has: by collective, our names and NCCL's. CollNet is not modelled here.

Source: NCCL 2.30.7, src/device/generate.py.
"""


def nccl_algorithms(collective_name: str, cluster: Cluster) -> tuple[str, ...]:
    """Return our names of the algorithms that NCCL has of a collective.

    Whether they can run there is another question; but PAT is on only where each node has one
    rank (NCCL 2.30.7, src/graph/tuning.cc).

    Examples
    --------
    >>> nccl_algorithms("all_reduce", Cluster.load("dgx-h100"))
    ('ring', 'double_binary_tree', 'nvls', 'nvls_tree')
    >>> nccl_algorithms("all_gather", Cluster.load("dgx-h100", nodes=2))
    ('ring', 'nvls')
    >>> nccl_algorithms("all_to_all", Cluster.load("dgx-h100"))
    ('direct',)
    """
    alone = cluster.ranks == cluster.nodes
    theirs = NCCL_HAS[collective(collective_name).name]
    return tuple(ours for ours in theirs if ours != "pat" or alone)
