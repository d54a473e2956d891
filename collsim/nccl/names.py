"""NCCL's words for collectives, algorithms, protocols and paths, in the order of its tables.

Order matters: NCCL takes the first of equals. Source: NCCL 2.30.7 src/include/nccl_tuner.h and
src/include/graph.h; algorithms and protocols are spelled as in the CSV of NCCL's example tuner.
"""

from typing import Final

from collsim.core.collective import collective
from collsim.errors import InputError, UnknownNameError

__all__ = [
    "ALGORITHMS",
    "COLLECTIVES",
    "OUR_NAME",
    "PATHS",
    "PROTOCOLS",
    "algorithm_name",
    "collective_name",
    "path_rank",
    "protocol_name",
]

ALGORITHMS: Final = (
    "tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat",
)  # fmt: skip
PROTOCOLS: Final = ("ll", "ll128", "simple")
COLLECTIVES: Final = ("broadcast", "reduce", "all_gather", "reduce_scatter", "all_reduce")
# What two devices have between them, from near to far.
PATHS: Final = (
    "LOC", "NVL", "NVB", "C2C", "PIX", "PXB", "P2C", "PXN", "PHB", "SYS", "NET", "DIS",
)  # fmt: skip
# Our algorithms that are NCCL's.
OUR_NAME: Final = {
    "tree": "double_binary_tree",
    "ring": "ring",
    "nvls": "nvls",
    "nvls_tree": "nvls_tree",
    "pat": "pat",
}
_PLAIN: Final = {name.replace("_", ""): name for name in (*ALGORITHMS, *PROTOCOLS)}


def collective_name(name: str) -> str:
    """Return our name of a collective that NCCL chooses an algorithm for.

    Raises
    ------
    UnknownNameError
        If there is no such collective.
    InputError
        If NCCL has no choice of algorithm there.

    Examples
    --------
    >>> collective_name("AllReduce"), collective_name("reducescatter")
    ('all_reduce', 'reduce_scatter')
    """
    ours = collective(name).name
    if ours not in COLLECTIVES:
        known = ", ".join(COLLECTIVES)
        raise InputError(f"NCCL has no choice of algorithm for {ours}, only for {known}")
    return ours


def algorithm_name(name: str) -> str:
    """Return an algorithm as the tuner's CSV spells it.

    Examples
    --------
    >>> algorithm_name("NVLSTree"), algorithm_name("COLLNET_DIRECT"), algorithm_name("pat")
    ('nvls_tree', 'collnet_direct', 'pat')
    """
    return _known("NCCL algorithm", name, ALGORITHMS)


def protocol_name(name: str) -> str:
    """Return a protocol as the tuner's CSV spells it.

    Examples
    --------
    >>> protocol_name("SIMPLE"), protocol_name("LL128")
    ('simple', 'll128')
    """
    return _known("NCCL protocol", name, PROTOCOLS)


def _known(what: str, name: str, choices: tuple[str, ...]) -> str:
    found = _PLAIN.get(name.lower().replace("_", ""))
    if found not in choices:
        raise UnknownNameError(what, name, choices)
    return found


def path_rank(name: str) -> int:
    """Return how far a kind of path is: 0 for the same device.

    Examples
    --------
    >>> path_rank("NVL") < path_rank("PXB") < path_rank("SYS")
    True
    """
    if name not in PATHS:
        raise UnknownNameError("kind of path", name, PATHS)
    return PATHS.index(name)
