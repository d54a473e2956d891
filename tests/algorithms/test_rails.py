"""Hierarchical algorithms: inside the nodes, and along the rails across them."""

from __future__ import annotations

import numpy as np
import pytest

from collsim.algorithms import build, find, refusal
from collsim.core.cluster import Cluster
from collsim.core.setting import Setting
from collsim.engine.simulate import Simulation
from collsim.engine.verdict import verify_schedule
from collsim.errors import UnknownNameError

ROOTED = ("broadcast", "reduce", "scatter", "gather")
NAMES = ("all_gather", "reduce_scatter", "all_to_all", *ROOTED)
# Nodes and ranks of each; in blocks, and dealt out in turns.
SHAPES = [(2, 2), (2, 3), (3, 2), (4, 4), (3, 5), (5, 3), (2, 8)]


def nodes_of(nodes: int, width: int, dealt: bool) -> np.ndarray:
    """Return the node of every rank."""
    return np.tile(np.arange(nodes), width) if dealt else np.repeat(np.arange(nodes), width)


@pytest.mark.parametrize("name", NAMES)
def test_right_data_without_a_race(name: str) -> None:
    """Whatever the root, and however ranks are numbered."""
    for nodes, width in SHAPES:
        for dealt in (False, True):
            node = nodes_of(nodes, width, dealt)
            for root in {0, 1, nodes * width - 1} if name in ROOTED else {0}:
                schedule = build(name, "hierarchical", nodes * width, root, node=node)
                verdict = verify_schedule(schedule)
                assert verdict.ok, (nodes, width, dealt, root, verdict.reason)


@pytest.mark.parametrize(
    ("name", "alphas", "betas"),
    [
        # On 4 nodes of 8: log 4 + log 8 messages, every byte once.
        ("all_gather", 5, 31 / 32),
        ("reduce_scatter", 5, 31 / 32),
        # Scatter and all_gather of 7/8 each, and two messages of an eighth across.
        ("broadcast", 12, 2 * 7 / 8 + 2 / 8),
        ("reduce", 12, 2 * 7 / 8 + 2 / 8),
        # 7 messages of an eighth in the root's node, then two along the rails.
        ("scatter", 9, 31 / 32),
        ("gather", 9, 31 / 32),
        # 7 messages of an eighth, 3 of a quarter.
        ("all_to_all", 10, 7 / 8 + 3 / 4),
    ],
)
def test_time_on_an_ideal_network(name: str, alphas: int, betas: float) -> None:
    """Where all links are alike, the sum of the steps."""
    schedule = build(name, "hierarchical", 32, node=nodes_of(4, 8, dealt=False))
    time = Simulation(schedule, Cluster.ideal(32, 1e-6, 1e9)).makespan(1e6)
    assert time == pytest.approx(alphas * 1e-6 + betas * 1e6 / 1e9, rel=1e-9)


@pytest.mark.parametrize(
    ("name", "share"),
    [
        ("all_gather", 3 / 32),
        ("reduce_scatter", 3 / 32),
        ("broadcast", 2 / 8),
        ("reduce", 1 / 8),
        ("scatter", 3 / 32),
        ("gather", 2 / 32),
        ("all_to_all", 3 / 4),
    ],
)
def test_bytes_that_a_rank_sends_to_other_nodes(name: str, share: float) -> None:
    """At most: all rails carry equally much, the root's ones of a broadcast twice a share."""
    node = nodes_of(4, 8, dealt=False)
    schedule = build(name, "hierarchical", 32, node=node)
    across = node[schedule.src] != node[schedule.dst]
    sent = np.bincount(schedule.src[across], weights=schedule.fraction[across])
    assert sent.max() == pytest.approx(share, rel=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_why_it_does_not_apply(name: str) -> None:
    """One node, uneven nodes, one rank per node."""
    needs = find(name, "hierarchical").needs
    for node, reason in (
        ([0, 0, 0, 0], "on one node"),
        ([0, 0, 0, 1], "different numbers"),
        ([0, 1, 2, 3], "one rank"),
    ):
        assert reason in str(needs(Setting(4, node)))
    assert needs(Setting(4, [0, 0, 1, 1])) is None


@pytest.mark.parametrize("dealt", [False, True])
@pytest.mark.parametrize(
    ("name", "spec"),
    [
        ("all_reduce", "inside=bruck"),
        ("all_reduce", "inside=recursive_doubling,across=one_shot"),
        ("all_reduce", "inside=ring,across=recursive_doubling"),
        ("all_reduce", "inside=linear,across=double_binary_tree"),
        ("all_reduce", "inside=mst,across=bidirectional_ring"),
        ("all_gather", "inside=ring,across=mst"),
        ("all_gather", "across=gather_broadcast"),
        ("reduce_scatter", "inside=direct,across=mst"),
        ("reduce_scatter", "inside=recursive_halving,across=ring"),
        ("all_to_all", "inside=mst,across=bruck"),
        ("all_to_all", "inside=linear,across=ring"),
        ("broadcast", "inside=ring,across=double_binary_tree"),
        ("broadcast", "inside=pat,across=scatter_all_gather"),
        ("reduce", "inside=ring,across=double_binary_tree"),
        ("reduce", "inside=direct,across=linear"),
        ("reduce", "inside=recursive_doubling"),
        ("scatter", "inside=mst,across=ring"),
        ("gather", "inside=ring,across=direct"),
    ],
)
def test_any_choice_inside_and_across_is_right(name: str, spec: str, dealt: bool) -> None:
    """No race, whatever the root, and however ranks are numbered."""
    algorithm = f"hierarchical:{spec}"
    for nodes, width in [(2, 2), (3, 4), (5, 2), (4, 4), (2, 3)]:
        ranks, node = nodes * width, nodes_of(nodes, width, dealt)
        if refusal(name, algorithm, ranks, node) is not None:
            continue
        for root in {0, 1, ranks - 1} if name in ROOTED else {0}:
            for chunks in (1, 3) if find(name, algorithm).chunked else (1,):
                schedule = build(name, algorithm, ranks, root, chunks, node=node)
                verdict = verify_schedule(schedule)
                assert verdict.ok, (nodes, width, root, chunks, verdict.reason)


@pytest.mark.parametrize(
    ("name", "algorithm", "message"),
    [
        ("all_reduce", "hierarchical:across=rnig", "of all_reduce 'rnig'; did you mean 'ring'"),
        ("all_reduce", "hierarchical:across=hierarchical", "unknown algorithm of all_reduce"),
        ("all_reduce", "hierarchical:inside=gather_broadcast", "unknown algorithm"),
        ("reduce", "hierarchical:inside=mst", "unknown algorithm of all_gather 'mst'"),
        ("all_gather", "hierarchical:outside=mst", "did you mean 'inside'?"),
    ],
)
def test_choices_that_there_are_not(name: str, algorithm: str, message: str) -> None:
    """The nearest one is named."""
    with pytest.raises(UnknownNameError, match=message):
        find(name, algorithm)


def test_a_choice_that_does_not_run_there_says_why() -> None:
    """Pairs of a power of two, on three nodes."""
    reason = refusal("all_to_all", "hierarchical:across=pairwise", 6, [0, 0, 1, 1, 2, 2])
    assert reason is not None
    assert "all_to_all/pairwise on 3 of them" in reason
    assert "power of two" in reason
    assert refusal("all_to_all", "hierarchical:across=pairwise", 4, [0, 0, 1, 1]) is None


def test_time_of_choices_by_hand() -> None:
    """Four nodes of eight: 7 messages inside, 2 whole shares across, 7 inside; n 1, beta 1."""
    node = nodes_of(4, 8, dealt=False)
    spec = "hierarchical:inside=ring,across=recursive_doubling"
    cluster = Cluster.ideal(32, 1.0, 1.0)
    time = Simulation(build("all_reduce", spec, 32, node=node), cluster).makespan(1.0)
    assert time == pytest.approx(7 + 2 + 7 + 7 / 8 + 2 / 8 + 7 / 8, rel=1e-12)
