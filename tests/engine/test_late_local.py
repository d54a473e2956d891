"""Ranks that enter late, and copies inside a rank, by hand: alpha 2 s, 1 byte per second."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from collsim.algorithms import build
from collsim.core.builder import Builder
from collsim.core.cluster import Cluster
from collsim.core.collective import collective
from collsim.core.link import LinkClass, Links
from collsim.core.timeline import Breakdown, Timeline
from collsim.engine.simulation import Simulation

SHARING = ("fifo", "fair")


def late(ranks: int, *delays: float, sharing: str = "fifo", **costs: float) -> Cluster:
    """Return an ideal network; ranks that are not named are on time."""
    delay = np.array([*delays, *[0.0] * (ranks - len(delays))])
    ideal = Cluster.ideal(ranks, 2.0, 1.0, **costs)
    return replace(ideal, delay=delay, uniform=None, sharing=sharing)


def run(cluster: Cluster, author: Callable[[Builder], None]) -> Timeline:
    """Return the timeline of what an author lists, with 8 pieces of 1 byte."""
    b = Builder(collective("all_reduce"), cluster.ranks, parts=8)
    author(b)
    schedule = b.finish()
    plain, compiled = (
        Simulation(schedule, cluster, compiled=choice).run(8) for choice in (False, True)
    )
    assert plain.start.tolist() == compiled.start.tolist()
    assert plain.finish.tolist() == compiled.finish.tolist()
    assert plain.breakdown == compiled.breakdown
    assert plain.critical_path == compiled.critical_path
    return plain


def path(timeline: Timeline) -> list[tuple[int, float, float, str]]:
    """Return the steps as tuples."""
    return [(s.operation, s.start, s.finish, s.why) for s in timeline.critical_path]


@pytest.mark.parametrize("sharing", SHARING)
def test_the_others_wait_for_a_late_sender(sharing: str) -> None:
    """0 enters after 5: 5 + 2 + 4, and on from 1 to 2."""

    def author(b: Builder) -> None:
        b.copy(0, 1, range(4))
        b.copy(1, 2, range(4))

    timeline = run(late(3, 5.0, sharing=sharing), author)
    assert path(timeline) == [(0, 5, 11, "late rank"), (1, 11, 17, "data")]
    assert timeline.breakdown == Breakdown(alpha=4.0, beta=8.0, waiting=5.0)


@pytest.mark.parametrize("sharing", SHARING)
def test_a_late_receiver_holds_up_the_message_and_not_the_sender(sharing: str) -> None:
    """1 enters after 5; meanwhile 0 sends to 2, which takes until 6."""

    def author(b: Builder) -> None:
        b.copy(0, 1, range(4))
        b.copy(0, 2, range(4))

    timeline = run(late(3, 0.0, 9.0, sharing=sharing), author)
    assert timeline.start.tolist() == [9, 0]
    assert timeline.finish.tolist() == [15, 6]


def test_data_that_come_after_the_late_rank_are_the_reason() -> None:
    """2 enters at 3, its data come at 6: nothing is lost."""

    def author(b: Builder) -> None:
        b.copy(0, 1, range(4))
        b.copy(1, 2, range(4))

    timeline = run(late(3, 0.0, 0.0, 3.0), author)
    assert path(timeline) == [(0, 0, 6, "start"), (1, 6, 12, "data")]
    assert timeline.breakdown.waiting == 0


def test_data_that_waited_for_the_late_rank_are_not() -> None:
    """2 enters at 10, its data were there at 6: all until 10 is waiting for it."""

    def author(b: Builder) -> None:
        b.copy(0, 1, range(4))
        b.copy(1, 2, range(4))

    timeline = run(late(3, 0.0, 0.0, 10.0), author)
    assert path(timeline) == [(1, 10, 16, "late rank")]
    assert timeline.breakdown == Breakdown(alpha=2.0, beta=4.0, waiting=10.0)


def test_a_rank_is_late_after_the_launch() -> None:
    """It pays the launch when it enters: 5 + 3, then 2 + 1."""
    timeline = run(late(2, 3.0, launch=5.0), lambda b: b.copy(0, 1, [0]))
    assert path(timeline) == [(0, 8, 11, "late rank")]
    assert timeline.breakdown == Breakdown(alpha=2.0, beta=1.0, launch=5.0, waiting=3.0)


@pytest.mark.parametrize("sharing", SHARING)
def test_nobody_is_done_before_the_last_has_entered(sharing: str) -> None:
    """2 has nothing to do, and enters when the others are done already."""
    cluster = late(3, 0.0, 0.0, 20.0, sharing=sharing)
    timeline = run(cluster, lambda b: b.copy(0, 1, [0]))
    assert timeline.makespan == 20
    assert timeline.breakdown == Breakdown(waiting=20.0)
    assert timeline.critical_path == ()
    assert Simulation(timeline.schedule, cluster).makespan(8) == 20


def test_one_late_rank_alone() -> None:
    """There is nothing to send, and still it has to come."""
    schedule = build("all_reduce", "ring", 1)
    assert Simulation(schedule, late(1, 7.0, launch=1.0)).makespan(100) == 8
    assert Simulation(schedule, late(1, 7.0, launch=1.0)).run(100).makespan == 8


def test_who_waits_for_whom_in_a_ring() -> None:
    """All_gather on 4: 2's block starts at 9 and is 3 hops on its way, 3 s each."""
    cluster = late(4, 0.0, 0.0, 9.0)
    timeline = Simulation(build("all_gather", "ring", 4), cluster).run(4.0)
    assert timeline.makespan == 18
    assert timeline.critical_path[0].why == "late rank"
    schedule = timeline.schedule
    first = [(int(schedule.src[i]), float(timeline.start[i])) for i in range(4)]
    # 1 waits for its receiver, 2 for itself; 0 and 3 start at once.
    assert sorted(first) == [(0, 0), (1, 9), (2, 9), (3, 0)]


def test_no_delay_changes_nothing() -> None:
    """Delays of 0 give the very same bits."""
    schedule = build("all_reduce", "ring", 5)
    ideal = Cluster.ideal(5, 0.3, 7.0)
    zero = replace(ideal, delay=np.zeros(5))
    one, two = (Simulation(schedule, c).run(123.0) for c in (ideal, zero))
    assert one.finish.tolist() == two.finish.tolist()


def with_memory(ranks: int, gamma: float = 0.0) -> Cluster:
    """Return an ideal network whose ranks have a memory of 0.5 s and 4 bytes per second."""
    ideal = Cluster.ideal(ranks, 2.0, 1.0, gamma=gamma)
    own = [f"memory[{r}]" for r in range(ranks)]
    links = Links.assemble(
        (["link"], LinkClass("link", 2.0, 1.0), True),
        (own, LinkClass("memory", 0.5, 4.0), True),
    )
    lanes = links.lanes.copy()
    lanes[0] = 0
    return replace(
        ideal,
        links=replace(links, lanes=lanes),
        local=np.arange(1, ranks + 1),
        uniform=None,
    )


def test_a_local_copy_costs_its_memory() -> None:
    """0.5 + 4/4 before the message can go: 1.5 + 2 + 4."""

    def author(b: Builder) -> None:
        b.copy(0, 0, range(4), into=range(4, 8))
        b.copy(0, 1, range(4, 8))

    timeline = run(with_memory(2), author)
    assert path(timeline) == [(0, 0, 1.5, "start"), (1, 1.5, 7.5, "data")]
    assert timeline.breakdown == Breakdown(alpha=2.5, beta=5.0)


def test_local_copies_of_one_rank_share_its_memory_and_hold_no_port() -> None:
    """Two of 1.5 s one after the other, while a message leaves the same rank."""

    def author(b: Builder) -> None:
        b.copy(0, 0, range(4), into=range(4, 8))
        b.copy(0, 1, [0])
        b.copy(1, 1, [4], into=[5])
        b.copy(0, 0, range(3), into=range(5, 8))

    timeline = run(with_memory(2), author)
    assert timeline.start.tolist() == [0, 0, 0, 1.5]


def test_a_local_reduction_is_one_like_others() -> None:
    """0.5 + 1/4 to fetch, then 10 s of adding."""
    timeline = run(with_memory(1, gamma=10.0), lambda b: b.reduce(0, 0, [0], into=[1]))
    assert timeline.finish.tolist() == [10.75]


def test_without_memory_local_copies_cost_nothing() -> None:
    """Nor do local reductions."""
    cluster = Cluster.ideal(1, 2.0, 1.0, gamma=10.0)
    assert run(cluster, lambda b: b.reduce(0, 0, [0], into=[1])).makespan == 0
