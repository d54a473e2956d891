"""The ideal one-port network."""

from __future__ import annotations

import numpy as np
import pytest

from collsim.algorithms import build
from collsim.core.cluster import Cluster, Ports
from collsim.core.link import LinkClass
from collsim.engine.together import Job
from collsim.errors import InputError
from collsim.topology import delay
from collsim.topology.ideal import one_port
from collsim.units import format_size


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


HUGE = 10**400


@pytest.mark.parametrize("ranks", [2**20 + 1, HUGE])
def test_more_ranks_than_there_are(ranks: int) -> None:
    """Two thousand million of them would take 17 GB before anything is asked."""
    with pytest.raises(InputError, match="expected at most that"):
        Cluster.ideal(ranks, "1us", "1GB/s")


def test_numbers_that_are_no_floats() -> None:
    """Python's whole numbers may be larger than any float."""
    with pytest.raises(InputError, match="alpha: got a number of more than 308 digits"):
        Cluster.ideal(4, HUGE, "1GB/s")
    with pytest.raises(InputError, match="delay 1: got 1000"):
        delay(Cluster.ideal(4, "1us", "1GB/s"), 1, HUGE)
    with pytest.raises(InputError, match="job: start is 1000"):
        Job(build("broadcast", "mst", 2), [0, 1], 8, HUGE)
    with pytest.raises(InputError, match="size 1000"):
        format_size(HUGE)
