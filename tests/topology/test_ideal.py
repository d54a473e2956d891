"""The ideal one-port network."""

from __future__ import annotations

import numpy as np

from collsim.core.cluster import Ports
from collsim.core.link import LinkClass
from collsim.topology.ideal import one_port


def test_one_entry_without_limit_stands_for_all_pairs() -> None:
    """A million pairs need no million links."""
    cluster = one_port(1000, LinkClass("link", 2.0, 4.0), "ideal")
    assert len(cluster.links) == 1
    assert cluster.links.lanes.tolist() == [0]
    ptr, link = cluster.router(np.array([0, 5, 999]), np.array([1, 7, 0]))
    assert (ptr.tolist(), link.tolist()) == ([0, 1, 2, 3], [0, 0, 0])


def test_ports_are_as_fast_as_the_link() -> None:
    """One message out and one in at a time."""
    cluster = one_port(3, LinkClass("link", 2.0, 4.0), "ideal", gamma=0.5, launch=7.0)
    assert cluster.egress == cluster.ingress == Ports(0.25, lanes=1)
    assert (cluster.least_alpha, cluster.least_busy) == (2.0, 2.0)
    assert (cluster.gamma, cluster.launch) == (0.5, 7.0)


def test_every_rank_is_a_cut() -> None:
    """What one link passes."""
    (cut,) = one_port(3, LinkClass("link", 2.0, 4.0), "ideal").cuts
    assert (cut.name, cut.group.tolist()) == ("rank", [0, 1, 2])
    assert (cut.out_rate, cut.in_rate) == (4.0, 4.0)


def test_all_ranks_are_on_one_node() -> None:
    """There is no network."""
    assert one_port(3, LinkClass("link", 2.0, 4.0), "ideal").nodes == 1
