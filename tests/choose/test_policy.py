"""The policy table: where algebra puts its borders, and nobody faster in between."""

from __future__ import annotations

import inspect
import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import collsim
from collsim.algorithms import algorithm_names
from collsim.choose.crossover import crossover
from collsim.choose.curve import TIE
from collsim.choose.policy import Policy, choose
from collsim.choose.predict import curves
from collsim.core.cluster import Cluster
from collsim.errors import InputError

ALPHA, BETA = 10e-6, 1 / 450e9
EIGHT = Cluster.ideal(8, alpha=ALPHA, bandwidth=450e9)
COLLECTIVES = ("broadcast", "all_gather", "all_reduce", "all_to_all", "gather")


def slower(policy: Policy, cluster: Cluster, each: int, seed: int = 1) -> list[tuple[int, str]]:
    """Return random sizes of every range at which another algorithm is faster."""
    draw = random.Random(seed)
    found, _ = curves(policy.collective, cluster)
    wrong = []
    for row in policy.rows:
        low, high = max(1, row.min_bytes), row.max_bytes
        for _ in range(each):
            n = min(max(round(low * (high / low) ** draw.random()), row.min_bytes), high)
            times = {curve.name: curve.seconds(n) for curve in found}
            if times[row.algorithm] > min(times.values()) * (1 + 2 * TIE):
                wrong.append((n, min(times, key=times.__getitem__)))
    return wrong


@pytest.mark.parametrize("name", ["broadcast", "reduce", "all_reduce", "all_to_all", "scatter"])
def test_nobody_is_faster_at_a_thousand_sizes_on_an_ideal_network(name: str) -> None:
    """In every range, by the formulas."""
    assert slower(choose(name, EIGHT), EIGHT, 1000) == []


@pytest.mark.parametrize("name", ["all_reduce", "broadcast", "gather"])
def test_nobody_is_faster_on_two_nodes(name: str) -> None:
    """By simulation, where messages share NICs."""
    cluster = Cluster.load("dgx-h100", nodes=2, gpus_per_node=3)
    assert slower(choose(name, cluster), cluster, 12) == []


@given(
    ranks=st.integers(1, 6),
    alpha=st.floats(0, 1e-4),
    busy=st.floats(0, 1),
    bandwidth=st.floats(1e8, 1e12),
    gamma=st.sampled_from([0.0, 1e-12, 1e-10]),
    name=st.sampled_from(COLLECTIVES),
)
@settings(max_examples=12, deadline=None)
def test_nobody_is_faster_on_random_networks(
    ranks: int, alpha: float, busy: float, bandwidth: float, gamma: float, name: str
) -> None:
    """Whatever start-up, its busy part, bandwidth and reduction cost."""
    cluster = Cluster.ideal(ranks, alpha, bandwidth, gamma=gamma, alpha_busy=busy * alpha)
    assert slower(choose(name, cluster, max_bytes=2**22), cluster, 4) == []


def test_all_reduce_is_never_slower_than_its_two_ends() -> None:
    """At any size the policy's algorithm takes at most the time of MST and ring."""
    policy = choose("all_reduce", EIGHT)
    found = {curve.name: curve for curve in curves("all_reduce", EIGHT)[0]}
    for n in (8, 1000, 2**20, 8_470_588, 8_470_589, 2**24, 2**33):
        best = found[policy.at(n).algorithm].seconds(n)
        assert best <= min(found["mst"].seconds(n), found["ring"].seconds(n)) * (1 + TIE)


@pytest.mark.parametrize("model", ["formula", "event"])
def test_border_is_where_algebra_puts_it(model: str) -> None:
    """3 (alpha + n beta) = 6 alpha + 7/4 n beta: n = 12/5 alpha / beta, 10.8 MB."""
    policy = choose("all_reduce", EIGHT, model=model)  # type: ignore[arg-type]
    first, second = policy.rows
    assert (first.algorithm, second.algorithm) == ("recursive_doubling", "halving_doubling")
    assert second.min_bytes in {10_800_000, 10_800_001}
    assert {row.model for row in policy.rows} == {model}


def test_borders_are_those_of_crossover() -> None:
    """Both find the same root, also by simulation."""
    cluster = Cluster.load("dgx-h100", nodes=2, gpus_per_node=2)
    rows = choose("all_reduce", cluster, max_bytes=2**30).rows
    assert len(rows) > 1
    for one, other in pairwise(rows):
        found = crossover("all_reduce", one.algorithm, other.algorithm, cluster)
        assert any(abs(swap.size - other.min_bytes) <= 1 for swap in found.rows)


def test_ranges_cover_all_sizes_once() -> None:
    """From -b to -e, each range one byte above the one before."""
    policy = choose("broadcast", EIGHT, min_bytes="1K", max_bytes="1G")
    assert (policy.rows[0].min_bytes, policy.rows[-1].max_bytes) == (2**10, 2**30)
    assert all(b.min_bytes == a.max_bytes + 1 for a, b in pairwise(policy.rows))
    assert all(a.algorithm != b.algorithm for a, b in pairwise(policy.rows))


def test_every_algorithm_is_chosen_tried_or_left_out_with_a_reason() -> None:
    """The naive one is too slow at every size, and it says by how much."""
    policy = choose("all_reduce", Cluster.load("dgx-h100", nodes=2))
    assert set(policy.left_out) <= set(algorithm_names("all_reduce"))
    assert policy.left_out["linear"].startswith("too slow at every size: at least ")


def test_gain_and_efficiency_are_those_of_predict() -> None:
    """Runner-up's time over the winner's, and the bound over that, at the middle."""
    for row in choose("broadcast", EIGHT).rows:
        rows = collsim.predict("broadcast", EIGHT, row.size, "all").rows
        first, second = sorted(rows, key=lambda r: r.time_us)[:2]
        assert (first.algorithm, first.chunks) == (row.algorithm, row.chunks)
        assert row.time_us == pytest.approx(first.time_us, rel=1e-9)
        assert row.gain == pytest.approx(second.time_us / first.time_us, rel=1e-9)
        assert row.efficiency == pytest.approx(first.efficiency, rel=1e-9)


def test_one_rank_takes_no_time_so_there_is_no_gain() -> None:
    """The first name stands for all, and 0/0 is no number."""
    (row,) = choose("all_reduce", Cluster.ideal(1, ALPHA, 450e9)).rows
    assert (row.algorithm, row.time_us, row.gain, row.efficiency) == ("mst", 0.0, None, None)


def test_of_identical_algorithms_the_first_is_chosen() -> None:
    """A scatter on two ranks is one message whatever it is called."""
    (row,) = choose("scatter", Cluster.ideal(2, ALPHA, 450e9)).rows
    assert (row.algorithm, row.gain) == ("mst", 1.0)


def test_an_only_algorithm_has_no_runner_up() -> None:
    """There is one way to send a message to the next rank."""
    (row,) = choose("sendrecv", EIGHT).rows
    assert (row.algorithm, row.gain, row.runner_up) == ("direct", None, None)


def test_one_size_is_a_range() -> None:
    """From a size to itself."""
    (row,) = choose("all_reduce", EIGHT, min_bytes=1000, max_bytes=1000).rows
    assert (row.min_bytes, row.size, row.max_bytes) == (1000, 1000, 1000)


@pytest.mark.parametrize(("low", "high"), [(9, 8), (-1, 8), (1.5, 8), (8, float("nan"))])
def test_no_range_is_refused(low: float, high: float) -> None:
    """Upside down, negative, or no whole bytes."""
    with pytest.raises(InputError, match="expected"):
        choose("all_reduce", EIGHT, min_bytes=low, max_bytes=high)  # type: ignore[arg-type]


def test_the_room_is_the_function() -> None:
    """`collsim.choose` can be called whether or not its modules were imported before."""
    assert collsim.choose("all_reduce", EIGHT) == choose("all_reduce", EIGHT)
    assert collsim.choose.predict.predict is collsim.predict  # type: ignore[attr-defined]


def test_names_come_as_a_list_or_with_commas() -> None:
    """A string is no sequence of letters; anything else is refused."""
    listed = choose("all_reduce", EIGHT, algorithms=["ring", "mst"])
    assert choose("all_reduce", EIGHT, algorithms="ring,mst").rows == listed.rows
    with pytest.raises(InputError, match="expected names of some"):
        choose("all_reduce", EIGHT, algorithms=[])


def test_all_is_no_collective_but_says_how() -> None:
    """One after the other."""
    with pytest.raises(InputError, match=r"for name in collsim\.COLLECTIVES"):
        choose("all", EIGHT)


def test_policy_is_short_in_a_prompt_and_readable_in_print() -> None:
    """A line, and a line for each range."""
    policy = choose("all_reduce", EIGHT, algorithms="ring,mst")
    assert repr(policy) == "<Policy all_reduce on 8 ranks of ideal, 8B to 8GiB: 2 ranges>"
    lines = str(policy).splitlines()
    assert len(lines) == 3
    assert lines[1].startswith("  from 8 to 8470588 B: mst, x2.33 over ring, 60.11 us at ")


def test_help_of_the_room_is_that_of_the_function() -> None:
    """Signature and text."""
    assert inspect.signature(collsim.choose) == inspect.signature(choose)
    assert collsim.choose.__doc__ is not None
    assert "algorithms: " in collsim.choose.__doc__
    assert "Only these are chosen among" in collsim.choose.__doc__


def test_model_of_nccl_is_reached_from_the_package() -> None:
    """Without an import of its own."""
    assert collsim.nccl.release("2.30").name == "2.30.7"


def test_what_is_too_large_is_left_out_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """With room for 300 pieces, several rings on 16 ranks, and some algorithms, have none."""
    monkeypatch.setattr("collsim.core.builder.MAX_CARRIED", 300)
    policy = choose("all_reduce", Cluster.load("dgx-h100", nodes=2))
    assert policy.rows
    assert "sends more than 300 pieces" in policy.left_out["ring"]
    assert "sends more than 300 pieces" in policy.left_out["double_binary_tree in 8 channels"]


def test_where_no_algorithm_applies_all_reasons_are_given() -> None:
    """Three ranks, and two algorithms that pair them."""
    three = Cluster.ideal(3, "1us", "1GB/s")
    with pytest.raises(InputError, match=r"all_to_all: no algorithm applies; .*partners are"):
        choose("all_to_all", three, algorithms=["pairwise", "hierarchical"])
