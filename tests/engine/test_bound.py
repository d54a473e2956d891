"""The lower bound is what the collective's conditions demand, and nothing beats it."""

from __future__ import annotations

import heapq
import random
from fractions import Fraction
from math import inf

import numpy as np
import pytest

from collsim.algorithms import algorithm_names, build, find, refusal
from collsim.core.builder import Builder
from collsim.core.cluster import Cluster, Cut
from collsim.core.collective import COLLECTIVES, collective
from collsim.core.link import LinkClass
from collsim.engine.bound import bound, crossings, lower_bound, postal
from collsim.engine.simulate import Simulation
from collsim.topology._compose import first_ranks
from collsim.topology.ideal import one_port
from collsim.topology.rails import join
from collsim.topology.switch import switch

RANKS = (*range(1, 18), 32, 33, 64)


def heard_by(time: Fraction, alpha: Fraction, busy: Fraction, ways: int) -> int:
    """Return N(t) by its recurrence."""
    if time < alpha:
        return 1
    return heard_by(time - busy, alpha, busy, ways) + ways * heard_by(
        time - alpha, alpha, busy, ways
    )


@pytest.mark.parametrize("ways", [1, 2, 3])
@pytest.mark.parametrize("pauses", [1, 2, 3, 4])
def test_postal_is_the_first_time_at_which_all_have_heard(ways: int, pauses: int) -> None:
    """For alpha = 1 and o = 1 / pauses, all times are multiples of o."""
    busy = Fraction(1, pauses)
    times = [busy * k for k in range(6 * pauses + 1)]
    heard = [heard_by(t, Fraction(1), busy, ways) for t in times]
    for ranks in range(2, 40):
        first = next(t for t, n in zip(times, heard, strict=True) if n >= ranks)
        assert postal(ranks, 1.0, float(busy), ways) == pytest.approx(float(first), rel=1e-12)


def test_postal_by_hand() -> None:
    """With o = alpha it is the logarithm, with o = 0 one alpha, alone nothing."""
    assert [postal(p, 2.0, 2.0) for p in (1, 2, 3, 4, 5, 8, 9, 131072)] == [
        0.0,
        *(2.0 * rounds for rounds in (1, 2, 2, 3, 3, 4, 17)),
    ]
    assert [postal(p, 2.0, 0.0) for p in (1, 2, 131072)] == [0.0, 2.0, 2.0]
    # At 0, 1, 2 and 3 the first rank sends; the second, which heard at 2, sends at 2 and 3.
    assert [postal(p, 2.0, 1.0) for p in (2, 3, 5, 8)] == [2.0, 3.0, 4.0, 5.0]


@pytest.mark.parametrize("busy", [0.25, 0.5, 0.625, 1.0])
@pytest.mark.parametrize("ranks", [2, 3, 5, 7, 13, 40])
def test_postal_is_reached_by_telling_whenever_possible(ranks: int, busy: float) -> None:
    """The broadcast in which everybody who is free tells the next rank takes just so long."""
    builder = Builder(collective("broadcast"), ranks)
    free = [(0.0, 0)]
    for rank in range(1, ranks):
        time, teller = heapq.heappop(free)
        builder.next_round()
        builder.copy(teller, rank, builder.pieces[0])
        heapq.heappush(free, (time + busy, teller))
        heapq.heappush(free, (time + 1.0, rank))
    cluster = Cluster.ideal(ranks, 1.0, 1.0, alpha_busy=busy)
    assert Simulation(builder.finish(), cluster).makespan(0) == postal(ranks, 1.0, busy)


def test_postal_without_alpha_is_nothing() -> None:
    """Alpha 0 is legal."""
    assert postal(9, 0.0, 0.0) == 0.0


def needed(name: str, group: list[int], root: int) -> tuple[float, float, float]:
    """Return what must cross a cut, from the conditions of the collective alone."""
    kind = collective(name)
    ranks, groups = len(group), sorted(set(group))
    has: dict[int, set[int]] = {}
    wants: dict[int, set[int]] = {}
    for where, places in ((has, kind.before(ranks, root)), (wants, kind.after(ranks, root))):
        for rank, block in zip(*(column.tolist() for column in places), strict=True):
            where.setdefault(block, set()).add(group[rank])
    share = kind.share(ranks)

    def others(sets: set[int], g: int) -> int:
        return len(sets - {g})

    out = max(sum(g in has[b] and others(wants[b], g) > 0 for b in wants) for g in groups)
    into = max(sum(g in wants[b] and others(has[b], g) > 0 for b in wants) for g in groups)
    total = sum(min(others(has[b], g) + others(wants[b], g) for g in groups) for b in wants)
    return out * share, into * share, total * share


@pytest.mark.parametrize("name", COLLECTIVES)
def test_crossings_are_those_that_the_conditions_demand(name: str) -> None:
    """On random partitions, for the root that makes least cross."""
    rng = random.Random(1)
    for _ in range(60):
        ranks = rng.randint(2, 9)
        group = [rng.randrange(ranks) for _ in range(ranks)]
        if len(set(group)) < 2:
            continue
        roots = range(ranks) if collective(name).rooted else [0]
        by_root = [needed(name, group, root) for root in roots]
        least = tuple(min(column) for column in zip(*by_root, strict=True))
        assert crossings(collective(name), np.array(group)) == pytest.approx(least, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "per_byte"),
    [
        ("broadcast", 1.0),
        ("reduce", 1.0),
        ("scatter", 0.75),
        ("gather", 0.75),
        ("all_gather", 0.75),
        ("reduce_scatter", 0.75),
        ("all_reduce", 1.5),
        ("all_to_all", 0.75),
        ("sendrecv", 1.0),
    ],
)
def test_bytes_of_four_ranks(name: str, per_byte: float) -> None:
    """With one port each way of 1 byte per second, as the textbooks have it."""
    assert bound(collective(name), Cluster.ideal(4, 0.0, 1.0)).per_byte == per_byte


@pytest.mark.parametrize(
    ("name", "per_byte"), [("all_reduce", 1.0), ("all_gather", 0.75), ("broadcast", 1.0)]
)
def test_a_switch_that_reduces_leaves_n_per_port(name: str, per_byte: float) -> None:
    """One message sent serves all receivers, but each still gets all that it lacks."""
    four = switch(4, LinkClass("wire", 3.0, 1.0), "four", multicast=True)
    assert bound(collective(name), four).per_byte == per_byte
    assert bound(collective(name), four).latency == 3.0


def test_a_switch_in_the_node_does_not_help_between_nodes() -> None:
    """4 nodes of 2 GPUs at 1 byte per second: 2(G-1)/G n = 3/2 n, over 2 bytes per second."""
    near, far = LinkClass("near", 1.0, 1000.0), LinkClass("far", 1.0, 1.0)
    four = join(switch(2, near, "four", multicast=True), 4, far)
    assert bound(collective("all_reduce"), four).per_byte == 0.75


def test_the_narrowest_cut_counts() -> None:
    """3 nodes of 2: 4/3 n through two NICs of 1 beats 10/6 n through 1001 per rank."""
    near, far = LinkClass("near", 1.0, 1000.0), LinkClass("far", 1.0, 1.0)
    six = join(switch(2, near, "six"), 3, far)
    assert bound(collective("all_reduce"), six).per_byte == pytest.approx(2 / 3)


def test_two_ways_out_make_news_travel_faster() -> None:
    """A rank with NVLink and NIC tells two others at once: 9 ranks in two rounds."""
    link = LinkClass("any", 1.0, 1.0)
    assert bound(collective("broadcast"), join(switch(3, link, "nine"), 3, link)).latency == 2.0
    assert bound(collective("broadcast"), switch(9, link, "nine")).latency == 4.0


def test_fair_sharing_holds_nothing_at_the_start() -> None:
    """There alpha_busy counts as 0."""
    link = LinkClass("any", 1.0, 1.0)
    nine = switch(9, link, "nine")
    object.__setattr__(nine, "sharing", "fair")
    assert bound(collective("broadcast"), nine).latency == 1.0


def test_a_cut_without_limit_says_nothing() -> None:
    """An endless rate is legal in a cut."""
    four = Cluster.ideal(4, 0.0, 1.0)
    object.__setattr__(four, "cuts", (Cut("rank", np.arange(4), inf, inf),))
    assert bound(collective("all_reduce"), four).per_byte == 0.0


@pytest.mark.parametrize("name", COLLECTIVES)
def test_one_rank_pays_the_launch(name: str) -> None:
    """Nothing needs to move."""
    alone = Cluster.ideal(1, 1.0, 1.0, launch=5.0)
    assert lower_bound(collective(name), alone, 1e9) == 5.0


def clusters(ranks: int, rng: random.Random) -> list[Cluster]:
    """Return an ideal network, a switch, and rails of every width, with one alpha_busy each."""
    alphas = [rng.uniform(0, 2) for _ in range(2)]
    link, other = (
        LinkClass(name, alpha, rng.uniform(0.5, 2), rng.choice((0, alpha / 3, alpha)))
        for name, alpha in zip(("link", "other"), alphas, strict=True)
    )
    gamma, launch = rng.choice((0.0, 0.3)), rng.choice((0.0, 0.7))
    rest = {"gamma": gamma, "launch": launch}
    fast = rng.random() < 0.5
    return [
        one_port(ranks, link, "ideal", **rest),
        first_ranks(switch(ranks + 3, link, "larger", **rest, multicast=fast), ranks),
        switch(ranks, link, "switch", **rest, multicast=fast),
        *(
            join(switch(gpus, link, "rails", **rest, multicast=fast), ranks // gpus, other)
            for gpus in range(1, ranks + 1)
            if ranks % gpus == 0
        ),
    ]


@pytest.mark.parametrize("ranks", RANKS)
def test_nothing_beats_the_bound(ranks: int) -> None:
    """Every algorithm, on every kind of cluster, at small, middling and large sizes."""
    rng = random.Random(ranks)
    for name in COLLECTIVES:
        for algorithm in algorithm_names(name):
            if refusal(name, algorithm, ranks, multicast=True) is not None:
                continue
            chunks = rng.choice((1, 2, 7)) if find(name, algorithm).chunked else 1
            schedule = build(
                name, algorithm, ranks, rng.randrange(ranks), chunks, multicast=True
            )
            for cluster in rng.sample(clusters(ranks, rng), 2):
                if schedule.agents and (cluster.in_switch is None or cluster.nodes > 1):
                    continue
                simulation = Simulation(schedule, cluster)
                for nbytes in (0.0, rng.uniform(0, 3), rng.uniform(10, 1000)):
                    least = lower_bound(schedule.collective, cluster, nbytes)
                    assert simulation.makespan(nbytes) >= least * (1 - 1e-9), (
                        f"{name}/{algorithm} of {nbytes} bytes on {cluster.shape}"
                    )
