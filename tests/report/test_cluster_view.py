"""A cluster for the reader: complete as data, and a tree as text."""

from __future__ import annotations

import json

import pytest

from collsim.core.cluster import Cluster
from collsim.errors import InputError
from collsim.report.cluster_tree import cluster_text
from collsim.report.cluster_view import cluster_data
from collsim.topology import degrade, fail

TWO_NODES = """\
dgx-a100: 2 nodes of 2 GPUs on a switch, one NIC per GPU on rails, 4 ranks, sharing fifo
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
├─ fitted profiles, --profile NAME
│  └─ a100-nvswitch-8: 2, 4, 8 ranks of 1 node
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
    assert head == (
        "ideal: ideal one-port network, 2 ranks, sharing fifo, gamma 0.002ns/B, launch 5us"
    )
    head = cluster_text(cluster_data(Cluster.load("dgx-h100", ranks=1))).splitlines()[0]
    assert head.endswith(
        ", 1 rank, sharing fifo, multicast in the switch at 0.85 of the bandwidth"
    )


def test_faults_are_listed_with_what_is_left() -> None:
    """And the cut between nodes says what its weakest node still has: 7 NICs of 8, less 3/4."""
    healthy = Cluster.load("dgx-h100", nodes=2)
    hurt = fail(degrade(healthy, "nic[2].up", 0.25), "nic[3]")
    data = cluster_data(hurt)
    assert data["faults"] == [
        {"name": "nic[2].up", "left": 0.25},
        {"name": "nic[3].up", "left": 0},
        {"name": "nic[3].down", "left": 0},
    ]
    node = data["cuts"][-1]
    assert (node["out"], node["least_out"], node["least_in"]) == (400, 312.5, 350)
    text = cluster_text(data)
    assert "nic[2].up: 0.25 of its bandwidth is left" in text
    assert "nic[3].down: failed" in text
    assert "from 312.5GB/s out and 350GB/s in to 400GB/s out and 400GB/s in" in text
    assert cluster_data(healthy)["faults"] == []
    assert "least_out" not in cluster_data(healthy)["cuts"][-1]


def test_links_without_limit_have_no_bandwidth() -> None:
    """What a GPU shares a NIC over is never in the way."""
    lines = cluster_text(cluster_data(Cluster.load("dgx1-v100", nodes=2))).splitlines()
    (line,) = [line for line in lines if "host:" in line]
    assert line.endswith("host: 32 links without limit")


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
