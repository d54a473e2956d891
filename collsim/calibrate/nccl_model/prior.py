"""What is believed of every parameter before measuring: NCCL's constants, broadly.

Each prior is log-normal. Its centre is the constant of NCCL's own cost model where there is
one, or the datasheet's bandwidth; its width says how much of it to believe: narrow where the
schedule says that a ratio is 1, broad where only the order of magnitude is known.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from collsim.calibrate.nccl_model.system import ARCHITECTURES, System
from collsim.errors import InputError
from collsim.nccl.constants import NEWEST
from collsim.nccl.names import PROTOCOLS

__all__ = ["QUANTUM", "RATIO_OF_ONE", "REDUCES", "SOURCE", "Prior", "priors"]

SOURCE: Final = f"NCCL {NEWEST.source.split()[1]} src/graph/tuning.cc"
RATIO_OF_ONE: Final = 0.1
"""Width of a ratio that the schedule says is 1."""
_BROAD: Final = 1.0
QUANTUM: Final = 4096
"""Bytes that fill one LL channel: 512 threads of 8 B (NCCL src/include/device.h)."""
REDUCES: Final = {"all_reduce": (1, 1), "all_gather": (1, 0), "reduce_scatter": (0, 1)}
"""Steps per P - 1 that copy, and that reduce."""


@dataclass(frozen=True)
class Prior:
    """A log-normal belief.

    Parameters
    ----------
    centre : float
        Its median.
    sigma : float
        Standard deviation of the logarithm.
    """

    centre: float
    sigma: float


def priors(
    system: System,
    ranks: Iterable[int],
    collectives: Iterable[str],
    algorithms: Iterable[str | None] = (),
) -> dict[str, Prior]:
    """Return the prior of every parameter that some rows may need.

    Parameters
    ----------
    system : System
        Where they were measured.
    ranks : iterable of int
        Rank counts of the rows.
    collectives, algorithms : iterable of str
        What ran; algorithms where the rows name them.

    Examples
    --------
    >>> found = priors(System("ampere", 12, 240.0), [2, 4, 8], ["all_gather"])
    >>> found["launch"].sigma, found["inside.ll.alpha"].centre
    (0.5, 6e-07)
    """
    if not system.several:
        found = _launch() | _alone(system)
    else:
        found = _launch() | _across(system, tied=len({*collectives} & REDUCES.keys()) > 1)
    found |= _each_protocol(system)
    found |= {
        "inside.ll.fill": Prior(0.3e-6, _BROAD),
        "inside.ll.local_fill": Prior(1e-6, _BROAD),
        "inside.ll.channels": Prior(2.0 * system.channels, 0.5),
    }
    if system.nvls:
        found |= _nvls(system)
    if "tree" in set(algorithms):
        found |= {"tree.alpha_ratio": Prior(1.0, 0.5), "tree.beta_ratio": Prior(1.0, 0.5)}
    if "all_to_all" in collectives:
        found |= _peer_to_peer(system)
    if not system.uniform:
        found |= _spans(sorted(set(ranks)))
    return found


def _launch() -> dict[str, Prior]:
    # Base latency of a ring in NCCL's model (baseLat, LL), microseconds.
    return {"launch": Prior(NEWEST.base[1][0] * 1e-6, 0.5)}


def _each_protocol(system: System) -> dict[str, Prior]:
    steps = (NEWEST.nvlink if system.inside == "nvlink" else NEWEST.pci)[1]
    bus = system.intra_bus * 1e9
    row = list(ARCHITECTURES).index(system.architecture)
    # LL moves 8 bytes with 8 of flags, at most so fast; LL128 120 of 128.
    rates = (min(NEWEST.ll_most[row][0] * 1e9, bus / 2), 0.92 * bus, bus)
    found = {}
    for i, p in enumerate(PROTOCOLS):
        found[f"inside.{p}.alpha"] = Prior(steps[i] * 1e-6, _BROAD)
        found[f"inside.{p}.beta"] = Prior(1 / rates[i], 0.7)
        if p != "ll":
            found[f"inside.{p}.extra"] = Prior(3e-6, 1.5)
            found[f"inside.{p}.local"] = Prior(1.0, 0.7)
    return found


def _alone(system: System) -> dict[str, Prior]:
    """Return ratios of a single node: of reducing to copying, of both in one kernel to each."""
    found = {}
    for p in PROTOCOLS:
        found[f"inside.{p}.fused_alpha"] = Prior(1.0, RATIO_OF_ONE)
        found[f"inside.{p}.fused_beta"] = Prior(1.0, RATIO_OF_ONE / 2)
        if system.uniform or p != "ll":
            found[f"inside.{p}.reduce_alpha"] = Prior(1.0, RATIO_OF_ONE)
        if system.uniform and p != "ll":
            found[f"inside.{p}.reduce_beta"] = Prior(1.0, RATIO_OF_ONE / 2)
    if system.uniform:
        found["inside.ll.reduce_fill"] = Prior(0.7, _BROAD)
        found["inside.ll.quantum"] = Prior(float(QUANTUM), 0.4)
    return found


def _across(system: System, tied: bool) -> dict[str, Prior]:
    """Return parameters of links between nodes, alpha_busy with alpha's centre (textbook)."""
    steps = NEWEST.net[0]
    wider = (2.0, 1.1, 1.0)  # flags of LL and LL128
    found = {}
    for i, p in enumerate(PROTOCOLS):
        found[f"between.{p}.alpha"] = Prior(steps[i] * 1e-6, _BROAD)
        found[f"between.{p}.alpha_busy"] = Prior(steps[i] * 1e-6, _BROAD)
        found[f"between.{p}.beta"] = Prior(1e-9 / system.inter_bus * wider[i], _BROAD)
        # With NVLS too, more would be parameters of Simple than a model should have.
        if tied and p != "ll" and not system.nvls:
            found[f"inside.{p}.reduce_alpha"] = Prior(1.0, RATIO_OF_ONE)
            found[f"inside.{p}.fused_beta"] = Prior(1.0, RATIO_OF_ONE / 2)
    found["between.ll.eager"] = Prior(4096.0, _BROAD)
    found["between.ll.rendezvous"] = Prior(1.0, 0.7)
    found["tree.simple.pipeline"] = Prior(2.0 * system.channels, 1.5)
    found["tree.simple.channels"] = Prior(2.0 * system.channels, 1.5)
    return found


def _nvls(system: System) -> dict[str, Prior]:
    row = list(ARCHITECTURES).index(system.architecture)
    found = {
        "nvls.simple.alpha": Prior(20e-6, 0.5),
        "nvls.simple.efficiency": Prior(NEWEST.nvls_efficiency[row] or 0.85, 0.15),
    }
    if not system.several:
        # Over nodes the efficiency has to stand for it.
        found["nvls.simple.loop"] = Prior(3.4e-6, 0.7)
    return found


def _peer_to_peer(system: System) -> dict[str, Prior]:
    found = {
        "p2p.setup": Prior(5e-6, _BROAD),
        "p2p.ll.alpha": Prior(0.2e-6, _BROAD),
        "p2p.ll.fill": Prior(1e-6, _BROAD),
        "p2p.ll.beta": Prior(1e-10, _BROAD),
        "p2p.simple.extra": Prior(5e-6, _BROAD),
        "p2p.simple.alpha": Prior(0.2e-6, _BROAD),
        "p2p.simple.beta": Prior(1e-9 / system.intra_bus, 0.7),
        "p2p.simple.local": Prior(0.5, 0.7),
        "p2p.simple.hidden": Prior(1e5, 2.0),
        "p2p.simple.ramp": Prior(10e-6, _BROAD),
        "p2p.simple.ramp_bytes": Prior(8e6, _BROAD),
    }
    if system.several:
        found["between.p2p.beta"] = Prior(1e-9 / system.inter_bus, 0.7)
        found["between.p2p.alpha"] = Prior(NEWEST.net[0][0] * 1e-6, _BROAD)
    return found


def _spans(ranks: list[int]) -> dict[str, Prior]:
    """Return ratios to the fewest ranks: each rank count of a PCIe tree spans other links."""
    if not ranks:
        raise InputError("no ranks, expected those of the rows")
    found = {}
    for count in ranks[1:]:
        found[f"span{count}.alpha_ratio"] = Prior(1.0, 0.5)
        for p in ("ll", "simple", "p2p"):
            found[f"span{count}.{p}.beta_ratio"] = Prior(1.0, 1.5)
    return found
