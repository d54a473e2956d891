"""NCCL's algorithm bandwidth of an entry. src/graph/tuning.cc, ncclTopoTuneModel."""

from typing import Final

import numpy as np

from collsim.nccl._case import Case, single

__all__ = ["bandwidth"]

_INFINITE: Final = float(np.finfo(np.float32).max)


def bandwidth(case: Case) -> float:
    """Return GB/s of the algorithm, before anything is disabled."""
    graph = case.graph
    collnet = case.algorithm in {"collnet_direct", "collnet_chain"}
    bw = graph.bw_intra if case.comm.nodes <= 2 or collnet else graph.bw_inter
    bw = single(bw)
    if case.algorithm in {"nvls", "nvls_tree"}:
        bw = _nvls(case, bw)
    bus = single(graph.channels * bw)
    if case.algorithm == "ring":
        bus = _ring(case, bus)
    elif case.algorithm == "tree":
        bus = _tree(case, bus)
    elif case.algorithm == "pat":
        bus = single(bus * case.constants.pat)
    elif collnet:
        bus = _collnet(case, bus, bw)
    if case.gathers and case.comm.nodes > 1:
        bus = _heads(case, bus)
    halved = ("ring", *case.release.rules.gather_ratio)
    if case.gathers and case.algorithm not in halved:
        return bus
    return single(bus * _ratio(case))


def _ratio(case: Case) -> float:
    """Return algorithm bandwidth / bus bandwidth."""
    rule, nodes = case.release.rules.nvls, case.comm.nodes
    if case.algorithm in {"nvls", "nvls_tree"} and rule != "2.28":
        if rule.startswith("2.18") and case.algorithm == "nvls_tree":
            return single(0.70 * nodes / (2 * (nodes - 1))) if nodes > 1 else 0.0
        return single(0.75 if rule == "2.18.1" else 5.0 / 6.0)
    if case.algorithm in {"ring", "nvls", "nvls_tree"}:
        return single(1.0 * case.comm.ranks / case.steps)
    return 0.5


def _ring(case: Case, bus: float) -> float:
    rules, nodes = case.release.rules, case.comm.nodes
    if case.protocol == "ll":
        share = 0.5
        if not rules.half_ring_ll:
            reduces = case.collective in {"all_reduce", "reduce"}
            share = 1 / 4 if nodes > 1 or reduces else 1 / 3
        return single(min(_ll_most(case), bus * share))
    if case.protocol == "ll128":
        share = rules.ring_ll128_alone if case.ppn < 2 else 0.92
        most = case.graph.channels * case.most(case.constants.ring_ll128)
        return single(min(bus * share, most))
    return bus


def _tree(case: Case, bus: float) -> float:
    channels = case.graph.channels
    bus = single(min(bus * 0.92, channels * case.most(case.constants.tree)))
    if case.protocol == "ll":
        bus = single(min(bus * 1.0 / 3.8, _ll_most(case)))
    if case.protocol == "ll128":
        share = 7.0 / 9.0 if case.comm.nodes == 1 else 120.0 / 128.0
        bus = single(min(bus * share, channels * case.most(case.constants.tree_ll128)))
    if case.graph.pattern == 3:
        bus = single(bus * case.release.rules.pattern_tree)
    return bus


def _ll_most(case: Case) -> float:
    """Return LL's limit: by GPU on one node, by CPU on several."""
    row = (
        case.gpu
        if case.comm.nodes == 1
        else int(case.comm.cpu_vendor in case.release.rules.slow_vendors)
    )
    return case.constants.ll_most[row][case.scale]


def _nvls(case: Case, bw: float) -> float:
    graph, rule = case.graph, case.release.rules.nvls
    intra, inter = single(graph.bw_intra), single(graph.bw_inter)
    two = case.comm.nodes <= 2
    if rule.startswith("2.18"):
        return bw
    if rule != "2.28":
        if case.algorithm == "nvls_tree":
            return min(intra, inter if two else single(inter / 2))
        if rule == "2.27" and case.gathers:
            intra = single(single(intra * single(case.ppn - 1)) / case.ppn)
            return min(intra, single(inter * single(0.9)))
        return min(intra, inter)
    efficiency = single(case.constants.nvls_efficiency[case.gpu])
    intra = single(single(intra * efficiency) * (graph.channels - 1))
    intra = single(intra / graph.channels)
    if case.collective == "all_reduce":
        intra = single(intra * 2)
    else:
        intra = single(intra * single(single(case.ppn - 1) / case.ppn))
    tree = case.algorithm == "nvls_tree"
    inter = single(inter * (2 if two and tree else 1))
    most = single(case.most(case.constants.nvls_tree)) if tree else _INFINITE
    return min(intra, inter, most)


def _collnet(case: Case, bus: float, bw: float) -> float:
    if case.protocol != "simple":
        return 0.0
    if case.algorithm == "collnet_chain":
        return bus
    graph = case.graph
    if case.gathers:
        if case.release.rules.collnet_gather == "2.27":
            inter = single(single(graph.bw_inter) * single(0.9))
            return single(case.ppn * min(single(graph.bw_intra), inter))
        weight = single(single(case.ppn - 1) / 7)
        bus = single(case.ppn * bw)
        return single(bus * (weight * 0.85 + single(1 - weight) * 0.95))
    if not graph.channels:
        # NCCL divides nothing by infinity.
        return 0.0
    factor = single(case.ppn / (1.0 * graph.channels))
    factor = single(factor - single(single(factor - 1) / 2))
    bus = single(bus / factor)
    return single(bus * 0.85) if case.comm.capability >= 90 else bus


def _heads(case: Case, bus: float) -> float:
    """Return nothing where these two can't use in-network collectives over nodes."""
    if case.protocol != "simple" or case.algorithm not in {"nvls", "collnet_direct"}:
        return bus
    enough = case.comm.most_local_ranks <= case.comm.collnet_heads
    if case.algorithm == "nvls" and case.release.rules.collnet_gather != "2.27":
        return bus
    return bus if case.comm.collnet and enough else 0.0
