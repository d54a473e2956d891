"""No variant of any algorithm is faster than the policy says, at random sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType

import pytest

from collsim.choose.candidates import Candidate
from collsim.choose.curves import curves
from collsim.choose.policy import choose
from collsim.choose.predict import predict
from collsim.core.cluster import Cluster


@pytest.fixture(scope="module")
def guarantee(by_path: Callable[[str], ModuleType]) -> ModuleType:
    """Return the benchmark, which runs every variant and uses no bound."""
    return by_path("benchmarks/choose_guarantee.py")


@pytest.mark.parametrize(
    ("cluster", "collective"),
    [
        ("ideal-8", "all_reduce"),
        ("ideal-6", "broadcast"),
        ("dgx-h100-1x8", "all_reduce"),
        ("dgx-h100-2x4", "all_reduce"),
        ("dgx-h100-4x2", "all_to_all"),
        ("fat-tree-4x2", "reduce"),
        ("gh200-2x4", "all_gather"),
        ("pcie-8", "reduce_scatter"),
        ("busy-13", "broadcast"),
        ("late-a100-1x8", "all_to_all"),
        ("late-a100-2x5", "all_gather"),
        ("late-fat-tree-4x2", "all_reduce"),
    ],
)
def test_nobody_is_faster_on_any_kind_of_network(
    guarantee: ModuleType, cluster: str, collective: str
) -> None:
    """Ideal, one switch, rails, a fat tree shared fairly, full meshes, PCIe, late ranks."""
    where = guarantee.clusters()[cluster]
    policy = choose(collective, where)
    found = guarantee.check(policy, where, 12, budget=100_000, most_chunks=32)
    assert found.faster == ()
    assert found.runs > 12


def test_a_wrong_policy_is_found_out(guarantee: ModuleType) -> None:
    """Were the naive algorithm chosen everywhere, every size would show it."""
    eight = guarantee.clusters()["ideal-8"]
    policy = choose("all_reduce", eight)
    wrong = replace(policy, rows=tuple(replace(row, algorithm="linear") for row in policy.rows))
    found = guarantee.check(wrong, eight, 10)
    assert len(found.faster) == found.sizes
    assert found.worst > 1.0


@pytest.mark.parametrize("shape", ["dgx-h100", "dgx-h100-fat-tree-2to1"])
def test_the_times_swap_at_every_border(shape: str) -> None:
    """One byte below a border the one is faster, from the border on the other."""
    cluster = Cluster.load(shape, nodes=2, gpus_per_node=4)
    policy = choose("all_reduce", cluster)
    found, _ = curves("all_reduce", cluster)
    named = {curve.name: Candidate(curve, i) for i, curve in enumerate(found)}
    assert len(policy.rows) > 1
    for one, other in zip(policy.rows, policy.rows[1:], strict=False):
        below = [named[r.algorithm].fastest(one.max_bytes)[1] for r in (one, other)]
        above = [named[r.algorithm].fastest(other.min_bytes)[1] for r in (one, other)]
        assert below[0] <= below[1] * (1 + 1e-9)
        assert above[1] <= above[0] * (1 + 1e-9)


def test_widened_sets_are_all_tried() -> None:
    """With chunks 1 to 12 the best is what trying each of them finds."""
    cluster = Cluster.load("dgx-h100", nodes=2, gpus_per_node=2)
    counts = list(range(1, 13))
    policy = choose("all_reduce", cluster, chunks=counts, min_bytes=2**20, max_bytes=2**28)
    assert policy.chunks == tuple(counts)
    for row in policy.rows:
        every = [
            curve.seconds(row.size)
            for n in counts
            for curve in curves("all_reduce", cluster, chunks=n)[0]
        ]
        assert row.time_us == pytest.approx(min(every) * 1e6, rel=1e-9)


@pytest.mark.parametrize(
    ("where", "collective", "size", "name"),
    [
        ("late-a100-1x8", "all_to_all", 57_119_999, "mst"),
        ("late-fat-tree-4x2", "all_reduce", 800_000, "recursive_doubling"),
        ("busy-13", "broadcast", 89_646_901, "double_binary_tree"),
    ],
)
def test_times_that_fall_as_the_size_rises_are_found(
    guarantee: ModuleType, where: str, collective: str, size: int, name: str
) -> None:
    """Late ranks, messages that overtake one another, gains of chunks that hardly shrink."""
    cluster = guarantee.clusters()[where]
    assert choose(collective, cluster).at(size).algorithm == name
    assert predict(collective, cluster, size).rows[0].algorithm == name


@pytest.mark.parametrize("low", [8, 2**20, 7_000_000])
def test_borders_do_not_depend_on_where_the_range_begins(
    guarantee: ModuleType, low: int
) -> None:
    """Of two nodes of five with a late rank, all_gather has one border above 1 MiB."""
    cluster = guarantee.clusters()["late-a100-2x5"]
    whole = choose("all_gather", cluster)
    part = choose("all_gather", cluster, min_bytes=low)
    borders = [row.max_bytes for row in whole.rows if row.max_bytes >= low]
    assert [row.max_bytes for row in part.rows] == borders
