"""What a message costs, worked by hand: alpha 2 seconds, 1 byte per second."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf, nan

import numpy as np
import pytest

from collsim.algorithms import build
from collsim.core.builder import Builder
from collsim.core.cluster import Cluster, Ports
from collsim.core.collective import collective
from collsim.core.link import LinkClass
from collsim.core.schedule import Schedule
from collsim.engine.simulate import Simulation, simulate
from collsim.errors import InputError
from collsim.topology.switch import switch

BYTES = 8
# (sender, receiver, first piece, bytes); an array has 8 bytes, a byte is a piece.
Message = tuple[int, int, int, int]


def program(ranks: int, messages: Sequence[Message], reduces: bool = False) -> Schedule:
    """Return messages that carry so many bytes, from the given one on."""
    b = Builder(collective("all_reduce"), ranks, parts=BYTES)
    for src, dst, first, count in messages:
        b.next_round()
        (b.reduce if reduces else b.copy)(src, dst, np.arange(first, first + count))
    return b.finish()


def ideal(ranks: int, **rest: float) -> Cluster:
    """Return the ideal network of these tests."""
    return Cluster.ideal(ranks, 2.0, 1.0, **rest)


def times(
    schedule: Schedule, cluster: Cluster, nbytes: float = BYTES
) -> list[tuple[float, float]]:
    """Return start and finish of every operation, the same in both loops."""
    both = [
        Simulation(schedule, cluster, compiled=choice).run(nbytes) for choice in (False, True)
    ]
    found = [list(zip(t.start.tolist(), t.finish.tolist(), strict=True)) for t in both]
    assert found[0] == found[1]
    return found[0]


def test_message_takes_alpha_and_its_bytes() -> None:
    """2 + 4."""
    assert times(program(2, [(0, 1, 0, 4)]), ideal(2)) == [(0, 6)]


def test_a_rank_sends_one_message_at_a_time() -> None:
    """The second starts when the first has left the egress port."""
    assert times(program(3, [(0, 1, 0, 4), (0, 2, 0, 4)]), ideal(3)) == [(0, 6), (6, 12)]


def test_a_rank_receives_one_message_at_a_time() -> None:
    """The second starts when the first has passed the ingress port."""
    assert times(program(3, [(1, 0, 0, 4), (2, 0, 4, 4)]), ideal(3)) == [(0, 6), (6, 12)]


def test_a_rank_sends_and_receives_at_once() -> None:
    """Full duplex."""
    assert times(program(2, [(0, 1, 0, 4), (1, 0, 4, 4)]), ideal(2)) == [(0, 6), (0, 6)]


def test_equal_times_go_by_index() -> None:
    """Whoever is listed first goes first, long or short."""
    assert times(program(3, [(0, 1, 0, 1), (0, 2, 0, 4)]), ideal(3)) == [(0, 3), (3, 9)]
    assert times(program(3, [(0, 2, 0, 4), (0, 1, 0, 1)]), ideal(3)) == [(0, 6), (6, 9)]


def test_admission_is_by_time_before_index() -> None:
    """The second message has its data at 6; the third, listed after it, at 0."""
    messages = [(1, 0, 0, 4), (0, 2, 0, 4), (3, 2, 4, 4)]
    assert times(program(4, messages), ideal(4)) == [(0, 6), (6, 12), (0, 6)]


def test_no_back_filling() -> None:
    """A message from 3 could pass rank 2's port by time 4, but that is promised from 6 on.

    The second message was admitted before it, although it starts only at 6.
    """
    messages = [(0, 1, 0, 4), (0, 2, 0, 4), (3, 2, 4, 2)]
    assert times(program(4, messages), ideal(4)) == [(0, 6), (6, 12), (12, 16)]


def test_lanes_carry_one_message_each() -> None:
    """Two leave rank 0 at once, at a lane's bandwidth; the third takes the lane freed first."""
    two = replace(ideal(4), egress=Ports(1.0, lanes=2))
    messages = [(0, 1, 0, 4), (0, 2, 0, 1), (0, 3, 0, 1)]
    assert times(program(4, messages), two) == [(0, 6), (0, 3), (3, 6)]


def test_slowest_part_of_the_way_sets_the_pace_and_each_is_held_for_its_own() -> None:
    """Egress at 3 s per byte: 2 + 4 * 3; ingress is free at 2 + 4, egress at 14."""
    slow = replace(ideal(3), egress=Ports(3.0))
    messages = [(0, 1, 0, 4), (2, 1, 4, 4), (0, 2, 0, 1)]
    assert times(program(3, messages), slow) == [(0, 14), (6, 20), (14, 19)]


def test_without_ports_private_links_never_wait() -> None:
    """Three to one, all at once."""
    free = replace(ideal(4), egress=None, ingress=None)
    messages = [(1, 0, 0, 2), (2, 0, 2, 2), (3, 0, 4, 2)]
    assert times(program(4, messages), free) == [(0, 4), (0, 4), (0, 4)]


def test_reductions_follow_each_other_at_the_receiver_and_hold_no_link() -> None:
    """At 10 s per byte: arrivals at 3 and 6, ends at 13 and 23; a reader waits for both."""
    b = Builder(collective("all_reduce"), 4, parts=BYTES)
    b.reduce([1, 2], [0, 0], [[0], [0]])
    b.copy(0, 3, [0])
    assert times(b.finish(), ideal(4, gamma=10.0)) == [(0, 13), (3, 23), (23, 26)]


def test_reductions_go_in_the_order_of_arrival() -> None:
    """Two bytes listed first arrive at 4, one byte at 3."""
    free = replace(ideal(3, gamma=10.0), ingress=None)
    messages = [(1, 0, 0, 2), (2, 0, 0, 1)]
    assert times(program(3, messages, reduces=True), free) == [(0, 33), (0, 13)]


def test_reductions_that_arrive_together_go_by_index() -> None:
    """Both at 3."""
    free = replace(ideal(3, gamma=10.0), ingress=None)
    messages = [(1, 0, 0, 1), (2, 0, 0, 1)]
    assert times(program(3, messages, reduces=True), free) == [(0, 13), (0, 23)]


def test_reductions_into_different_pieces_share_the_receiver() -> None:
    """One at a time, whatever they add to."""
    free = replace(ideal(3, gamma=10.0), ingress=None)
    messages = [(1, 0, 0, 1), (2, 0, 4, 1)]
    assert times(program(3, messages, reduces=True), free) == [(0, 13), (0, 23)]


def test_copies_pay_no_gamma() -> None:
    """Nothing is computed."""
    assert times(program(2, [(0, 1, 0, 4)]), ideal(2, gamma=10.0)) == [(0, 6)]


def test_launch_is_paid_once() -> None:
    """Everything is 5 s later."""
    messages = [(0, 1, 0, 4), (1, 2, 0, 4)]
    assert times(program(3, messages), ideal(3, launch=5.0)) == [(5, 11), (11, 17)]


def test_alpha_that_holds_nothing_overlaps() -> None:
    """With alpha_busy 0 the port is free after the bytes, with 1 a second later."""
    messages = [(0, 1, 0, 4), (0, 2, 0, 4)]
    assert times(program(3, messages), ideal(3, alpha_busy=0.0)) == [(0, 6), (4, 10)]
    assert times(program(3, messages), ideal(3, alpha_busy=1.0)) == [(0, 6), (5, 11)]


def test_empty_messages_pay_alpha() -> None:
    """0 bytes on 4 ranks: two rounds of the tree, three of the ring."""
    for algorithm, seconds in (("mst", 4.0), ("ring", 6.0)):
        simulation = Simulation(build("broadcast", algorithm, 4), ideal(4))
        assert simulation.makespan(0) == seconds


def test_to_itself_a_rank_sends_at_no_cost() -> None:
    """Neither alpha nor bytes nor gamma; but it keeps its place in the order."""
    b = Builder(collective("all_reduce"), 3, parts=BYTES)
    kept = b.scratch(1)
    b.copy(1, 0, [0])
    b.reduce(0, 0, [0], into=kept)
    b.copy(0, 2, kept, into=[0])
    assert times(b.finish(), ideal(3, gamma=10.0)) == [(0, 3), (3, 3), (3, 6)]


def test_a_switch_is_an_ideal_network() -> None:
    """Cables up and down stand for the ports."""
    wire = LinkClass("wire", 2.0, 1.0)
    messages = [(0, 1, 0, 4), (0, 2, 0, 4), (3, 2, 4, 2), (1, 0, 4, 1)]
    schedule = program(4, messages)
    assert times(schedule, switch(4, wire, "four")) == times(schedule, ideal(4))


def test_size_is_a_real_number() -> None:
    """One byte on three ranks: a third each."""
    assert times(build("all_gather", "ring", 3), ideal(3), 1.0)[-1][1] == pytest.approx(14 / 3)


def test_nothing_to_do_takes_the_launch() -> None:
    """One rank."""
    timeline = simulate(build("all_reduce", "ring", 1), ideal(1, launch=5.0), 1e6)
    assert timeline.makespan == 5.0
    assert (timeline.operations, timeline.rounds) == (0, 0)


def test_same_input_same_times_in_any_order_of_sizes() -> None:
    """A simulation keeps nothing from one size to the next."""
    schedule, cluster = (
        build("all_reduce", "mst", 7),
        Cluster.ideal(7, 1.1e-6, 3e9, gamma=1e-10),
    )
    simulation = Simulation(schedule, cluster)
    first = simulation.run(12345.6)
    simulation.run(0)
    simulation.run(2**40)
    again, fresh = simulation.run(12345.6), simulate(schedule, cluster, 12345.6)
    for other in (again, fresh):
        assert np.array_equal(first.start, other.start)
        assert np.array_equal(first.finish, other.finish)
        assert (first.breakdown, first.critical_path) == (other.breakdown, other.critical_path)
    assert simulation.makespan(12345.6) == first.makespan == first.finish.max()


def test_times_are_read_only() -> None:
    """A timeline is a result."""
    timeline = simulate(build("broadcast", "mst", 4), ideal(4), 1.0)
    with pytest.raises(ValueError, match="read-only"):
        timeline.start[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        timeline.finish[0] = 1.0


@pytest.mark.parametrize("nbytes", [-1, nan, inf, -inf])
def test_wrong_sizes_are_named(nbytes: float) -> None:
    """0 or more and finite."""
    with pytest.raises(InputError, match=r"size: got .* bytes, expected 0 or more and finite"):
        simulate(build("broadcast", "mst", 2), ideal(2), nbytes)


def test_schedule_and_cluster_are_of_one_size() -> None:
    """Both are named."""
    with pytest.raises(InputError, match="made for 4 ranks, but cluster 'ideal' has 3"):
        simulate(build("broadcast", "mst", 4), ideal(3), 1.0)


@pytest.mark.parametrize("nbytes", [10**400, 1e308])
def test_sizes_beyond_all_data(nbytes: float) -> None:
    """They would become sums of infinity, or no float at all."""
    schedule, cluster = build("broadcast", "mst", 4), Cluster.ideal(4, "1us", "1GB/s")
    with pytest.raises(InputError, match="at most 1e\\+30"):
        simulate(schedule, cluster, nbytes)
