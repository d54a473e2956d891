"""A cluster for the reader: complete as data, and a tree as text."""

from __future__ import annotations

import json

import pytest

from collsim.core.cluster import Cluster
from collsim.errors import InputError
from collsim.report.cluster_view import cluster_data, cluster_text

TWO_NODES = """\
dgx-a100: 2 nodes of 2 GPUs on a switch, one NIC per GPU on rails, 4 ranks
├─ nodes
│  ├─ node 0: GPUs 0-1
│  └─ node 1: GPUs 2-3
├─ links, each direction
│  ├─ nvlink3: 8 links, alpha 3.4us, 300GB/s, busy for 3.4us a message
│  │  ├─ bandwidth (datasheet): …
│  │  └─ alpha (assumption): …
│  └─ hdr200: 8 links, alpha 14us, 25GB/s, busy for 14us a message
│     ├─ bandwidth (datasheet): …
│     └─ alpha (assumption): …
├─ cuts
│  ├─ rank: 4 groups, 325GB/s out and 325GB/s in, each
│  └─ node: 2 groups, 50GB/s out and 50GB/s in, each
└─ routes
   └─ 0 to 3: alpha 14us, 25GB/s
      ├─ nic[0].up: alpha 14us, 25GB/s
      └─ nic[3].down: alpha 0s, 25GB/s
"""


def test_two_nodes_as_a_tree() -> None:
    """Nodes, links with their sources, cuts, and a route that changes rails."""
    cluster = Cluster.load("dgx-a100", nodes=2, gpus_per_node=2)
    lines = cluster_text(cluster_data(cluster, [(0, 3)])).splitlines()
    for found, expected in zip(lines, TWO_NODES.splitlines(), strict=True):
        head, dots, _ = expected.partition("…")
        assert found.startswith(head) if dots else found == expected


def test_data_is_json_without_nan() -> None:
    """Also with routes, ports and no limits."""
    for cluster in (Cluster.load("dgx-h100", nodes=3), Cluster.load("textbook-h100")):
        data = cluster_data(cluster, [(0, 7), (5, 5)])
        assert json.loads(json.dumps(data, allow_nan=False)) == data


def test_costs_are_shown_where_there_are_any() -> None:
    """Gamma, launch and multicast stand in the head."""
    cluster = Cluster.ideal(2, "1us", "1GB/s", gamma=2e-12, launch="5us")
    head = cluster_text(cluster_data(cluster)).splitlines()[0]
    assert head == "ideal: ideal one-port network, 2 ranks, gamma 0.002ns/B, launch 5us"
    head = cluster_text(cluster_data(Cluster.load("dgx-h100", ranks=1))).splitlines()[0]
    assert head.endswith(", 1 rank, multicast in the switch")


def test_many_nodes_are_folded() -> None:
    """First, second and last; 6 nodes leave 3 out."""
    text = cluster_text(cluster_data(Cluster.load("dgx-h100", nodes=6)))
    assert text.splitlines()[2:6] == [
        "│  ├─ node 0: GPUs 0-7",
        "│  ├─ node 1: GPUs 8-15",
        "│  ├─ … 3 more nodes",
        "│  └─ node 5: GPUs 40-47",
    ]


def test_a_route_to_itself_has_no_link() -> None:
    """It costs nothing."""
    data = cluster_data(Cluster.load("dgx-h100"), [(3, 3)])
    route = {"src": 3, "dst": 3, "alpha_us": 0.0, "bandwidth": None, "links": []}
    assert data["routes"] == [route]
    assert "3 to 3: no link, no time" in cluster_text(data)


@pytest.mark.parametrize("pair", [(0, 8), (-1, 0), (8, 0)])
def test_a_route_needs_two_ranks_of_the_cluster(pair: tuple[int, int]) -> None:
    """The error says which there are."""
    expected = r"^routes: got rank (8|-1), expected ranks from 0 to 7$"
    with pytest.raises(InputError, match=expected):
        cluster_data(Cluster.load("dgx-h100"), [pair])
