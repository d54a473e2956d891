"""Lowering: what every operation's route costs and holds, on a grid of time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from collsim.algorithms import build, find
from collsim.core.builder import Builder
from collsim.core.cluster import Cluster, Ports
from collsim.core.collective import collective
from collsim.core.link import LinkClass, Links
from collsim.engine.lower import lower
from collsim.engine.simulate import Simulation
from collsim.errors import TooLargeError

IntArray = NDArray[np.int64]


def test_routes_sum_alphas_and_take_the_greatest_beta() -> None:
    """Over three links one way, over the first of them the other; every pair once."""

    def router(src: IntArray, dst: IntArray) -> tuple[IntArray, IntArray]:
        routes = [[0, 1, 2] if s < d else [0] for s, d in zip(src, dst, strict=True)]
        return np.cumsum([0, *map(len, routes)]), np.concatenate(routes).astype(np.int64)

    links = Links.assemble(
        (["a"], LinkClass("a", 1.0, 4.0, 0.5), True),
        (["b"], LinkClass("b", 2.0, 1.0, 0.25), True),
        (["c"], LinkClass("c", 4.0, 2.0), False),
    )
    cluster = replace(
        Cluster.ideal(2, 1.0, 1.0), links=links, router=router, egress=None, ingress=None
    )
    b = Builder(collective("all_reduce"), 2)
    b.copy([1, 0, 1], [0, 1, 0], [[0]] * 3)
    plan = lower(b.finish(), cluster)
    assert plan.route.tolist() == [1, 0, 1]
    assert plan.alpha.tolist() == [3.0, 1.0]
    assert plan.busy.tolist() == [0.75, 0.5]
    assert plan.beta.tolist() == [1.0, 0.25]
    assert plan.held_ptr.tolist() == [0, 3, 4]
    assert plan.held.tolist() == [0, 1, 2, 0]
    assert plan.held_beta.tolist() == [0.25, 1.0, 0.5, 0.25]


def test_links_without_limit_are_not_held_but_ports_are() -> None:
    """On the ideal network: egress, then ingress."""
    b = Builder(collective("all_reduce"), 3)
    b.copy([0, 2], [1, 1], [[0], [0]])
    cluster = replace(Cluster.ideal(3, 1.0, 1.0), egress=Ports(2.0, lanes=3))
    plan = lower(b.finish(), cluster)
    assert plan.held_beta.tolist() == [2.0, 1.0, 2.0, 1.0]
    assert plan.beta.tolist() == [2.0, 2.0]
    # Two egress ports of three lanes, and the one ingress port that is used.
    assert np.diff(plan.lane_ptr).tolist() == [3, 3, 1]


def test_to_itself_nothing_is_held_and_nothing_costs() -> None:
    """Not even the port."""
    b = Builder(collective("all_reduce"), 2)
    b.reduce(1, 1, [0])
    plan = lower(b.finish(), Cluster.ideal(2, 1.0, 1.0, gamma=1.0))
    assert plan.held.size == 0
    assert (plan.alpha.tolist(), plan.beta.tolist(), plan.reduces.tolist()) == (
        [0.0],
        [0.0],
        [False],
    )


def test_one_size_is_on_a_grid_where_sums_are_exact() -> None:
    """Three times 0.1 and 0.3 are told apart by floats, but not by a plan."""
    plan = lower(build("all_reduce", "ring", 8), Cluster.ideal(8, 0.1, 1 / 0.3, gamma=0.7))
    at = plan.at(1.1)
    costs = [at.alpha[0], at.beta[0], at.gamma, at.busy[0]]
    whole = sum(costs) * 14
    step = whole * 2.0**-50
    for cost, right in zip(costs, (0.1, 1.1 / 8 * 0.3, 1.1 / 8 * 0.7, 0.1), strict=True):
        assert cost == pytest.approx(right, abs=step)
        # Any order of a hundred of them gives one sum.
        assert sum([cost] * 100) == 100 * cost


@pytest.mark.parametrize(
    ("name", "algorithm", "ranks", "chunks"),
    [("all_gather", "gather_broadcast", 64, 500), ("all_gather", "linear", 128, 1)],
)
def test_grid_is_fine_enough_where_messages_hold_many_pieces(
    name: str, algorithm: str, ranks: int, chunks: int
) -> None:
    """Rounding each piece's cost by itself stays far below the law's 1e-9."""
    simulation = Simulation(
        build(name, algorithm, ranks, 0, chunks), Cluster.ideal(ranks, 1.5e-6, 30e9)
    )
    terms = find(name, algorithm).terms(ranks, chunks)
    for nbytes in (1.0, 123456.789, 2.0**40):
        claimed = terms.seconds(nbytes, 1.5e-6, 1 / 30e9)
        assert simulation.makespan(nbytes) == pytest.approx(claimed, rel=1e-10)


@pytest.mark.parametrize("nbytes", [0.0, 5e-324, 1e300])
def test_no_size_is_too_small_or_too_large(nbytes: float) -> None:
    """Without alpha the grid must follow the bytes."""
    simulation = Simulation(build("broadcast", "mst", 4), Cluster.ideal(4, 0.0, 1.0))
    assert simulation.makespan(nbytes) == pytest.approx(2 * nbytes, rel=1e-12, abs=1e-300)


def test_many_ranks_are_numbered_without_a_table_of_pairs() -> None:
    """Where messages are few, distinct pairs are found by sorting."""
    ranks = 5000
    b = Builder(collective("broadcast"), ranks)
    b.copy([0, 1, 0, 4999], [1, 4999, 4999, 0], [[0]] * 4)
    plan = lower(b.finish(), Cluster.ideal(ranks, 1.0, 1.0))
    assert plan.route.tolist() == [0, 2, 1, 3]


@pytest.mark.parametrize("algorithm", ["ring", "bruck", "direct"])
def test_routes_are_numbered_alike_compiled_or_not(
    monkeypatch: pytest.MonkeyPatch, algorithm: str
) -> None:
    """In rising order of sender and receiver, one route for each pair that occurs."""
    cluster = Cluster.load("dgx-h100", nodes=3)
    schedule = build("all_to_all", algorithm, 24, node=cluster.node)
    monkeypatch.setattr("collsim.engine.lower._LOADED_FROM", 0)
    plans = []
    for there in (False, True):
        monkeypatch.setattr("collsim.engine.lower.loaded", lambda there=there: there)
        plans.append(lower(schedule, cluster))
    plain, compiled = plans
    for name in ("route", "alpha", "beta", "held_ptr", "held", "held_beta", "lane_ptr"):
        one, other = getattr(plain, name), getattr(compiled, name)
        assert one.dtype == other.dtype
        assert np.array_equal(one, other), name


def test_costs_of_a_size_are_worked_out_once() -> None:
    """And anew for another size."""
    plan = lower(build("broadcast", "mst", 4), Cluster.ideal(4, 1e-6, 1e9))
    assert plan.at(8.0) is plan.at(8.0)
    assert plan.at(16.0).beta[0] == pytest.approx(2 * plan.at(8.0).beta[0])


def test_more_routes_than_fit_into_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before any of them is asked for."""
    monkeypatch.setattr("collsim.engine.lower._MOST_ROUTES", 50)
    schedule = build("all_to_all", "direct", 8)
    with pytest.raises(TooLargeError, match="between 56 pairs of ranks take as many routes"):
        lower(schedule, Cluster.ideal(8, 1e-6, 1e9))
