"""Every piece's time is that of its formula, typed a second time, number by number."""

from __future__ import annotations

import math
import random
from itertools import product

import numpy as np
import pytest

from collsim.calibrate.nccl_model.batch import Group
from collsim.calibrate.nccl_model.pieces import PIECES
from collsim.calibrate.nccl_model.system import System

# Ranks and nodes: one node, of two and of more; two nodes and several; one GPU in each.
SHAPES = ((2, 1), (8, 1), (8, 2), (12, 3), (16, 16))
SIZES = (0.0, 3e3, 6e4, 1e6, 5e7, 3e9)
SYSTEM = System("hopper", 12, 360.0, inter_bus=50.0, nvls=True)
# Of P - 1 steps: how often they copy, and reduce.
STEPS = {
    "all_reduce": (1, 1), "all_gather": (1, 0), "reduce_scatter": (0, 1),
    "broadcast": (1, 0), "reduce": (0, 1),
}  # fmt: skip
Values = dict[str, float]


def drawn(rng: random.Random, ranks: int) -> Values:
    """Return a value for every parameter: of times, rates, ratios and sizes in usual orders."""
    found = {"launch": rng.uniform(1e-6, 9e-6)}
    for p in ("ll", "ll128", "simple"):
        for place in ("inside", "between"):
            found[f"{place}.{p}.alpha"] = rng.uniform(1e-7, 5e-6)
            found[f"{place}.{p}.beta"] = 10 ** rng.uniform(-12, -10)
        found[f"between.{p}.alpha_busy"] = 10 ** rng.uniform(-7, -4)
        for ratio in ("fused_alpha", "fused_beta", "reduce_alpha", "reduce_beta"):
            found[f"inside.{p}.{ratio}"] = rng.uniform(0.5, 2)
        found[f"inside.{p}.extra"] = rng.uniform(1e-6, 9e-6)
        found[f"inside.{p}.local"] = rng.uniform(0.5, 2)
        found[f"span{ranks}.{p}.beta_ratio"] = rng.uniform(0.5, 2)
    found |= {
        "inside.ll.fill": rng.uniform(1e-7, 1e-6),
        "inside.ll.local_fill": rng.uniform(1e-7, 1e-6),
        "inside.ll.reduce_fill": rng.uniform(0.5, 2),
        "inside.ll.quantum": rng.uniform(1e3, 1e5),
        "inside.ll.channels": rng.uniform(1, 30),
        "between.ll.eager": 10 ** rng.uniform(3, 6),
        "between.ll.rendezvous": rng.uniform(1.5, 4),
        f"span{ranks}.alpha_ratio": rng.uniform(0.5, 2),
        "tree.alpha_ratio": rng.uniform(0.5, 2),
        "tree.beta_ratio": rng.uniform(0.5, 2),
        "tree.simple.pipeline": rng.uniform(1, 30),
        "tree.simple.channels": rng.uniform(1, 30),
        "nvls.simple.alpha": rng.uniform(1e-5, 3e-5),
        "nvls.simple.efficiency": rng.uniform(0.5, 1),
        "nvls.simple.loop": rng.uniform(1e-6, 5e-6),
        "p2p.setup": rng.uniform(1e-6, 9e-6),
        "p2p.ll.alpha": rng.uniform(1e-7, 5e-7),
        "p2p.ll.fill": rng.uniform(1e-6, 5e-6),
        "p2p.ll.beta": 10 ** rng.uniform(-11, -9),
        "p2p.simple.extra": rng.uniform(1e-6, 9e-6),
        "p2p.simple.alpha": rng.uniform(1e-7, 5e-7),
        "p2p.simple.beta": 10 ** rng.uniform(-12, -10),
        "p2p.simple.local": rng.uniform(0.1, 1),
        "p2p.simple.hidden": 10 ** rng.uniform(4, 7),
        "p2p.simple.ramp": rng.uniform(1e-6, 2e-5),
        "p2p.simple.ramp_bytes": 10 ** rng.uniform(5, 8),
        f"span{ranks}.p2p.beta_ratio": rng.uniform(0.5, 2),
        "between.p2p.alpha": rng.uniform(1e-6, 9e-6),
        "between.p2p.beta": 10 ** rng.uniform(-12, -10),
    }
    return found


def hop(t: Values, p: str, message: float) -> float:
    """Return the latency between nodes, which of LL rises to `rendezvous` times at `eager`."""
    alpha = t[f"between.{p}.alpha"]
    if p != "ll":
        return alpha
    over = max(message, 1.0) / t["between.ll.eager"]
    return alpha * (1 + (t["between.ll.rendezvous"] - 1) * over**8 / (1 + over**8))


def ring(t: Values, kind: str, p: str, ranks: int, nodes: int, n: float) -> float:
    """Return launch, extra, and what P - 1 passes cost."""
    of = f"inside.{p}"
    copies, sums = ((ranks - 1) * each for each in STEPS[kind])
    share = n / (ranks - 1 if kind in ("broadcast", "reduce") else ranks)
    fused = kind == "all_reduce"
    f_a, f_b = (t[f"{of}.fused_{x}"] if fused else 1.0 for x in ("alpha", "beta"))
    alpha = t[f"{of}.alpha"] * t[f"span{ranks}.alpha_ratio"]
    beta = t[f"{of}.beta"] * t[f"span{ranks}.{p}.beta_ratio"]
    leave = (nodes - 1) / (ranks - 1)
    chain = (1 - leave) * f_a * alpha * (copies + t[f"{of}.reduce_alpha"] * sums)
    slowest = beta
    if nodes > 1:
        chain += leave * (copies + sums) * hop(t, p, share)
        slowest = max(beta, t[f"between.{p}.beta"])
    bytes_moved = f_b * (copies + t[f"{of}.reduce_beta"] * sums)
    if p == "ll":
        q = min(share / t["inside.ll.quantum"], 1)
        one = (1 - leave) * f_a * t["inside.ll.fill"]
        chain += q * (
            t["inside.ll.local_fill"] + one * (copies + t[f"{of}.reduce_fill"] * sums)
        )
        rest = share if nodes > 1 else max(share - 4096 * t["inside.ll.channels"], 0)
        chain += slowest * (bytes_moved + 1) * rest
    else:
        chain += share * (slowest * bytes_moved + beta * t[f"{of}.local"])
    if nodes > 1:
        chain = max(chain, (copies + sums) * t[f"between.{p}.alpha_busy"])
    return t["launch"] + t[f"{of}.extra"] + chain


def crossed(nodes: int) -> int:
    """Return how often the bytes leave a node: each of two is root of one tree, leaf of one."""
    return 1 if nodes == 2 else 2


def fill(t: Values, depth: float, nodes: int, n: float) -> float:
    """Return what it takes until a pipelined tree is full."""
    chunk = n / (8 * depth * t["tree.simple.channels"])
    chunk = min(max(chunk, 32 * 1024), 512 * 1024)
    each = t["tree.simple.pipeline"] * chunk * t["between.simple.beta"]
    return crossed(nodes) * depth * each


def tree(t: Values, kind: str, p: str, ranks: int, nodes: int, n: float) -> float:
    """Return up and down a chain in each node, and up and down two trees over nodes."""
    of, gpus = f"inside.{p}", ranks // nodes
    alpha = t[f"{of}.alpha"] * t["tree.alpha_ratio"] * t[f"span{ranks}.alpha_ratio"]
    beta = t[f"{of}.beta"] * t["tree.beta_ratio"] * t[f"span{ranks}.{p}.beta_ratio"]
    wire = 2 * n * beta if gpus > 1 else 0.0
    time = t["launch"] + t[f"{of}.extra"] + 2 * (gpus - 1) * alpha
    if nodes > 1:
        wire = max(wire, crossed(nodes) * n * t[f"between.{p}.beta"])
        time += 2 * math.log2(nodes) * hop(t, p, n)
        if p == "simple":
            time += fill(t, gpus - 1 + math.log2(nodes), nodes, n)
    return time + wire


def pat(t: Values, kind: str, p: str, ranks: int, nodes: int, n: float) -> float:
    """Return ⌈log N⌉ hops, and P - 1 shares."""
    time, beta = t["launch"] + t[f"inside.{p}.extra"], t[f"inside.{p}.beta"]
    if nodes > 1:
        time += math.ceil(math.log2(nodes)) * t[f"between.{p}.alpha"]
        beta = max(beta, t[f"between.{p}.beta"])
    return time + (ranks - 1) * n / ranks * beta


def turn(gpus: int, n: float) -> float:
    """Return the bytes of a turn of NVLS: its chunks double at 2, 8 and 64 turns."""
    at_once = 16 * gpus
    for turns, kib in ((64, 128), (8, 64), (2, 32)):
        if n >= turns * at_once * kib * 1024:
            return at_once * kib * 1024
        if n >= turns * at_once * kib * 1024 / 2:
            return n / turns
    return at_once * 16 * 1024


def nvls(t: Values, kind: str, p: str, ranks: int, nodes: int, n: float) -> float:
    """Return the switch's own latency, and turns of a pipeline of three stages."""
    start = t["launch"] + t["nvls.simple.alpha"]
    per_byte = (1 + nodes / ranks) * t["inside.simple.beta"] / t["nvls.simple.efficiency"]
    if "nvls.simple.loop" not in t:
        return start + n * per_byte
    each = turn(ranks // nodes, n)
    turns = max(n / each, 1) + 2
    return start + turns * (t["nvls.simple.loop"] + min(n, each) * per_byte)


def nvls_tree(t: Values, kind: str, p: str, ranks: int, nodes: int, n: float) -> float:
    """Return the switch's latency and bytes, and two trees over the nodes."""
    if nodes == 1:
        return nvls(t, kind, p, ranks, nodes, n)
    moved = n * (1 + nodes / ranks) * t["inside.simple.beta"] / t["nvls.simple.efficiency"]
    slowest = max(moved, crossed(nodes) * n * t["between.simple.beta"])
    up_and_down = 2 * math.log2(nodes) * t["between.simple.alpha"]
    start = t["launch"] + t["nvls.simple.alpha"] + up_and_down
    return start + slowest + fill(t, math.log2(nodes), nodes, n)


def p2p(t: Values, kind: str, p: str, ranks: int, nodes: int, n: float) -> float:
    """Return a send and a receive per peer, or what the node's network takes."""
    later, slower = t[f"span{ranks}.alpha_ratio"], t[f"span{ranks}.p2p.beta_ratio"]
    share, start = n / ranks, (ranks - 1) * t[f"p2p.{p}.alpha"]
    if p == "ll":
        start += t["p2p.ll.fill"] * min(share / 4096, 1)
        time = later * start + slower * t["p2p.ll.beta"] * share
    else:
        moved = share * (ranks - 1) + t["p2p.simple.local"] * share
        opening = t["p2p.simple.ramp"] * moved / (moved + t["p2p.simple.ramp_bytes"])
        seen = max(moved - t["p2p.simple.hidden"], 0)
        time = t["p2p.simple.extra"] + later * (start + opening)
        time += slower * t["p2p.simple.beta"] * seen
    if nodes > 1:
        gpus = ranks // nodes
        time = max(time, gpus * (ranks - gpus) * share * t["between.p2p.beta"])
        time += t["between.p2p.alpha"]
    return t["p2p.setup"] + time


EVERY = ("ll", "ll128", "simple")
CASES = [
    *((ring, kind, p) for kind in STEPS for p in EVERY),
    *((tree, "all_reduce", p) for p in EVERY),
    *((pat, "all_gather", p) for p in ("ll128", "simple")),
    (nvls, "all_reduce", "simple"), (nvls_tree, "all_reduce", "simple"),
    (p2p, "all_to_all", "ll"), (p2p, "all_to_all", "simple"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("formula", "kind", "protocol"), CASES, ids=[f"{f.__name__}-{k}-{p}" for f, k, p in CASES]
)
def test_a_piece_takes_what_its_formula_says(formula, kind, protocol) -> None:  # type: ignore[no-untyped-def]
    """Any size, several sets of parameters, on one node and on several."""
    rng = random.Random(f"{formula.__name__} {kind} {protocol}")
    for (ranks, nodes), _ in product(SHAPES, range(6)):
        t = drawn(rng, ranks)
        values = {key: np.array([[value]]) for key, value in t.items()}
        many = len(SIZES)
        at = Group(
            SYSTEM, kind, formula.__name__, protocol, np.arange(many),
            np.full(many, float(ranks)), np.full(many, float(nodes)), np.array(SIZES),
        )  # fmt: skip
        (found,) = PIECES[formula.__name__](values, at)
        expected = [formula(t, kind, protocol, ranks, nodes, n) for n in SIZES]
        assert found == pytest.approx(expected, rel=1e-12, abs=0)


def test_parameters_that_a_system_lacks_change_nothing() -> None:
    """Ratios are 1, and further latencies 0, where no prior has them."""
    rng = random.Random(1)
    ranks, n = 8, 3e5
    optional = ("ratio", "fused", "reduce_", "loop")
    for formula, kind, protocol in CASES:
        t = drawn(rng, ranks)
        few = {
            key: value
            for key, value in t.items()
            if not any(part in key for part in optional)
            and key not in ("inside.ll.quantum", "inside.ll.extra")
        }
        neutral = {key: 0.0 if key.endswith("ll.extra") else 1.0 for key in t} | few
        neutral["inside.ll.quantum"] = 4096.0
        del neutral["nvls.simple.loop"]  # without it there are no turns
        at = Group(
            SYSTEM, kind, formula.__name__, protocol, np.arange(1),
            np.array([float(ranks)]), np.array([2.0]), np.array([n]),
        )  # fmt: skip
        values = {key: np.array([[value]]) for key, value in few.items()}
        ((found,),) = PIECES[formula.__name__](values, at)
        expected = formula(neutral, kind, protocol, ranks, 2, n)
        assert found == pytest.approx(expected, rel=1e-12, abs=0), (formula, kind, protocol)
