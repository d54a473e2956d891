"""predict, choose and crossover fold large clusters, say so, and give the same answers."""

import numpy as np
import pytest

from collsim.algorithms import build, find
from collsim.choose.curve import Curve
from collsim.choose.curves import curves
from collsim.choose.folding import FOLD_FROM, folded_simulation, why_none_stand_for_all
from collsim.choose.predict import predict
from collsim.choose.schedule_size import foretold
from collsim.core.cluster import Cluster
from collsim.core.link import LinkClass
from collsim.core.setting import Setting
from collsim.engine.fold.simulation import FoldedSimulation, NotFoldedError
from collsim.errors import TooLargeError
from collsim.topology import fat_tree, reorder
from collsim.topology.switch import switch

LARGE = Cluster.load("dgx-h100", nodes=FOLD_FROM // 8)


@pytest.mark.parametrize("name", ["recursive_doubling", "halving_doubling", "hierarchical"])
def test_predict_says_the_same_folded_or_not(name: str) -> None:
    """Every number of the row, on 1,024 ranks; only `folded` tells them apart."""
    chunks = 1 if name == "hierarchical" else "auto"
    folded = predict("all_reduce", LARGE, [8, 2**24], name, chunks=chunks)
    whole = predict("all_reduce", LARGE, [8, 2**24], name, chunks=chunks, fold=False)
    assert folded.rows == whole.rows
    assert folded.folded == {
        name: "8 of 1,024 ranks simulated; the others are the same by XOR with multiples of 8"
    }
    assert whole.folded == {}


def test_small_clusters_are_not_folded() -> None:
    """Below 1,024 ranks all are simulated."""
    small = Cluster.load("dgx-h100", nodes=FOLD_FROM // 16)
    curve = Curve("all_gather", "bruck", small)
    assert curve.seconds(1e6) > 0
    assert not isinstance(curve.simulation(1), FoldedSimulation)
    assert curve.folding.said is None


def test_what_is_refused_is_simulated_whole() -> None:
    """Another order of ranks is not folded, but answered."""
    placed = reorder(LARGE, "across")
    curve = Curve("all_gather", "recursive_doubling", placed)
    assert len(curve.simulation(1).schedule) == 10 * 1024
    assert curve.folding.refused == "ranks do not sit on the GPUs of their own numbers"


def test_the_fewest_ranks_that_may_stand_for_all_do() -> None:
    """One of an ideal network, a node on rails, a leaf of a fat tree."""

    def step(cluster: Cluster, name: str) -> int:
        found = folded_simulation("all_gather", name, find("all_gather", name), cluster)
        return found.folded.fold.step

    assert step(Cluster.ideal(12, "1us", "1GB/s"), "ring") == 1
    assert step(Cluster.load("dgx-h100", nodes=6), "ring") == 8
    wire = LinkClass("wire", alpha=1e-6, bandwidth=1e9)
    tree = fat_tree.join(switch(4, wire, "four"), 12, wire, 2, oversubscription=2.0)
    assert step(tree, "ring") == 8


def test_nothing_stands_for_all_of_an_odd_number_of_nodes_by_xor() -> None:
    """There is no such renaming."""
    with pytest.raises(NotFoldedError, match="no part of 24 ranks can stand for all"):
        folded_simulation(
            "all_gather", "recursive_doubling", find("all_gather", "recursive_doubling"),
            Cluster.load("dgx-h100", nodes=3),
        )  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("all_reduce", "mst"),
        ("all_gather", "direct"),
        ("all_gather", "mst"),
        ("all_to_all", "hierarchical"),
        ("broadcast", "double_binary_tree"),
    ],
)
def test_sizes_are_foretold(kind: str, name: str) -> None:
    """On 256 ranks within a quarter of what is built."""
    setting = Setting(256, np.arange(256) // 4)
    found = foretold(kind, name, setting)
    assert found is not None
    schedule = build(kind, name, 256, node=setting.node)
    assert found.messages == pytest.approx(len(schedule), rel=0.25)
    assert found.pieces == pytest.approx(schedule.piece.size, rel=0.25)


def test_what_would_be_too_large_is_left_out_before_it_is_built() -> None:
    """On 65,536 ranks everybody to everybody is 4 billion messages: one line, no memory."""
    huge = Cluster.load("dgx-h100", nodes=8192)
    with pytest.raises(TooLargeError, match=r"about 5e\+09 messages .* GiB of memory"):
        Curve("all_gather", "direct", huge).seconds(1e6)
    found, _ = curves("all_gather", huge)
    assert {curve.name for curve in found} >= {"mst", "direct", "bruck"}
    (row,) = (answer := predict("all_gather", huge, 8, channels=1)).rows
    assert row.algorithm in ("bruck", "recursive_doubling")
    assert {"direct", "mst", "linear"} <= set(answer.left_out)
    assert {"bruck", "recursive_doubling"} <= set(answer.folded)


def test_what_claims_no_symmetry_is_not_folded() -> None:
    """Everybody sends to one rank: that one is like no other."""
    with pytest.raises(NotFoldedError, match="reduce/linear claims no symmetry"):
        folded_simulation(
            "reduce", "linear", find("reduce", "linear"), Cluster.ideal(4, "1us", "1GB/s")
        )


def test_nodes_of_unequal_sizes_and_single_ones_are_not_asked() -> None:
    """No node stands for another."""
    assert why_none_stand_for_all(Cluster.load("dgx-h100")) is None


@pytest.mark.parametrize(
    ("name", "node", "channels"),
    [
        ("ring", np.repeat(np.arange(64), 4)[:-1], 1),  # one node has a rank less
        ("ring", np.arange(8) // 4, 1),  # two nodes: nothing smaller to build
        ("hierarchical", None, 1),  # one node: no step across
        ("mst", np.arange(256) // 4, 2),  # it runs in one channel
    ],
)
def test_sizes_that_can_not_be_foretold(
    name: str, node: np.ndarray | None, channels: int
) -> None:
    """Then what is asked for is built, or refused for its own reason."""
    setting = Setting(256 if node is None else node.size, node)
    assert foretold("all_reduce", name, setting, channels) is None
