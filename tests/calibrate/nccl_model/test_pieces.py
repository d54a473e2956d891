"""Times of single pieces, worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from collsim.calibrate.nccl_model import Case, Fitted, Selector, System
from collsim.calibrate.nccl_model.prior import priors
from collsim.calibrate.nccl_model.switch import loop_bytes
from collsim.calibrate.nccl_model.tree import crossings

KINDS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all")


def fitted(system: System, **values: float) -> Fitted:
    """Return a system with parameters of 1 where they are ratios, and those that are given."""
    prior = priors(system, [2, 8], KINDS, ["tree"])
    given = {key.replace("__", "."): value for key, value in values.items()}
    known = {key: p.centre for key, p in prior.items()}
    known |= {key: 1.0 for key in known if "reduce_" in key or "fused_" in key}
    sigma = {key: p.sigma for key, p in prior.items()}
    return Fitted(system, Selector(), known | given, sigma, prior, 0.0)


ONE = fitted(
    System("ampere", 12, 240.0),
    launch=5.0, inside__simple__extra=7.0, inside__simple__alpha=2.0, inside__simple__beta=1.0,
    inside__simple__local=0.5, inside__ll__alpha=1.0, inside__ll__fill=2.0,
    inside__ll__local_fill=3.0, inside__ll__quantum=4096.0, inside__ll__channels=2.0,
    inside__ll__beta=1.0, inside__ll__reduce_fill=1.0,
)  # fmt: skip


@pytest.mark.parametrize(
    ("collective", "expected"),
    [
        # 12 to start, 7 or 14 steps of 2, 7 or 14 shares of 10 and half a share.
        ("all_gather", 12 + 14 + 70 + 5),
        ("reduce_scatter", 12 + 14 + 70 + 5),
        ("all_reduce", 12 + 28 + 140 + 5),
    ],
)
def test_a_ring_does_one_operation_more_than_transfers(
    collective: str, expected: float
) -> None:
    """P - 1 transfers, and one operation on a rank's own share."""
    assert ONE.seconds(collective, 8, 1, 80, "ring", "simple") == pytest.approx(expected)


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        (0, 5 + 1),
        (2048, 5 + 1 + 0.5 * (3 + 2)),
        (4096, 5 + 1 + 3 + 2),
        (8192, 5 + 1 + 3 + 2),
        # Two channels are full: what is beyond costs beta, once more than it is sent.
        (8292, 5 + 1 + 3 + 2 + 2 * 100),
    ],
)
def test_ll_fills_channels_one_by_one(share: int, expected: float) -> None:
    """A step costs more while one fills, the same while more open, then bytes count."""
    assert ONE.seconds("all_gather", 2, 1, 2 * share, "ring", "ll") == pytest.approx(expected)


def test_trees_cross_once_on_two_nodes() -> None:
    """Each of two nodes is root of one tree and leaf of the other."""
    assert crossings(np.array([2.0, 3.0, 8.0])).tolist() == [1.0, 2.0, 2.0]


def test_nvls_takes_smaller_chunks_for_small_messages() -> None:
    """128 KiB; 64 KiB below 64 of its loops, 32 KiB below 8 of those, 16 KiB below 2."""
    operations = 16 * 8
    sizes = np.array([2**20, 2**22, 2**24, 2**26, 2**28, 2**30, 2**31], dtype=float)
    chunks = loop_bytes(np.full(7, 8.0), sizes) / operations / 1024
    assert chunks.tolist() == [16, 16, 32, 64, 64, 128, 128]


@pytest.mark.parametrize("loop", [0.1, 3.0, 30.0])
@pytest.mark.parametrize("gpus", [2, 4, 8])
def test_a_byte_more_never_takes_nvls_less_and_hardly_more(gpus: int, loop: float) -> None:
    """NCCL's chunks double at a byte, which no row has shown; so times go on evenly there."""
    system = System("hopper", 12, 360.0, nvls=True)
    known = fitted(system, nvls__simple__loop=loop * 1e-6)
    sizes = sorted({2**k + more for k in range(10, 36) for more in (-1, 0, 1)} | {3 << 28})
    times = known.times([Case("all_reduce", gpus, 1, n, "nvls", "simple") for n in sizes])
    assert (np.diff(times) >= 0).all()
    before = [i for i, n in enumerate(sizes) if n + 1 in sizes]
    assert len(before) == 52
    assert times[before] == pytest.approx(times[[i + 1 for i in before]], rel=1e-4)


def test_nvls_is_a_pipeline_of_three_stages() -> None:
    """64 turns of 8 MiB and two until the first is through, of 3 us and the bytes each."""
    system = System("hopper", 12, 360.0, nvls=True)
    known = fitted(
        system, launch=0.0, nvls__simple__alpha=0.0, nvls__simple__loop=3e-6,
        nvls__simple__efficiency=1.0, inside__simple__beta=1e-12,
    )  # fmt: skip
    expected = 66 * (3e-6 + 2**23 * 9 / 8 * 1e-12)
    assert known.seconds("all_reduce", 8, 1, 2**29, "nvls") == pytest.approx(expected)


def test_a_network_busy_at_every_step_bounds_a_ring() -> None:
    """31 steps of an all_gather on 8 nodes of 4, whatever the nodes' own links take."""
    system = System("ampere", 12, 240.0, inter_bus=50.0)
    found = fitted(system, launch=0.0, inside__ll__alpha=1.0, between__ll__alpha_busy=100.0)
    assert found.seconds("all_gather", 32, 8, 8, "ring", "ll") == pytest.approx(3100.0)


def test_many_cases_at_once_are_as_one_by_one() -> None:
    """Grouping by formula changes nothing."""
    cases = [
        Case(kind, ranks, 1, float(n))
        for kind in KINDS
        for ranks in (1, 2, 8)
        for n in (0, 1, 5000, 2**20)
    ]
    whole = ONE.times(cases)
    assert whole.tolist() == [float(ONE.times([case])[0]) for case in cases]
    assert whole[0] == 0.0


def test_a_protocol_that_is_named_counts() -> None:
    """Else the fastest that NCCL has there."""
    every = [ONE.seconds("all_gather", 8, 1, 80, "ring", p) for p in ("ll", "ll128", "simple")]
    assert ONE.seconds("all_gather", 8, 1, 80, "ring") == min(every)
