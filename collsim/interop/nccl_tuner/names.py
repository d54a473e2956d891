"""Our algorithms that are NCCL's, and NCCL's words in the tuner's CSV."""

from typing import Final

from collsim.nccl import COLLECTIVES, Tuning
from collsim.nccl.names import OUR_NAME

__all__ = ["FUNCTIONS", "NCCL_OF", "OUR_NAME", "available", "spelled"]

NCCL_OF: Final = {ours: theirs for theirs, ours in OUR_NAME.items()}

# Words for collectives, in the CSV of the example plugin and in NCCL_ALGO, which takes any
# case. NCCL 2.30.7, plugins/tuner/example/plugin.c and src/graph/tuning.cc.
FUNCTIONS: Final = {name: name.replace("_", "") for name in COLLECTIVES}


def available(table: Tuning, collective: str) -> tuple[str, ...]:
    """Return NCCL's names of the algorithms that its model has for a collective.

    Examples
    --------
    >>> from collsim.core.cluster import Cluster
    >>> from collsim.nccl import communicator, tuning
    >>> table = tuning(communicator(Cluster.load("dgx-h100", nodes=2)))
    >>> available(table, "all_reduce"), available(table, "broadcast")
    (('tree', 'ring', 'nvls_tree'), ('ring',))
    """
    import numpy as np

    found = [algorithm for algorithm, _ in table.times_us(collective, np.array([1]))]
    return tuple(dict.fromkeys(found))


def spelled(algorithm: str) -> str:
    """Return a name as NCCL_ALGO has it, which knows no underscores.

    Examples
    --------
    >>> spelled("nvls_tree")
    'nvlstree'
    """
    return algorithm.replace("_", "")
