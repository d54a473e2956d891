"""NCCL's latency and bandwidth of one collective, algorithm and protocol."""

from collsim.nccl._bandwidth import bandwidth
from collsim.nccl._case import Case, Cell, single
from collsim.nccl._latency import latency
from collsim.nccl.communicator import Communicator
from collsim.nccl.versions import Release

__all__ = ["Cell", "cell", "single"]


def cell(
    comm: Communicator, release: Release, collective: str, algorithm: str, protocol: str
) -> Cell:
    """Return an entry before anything is disabled."""
    case = Case(comm, release, collective, algorithm, protocol)
    if not _exists(case):
        return Cell()
    return Cell(latency(case), bandwidth(case))


def _exists(case: Case) -> bool:
    rules, algorithm = case.release.rules, case.algorithm
    if case.collective in {"broadcast", "reduce"} and algorithm != "ring":
        return False
    if case.gathers and algorithm != "ring" and algorithm not in rules.gathers:
        return False
    if algorithm == "pat":
        return case.gathers and case.protocol == "simple" and _pat_enabled(case)
    if algorithm in {"nvls", "nvls_tree"}:
        few = rules.nvls == "2.28" and case.graph.channels < 2
        return case.protocol == "simple" and not few
    return True


def _pat_enabled(case: Case) -> bool:
    if case.comm.capability < case.release.rules.pat_capability:
        return False
    asked = case.comm.environment.get("NCCL_PAT_ENABLE", "2")
    return asked == "1" or (asked == "2" and case.comm.nodes == case.comm.ranks)
