"""What shapes say of renamed ranks holds for every pair, tried on small clusters."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from collsim.core.cluster import Cluster, Renamable
from collsim.core.link import LinkClass
from collsim.core.symmetry import Fold
from collsim.engine.fold.proof import prove
from collsim.errors import InputError
from collsim.topology import fat_tree, rails, star
from collsim.topology._node import with_local
from collsim.topology.full_mesh import full_mesh
from collsim.topology.ring import ring
from collsim.topology.switch import switch
from collsim.topology.torus import torus

WIRE = LinkClass("wire", 1e-6, 1e9)
TRIO = switch(3, WIRE, "trio")
PAIR = full_mesh(2, WIRE, "pair")

CLUSTERS = {
    "ideal": Cluster.ideal(12, "1us", "1GB/s"),
    "switch": switch(6, WIRE, "six"),
    "mesh": full_mesh(8, WIRE, "mesh"),
    "ring of 8": ring(8, WIRE, "ring"),
    "ring of 9": ring(9, WIRE, "ring"),
    "torus": torus((4, 2, 2), WIRE, "torus"),
    "rails": rails.join(TRIO, 4, WIRE),
    "shared NIC": rails.join(TRIO, 6, WIRE, nics=2),
    "oversubscribed": rails.join(PAIR, 4, WIRE, oversubscription=2.0),
    "fat tree": fat_tree.join(PAIR, 8, WIRE, 2),
    "uneven fat tree": fat_tree.join(PAIR, 6, WIRE, 4),
    "pods": fat_tree.join(PAIR, 16, WIRE, 2, leaves_per_pod=4, pod_oversubscription=2.0),
    "star": star.join(TRIO, 5, WIRE),
    "rings joined": star.join(ring(4, WIRE, "ring"), 4, WIRE),
}

# How many of all renamings each shape answers for: by shifts, and by XOR.
KNOWN = {
    "ideal": 5, "switch": 3, "mesh": 6, "ring of 8": 4, "ring of 9": 2, "torus": 3, "rails": 2,
    "shared NIC": 3, "oversubscribed": 4, "fat tree": 5, "uneven fat tree": 0, "pods": 5,
    "star": 1, "rings joined": 4,
}  # fmt: skip


def folds(ranks: int) -> Iterator[Fold]:
    """Yield all renamings of so many ranks."""
    for kind in ("shift", "xor"):
        for step in range(1, ranks):
            try:
                yield Fold(kind, ranks, step)
            except InputError:
                continue


@pytest.mark.parametrize("where", CLUSTERS)
def test_routes_are_renamed_as_said(where: str) -> None:
    """The route of renamed ends is the route with its links renamed, for all pairs."""
    cluster = CLUSTERS[where]
    ranks, router = cluster.ranks, cluster.router
    assert isinstance(router, Renamable)
    every = np.arange(ranks)
    src, dst = np.nonzero(every[:, None] != every)
    ptr, link = router(src, dst)
    known = 0
    for fold in folds(ranks):
        said = [router.renamed(fold.moved(every, turn)) for turn in fold.generators]
        known += all(one is not None for one in said)
        for turn, one in zip(fold.generators, said, strict=True):
            if one is None:
                continue
            to = fold.moved(every, turn)
            becomes = np.full(len(cluster.links), -1)
            becomes[one[0]] = one[1]
            assert (becomes[one[0]] == one[1]).all()
            assert (becomes[link] >= 0).all()
            there_ptr, there = router(to[src], to[dst])
            assert (there_ptr == ptr).all()
            assert (there == becomes[link]).all()
    assert known == KNOWN[where]


@pytest.mark.parametrize("where", CLUSTERS)
def test_orbits_are_what_renaming_makes_of_links(where: str) -> None:
    """Followed turn by turn, the standing link becomes each one of its orbit."""
    cluster = CLUSTERS[where]
    ranks, router = cluster.ranks, cluster.router
    assert isinstance(router, Renamable)
    every = np.arange(ranks)
    for fold in folds(ranks):
        orbits = prove(cluster, fold)
        if isinstance(orbits, str):
            continue
        seen = np.zeros(len(cluster.links), dtype=int)
        for turn in range(fold.turns):
            named = router.renamed(fold.moved(every, turn))
            assert named is not None
            becomes = np.arange(len(cluster.links))
            becomes[named[0]] = named[1]
            mine = orbits.turn == turn
            assert (becomes[orbits.standing[mine]] == np.flatnonzero(mine)).all()
            np.add.at(seen, becomes, orbits.standing == np.arange(seen.size))
        assert (seen[orbits.free] == 1).all()


def test_a_placed_rank_order_says_nothing() -> None:
    """Routes between places are not those of the shape."""
    from collsim.topology import reorder

    placed = reorder(CLUSTERS["rails"], "across")
    assert not isinstance(placed.router, Renamable)


@pytest.mark.parametrize("shape", ["mesh", "torus", "rails", "fat tree", "star"])
def test_another_number_of_ranks_is_no_renaming(shape: str) -> None:
    """The first three ranks of a cluster are not asked for."""
    router = CLUSTERS[shape].router
    assert isinstance(router, Renamable)
    assert router.renamed(np.array([1, 2, 0])) is None


def test_memory_goes_with_its_rank() -> None:
    """Each rank's link becomes that of the rank that it becomes, unless two share one."""
    six = CLUSTERS["switch"]
    own = with_local(six, WIRE)
    orbits = prove(own, Fold("shift", 6, 2))
    assert not isinstance(orbits, str)
    memory = np.arange(len(own.links) - 6, len(own.links))
    assert (orbits.standing[memory] - memory[0]).tolist() == [0, 1, 0, 1, 0, 1]
    shared = replace(own, local=np.append(memory[0], memory[:5]))
    assert prove(shared, Fold("shift", 6, 2)) == (
        "renaming by a shift of 2 takes some routes to no others"
    )
