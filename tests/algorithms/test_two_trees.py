"""Two binary trees share the work: who forwards in one is a leaf in the other."""

from __future__ import annotations

from collections import Counter

import pytest

from collsim.algorithms import build
from collsim.algorithms._two_trees import two_trees
from collsim.core.cluster import Cluster
from collsim.engine.simulate import Simulation

RANKS = (*range(2, 34), 63, 64, 65, 72, 128)


@pytest.mark.parametrize("ranks", RANKS)
def test_both_trees_reach_everybody_and_nobody_forwards_in_both(ranks: int) -> None:
    """Each other rank has one parent per tree, and at most two children in all."""
    edges = two_trees(ranks)
    for tree in range(2):
        assert sorted(e.dst for e in edges if e.tree == tree) == list(range(1, ranks))
    assert max(Counter(e.src for e in edges).values()) <= 2
    forwards = [{e.src for e in edges if e.tree == tree} - {0} for tree in range(2)]
    assert not forwards[0] & forwards[1]


@pytest.mark.parametrize("ranks", RANKS)
def test_nobody_sends_or_receives_twice_in_a_round(ranks: int) -> None:
    """Even rounds and odd rounds; a child follows its parent."""
    edges = two_trees(ranks)
    for end in ("src", "dst"):
        uses = Counter((getattr(e, end), e.first % 2) for e in edges)
        assert max(uses.values()) == 1
    arrived = {(e.tree, e.dst): e.first for e in edges}
    assert all(e.first > arrived.get((e.tree, e.src), -1) for e in edges)


@pytest.mark.parametrize("name", ["broadcast", "reduce"])
@pytest.mark.parametrize("ranks", [2, 5, 7, 8, 13, 33, 64])
def test_every_round_takes_one_message(name: str, ranks: int) -> None:
    """No port is promised to a chunk while another could use it: 1 s a round."""
    for chunks in (1, 2, 7, 64):
        schedule = build(name, "double_binary_tree", ranks, 0, chunks)
        time = Simulation(schedule, Cluster.ideal(ranks, 1.0, 1e30)).makespan(0.0)
        assert time == pytest.approx(schedule.rounds, rel=1e-12)


@pytest.mark.parametrize("name", ["broadcast", "reduce"])
def test_large_messages_approach_full_bandwidth(name: str) -> None:
    """1,024 chunks on 8 ranks: 2 (2 + 1024) messages of n/2048, so 1.00195 n beta."""
    schedule = build(name, "double_binary_tree", 8, 3, 1024)
    time = Simulation(schedule, Cluster.ideal(8, 0.0, 1e9)).makespan(2**30)
    assert time / (2**30 / 1e9) == pytest.approx(2052 / 2048, rel=1e-9)
