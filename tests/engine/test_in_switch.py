"""Switches that add up and multicast: what their messages cost, and what they may do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from collsim.algorithms import build
from collsim.core.builder import Builder
from collsim.core.cluster import Cluster
from collsim.core.collective import collective
from collsim.core.in_switch import InSwitch
from collsim.core.link import LinkClass
from collsim.core.schedule import Schedule
from collsim.engine.replay import replay
from collsim.engine.simulate import Job, simulate
from collsim.engine.trials import nodes_of
from collsim.engine.usage import usage
from collsim.engine.verdict import verify_schedule
from collsim.errors import InputError
from collsim.topology import delay
from collsim.topology.rails import join
from collsim.topology.switch import switch

# One second to start, one byte a second.
WIRE = LinkClass("wire", 1.0, 1.0)
# The switch is number 3 beside three ranks.
SWITCH = 3


def three(efficiency: float = 1.0, gamma: float = 0.0, sharing: str = "fifo") -> Cluster:
    """Return three GPUs on a switch that takes part."""
    made = switch(
        3, WIRE, "three", gamma=gamma, multicast=True, multicast_efficiency=efficiency
    )
    return replace(made, sharing=sharing)


def builder(kind: str = "broadcast") -> Builder:
    """Return a builder for three ranks and their switch."""
    return Builder(collective(kind), 3, multicast=True)


def up_and_down() -> Schedule:
    """Return n bytes from rank 0 into the switch, and from there to ranks 1 and 2."""
    b = builder()
    b.copy(0, SWITCH, b.pieces[0])
    b.copy([SWITCH, SWITCH], [1, 2], b.pieces[[0, 0]])
    return b.finish()


def test_the_way_up_pays_alpha_and_the_way_down_none() -> None:
    """1 + 4 s up, then 4 s down to both at once: a trip costs one alpha."""
    found = simulate(up_and_down(), three(), 4.0)
    assert found.finish.tolist() == [5.0, 9.0, 9.0]
    assert (found.breakdown.alpha, found.breakdown.beta) == (1.0, 8.0)


@pytest.mark.parametrize("sharing", ["fifo", "fair"])
def test_bytes_pass_at_the_efficiency_of_the_switch(sharing: str) -> None:
    """At a half of the bandwidth 4 bytes take 8 s; a start-up takes no longer."""
    found = simulate(up_and_down(), three(0.5, sharing=sharing), 4.0)
    assert found.finish.tolist() == [9.0, 17.0, 17.0]


@pytest.mark.parametrize("sharing", ["fifo", "fair"])
def test_messages_between_ranks_pass_at_all_of_it(sharing: str) -> None:
    """The switch also forwards what it takes no part in."""
    found = simulate(build("broadcast", "mst", 2), first_two(sharing), 4.0)
    assert found.makespan == 5.0


def first_two(sharing: str) -> Cluster:
    """Return two GPUs on a switch at a half of the bandwidth."""
    two = switch(2, WIRE, "two", multicast=True, multicast_efficiency=0.5)
    return replace(two, sharing=sharing)


def test_both_kinds_of_message_share_a_link_fairly() -> None:
    """Up from rank 0 go 4 bytes that count for 8, and 4 others: 12 s at 1 B/s after alpha.

    Both flow at half a unit; after 8 s the others are through, and 4 of the 8 are left.
    """
    b = builder("all_reduce")
    b.copy(0, SWITCH, b.pieces[0])
    b.copy(0, 1, b.pieces[0])
    found = simulate(b.finish(), three(0.5, sharing="fair"), 4.0)
    assert found.finish.tolist() == [13.0, 9.0]


def test_usage_counts_the_bytes_themselves() -> None:
    """4 bytes pass the link in 8 s, at half of its rate."""
    for sharing in ("fifo", "fair"):
        cluster = three(0.5, sharing=sharing)
        used = usage(simulate(up_and_down(), cluster, 4.0), cluster)
        assert used.of("gpu[0].up") == [(1.0, 9.0, 0.5)]
        assert used.of("gpu[2].down") == [(9.0, 17.0, 0.5)]


def test_a_switch_adds_up_in_no_time() -> None:
    """Three arrays of 4 bytes arrive at 5 s; gamma is what ranks pay."""
    b = builder("all_reduce")
    b.reduce([0, 1, 2], [SWITCH] * 3, b.pieces[[0, 0, 0]])
    b.copy(SWITCH, 1, b.pieces[0])
    found = simulate(b.finish(), three(gamma=100.0), 4.0)
    assert (found.makespan, found.breakdown.gamma) == (9.0, 0.0)


@pytest.mark.parametrize("sharing", ["fifo", "fair"])
def test_a_rank_adds_up_the_bytes_themselves(sharing: str) -> None:
    """4 bytes come down at a half of the bandwidth, by 17 s; adding them up takes 4 x 3 s."""
    b = builder("all_reduce")
    b.copy(0, SWITCH, b.pieces[0])
    b.reduce(SWITCH, 1, b.pieces[0])
    found = simulate(b.finish(), three(0.5, gamma=3.0, sharing=sharing), 4.0)
    assert found.finish.tolist() == [9.0, 17.0 + 12.0]
    assert found.breakdown.gamma == 12.0


def test_a_switch_waits_for_a_rank_that_enters_late() -> None:
    """Rank 0 sends at 7 s; the switch itself is always there."""
    assert simulate(up_and_down(), delay(three(), 0, 7.0), 4.0).makespan == 7.0 + 9.0
    assert simulate(up_and_down(), delay(three(), 2, 7.0), 4.0).finish.tolist() == [5, 9, 11]


def test_jobs_reach_the_switches_of_their_own_ranks() -> None:
    """On two nodes of two, a job of node 1 is as fast as one of node 0 at the same time."""
    cluster = join(switch(2, WIRE, "pair", multicast=True), 2, LinkClass("far", 1.0, 1.0))
    schedule = build("all_reduce", "nvls", 2, multicast=True)
    jobs = [Job(schedule, ranks, 4.0) for ranks in ([0, 1], [2, 3])]
    found = simulate(jobs, cluster)
    assert [one.makespan for one in found.timelines] == [2 + 3 * 4.0] * 2
    with pytest.raises(InputError, match="ranks of several nodes, one of them 0"):
        simulate([Job(schedule, [0, 2], 4.0)], cluster)


def test_a_cluster_without_such_switches_says_so() -> None:
    """An ideal network has none."""
    message = (
        "schedule: switches take part in it, but those of cluster 'ideal' can't add up and "
        "multicast"
    )
    with pytest.raises(InputError, match=message):
        simulate(up_and_down(), Cluster.ideal(3, 1.0, 1.0), 4.0)


def test_a_switch_is_that_of_one_node() -> None:
    """A rank reaches the switch of its own node only."""
    b = Builder(collective("broadcast"), 4, node=[0, 0, 1, 1], multicast=True)
    b.copy(0, 5, b.pieces[0])
    b.copy([5, 5, 5], [1, 2, 3], b.pieces[[0, 0, 0]])
    cluster = join(switch(2, WIRE, "pair", multicast=True), 2, LinkClass("far", 1.0, 1.0))
    with pytest.raises(InputError, match="the switch of node 1 of the schedule"):
        simulate(b.finish(), cluster, 1.0)


def test_a_switch_sends_to_no_switch() -> None:
    """In-network reduction across nodes is not modelled."""
    b = Builder(collective("broadcast"), 4, node=[0, 0, 1, 1], multicast=True)
    b.copy(0, 4, b.pieces[0])
    b.copy(4, 5, b.pieces[0])
    with pytest.raises(InputError, match="operation 1 goes from the switch of node 0 to the"):
        b.finish()


def test_a_builder_without_switches_knows_no_such_number() -> None:
    """Number 3 is no rank of three."""
    b = Builder(collective("broadcast"), 3)
    b.copy(0, SWITCH, b.pieces[0])
    with pytest.raises(InputError, match="dst runs from 3 to 3, expected 0 to 2"):
        b.finish()


def test_what_is_reduced_into_an_empty_switch_stays_there() -> None:
    """The first of three has nothing to be combined with."""
    assert replay(build("all_reduce", "nvls", 3, multicast=True), range(12)) is None


def test_a_switch_hands_a_sum_to_one_rank() -> None:
    """NVLink SHARP has no multicast of a sum: a rank has to return it."""
    b = builder("all_reduce")
    b.reduce([0, 1, 2], [SWITCH] * 3, b.pieces[[0, 0, 0]])
    b.copy([SWITCH] * 3, [0, 1, 2], b.pieces[[0, 0, 0]])
    assert verify_schedule(b.finish()).reason == (
        "operation 4 (switch of node 0 → 1) sends block 0, but the switch of node 0 holds "
        "nothing there"
    )


def test_reasons_name_the_switch() -> None:
    """A rank reads from it what nobody sent."""
    b = builder()
    b.copy(SWITCH, 1, b.pieces[0])
    assert verify_schedule(b.finish()).reason == (
        "operation 0 (switch of node 0 → 1) sends block 0, but the switch of node 0 holds "
        "nothing there"
    )


def test_a_rank_has_one_switch() -> None:
    """Whoever exchanges messages with two is on no node."""
    b = Builder(collective("broadcast"), 2, node=[0, 1], multicast=True)
    b.copy([0, 0], [2, 3], b.pieces[[0, 0]])
    with pytest.raises(InputError, match=r"rank 0 .* switch of node 0 and .* switch of node 1"):
        nodes_of(b.finish())
    # With three, the first two are named.
    b = Builder(collective("broadcast"), 3, node=[0, 1, 2], multicast=True)
    b.copy([1, 2, 2, 2], [3, 3, 4, 5], b.pieces[[0, 0, 0, 0]])
    with pytest.raises(InputError, match=r"rank 2 .* switch of node 0 and .* switch of node 1"):
        nodes_of(b.finish())


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("all_reduce", "nvls"),
        ("all_gather", "nvls"),
        ("reduce_scatter", "nvls"),
        ("broadcast", "multicast"),
        ("reduce", "nvls"),
    ],
)
def test_a_dropped_operation_or_dependency_is_caught(kind: str, name: str) -> None:
    """Each is needed: without it data are missing, or two accesses are in no order.

    All but what a broadcast hands to its root, which the switch multicasts to as well.
    """
    schedule = build(kind, name, 4, multicast=True)
    for d in range(schedule.dep.size):
        kept = np.delete(schedule.dep, d)
        ptr = schedule.dep_ptr - (schedule.dep_ptr > d)
        assert not verify_schedule(replace(schedule, dep=kept, dep_ptr=ptr)).ok
    everything = range(len(schedule))
    for o in everything:
        if (kind, schedule.dst[o]) == ("broadcast", 0):
            continue
        assert replay(schedule, [other for other in everything if other != o]) is not None


def test_efficiency_is_a_part() -> None:
    """Above 0, at most 1, and links go up and down."""
    every = np.arange(2)
    for wrong in (0.0, 1.5, float("nan")):
        with pytest.raises(InputError, match="multicast_efficiency: got"):
            InSwitch(every, every + 2, wrong)
    with pytest.raises(InputError, match="2 links up but 1 links down"):
        InSwitch(every, every[:1])
