"""What NCCL looks at for one call. src/enqueue.cc, updateCollCostTable."""

from collsim.nccl.communicator import Communicator
from collsim.nccl.families import adds_in_switch
from collsim.nccl.rules import Rules

__all__ = ["allowed"]


def allowed(
    comm: Communicator, rules: Rules, what: tuple[str, str], dtype: str, op: str
) -> bool:
    """Whether NCCL looks at an algorithm for a collective at all.

    Examples
    --------
    >>> comm = Communicator(8, 1, 90, {}, nvls_channels=16)
    >>> [allowed(comm, Rules(), ("all_reduce", "nvls"), "float", op) for op in ("sum", "max")]
    [True, False]
    """
    name, algorithm = what
    if algorithm in {"collnet_direct", "collnet_chain"}:
        chain = algorithm == "collnet_chain"
        most = rules.collnet_chain_ranks if chain else rules.collnet_direct_ranks
        return comm.collnet and comm.most_local_ranks <= most
    if algorithm in {"nvls", "nvls_tree"}:
        able = adds_in_switch(dtype, op) or (name == "all_gather" and rules.nvls_gather_any)
        return able and _nvls(comm, rules, name, algorithm)
    # PAT does not scale what it has reduced.
    return not (algorithm == "pat" and name == "reduce_scatter" and op == "avg")


def _nvls(comm: Communicator, rules: Rules, name: str, algorithm: str) -> bool:
    if not comm.nvls_channels:
        return False
    if algorithm == "nvls" and comm.nodes > 1 and not comm.collnet:
        return False
    if name == "all_reduce":
        return True
    few = comm.most_local_ranks <= rules.nvls_gather_ranks
    return few and comm.nodes <= rules.nvls_gather_nodes
