"""Nodes without a switch: full mesh, hybrid cube mesh, ring and torus."""

from __future__ import annotations

import pytest

from collsim.core.cluster import Cluster
from collsim.core.link import LinkClass
from collsim.errors import InputError
from collsim.topology._node import with_local
from collsim.topology.full_mesh import full_mesh
from collsim.topology.hybrid_cube_mesh import WIRING, hybrid_cube_mesh
from collsim.topology.ring import ring
from collsim.topology.switch import switch
from collsim.topology.torus import torus

WIRE = LinkClass("wire", 2.0, 25.0)


def way(cluster: Cluster, src: int, dst: int) -> list[int]:
    """Return the GPUs that a message passes, both ends included."""
    heads = cluster.links.head
    assert heads is not None
    return [src, *(int(heads[i]) for i in cluster.route(src, dst))]


def test_a_v100_has_six_links() -> None:
    """Each GPU to three on its board and to one on the other."""
    for gpu in range(8):
        mine = {pair: width for pair, width in WIRING.items() if gpu in pair}
        assert sum(mine.values()) == 6
        assert sorted(mine.values()) == [1, 1, 2, 2]
        assert sum((a < 4) != (b < 4) for a, b in mine) == 1


def test_bonded_links_of_a_pair_carry_a_message_together() -> None:
    """Two links of 25 are one of 50, with one alpha."""
    cube = hybrid_cube_mesh(WIRE, "x")
    rates = {cube.links.names[i]: 1 / cube.links.beta[i] for i in range(len(cube.links))}
    assert rates["gpu[0]>gpu[1]"] == 25.0
    assert rates["gpu[3]>gpu[0]"] == 50.0
    assert [link.name for link in cube.links.classes] == ["wire", "wirex2"]
    assert len(cube.links) == 32
    assert cube.cuts[0].out_rate == cube.cuts[0].in_rate == 150.0


@pytest.mark.parametrize(
    ("src", "dst", "over"),
    [
        (0, 7, 4),  # two links all the way, not one as over GPU 3
        (1, 6, 5),  # two links all the way
        (0, 5, 1),  # narrowed to one over 1 and over 4: the smaller number
        (7, 0, 4),
    ],
)
def test_gpus_without_a_link_go_over_a_neighbour(src: int, dst: int, over: int) -> None:
    """One GPU on the way; the wider way, then the smaller number. Each hop has its alpha."""
    cube = hybrid_cube_mesh(WIRE, "x")
    assert way(cube, src, dst) == [src, over, dst]
    assert cube.links.alpha[list(cube.route(src, dst))].sum() == 4.0


def test_no_pair_of_the_cube_is_further_than_two_links() -> None:
    """With all eight GPUs or the first few."""
    for gpus in range(1, 9):
        cube = hybrid_cube_mesh(WIRE, "x", gpus=gpus)
        pairs = [(a, b) for a in range(gpus) for b in range(gpus) if a != b]
        assert all(len(cube.route(a, b)) <= 2 for a, b in pairs)
    with pytest.raises(InputError, match="gpus: got 9, expected at most 8 in a hybrid cube"):
        hybrid_cube_mesh(WIRE, "x", gpus=9)


def test_a_full_mesh_sends_to_all_at_once() -> None:
    """A rank of four has three ways out, each of width x bandwidth."""
    four = full_mesh(4, WIRE, "x", width=6)
    assert (four.ways, four.cuts[0].out_rate) == (3, 450.0)
    assert [len(four.route(0, dst)) for dst in (1, 2, 3)] == [1, 1, 1]
    lanes = full_mesh(4, WIRE, "x", lanes=2)
    assert (lanes.ways, lanes.cuts[0].out_rate) == (6, 150.0)


def test_two_gpus_with_one_cable_are_a_one_port_network() -> None:
    """Three are not: a rank sends to both at once."""
    assert full_mesh(2, WIRE, "x").uniform == (2.0, 0.04)
    assert full_mesh(2, WIRE, "x", lanes=2).uniform is None
    assert full_mesh(3, WIRE, "x").uniform is None
    assert ring(2, WIRE, "x").uniform == (2.0, 0.04)


def test_a_ring_goes_the_short_way() -> None:
    """Of two equal ways upwards."""
    six = ring(6, WIRE, "x")
    assert way(six, 0, 2) == [0, 1, 2]
    assert way(six, 1, 5) == [1, 0, 5]
    assert way(six, 4, 1) == [4, 5, 0, 1]
    assert six.links.alpha[list(six.route(0, 3))].sum() == 6.0


def test_a_torus_takes_one_dimension_after_the_other() -> None:
    """The last first: neighbours in it have neighbouring numbers."""
    grid = torus((3, 4), WIRE, "x")
    assert way(grid, 0, 11) == [0, 3, 11]
    assert way(grid, 0, 6) == [0, 1, 2, 6]
    assert way(torus((2, 2, 3), WIRE, "x"), 0, 11) == [0, 2, 5, 11]
    assert grid.shape == "one node, 12 GPUs in a 3 x 4 torus"


def test_a_side_of_two_has_one_cable() -> None:
    """And a side of one none."""
    assert len(torus((2, 2), WIRE, "x").links) == 8
    assert len(torus((1, 3), WIRE, "x").links) == 6
    assert len(torus((1, 1), WIRE, "x").links) == 0


def test_tori_have_limits() -> None:
    """Dimensions up to three, and not more GPUs than memory holds."""
    with pytest.raises(InputError, match="sides: got 4 numbers, expected 2 or 3"):
        torus((2, 2, 2, 2), WIRE, "x")
    with pytest.raises(InputError, match="expected at most 65536 in a torus"):
        torus((1000, 1000), WIRE, "x")
    with pytest.raises(InputError, match="expected at most 1024 in a full mesh"):
        full_mesh(1048576, WIRE, "x")


def test_memory_is_a_link_of_every_rank() -> None:
    """A message to itself crosses it, and nothing else; formulas have no term for that."""
    two = with_local(switch(2, WIRE, "x"), LinkClass("hbm", 1.0, 100.0))
    assert [two.links.names[i] for i in two.route(1, 1)] == ["memory[1]"]
    assert switch(2, WIRE, "x").route(1, 1) == ()
    assert two.uniform is None
