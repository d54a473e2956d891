"""Fair sharing worked by hand: alpha 2 seconds, 1 byte per second."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from numpy.typing import NDArray

from collsim.algorithms import algorithm_names, build, refusal
from collsim.core.builder import Builder
from collsim.core.cluster import Cluster, Ports
from collsim.core.collective import COLLECTIVES, collective
from collsim.core.link import LinkClass, Links
from collsim.core.schedule import Schedule
from collsim.core.timeline import Breakdown
from collsim.engine.fair import FairLoop
from collsim.engine.lower import lower
from collsim.engine.simulate import Simulation, simulate
from collsim.errors import InputError

IntArray = NDArray[np.int64]
BYTES = 16
# (sender, receiver, first piece, bytes); an array has 16 bytes, a byte is a piece.
Message = tuple[int, int, int, int]


@dataclass(frozen=True)
class Routes:
    """A route for every pair, by a function."""

    route: Callable[[int, int], list[int]]

    def __call__(self, src: IntArray, dst: IntArray) -> tuple[IntArray, IntArray]:
        """Return the routes of some pairs."""
        found = [self.route(s, d) for s, d in zip(src.tolist(), dst.tolist(), strict=True)]
        ptr = np.cumsum([0, *(len(route) for route in found)], dtype=np.int64)
        return ptr, np.array([link for route in found for link in route], dtype=np.int64)


def wired(
    ranks: int,
    bandwidth: Sequence[float],
    route: Callable[[int, int], list[int]],
    lanes: Sequence[int] | None = None,
    alpha: float = 2.0,
) -> Cluster:
    """Return links by bandwidth; the first link of a route charges alpha for all of them."""
    count = len(bandwidth)
    links = Links(
        names=tuple(f"link{i}" for i in range(count)),
        classes=(LinkClass("wire", 1.0, 1.0),),
        kind=np.zeros(count, dtype=np.int64),
        alpha=np.array([alpha] + [0.0] * (count - 1)),
        beta=1 / np.array(bandwidth),
        busy=np.zeros(count),
        lanes=np.array(lanes or [1] * count),
    )
    ideal = Cluster.ideal(ranks, 2.0, 1.0)
    return replace(
        ideal, links=links, router=Routes(route), egress=None, ingress=None, sharing="fair"
    )


def ideal(ranks: int, **rest: float) -> Cluster:
    """Return an ideal network under fair sharing."""
    return replace(Cluster.ideal(ranks, 2.0, 1.0, **rest), sharing="fair")


def program(ranks: int, messages: Sequence[Message], reduces: bool = False) -> Schedule:
    """Return messages that carry so many bytes, from the given one on."""
    b = Builder(collective("all_reduce"), ranks, parts=BYTES)
    for src, dst, first, count in messages:
        b.next_round()
        (b.reduce if reduces else b.copy)(src, dst, np.arange(first, first + count))
    return b.finish()


def times(schedule: Schedule, cluster: Cluster, nbytes: float = BYTES) -> list[float]:
    """Return finish times, the same in both loops."""
    plain, compiled = (
        Simulation(schedule, cluster, compiled=choice).run(nbytes) for choice in (False, True)
    )
    assert plain.finish.tolist() == compiled.finish.tolist()
    assert plain.critical_path == compiled.critical_path
    return [float(time) for time in plain.finish]


def one_link(src: int, dst: int) -> list[int]:
    """Lead everything over link 0."""
    return [0]


def test_alone_a_message_takes_what_it_takes_under_fifo() -> None:
    """2 + 4."""
    assert times(program(2, [(0, 1, 0, 4)]), ideal(2)) == [6]


def test_two_flows_over_one_link() -> None:
    """4 and 8 bytes at half the rate: 2 + 8; then 4 more alone."""
    messages = [(0, 1, 0, 4), (2, 3, 0, 8)]
    assert times(program(4, messages), wired(4, [1.0], one_link)) == [10, 14]


def test_one_flow_shares_one_link_with_one_and_another_with_two() -> None:
    """Link 0 has 1, link 1 has 1.5 bytes per second: three flows at 1/2 each, all along.

    The first crosses both; on link 0 it leaves a half to the second, on link 1 two halves.
    """
    cluster = wired(6, [1.0, 1.5], lambda s, d: {0: [0, 1], 1: [0]}.get(s, [1]), alpha=0.0)
    messages = [(0, 5, 0, 4), (1, 5, 4, 4), (2, 5, 8, 4), (3, 5, 12, 4)]
    # A time of 2/3 per byte lies on no grid.
    assert times(program(6, messages), cluster) == pytest.approx([8, 8, 8, 8], rel=1e-11)


def test_what_one_flow_cannot_use_is_left_to_the_others() -> None:
    """On link 1 three flows get 1/3 each, so the second has 2/3 of link 0."""
    cluster = wired(6, [1.0, 1.0], lambda s, d: {0: [0, 1], 1: [0]}.get(s, [1]), alpha=0.0)
    messages = [(0, 5, 0, 4), (1, 5, 4, 4), (2, 5, 8, 4), (3, 5, 12, 4)]
    assert times(program(6, messages), cluster) == [12, 6, 12, 12]


def test_a_flow_gets_one_lane_at_most() -> None:
    """Two lanes: one flow at 1, two at 1 each, three at 2/3 each."""
    two = wired(6, [1.0], one_link, lanes=[2])
    messages = [(0, 3, 0, 4), (1, 4, 4, 4), (2, 5, 8, 4)]
    assert times(program(6, messages[:1]), two) == [6]
    assert times(program(6, messages[:2]), two) == [6, 6]
    assert times(program(6, messages), two) == [8, 8, 8]


def test_ports_are_shared_like_links() -> None:
    """Rank 0 sends two at once, and rank 2 receives two: all at a half."""
    messages = [(0, 1, 0, 4), (0, 2, 4, 4), (3, 2, 8, 4)]
    assert times(program(4, messages), ideal(4)) == [10, 10, 10]


def test_ports_of_several_lanes() -> None:
    """Two leave rank 0 at full rate."""
    two = replace(ideal(3), egress=Ports(1.0, lanes=2))
    assert times(program(3, [(0, 1, 0, 4), (0, 2, 0, 4)]), two) == [6, 6]


def test_a_flow_begins_while_another_is_half_way() -> None:
    """The first has the link for itself from 2 to 4, shares it to 8; the second ends at 10."""

    def route(src: int, dst: int) -> list[int]:
        return [1] if src == 2 else [0]

    # Half a byte over link 1 without alpha: at 2 the data of the second are there.
    cluster = wired(4, [1.0, 0.5], route)
    messages = [(0, 1, 0, 4), (2, 3, 4, 1), (3, 1, 4, 4)]
    assert times(program(4, messages), cluster) == [8, 2, 10]


def test_start_is_when_the_data_are_there() -> None:
    """Alpha counts from there, as under fifo."""
    timeline = simulate(program(3, [(0, 1, 0, 4), (1, 2, 0, 4)]), ideal(3), BYTES)
    assert timeline.start.tolist() == [0, 6]
    assert timeline.finish.tolist() == [6, 12]


def test_start_ups_overlap_and_use_no_bandwidth() -> None:
    """Two messages of no bytes leave one port at once, and take alpha."""
    messages = [(0, 1, 0, 0), (0, 2, 0, 0), (0, 3, 0, 4)]
    assert times(program(4, messages), ideal(4)) == [2, 2, 6]
    assert times(program(4, messages), ideal(4), 0.0) == [2, 2, 2]


def test_three_gpus_behind_one_bridge() -> None:
    """Each has its own link of 1, the bridge 1 for all: three times the bytes."""
    cluster = wired(6, [9.0, 1, 1, 1], lambda s, d: [0, 1 + s], alpha=2.0)
    narrow = replace(cluster, links=replace(cluster.links, beta=np.array([1.0, 1, 1, 1])))
    messages = [(0, 3, 0, 4), (1, 4, 4, 4), (2, 5, 8, 4)]
    assert times(program(6, messages), cluster) == [6, 6, 6]
    assert times(program(6, messages), narrow) == [14, 14, 14]


@pytest.mark.parametrize("nics", [1, 2, 3, 5])
def test_nics_into_a_trunk_of_as_many_lanes(nics: int) -> None:
    """They take what one of them takes, in both modes."""
    cluster = wired(
        2 * nics, [1.0] * (nics + 1), lambda s, d: [1 + s, 0], lanes=[nics] + [1] * nics
    )
    messages = [(i, nics + i, i, 4) for i in range(nics)]
    for sharing in ("fair", "fifo"):
        found = times(program(2 * nics, messages), replace(cluster, sharing=sharing))
        assert found == [6] * nics


def test_two_to_one_oversubscription_halves_the_rate() -> None:
    """Four GPUs under a leaf, two lanes up: 2 + 2 · 4."""
    cluster = wired(8, [1.0] * 5, lambda s, d: [0, 1 + s], lanes=[2, 1, 1, 1, 1])
    messages = [(i, 4 + i, i, 4) for i in range(4)]
    assert times(program(8, messages), cluster) == [10] * 4


def test_all_to_all_over_two_leaves() -> None:
    """On 2 leaves × 4 at 2:1 the uplinks carry n: 7/8·nβ becomes nβ."""
    for lanes, seconds in ((4, 2 + 7 / 8 * BYTES), (2, 2 + BYTES)):
        cluster = wired(
            8,
            [9.0] + [1.0] * 20,
            lambda s, d: [0, 1 + s, 9 + d] + [17 + s // 4, 19 + d // 4] * (s // 4 != d // 4),
            lanes=[0] + [1] * 16 + [lanes] * 4,
        )  # fmt: skip
        assert max(times(build("all_to_all", "ring", 8), cluster)) == pytest.approx(
            seconds, rel=1e-12
        )


def test_reductions_follow_each_other_at_the_receiver() -> None:
    """Both arrive at 4, at half the rate; 10 s per byte, one after the other, by index."""
    messages = [(1, 0, 0, 1), (2, 0, 4, 1)]
    schedule = program(3, messages, reduces=True)
    assert times(schedule, ideal(3, gamma=10.0)) == [14, 24]


def test_reductions_go_in_the_order_of_arrival() -> None:
    """Two bytes listed first arrive at 5, one byte at 4."""
    messages = [(1, 0, 0, 2), (2, 0, 0, 1)]
    schedule = program(3, messages, reduces=True)
    assert times(schedule, ideal(3, gamma=10.0)) == [34, 14]


def test_time_lost_by_sharing_is_waiting() -> None:
    """4 bytes in 8 seconds: 2 alpha, 4 beta, 4 waiting, and 10 for a reduced byte behind."""
    messages = [(0, 1, 0, 4), (0, 2, 0, 4)]
    timeline = simulate(program(3, messages), ideal(3), BYTES)
    assert timeline.breakdown == Breakdown(alpha=2.0, beta=4.0, waiting=4.0)
    schedule = program(3, [(1, 0, 0, 1), (2, 0, 4, 1)], reduces=True)
    timeline = simulate(schedule, ideal(3, gamma=10.0), BYTES)
    assert timeline.breakdown == Breakdown(alpha=2.0, beta=1.0, gamma=20.0, waiting=1.0)


def test_launch_comes_first() -> None:
    """Everything is 5 s later."""
    assert times(program(2, [(0, 1, 0, 4)]), ideal(2, launch=5.0)) == [11]


def test_alpha_busy_counts_as_nothing() -> None:
    """It is for fifo."""
    messages = [(0, 1, 0, 4), (0, 2, 0, 4)]
    for busy in (0.0, 1.0, 2.0):
        assert times(program(3, messages), ideal(3, alpha_busy=busy)) == [10, 10]


def test_a_message_may_be_held_back() -> None:
    """The second has nothing to send before 4."""
    schedule = program(4, [(0, 1, 0, 4), (2, 3, 0, 4)])
    plan = lower(schedule, wired(4, [1.0], one_link))
    start, finish, *_ = FairLoop(plan, release=np.array([0.0, 4.0])).run(BYTES)
    assert (start, finish) == ([0, 4], [6, 10])


@pytest.mark.parametrize("ranks", [1, 2, 3, 5, 7, 13])
@pytest.mark.parametrize("nbytes", [0, 1, 1e6, 12345.6])
@pytest.mark.parametrize("kind", ["all_gather", "reduce_scatter", "all_reduce"])
def test_ring_takes_what_it_takes_under_fifo(kind: str, ranks: int, nbytes: float) -> None:
    """No two messages of a ring want the same port at once."""
    one = Cluster.ideal(ranks, 1.1e-6, 3e9, gamma=1e-10)
    schedule = build(kind, "ring", ranks)
    fair = simulate(schedule, replace(one, sharing="fair"), nbytes)
    fifo = simulate(schedule, one, nbytes)
    assert fair.finish == pytest.approx(fifo.finish, rel=1e-9)
    assert fair.breakdown.waiting == 0


@pytest.mark.parametrize("kind", COLLECTIVES)
def test_without_limits_both_modes_are_one(kind: str) -> None:
    """Private links and no ports: no two messages ever want the same."""
    free = replace(Cluster.ideal(7, 1.1e-6, 3e9), egress=None, ingress=None)
    for algorithm in algorithm_names(kind):
        if refusal(kind, algorithm, 7) is not None:
            continue
        schedule = build(kind, algorithm, 7)
        fair = simulate(schedule, replace(free, sharing="fair"), 12345.6)
        assert fair.finish == pytest.approx(simulate(schedule, free, 12345.6).finish, rel=1e-9)


def test_equal_flows_end_together() -> None:
    """A seventh of a link each: one batch, whatever the rounding."""
    cluster = wired(14, [0.7], one_link)
    found = times(program(14, [(i, 7 + i, 0, 3) for i in range(7)]), cluster)
    assert len(set(found)) == 1
    assert found[0] == pytest.approx(2 + 30)


def test_a_link_is_never_idle_while_somebody_wants_it() -> None:
    """1 + 2 + ... + 7 bytes at 0.7: whoever came and went, the last ends at 2 + 28 / 0.7."""
    cluster = wired(14, [0.7], one_link)
    found = times(program(14, [(i, 7 + i, 0, 1 + i) for i in range(7)]), cluster)
    assert found[-1] == pytest.approx(42)


def test_sharing_is_fifo_or_fair() -> None:
    """The message says so."""
    with pytest.raises(InputError, match="sharing: got 'fare', expected fifo or fair"):
        simulate(program(2, [(0, 1, 0, 1)]), replace(ideal(2), sharing="fare"), 1)


def test_every_change_of_a_rate_is_logged() -> None:
    """Twelve flows on one link, each a byte longer than the one before: 90 changes, not 48.

    A flow's rates by the times for which it had them are its bytes.
    """
    cluster = replace(wired(24, [0.7], one_link), sharing="fair")
    schedule = program(24, [(i, 12 + i, 0, 1 + i) for i in range(12)])
    simulation = Simulation(schedule, cluster)
    assert isinstance(simulation.loop, FairLoop)
    ops, when, rates = simulation.loop.logged(BYTES)
    assert len(ops) == 90
    for o in range(12):
        mine = ops == o
        passed = (rates[mine][:-1] * np.diff(when[mine])).sum()
        assert (passed, rates[mine][-1]) == (pytest.approx(1 + o), 0)
