"""Times of one algorithm at any size: formula, simulation, and the best chunk count."""

from __future__ import annotations

import pytest

from collsim.algorithms import algorithm_names, build, find, refusal
from collsim.choose.curve import Curve, Model
from collsim.choose.curves import curves
from collsim.core.cluster import Cluster
from collsim.core.collective import COLLECTIVES
from collsim.core.link import LinkClass
from collsim.engine.simulate import COMPILE_FROM
from collsim.errors import InputError
from collsim.topology.rails import join
from collsim.topology.switch import switch

SIX = Cluster.ideal(6, alpha=1e-6, bandwidth=1e9)


def two_nodes(alpha_busy: float | None = None) -> Cluster:
    """Return two nodes of three ranks, slower between them."""
    near = LinkClass("near", 1e-6, 4e9, alpha_busy)
    return join(switch(3, near, "two"), 2, LinkClass("far", 5e-6, 1e9, alpha_busy))


def exact(collective: str, name: str) -> bool:
    """Return whether an algorithm runs on six ranks of a node and claims their exact time."""
    if refusal(collective, name, 6) is not None:
        return False
    terms = find(collective, name).terms(6, 1)
    return terms is not None and terms.exact


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_simulation_equals_the_formula_on_an_ideal_network(collective: str) -> None:
    """At the size 0 and at one that 6 ranks don't divide, to 1e-9, for every algorithm."""
    for name in algorithm_names(collective):
        if not exact(collective, name):
            continue
        for nbytes in (0, 1_000_001):
            one, other = (
                Curve(collective, name, SIX, root=4, chunks=1, model=model).at(nbytes)
                for model in ("formula", "event")
            )
            assert (one.model, other.model) == ("formula", "event")
            assert other.seconds == pytest.approx(one.seconds, rel=1e-9)


@pytest.mark.parametrize(
    ("gamma", "model", "expected"),
    [(0.0, "auto", "formula"), (1e-9, "auto", "event"), (0.0, "event", "event")],
)
def test_auto_takes_the_formula_only_where_it_is_exact(
    gamma: float, model: Model, expected: str
) -> None:
    """With reductions that take time the linear one is only bounded by its formula."""
    cluster = Cluster.ideal(6, alpha=1e-6, bandwidth=1e9, gamma=gamma)
    assert Curve("reduce", "linear", cluster, model=model).at(1000).model == expected


def test_auto_simulates_on_other_networks() -> None:
    """Two nodes are no ideal network."""
    assert Curve("all_reduce", "ring", two_nodes()).at(1000).model == "event"


def test_formula_is_refused_where_it_is_not_exact() -> None:
    """The error says why, and what to ask for instead."""
    with pytest.raises(InputError, match=r"no formula is exact for .*expected event or auto"):
        Curve("all_reduce", "ring", two_nodes(), model="formula")
    slow = Cluster.ideal(6, alpha=1e-6, bandwidth=1e9, gamma=1e-9)
    with pytest.raises(InputError, match="is a bound, not exact"):
        Curve("reduce", "linear", slow, model="formula")


@pytest.mark.parametrize("nbytes", [0, 1, 3, 1000, 10**6, 10**9, 10**13])
def test_best_chunks_by_formula_are_the_best_of_all_powers_of_two(nbytes: int) -> None:
    """Of the pipelined ring, (P - 2 + c)(alpha + n beta / c); never less than a byte."""
    time = Curve("broadcast", "ring", SIX).at(nbytes)
    costs = {
        2**k: (4 + 2**k) * (1e-6 + nbytes * 1e-9 / 2**k)
        for k in range(17)
        if 2**k <= max(1, nbytes)
    }
    assert time.seconds == pytest.approx(min(costs.values()), rel=1e-12)
    assert costs[time.chunks] == pytest.approx(min(costs.values()), rel=1e-12)


@pytest.mark.parametrize("collective", ["broadcast", "reduce"])
@pytest.mark.parametrize("alpha_busy", [None, 0.0, 5e-7])
def test_best_chunks_by_simulation_are_the_best_of_all(
    collective: str, alpha_busy: float | None
) -> None:
    """The search that stops after two worse counts misses none, on two unlike nodes."""
    cluster = two_nodes(alpha_busy)
    free = Curve(collective, "ring", cluster, root=1)
    fixed = {c: Curve(collective, "ring", cluster, root=1, chunks=c) for c in free.candidates}
    for nbytes in (1.0, 5e3, 2e5, 3e6, 1e9):
        best = min(curve.seconds(nbytes) for c, curve in fixed.items() if c <= nbytes)
        assert free.seconds(nbytes) == best


def test_chunks_of_a_whole_message_are_refused() -> None:
    """MST sends each message whole."""
    with pytest.raises(
        InputError, match="chunks: broadcast/mst sends each message whole, got 4"
    ):
        Curve("broadcast", "mst", SIX, chunks=4)


@pytest.mark.parametrize("chunks", [0, -1, True, 2.0, "many"])
def test_chunk_count_that_is_none_is_refused(chunks: object) -> None:
    """It is auto, or a whole number from 1 up."""
    with pytest.raises(InputError, match=r"chunks: got .*, expected auto or a whole number"):
        Curve("broadcast", "ring", SIX, chunks=chunks)  # type: ignore[arg-type]


@pytest.mark.parametrize("nbytes", [-1, float("nan"), float("inf")])
def test_size_that_is_none_is_refused(nbytes: float) -> None:
    """A size is finite and 0 or more."""
    with pytest.raises(InputError, match="size: got"):
        Curve("broadcast", "ring", SIX).at(nbytes)


def test_unknown_model_is_refused() -> None:
    """The error lists the models."""
    with pytest.raises(InputError, match="expected one of event, formula, auto"):
        Curve("broadcast", "mst", SIX, model="guess")  # type: ignore[arg-type]


def test_slow_reductions_do_not_blur_what_reduces_nothing() -> None:
    """An all_to_all on a network whose gamma is a thousand million betas, to 1e-12."""
    cluster = Cluster.ideal(3, alpha=0, bandwidth="900GB/s", gamma="1ms")
    one, other = (
        Curve("all_to_all", "ring", cluster, model=model).seconds(1e6)
        for model in ("formula", "event")
    )
    assert other == pytest.approx(one, rel=1e-12)


@pytest.mark.parametrize("nbytes", [0.0, 1.0, 4e5])
def test_parts_of_a_time_are_the_whole(nbytes: float) -> None:
    """Alpha, beta, gamma, launch and waiting sum to the time, by formula and simulation."""
    ideal = Cluster.ideal(6, 1e-6, 1e9, gamma=1e-10, launch=3e-6)
    for cluster in (ideal, two_nodes()):
        time = Curve("all_reduce", "ring", cluster).at(nbytes)
        b = time.breakdown
        whole = b.alpha + b.beta + b.gamma + b.launch + b.waiting
        assert whole == pytest.approx(time.seconds, rel=1e-12)


def test_many_runs_change_to_the_compiled_loop_without_changing_a_bit() -> None:
    """Once the small runs have cost as much as loading it; times stay the same."""
    curve = Curve("all_to_all", "ring", two_nodes())
    before = curve.seconds(12345.6)
    assert not curve.simulation(1).compiled
    for _ in range(COMPILE_FROM // 30):
        curve.simulation(1)
    assert curve.simulation(1).compiled
    assert curve.seconds(12345.6) == before


def test_channels_beyond_what_any_machine_has_are_refused() -> None:
    """One line, at once, whatever algorithm there is; several numbers by the largest."""
    cluster = Cluster.load("dgx-h100", nodes=2)
    for channels in (65, 999_999, [1, 65]):
        with pytest.raises(InputError, match=r"channels: got \d+, expected at most 64"):
            curves("all_reduce", cluster, channels=channels)
    with pytest.raises(InputError, match="expected at most 64"):
        build("all_reduce", "ring", 16, node=cluster.node, channels=65)
