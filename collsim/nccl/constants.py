"""The numbers of NCCL's cost model, as data: microseconds, and GB/s of 1e9 bytes.

Every table names the release and file that it was read from; `versions.py` says which release
has which. Rows of algorithms are in the order of `names.ALGORITHMS`, columns of protocols in
that of `names.PROTOCOLS`; rows of GPUs are Volta, Ampere, Hopper, Blackwell, and their columns
one node, two, more.
"""

from dataclasses import dataclass
from typing import Final

__all__ = ["NEWEST", "TREE_CORRECTION", "Constants", "Rows"]

Rows = tuple[tuple[float, float, float], ...]


@dataclass(frozen=True)
class Constants:
    """One release's numbers.

    Parameters
    ----------
    source : str
        The files they were read from.
    base : Rows
        Start-up of each algorithm and protocol.
    nvlink, pci, net : Rows
        A step over each kind of link, of each algorithm and protocol.
    ll_most, ring_ll128, tree_ll128, tree, nvls_tree : Rows
        Most bandwidth of LL, and of a channel, by GPU and nodes.
    nvls_efficiency : tuple of float
        Share of the switch's bandwidth that in-switch reduction reaches, by GPU.
    pat : float
        Share of the bandwidth that PAT reaches.
    collnet_arity : float
        Time for each further peer of CollNetDirect.
    """

    source: str
    base: Rows
    nvlink: Rows
    pci: Rows
    net: Rows
    ll_most: Rows
    ring_ll128: Rows
    tree_ll128: Rows
    tree: Rows
    nvls_tree: Rows
    nvls_efficiency: tuple[float, ...]
    pat: float
    collnet_arity: float


_NONE: Final = (0.0, 0.0, 0.0)

NEWEST: Final = Constants(
    source="NCCL 2.30.7 src/graph/tuning.cc, lines 138-213",
    base=((6.8, 14.0, 8.4), (6.6, 14.0, 8.4), _NONE, _NONE, _NONE, _NONE, (8.0, 8.0, 8.0)),
    nvlink=(
        (0.6, 1.25, 4.0), (0.6, 1.9, 3.4), (0, 0, 3.7), (0, 0, 2.8),
        (0, 0, 25.0), (0, 0, 25.0), (0, 0, 4.0),
    ),
    pci=(
        (1.0, 1.9, 4.0), (1.0, 2.5, 5.7), (0, 0, 3.7), (0, 0, 2.8),
        _NONE, _NONE, (0, 0, 4.0),
    ),
    net=(
        (5.0, 8.5, 14.0), (2.7, 4.0, 14.0), (0, 0, 31.0), (0, 0, 30.0),
        (0, 0, 18.0), (0, 0, 20.9), (0, 0, 14.0),
    ),
    ll_most=((39.0, 39.0, 20.4), (87.7, 22.5, 19.0), (141.0, 45.0, 35.0), (282.0, 90.0, 70.0)),
    ring_ll128=((20.0,) * 3, (20.0,) * 3, (36.7,) * 3, (40.0,) * 3),
    tree_ll128=((20.0,) * 3, (20.0,) * 3, (36.7, 36.7, 29.0), (55.6, 31.67, 20.0)),
    tree=((26.5, 18.5, 10.0), (24.0, 23.6, 17.8), (38.7, 41.4, 36.0), (70.0, 42.8, 24.0)),
    nvls_tree=((26.5, 18.5, 10.0), (24.0, 23.6, 17.8), (0.0, 57.7, 45.5), (0.0, 96.0, 80.0)),
    nvls_efficiency=(0.0, 0.0, 0.85, 0.74),
    pat=0.75,
    collnet_arity=0.4,
)  # fmt: skip

# Share of the tree's bandwidth, by protocol, from 64 bytes on, each for sizes up to the next
# power of two. NCCL 2.30.7 src/graph/tuning.cc, lines 622-626 (the same since 2.18).
TREE_CORRECTION: Final = (
    (1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5,
     0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.0, 1.0, 1.0, 1.0),
    (1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6,
     0.6, 0.6, 0.6, 0.6, 0.8, 0.9, 0.9, 0.9, 0.9, 1.0, 1.0, 1.0),
    (0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5,
     0.5, 0.5, 0.5, 0.6, 0.7, 0.8, 0.7, 0.7, 0.8, 0.9, 0.9, 0.9),
)  # fmt: skip
