"""What a shortfall looks like, from logs that are made to look like it, and healthy ones."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from collsim.calibrate.check import CheckResult, check
from collsim.calibrate.predictor import predictor_of
from collsim.core.cluster import Cluster

Write = Callable[..., str]
Times = Callable[[int, float], float]
SIZES = tuple(2**k for k in range(10, 34))
TWO = "all_reduce on 16 ranks of 2 nodes: "
LARGE = 2**26


@cache
def cluster(nodes: int) -> Cluster:
    """Return nodes of 8 GPUs with 8 cards of 50 GB/s."""
    return Cluster.load("dgx-h100", nodes=nodes)


@pytest.fixture
def checked(synthetic: ModuleType, write: Write) -> Callable[..., CheckResult]:
    """Return a function that checks a log whose times are made from the predicted ones."""

    def make(
        times: Times, nodes: int = 2, collective: str = "all_reduce", per_process: int = 1
    ) -> CheckResult:
        there, ranks = cluster(nodes), 8 * nodes
        predict = predictor_of(there, "ring")
        lines = synthetic.head(collective, ranks, nodes, per_process)
        bus = synthetic.factor(collective, ranks)
        for size in SIZES:
            us = times(size, predict(collective, ranks, size).seconds) * 1e6
            count = size // 4 // (1 if collective == "all_reduce" else ranks)
            op = "sum" if collective == "all_reduce" else "none"
            left = synthetic.NEW.format(size=size, count=count, dtype="float", op=op, root=-1)
            lines.append(left + synthetic.half(us, size, bus) * 2)
        text = "\n".join([*lines, *synthetic.tail(collective)]) + "\n"
        return check(write(text), there, algorithm="ring")

    return make


def slow(factor: float) -> Times:
    """Return times that large messages take so much longer."""
    return lambda size, seconds: seconds * (factor if size >= LARGE else 1.0)


@pytest.mark.parametrize("nodes", [1, 2, 8])
@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_invented_for_a_healthy_log(
    checked: Callable[..., CheckResult], nodes: int, seed: int
) -> None:
    """Times as predicted, with 4 % of noise."""
    noise = random.Random(seed)
    found = checked(lambda size, seconds: seconds * (1 + noise.gauss(0, 0.04)), nodes)
    assert found.ok
    assert found.suggestions == ()


def test_one_slow_row_suggests_nothing(checked: Callable[..., CheckResult]) -> None:
    """Nor does the last one alone."""
    for place in (2**20, SIZES[-1]):
        times = {place: 4.0}
        found = checked(lambda size, seconds, times=times: seconds * times.get(size, 1.0))
        assert not found.ok
        assert found.suggestions == ()


def test_2_of_8_cards_by_a_ring(checked: Callable[..., CheckResult]) -> None:
    """A quarter of the rate of an all_gather, which no tree does here."""
    found = checked(slow(4.0), collective="all_gather")
    (words,) = found.suggestions
    assert words == (
        "all_gather on 16 ranks of 2 nodes: as if 2 of 8 NICs were used by a ring: at 8GiB "
        "99GB/s of 400GB/s leave a node"
    )


def test_2_of_8_cards_on_more_nodes(checked: Callable[..., CheckResult]) -> None:
    """Where a tree sends what a ring does, there is one count."""
    (words,) = checked(slow(4.0), nodes=8).suggestions
    assert "as if 2 of 8 NICs were used by a ring: at 8GiB 96GB/s of 400GB/s" in words


def test_on_2_nodes_a_tree_tells_another_count(checked: Callable[..., CheckResult]) -> None:
    """47.8 GB/s leave a node in a tree, 89.6 in a ring: 1 card or 2, or so much of all."""
    first, second = checked(slow(4.42)).suggestions
    assert first == (
        f"{TWO}as if 1 of 8 NICs were used by a tree, or 2 of 8 NICs were used by a ring: at "
        "8GiB 47.8GB/s or 89.6GB/s of 400GB/s leave a node"
    )
    assert second.startswith(f"{TWO}or as if the network gave 12% or 22% of what its cards")


def test_a_fabric_at_about_a_tenth(checked: Callable[..., CheckResult]) -> None:
    """40 GB/s of 400 is no count of cards."""
    (words,) = checked(slow(10.0), nodes=8).suggestions
    assert words.startswith(
        "all_reduce on 64 ranks of 8 nodes: as if the network gave about a tenth of what its "
        "cards allow (at 8GiB 38.4GB/s of 400GB/s leave a node)"
    )


def test_a_slow_network_that_is_no_count_of_cards_suggests_none(
    checked: Callable[..., CheckResult],
) -> None:
    """1.6 times the time is 5 of 8 cards or a congested fabric: nobody can tell."""
    found = checked(slow(1.6), nodes=8)
    assert not found.ok
    assert found.suggestions == ()


def test_a_tree_beats_the_cards_on_2_nodes_only(checked: Callable[..., CheckResult]) -> None:
    """477 GB/s of bus bandwidth over 400 GB/s of cards; on 8 nodes it tells nothing."""

    def faster(size: int, seconds: float) -> float:
        return seconds * (0.83 if size >= LARGE else 1.0)

    (words,) = checked(faster).suggestions
    assert words.startswith(
        f"{TWO}at 8GiB 477GB/s of bus bandwidth is more than the 400GB/s of a "
    )
    assert words.endswith("so expect this on 2 nodes only")
    assert checked(faster, nodes=8).suggestions == ()


def test_a_protocol_that_changes_late(checked: Callable[..., CheckResult]) -> None:
    """Times grow to 2 times the prediction up to 16 MiB, and are as predicted at 32 MiB."""
    ratios = {2**22: 1.15, 2**23: 1.5, 2**24: 2.0}
    found = checked(lambda size, seconds: seconds * ratios.get(size, 1.0), nodes=1)
    (words,) = found.suggestions
    assert words == (
        "all_reduce on 8 ranks of 1 node: up to 16MiB times grow to 2 times the prediction, "
        "and at 32MiB they are back: as if the protocol, or the algorithm, changed late"
    )


def test_an_outlier_on_a_slope_is_no_change(checked: Callable[..., CheckResult]) -> None:
    """One slow size whose neighbours happen to fall: neither early nor late."""
    ratios = {2**18: 1.0, 2**19: 1.08, 2**20: 2.0, 2**21: 1.15, 2**22: 1.05}
    found = checked(lambda size, seconds: seconds * ratios.get(size, 0.98), nodes=1)
    assert found.suggestions == ()


def test_a_protocol_that_changes_early(checked: Callable[..., CheckResult]) -> None:
    """Times jump to 1.8 times the prediction at 4 MiB, and come back."""
    ratios = {2**22: 1.8, 2**23: 1.4, 2**24: 1.15}
    found = checked(lambda size, seconds: seconds * ratios.get(size, 1.0), nodes=1)
    (words,) = found.suggestions
    assert words == (
        "all_reduce on 8 ranks of 1 node: at 4MiB times jump to 1.8 times the prediction, and "
        "come back as sizes grow: as if the protocol, or the algorithm, changed early"
    )


@pytest.mark.parametrize(("per_process", "more"), [(1, False), (8, True)])
def test_calls_that_start_late(
    checked: Callable[..., CheckResult], per_process: int, more: bool
) -> None:
    """The same 50 us at every size; of one process for 8 GPUs there is a usual cause."""
    found = checked(lambda _, seconds: seconds + 50e-6, nodes=1, per_process=per_process)
    (words,) = found.suggestions
    assert words.startswith(
        "all_reduce on 8 ranks of 1 node: as if every call started 50us late"
    )
    assert ("one process for all GPUs, which launches on them in turn" in words) == more


def test_some_late_sizes_are_no_late_start(checked: Callable[..., CheckResult]) -> None:
    """Three of eight small sizes that take 40 us longer."""
    late = {2**12, 2**15, 2**16}
    found = checked(lambda size, seconds: seconds + (40e-6 if size in late else 0.0), nodes=1)
    assert not found.ok
    assert found.suggestions == ()


def test_the_real_fabric_at_a_tenth(shared_data: Path) -> None:
    """Log 251: bandwidth from 1 MiB on, as if 1 card of 8 were used, or all slow."""
    (log,) = (shared_data / "public").glob("251_*.txt")
    found = check(str(log), cluster(2))
    assert "bandwidth falls short from 1MiB on" in found.summary
    first, second = found.suggestions
    assert first.startswith(f"{TWO}as if 1 of 8 NICs were used by a tree, or 2 of 8 ")
    assert "as if the network gave 12% or 22% of what its cards allow: see whether" in second


def test_the_real_tree_on_2_nodes(shared_data: Path) -> None:
    """Log 245: 467 GB/s of bus bandwidth over 400 GB/s of cards."""
    (log,) = (shared_data / "public").glob("245_*.txt")
    (words,) = check(str(log), cluster(2)).suggestions
    assert words.startswith(f"{TWO}at 8GiB 467GB/s of bus bandwidth is more than the 400GB/s")
