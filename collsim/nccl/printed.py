"""A `Tuning` from the table that NCCL printed, not from a model of it.

The table is printed to a tenth, so times are as good as that; what it does not hold (ranks,
nodes, channels, capability) comes from other lines of the log, or from the caller.
"""

from dataclasses import replace

from collsim.core.arguments import checked
from collsim.errors import InputError
from collsim.nccl._case import Cell
from collsim.nccl.communicator import Communicator
from collsim.nccl.log import Log, PrintedTable
from collsim.nccl.names import ALGORITHMS
from collsim.nccl.tuning import Tuning
from collsim.nccl.versions import release

__all__ = ["log_communicator", "printed_tuning"]


@checked
def log_communicator(
    log: Log,
    capability: int,
    *,
    ranks: int | None = None,
    nodes: int | None = None,
    channels: int | None = None,
) -> Communicator:
    """Return what a log tells of its communicator, without graphs.

    Parameters
    ----------
    log : Log
        One that was read.
    capability : int
        Compute capability of the GPUs, which NCCL does not print.
    ranks, nodes, channels : int, optional
        Where the log does not tell; what it tells counts less than what is given.

    Returns
    -------
    Communicator
        Without graphs, which a log does not tell in full.

    Raises
    ------
    InputError
        If one of them is neither in the log nor given.

    Examples
    --------
    >>> from collsim.nccl.log import parse_log
    >>> log_communicator(parse_log(""), 90, ranks=8, nodes=1, channels=24).ranks
    8
    """
    counts = {(row.collective, row.nvls or 0) for row in log.channels}
    collective, nvls = counts.pop() if len(counts) == 1 else (None, 0)
    given = {
        "ranks": ranks or log.ranks,
        "nodes": nodes or log.nodes,
        "channels": channels or collective,
    }
    for what, value in given.items():
        if value is None:
            raise InputError(f"{log.file}: does not tell {what}, or of several communicators")
    return Communicator(
        ranks=given["ranks"] or 0,
        nodes=given["nodes"] or 0,
        capability=capability,
        graphs={},
        channels=given["channels"] or 0,
        nvls_channels=nvls,
        environment=log.environment,
        origin=(f"what {log.file} tells",),
    )


@checked
def printed_tuning(table: PrintedTable, comm: Communicator, version: str = "2.30") -> Tuning:
    """Return a tuning whose latencies and bandwidths are those of a printed table.

    Parameters
    ----------
    table : PrintedTable
        From a log.
    comm : Communicator
        Ranks, nodes, channels; its graphs are not used.
    version : str
        NCCL's, for its rules of time and choice.

    Returns
    -------
    Tuning
        Whose times are as good as what was printed, to a tenth.

    Raises
    ------
    InputError
        If the version is older than 2.18.

    Examples
    --------
    >>> ll, simple = ("broadcast", "ring", "ll"), ("broadcast", "ring", "simple")
    >>> cells = {ll: (9.3, 1.2), simple: (22.4, 2.4)}
    >>> table = PrintedTable("a.log", 1, "", "blocks", cells, {("ring", "simple"): 256})
    >>> comm = Communicator(2, 2, 120, {}, channels=4)
    >>> ranges = printed_tuning(table, comm).ranges("broadcast", 24576, 40000)
    >>> [(r.min_bytes, r.protocol, r.channels) for r in ranges]
    [(24576, 'll', 3), (31441, 'simple', 1), (32768, 'simple', 2)]
    """
    cells = {
        key: Cell(latency, bandwidth)
        for key, (latency, bandwidth) in table.cells.items()
        if key[1] in ALGORITHMS
    }
    collnet = any(cells[key].bandwidth > 0 for key in cells if key[1] == "collnet_chain")
    comm = replace(comm, collnet=comm.collnet or collnet)
    return Tuning(comm, release(version), cells, most_threads=dict(table.threads))
