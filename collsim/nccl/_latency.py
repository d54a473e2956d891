"""NCCL's latency of an entry. src/graph/tuning.cc, ncclTopoTuneModel.

Integers divide as in C: nodes of uneven size count as many ranks as the smallest average.
"""

import re

from collsim.errors import InputError
from collsim.nccl._case import Case, single

__all__ = ["latency"]


def latency(case: Case) -> float:
    """Return microseconds of the algorithm."""
    base = case.step(case.constants.base)
    intra = case.step(case.inside)
    inter = _between(case)
    if case.algorithm == "ring":
        return single(base + _ring(case, intra, inter))
    if case.algorithm in {"nvls", "nvls_tree"}:
        return _nvls(case, base, intra, inter)
    peers = case.comm.ranks // case.comm.nodes - 1
    logs = _logs(case)
    if case.algorithm == "tree":
        return single(base + single(2 * single(single(peers * intra) + single(logs * inter))))
    if case.algorithm == "collnet_direct":
        local = single(min(1, peers) * intra) + peers * case.constants.collnet_arity
        return single(base + (2 * local + inter))
    if case.algorithm == "collnet_chain":
        return single(base + single(single(2 * peers * intra) + inter))
    # PAT: a logarithmic part and a linear one.
    return single(base + (logs * (inter / 3.5) + case.comm.ranks * 2.8))


def _logs(case: Case) -> int:
    return case.comm.nodes.bit_length() - 1


def _between(case: Case) -> float:
    """Return what a step between nodes takes; Simple also waits for the flush."""
    alone = case.release.rules.exposed_net and case.ppn == 1
    step = case.step(case.constants.net, "tree" if alone else None)
    network = single(case.graph.latency_inter)
    step = single(step + network)
    return single(step + network) if case.protocol == "simple" else step


def _nvls(case: Case, base: float, intra: float, inter: float) -> float:
    nodes = case.comm.nodes
    if case.release.rules.old_nvls_latency:
        net = case.step(case.constants.net)
        if case.algorithm == "nvls":
            return single(base + net) if nodes > 1 else base
        return single(base + single(2 * (nodes - 1) * net))
    if case.algorithm == "nvls":
        return single(intra + inter) if nodes > 1 else intra
    return single(base + single(intra + single(2 * _logs(case) * inter)))


def _ring(case: Case, intra: float, inter: float) -> float:
    nodes = case.comm.nodes
    if case.collective in {"broadcast", "reduce"}:
        rows = case.inside if nodes == 1 else case.constants.net
        if case.graph.same_channels:
            return case.step(rows)
        step = case.step(rows, "tree" if case.protocol == "simple" else None)
        return single(case.steps * step)
    if nodes > 1:
        overhead = _net_overhead(case)
        if case.protocol == "simple":
            overhead = single(overhead * 3)
        intra = max(intra, overhead)
    across = 0
    if nodes > 1:
        across = nodes - 1
        if case.collective == "all_reduce":
            across = 2 * across + case.release.rules.net_steps
    local = single((case.steps - across) * intra)
    return single(local + single(across * inter))


def _net_overhead(case: Case) -> float:
    """Return what posting to the network costs, in microseconds."""
    asked = case.comm.environment.get("NCCL_NET_OVERHEAD", "-2")
    if asked != "-2":
        if not re.fullmatch(r"-?\d{1,9}", asked, re.ASCII):
            raise InputError(f"NCCL_NET_OVERHEAD={asked}: expected a whole number, nanoseconds")
        return single(int(asked) * 0.001)
    amd = case.comm.cpu_arch == "x86_64" and case.comm.cpu_vendor == "amd"
    return 2.0 if amd else 1.0
