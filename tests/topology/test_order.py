"""Rank orders and groups of ranks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from collsim.algorithms import build
from collsim.core.cluster import Cluster
from collsim.core.link import LinkClass
from collsim.engine.simulate import simulate
from collsim.errors import InputError, UnknownNameError
from collsim.topology import degrade, fail, groups, reorder
from collsim.topology.rails import join
from collsim.topology.switch import switch

NEAR = LinkClass("near", alpha=1.0, bandwidth=4.0, alpha_busy=0.0)
FAR = LinkClass("far", alpha=5.0, bandwidth=1.0, alpha_busy=0.0)


def names(cluster: Cluster, src: int, dst: int) -> list[str]:
    """Return the links of a route by name."""
    return [cluster.links.names[i] for i in cluster.route(src, dst)]


def test_across_pays_the_network_at_every_hop() -> None:
    """All_gather of 0 bytes on 2 x 2: 2·5 + 1·1 inside the nodes first, 3·5 across them."""
    pair = join(switch(2, NEAR, "pair"), 2, FAR)
    ring = build("all_gather", "ring", 4)
    assert simulate(ring, pair, 0.0).makespan == 11
    assert simulate(ring, reorder(pair, "across"), 0.0).makespan == 15
    assert simulate(ring, reorder(pair, [0, 2, 1, 3]), 0.0).makespan == 15


def test_inside_is_as_it_is_built() -> None:
    """And undoes another order."""
    pair = join(switch(2, NEAR, "pair"), 2, FAR)
    assert reorder(pair, "inside") is pair
    assert reorder(pair, range(4)) is pair
    back = reorder(reorder(pair, "across"), "inside")
    assert [names(back, 0, r) for r in (1, 2)] == [names(pair, 0, r) for r in (1, 2)]
    assert back.order is not None
    assert back.order.tolist() == [0, 1, 2, 3]


def test_parts_stay_where_they_are() -> None:
    """Rank 1 across is GPU 2, which uses NIC 2."""
    dealt = reorder(join(switch(2, NEAR, "pair"), 2, FAR), "across")
    assert names(dealt, 0, 1) == ["nic[0].up", "nic[2].down"]
    assert names(dealt, 0, 2) == ["gpu[0].up", "gpu[1].down"]
    assert [dealt.vertex(r) for r in range(4)] == ["gpu[0]", "gpu[2]", "gpu[1]", "gpu[3]"]
    assert dealt.node.tolist() == [0, 1, 0, 1]
    links = dealt.links
    assert links.tail is not None
    assert dealt.vertex(int(links.tail[links.names.index("nic[2].up")])) == "gpu[2]"


def test_faults_before_and_after() -> None:
    """The same cables are broken, and the same ways are taken."""
    pair = join(switch(3, NEAR, "pair"), 2, FAR)
    before = reorder(degrade(fail(pair, "nic[1]"), "nic[1:0]", 0.5), "across")
    after = degrade(fail(reorder(pair, "across"), "nic[1]"), "nic[1:0]", 0.5)
    for src in range(6):
        for dst in range(6):
            assert names(before, src, dst) == names(after, src, dst)
    assert before.links.beta.tolist() == after.links.beta.tolist()


def test_nodes_are_dealt_in_turn() -> None:
    """Three nodes of two."""
    dealt = reorder(join(switch(2, NEAR, "six"), 3, FAR), "across")
    assert dealt.order is not None
    assert dealt.order.tolist() == [0, 2, 4, 1, 3, 5]


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ([0, 1, 2], "got 3 ranks, expected each of 0 to 3 once"),
        ([0, 1, 2, 2], "rank 2 is there twice"),
        ([0, 1, 2, 4], "got rank 4"),
        ([0, 1, 2, -1], "got rank -1"),
        ([0, 1, 2, 2.5], "expected whole numbers"),
        ([], "got 0 ranks"),
    ],
)
def test_bad_orders(order: list[Any], message: str) -> None:
    """Each rank once."""
    with pytest.raises(InputError, match=message):
        reorder(switch(4, NEAR, "four"), order)


def test_unknown_names() -> None:
    """The nearest is named."""
    four = switch(4, NEAR, "four")
    with pytest.raises(UnknownNameError, match="did you mean 'across'"):
        reorder(four, "acros")
    with pytest.raises(UnknownNameError, match="did you mean 'inside'"):
        groups(four, "insde")


def test_groups() -> None:
    """Of nodes, of rails, of all; in the order of ranks, whatever sits where."""
    two = join(switch(3, NEAR, "two"), 2, FAR)
    assert groups(two, "inside") == ((0, 1, 2), (3, 4, 5))
    assert groups(two, "across") == ((0, 3), (1, 4), (2, 5))
    assert groups(two, "all") == ((0, 1, 2, 3, 4, 5),)
    dealt = reorder(two, "across")
    assert groups(dealt, "inside") == ((0, 2, 4), (1, 3, 5))


def test_cuts_follow_the_ranks() -> None:
    """The node of every rank is its group in the cut between nodes."""
    dealt = reorder(join(switch(2, NEAR, "pair"), 2, FAR), "across")
    node = next(cut for cut in dealt.cuts if cut.name == "node")
    assert np.array_equal(node.group, dealt.node)
