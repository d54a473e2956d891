"""Families of algorithms, each asked for by one name: the fastest of it is taken."""

from collections.abc import Mapping
from typing import Final

from collsim.core.cluster import Cluster
from collsim.core.collective import OPS, collective
from collsim.core.dtype import DTYPES

__all__ = [
    "FAMILIES",
    "NCCL_HAS",
    "PEERS",
    "SEVERAL",
    "adds_in_switch",
    "element_of",
    "nccl_algorithms",
    "takes",
]

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

# In-switch reduction adds these in pairs of 32 bits. NCCL 2.30.7 src/device/generate.py.
_WHOLE: Final = ("int32", "uint32", "int64", "uint64", "half", "bfloat16")
_SUM_ONLY: Final = ("float", "double")


def adds_in_switch(dtype: str, op: str) -> bool:
    """Return whether NCCL reduces elements of a type by an operation in switches.

    Examples
    --------
    >>> [adds_in_switch(*each) for each in (("half", "max"), ("float", "max"), ("int8", "sum"))]
    [True, False, False]
    """
    if dtype in _WHOLE:
        return op in {"sum", "min", "max"}
    return dtype in _SUM_ONLY and op == "sum"


def element_of(collective_name: str, dtype: str | None, op: str | None) -> tuple[str, str]:
    """Return the type and the reduction that NCCL's choice goes by.

    Those are float and sum where nothing is reduced, where nobody says them, and for names
    that nccl-tests does not have.

    Examples
    --------
    >>> element_of("all_reduce", "half", None), element_of("all_gather", "int8", "prod")
    (('half', 'sum'), ('float', 'sum'))
    """
    if not collective(collective_name).reduces:
        return "float", "sum"
    known_type, known_op = dtype in DTYPES, op in OPS
    return str(dtype) if known_type else "float", str(op) if known_op else "sum"


def takes(collective_name: str, algorithm: str, dtype: str | None, op: str | None) -> bool:
    """Return whether NCCL runs an algorithm for elements of a type and a reduction.

    Examples
    --------
    >>> [takes("all_reduce", name, "float", "prod") for name in ("ring", "nvls")]
    [True, False]
    """
    kind = collective(collective_name)
    if not kind.reduces:
        return True
    dtype, op = element_of(kind.name, dtype, op)
    if algorithm.startswith("nvls"):
        return adds_in_switch(dtype, op)
    # PAT does not scale what it has reduced.
    return not (algorithm == "pat" and kind.name == "reduce_scatter" and op == "avg")


def nccl_algorithms(
    collective_name: str, cluster: Cluster, dtype: str = "float", op: str = "sum"
) -> tuple[str, ...]:
    """Return our names of the algorithms that NCCL has of a collective.

    Whether they can run there is another question; but PAT is on only where each node has one
    rank (NCCL 2.30.7, src/graph/tuning.cc), and NVLS only for what switches add up.

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
    return tuple(
        ours
        for ours in theirs
        if (ours != "pat" or alone) and takes(collective_name, ours, dtype, op)
    )
