"""The critical path, worked by hand: alpha 2 seconds, 1 byte per second."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from collsim.core.builder import Builder
from collsim.core.cluster import Cluster
from collsim.core.collective import collective
from collsim.core.link import LinkClass, Links
from collsim.core.timeline import Breakdown, Timeline
from collsim.engine.simulate import Simulation

IntArray = NDArray[np.int64]


def run(cluster: Cluster, author: Callable[[Builder], None]) -> Timeline:
    """Return the timeline of what an author lists, with 8 pieces of 1 byte."""
    b = Builder(collective("all_reduce"), cluster.ranks, parts=8)
    author(b)
    schedule = b.finish()
    plain, compiled = (
        Simulation(schedule, cluster, compiled=choice).run(8) for choice in (False, True)
    )
    assert plain.breakdown == compiled.breakdown
    assert plain.critical_path == compiled.critical_path
    return plain


def path(timeline: Timeline) -> list[tuple[int, float, float, str]]:
    """Return the steps as tuples."""
    return [(s.operation, s.start, s.finish, s.why) for s in timeline.critical_path]


def test_path_follows_the_data() -> None:
    """0 -> 1 -> 2, and another message that is done earlier."""

    def author(b: Builder) -> None:
        b.copy(0, 1, range(4))
        b.copy(3, 4, [0])
        b.copy(1, 2, range(4))

    timeline = run(Cluster.ideal(5, 2.0, 1.0), author)
    assert path(timeline) == [(0, 0, 6, "start"), (2, 6, 12, "data")]
    assert timeline.breakdown == Breakdown(alpha=4.0, beta=8.0)


def test_earlier_message_of_the_same_sender_counts_whole() -> None:
    """Not as waiting: its start-up and bytes are what the rank did."""

    def author(b: Builder) -> None:
        b.copy(0, 1, range(4))
        b.copy(0, 2, range(3))

    timeline = run(Cluster.ideal(3, 2.0, 1.0), author)
    assert path(timeline) == [(0, 0, 6, "start"), (1, 6, 11, "rank")]
    assert timeline.breakdown == Breakdown(alpha=4.0, beta=7.0)


def test_earlier_message_to_the_same_receiver_counts_whole() -> None:
    """The ingress port is a rank's own, too."""

    def author(b: Builder) -> None:
        b.copy(1, 0, range(4))
        b.copy(2, 0, range(4, 8))

    timeline = run(Cluster.ideal(3, 2.0, 1.0), author)
    assert path(timeline) == [(0, 0, 6, "start"), (1, 6, 12, "rank")]
    assert timeline.breakdown == Breakdown(alpha=4.0, beta=8.0)


def test_of_a_message_that_makes_room_only_what_it_held_counts() -> None:
    """With alpha_busy 0.5 the port is free after 0.5 + 4; the last pays its whole alpha."""

    def author(b: Builder) -> None:
        b.copy(0, 1, range(4))
        b.copy(0, 2, range(4))

    timeline = run(Cluster.ideal(3, 2.0, 1.0, alpha_busy=0.5), author)
    assert path(timeline) == [(0, 0, 6, "start"), (1, 4.5, 10.5, "rank")]
    assert timeline.breakdown == Breakdown(alpha=2.5, beta=8.0)


def test_reduction_counts_as_gamma() -> None:
    """3 s on the way, 10 s of adding, then 3 s on."""

    def author(b: Builder) -> None:
        b.reduce(1, 0, [0])
        b.copy(0, 2, [0])

    timeline = run(Cluster.ideal(3, 2.0, 1.0, gamma=10.0), author)
    assert path(timeline) == [(0, 0, 13, "start"), (1, 13, 16, "data")]
    assert timeline.breakdown == Breakdown(alpha=4.0, beta=2.0, gamma=10.0)


def test_reduction_behind_another_counts_both() -> None:
    """They arrive at 3 and 6 and end at 13 and 23: one message, two reductions."""

    def author(b: Builder) -> None:
        b.reduce(1, 0, [0])
        b.reduce(2, 0, [0])

    timeline = run(Cluster.ideal(3, 2.0, 1.0, gamma=10.0), author)
    assert path(timeline) == [(0, 0, 13, "start"), (1, 3, 23, "reduction")]
    assert timeline.breakdown == Breakdown(alpha=2.0, beta=1.0, gamma=20.0)


def test_launch_has_its_own_part() -> None:
    """Paid once, before all."""
    timeline = run(Cluster.ideal(2, 2.0, 1.0, launch=5.0), lambda b: b.copy(0, 1, [0]))
    assert path(timeline) == [(0, 5, 8, "start")]
    assert timeline.breakdown == Breakdown(alpha=2.0, beta=1.0, launch=5.0)


def trunk() -> Cluster:
    """Return 6 ranks on one link, and a side link of 1 s + 1/4 s per byte from 4 to 0."""

    def router(src: IntArray, dst: IntArray) -> tuple[IntArray, IntArray]:
        return np.arange(src.size + 1), ((src == 4) & (dst == 0)).astype(np.int64)

    links = Links.assemble(
        (["trunk"], LinkClass("trunk", 2.0, 1.0), True),
        (["side"], LinkClass("side", 1.0, 4.0), True),
    )
    ideal = Cluster.ideal(6, 2.0, 1.0)
    return replace(ideal, links=links, router=router, egress=None, ingress=None)


def test_waiting_for_other_ranks_on_a_shared_link() -> None:
    """The trunk is taken until 6; 0 -> 5 stood ready all the time."""

    def author(b: Builder) -> None:
        b.copy(1, 3, range(4))
        b.copy(0, 5, range(4))

    timeline = run(trunk(), author)
    assert path(timeline) == [(1, 6, 12, "link")]
    assert timeline.breakdown == Breakdown(alpha=2.0, beta=4.0, waiting=6.0)


def test_waiting_begins_when_the_data_are_there() -> None:
    """They come to rank 0 at 1 + 4/4: it waits for 4."""

    def author(b: Builder) -> None:
        b.copy(1, 3, range(4))
        b.copy(4, 0, range(4, 8))
        b.copy(0, 5, range(4, 8))

    timeline = run(trunk(), author)
    assert path(timeline) == [(1, 0, 2, "start"), (2, 6, 12, "link")]
    assert timeline.breakdown == Breakdown(alpha=3.0, beta=5.0, waiting=4.0)


def test_messages_to_oneself_are_on_the_path_at_no_cost() -> None:
    """They pass the data on."""

    def author(b: Builder) -> None:
        b.copy(0, 1, [0])
        b.copy(1, 1, [0], into=[1])
        b.copy(1, 2, [1])

    timeline = run(Cluster.ideal(3, 2.0, 1.0), author)
    assert [step[0] for step in path(timeline)] == [0, 1, 2]
    assert timeline.breakdown == Breakdown(alpha=4.0, beta=2.0)


def test_without_operations_there_is_no_path() -> None:
    """The launch is all."""
    timeline = run(replace(Cluster.ideal(2, 2.0, 1.0), launch=5.0), lambda _: None)
    assert timeline.critical_path == ()
    assert timeline.breakdown == Breakdown(launch=5.0)
    assert timeline.makespan == 5.0


def test_waiting_of_steps_is_that_of_the_whole() -> None:
    """Before the start where links are taken in turn, on the way where they are shared."""

    def author(b: Builder) -> None:
        b.copy(1, 3, range(4))
        b.copy(4, 0, range(4, 8))
        b.copy(0, 5, range(4, 8))

    for sharing in ("fifo", "fair"):
        timeline = run(replace(trunk(), sharing=sharing, uniform=None), author)
        waited = [step.waiting for step in timeline.critical_path]
        assert sum(waited) == pytest.approx(timeline.breakdown.waiting)
        assert timeline.breakdown.waiting > 0
