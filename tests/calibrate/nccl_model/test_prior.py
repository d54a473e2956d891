"""What is believed of every parameter, written down: its middle, and how surely."""

from __future__ import annotations

import pytest

from collsim.calibrate.nccl_model.prior import priors
from collsim.calibrate.nccl_model.system import System
from collsim.errors import InputError

KINDS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all")
SWITCH = System("ampere", 12, 240.0)
NVLS = System("hopper", 12, 360.0, nvls=True)
PCIE = System("volta", 2, 12.0, inside="pci", uniform=False)
NETWORK = System("ampere", 12, 240.0, inter_bus=50.0)
NVLS_NETWORK = System("blackwell", 16, 700.0, inter_bus=400.0, nvls=True)

# Wherever something is sent, in microseconds, bytes or as it is.
EVERYWHERE = """\
launch 6.6e-6 0.5
inside.ll128.extra 3e-6 1.5
inside.ll128.local 1 0.7
inside.simple.extra 3e-6 1.5
inside.simple.local 1 0.7
inside.ll.fill 0.3e-6 1
inside.ll.local_fill 1e-6 1
p2p.setup 5e-6 1
p2p.ll.alpha 0.2e-6 1
p2p.ll.fill 1e-6 1
p2p.ll.beta 1e-10 1
p2p.simple.extra 5e-6 1
p2p.simple.alpha 0.2e-6 1
p2p.simple.local 0.5 0.7
p2p.simple.hidden 1e5 2
p2p.simple.ramp 10e-6 1
p2p.simple.ramp_bytes 8e6 1
"""
NVLINK = "inside.ll.alpha 0.6e-6 1\ninside.ll128.alpha 1.9e-6 1\ninside.simple.alpha 3.4e-6 1\n"
# One kernel that reduces and copies is as fast as each, give or take.
ONE_NODE = """\
inside.ll.fused_alpha 1 0.1
inside.ll.fused_beta 1 0.05
inside.ll128.fused_alpha 1 0.1
inside.ll128.fused_beta 1 0.05
inside.ll128.reduce_alpha 1 0.1
inside.simple.fused_alpha 1 0.1
inside.simple.fused_beta 1 0.05
inside.simple.reduce_alpha 1 0.1
"""
ALIKE = """\
inside.ll.reduce_alpha 1 0.1
inside.ll128.reduce_beta 1 0.05
inside.simple.reduce_beta 1 0.05
inside.ll.reduce_fill 0.7 1
inside.ll.quantum 4096 0.4
"""
CARDS = """\
between.ll.alpha 5e-6 1
between.ll.alpha_busy 5e-6 1
between.ll128.alpha 8.5e-6 1
between.ll128.alpha_busy 8.5e-6 1
between.simple.alpha 14e-6 1
between.simple.alpha_busy 14e-6 1
between.ll.eager 4096 1
between.ll.rendezvous 1 0.7
between.p2p.alpha 5e-6 1
"""
TREE = "tree.alpha_ratio 1 0.5\ntree.beta_ratio 1 0.5\n"
SPANS = "".join(
    f"span{ranks}.alpha_ratio 1 0.5\n"
    + "".join(f"span{ranks}.{p}.beta_ratio 1 1.5\n" for p in ("ll", "simple", "p2p"))
    for ranks in (4, 8)
)


def rates(ll: float, all_of_it: float) -> str:
    """Return the beta of every protocol inside: LL128 moves 92 %; channels apart."""
    return (
        f"inside.ll.beta {1e-9 / ll} 0.7\ninside.ll128.beta {1e-9 / (0.92 * all_of_it)} 0.7\n"
        f"inside.simple.beta {1e-9 / all_of_it} 0.7\np2p.simple.beta {1e-9 / all_of_it} 0.7\n"
    )


def network(bus: float, channels: int) -> str:
    """Return what goes by the bandwidth between nodes, and by twice the channels."""
    return (
        f"between.ll.beta {2e-9 / bus} 1\nbetween.ll128.beta {1.1e-9 / bus} 1\n"
        f"between.simple.beta {1e-9 / bus} 1\nbetween.p2p.beta {1e-9 / bus} 0.7\n"
        f"tree.simple.pipeline {2 * channels} 1.5\ntree.simple.channels {2 * channels} 1.5\n"
    )


CASES = {
    # LL on Ampere moves at most 87.7 GB/s, on Hopper and Blackwell 141.
    "switch": (
        SWITCH, [2, 8], (),
        EVERYWHERE + NVLINK + ONE_NODE + ALIKE + rates(87.7, 240)
        + "inside.ll.channels 24 0.5\n",
    ),
    "switch that reduces": (
        NVLS, [8], ("tree", None),
        EVERYWHERE + NVLINK + ONE_NODE + ALIKE + rates(141, 360) + TREE
        + "inside.ll.channels 24 0.5\nnvls.simple.alpha 20e-6 0.5\n"
        "nvls.simple.efficiency 0.85 0.15\nnvls.simple.loop 3.4e-6 0.7\n",
    ),
    "PCIe": (
        PCIE, [4, 2, 8], (),
        EVERYWHERE + ONE_NODE + rates(6, 12) + SPANS
        + "inside.ll.alpha 1e-6 1\ninside.ll128.alpha 2.5e-6 1\ninside.simple.alpha 5.7e-6 1\n"
        "inside.ll.channels 4 0.5\n",
    ),
    "nodes": (
        NETWORK, [16], ("tree",),
        EVERYWHERE + NVLINK + CARDS + rates(87.7, 240) + network(50, 12) + TREE
        + "inside.ll.channels 24 0.5\n"
        "inside.ll128.reduce_alpha 1 0.1\ninside.ll128.fused_beta 1 0.05\n"
        "inside.simple.reduce_alpha 1 0.1\ninside.simple.fused_beta 1 0.05\n",
    ),
    "nodes whose switches reduce": (
        NVLS_NETWORK, [16], (),
        EVERYWHERE + NVLINK + CARDS + rates(282, 700) + network(400, 16)
        + "inside.ll.channels 32 0.5\nnvls.simple.alpha 20e-6 0.5\n"
        "nvls.simple.efficiency 0.74 0.15\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_is_believed(name: str) -> None:
    """Of every parameter that rows there may need, and of no other."""
    system, ranks, algorithms, text = CASES[name]
    expected = {
        key: (pytest.approx(float(centre), rel=1e-9), float(sigma))
        for key, centre, sigma in (line.split() for line in text.splitlines())
    }
    found = priors(system, ranks, KINDS, algorithms)
    assert {key: (one.centre, one.sigma) for key, one in found.items()} == expected


def test_what_no_row_needs_is_left_out() -> None:
    """Exchanges, and ratios between collectives where there is one of them."""
    one = priors(NETWORK, [16], ["all_gather"])
    assert not any("p2p" in key or "reduce" in key or "fused" in key for key in one)
    both = priors(NETWORK, [16], ["all_gather", "all_reduce"])
    assert {key for key in both if key not in one} == {
        f"inside.{p}.{ratio}"
        for p in ("ll128", "simple")
        for ratio in ("reduce_alpha", "fused_beta")
    }
    assert not any(key.startswith("span") for key in priors(PCIE, [8], KINDS))


def test_links_that_differ_need_a_rank_count() -> None:
    """Ratios are to the fewest ranks."""
    with pytest.raises(InputError, match=r"^no ranks, expected those of the rows$"):
        priors(PCIE, [], KINDS)
