"""Shapes: one file each is enough, and nodes of any shape can be joined and taken apart."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import collsim.topology
from collsim import registry
from collsim.algorithms import build
from collsim.config.cluster import load
from collsim.core.link import LinkClass
from collsim.engine.simulate import simulate
from collsim.topology import Key, NetworkShape, NodeShape, first_ranks
from collsim.topology.ideal import one_port
from collsim.topology.rails import join
from collsim.topology.switch import switch

NEAR = LinkClass("near", alpha=1e-6, bandwidth=4e9)
FAR = LinkClass("far", alpha=5e-6, bandwidth=1e9)

PAIRS = """
from collsim.topology import Key, NodeShape
from collsim.topology.ideal import one_port

def pairs(count, link, name, gamma, launch):
    return one_port(2 * count, link, name, gamma, launch)

SHAPE = NodeShape(build=pairs, keys={"count": Key("count", 3), "link": Key("link")})
"""


@pytest.fixture
def with_pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Put a new file among the shapes; return a cluster file that uses it."""
    (tmp_path / "shapes").mkdir()
    (tmp_path / "shapes" / "pairs.py").write_text(PAIRS)
    home = [*collsim.topology.__path__, str(tmp_path / "shapes")]
    monkeypatch.setattr(collsim.topology, "__path__", home)
    registry.names.cache_clear()
    file = tmp_path / "my.toml"
    file.write_text(
        'schema = "collsim/cluster/1"\nname = "mine"\n'
        '[node]\nshape = "pairs"\nlink = "nvlink4"\n'
    )
    yield file
    registry.names.cache_clear()


def test_a_new_shape_is_one_file(with_pairs: Path) -> None:
    """Its keys are read from cluster files as it declares them, and nothing else changes."""
    assert load(with_pairs).ranks == 6
    with_pairs.write_text(with_pairs.read_text() + "count = 2\n")
    assert load(with_pairs).ranks == 4
    assert load(with_pairs, ranks=3).ranks == 3


@pytest.mark.parametrize("name", registry.names("collsim.topology"))
def test_every_file_is_a_shape(name: str) -> None:
    """It declares whether it is for [node] or for [network]."""
    shape = registry.member("collsim.topology", name, "SHAPE", "shape")
    assert isinstance(shape, NodeShape | NetworkShape)


def test_an_unknown_kind_of_key() -> None:
    """A mistake in a shape's file is found when it is imported."""
    with pytest.raises(ValueError, match="kind: got 'cuont', expected one of count"):
        Key("cuont")


def test_joined_nodes_number_their_links_on() -> None:
    """In node order; those of one direction stay together."""
    names = join(switch(2, NEAR, "x"), 2, FAR).links.names
    assert names[:8] == (
        *("gpu[0].up", "gpu[1].up", "gpu[2].up", "gpu[3].up"),
        *("gpu[0].down", "gpu[1].down", "gpu[2].down", "gpu[3].down"),
    )


def test_joined_nodes_route_as_one_node_does_inside() -> None:
    """The route of a pair of node 1 is that of node 0, moved on."""
    cluster = join(switch(3, NEAR, "x"), 3, FAR)
    inside = [cluster.links.names[i] for i in cluster.route(3, 5)]
    assert inside == ["gpu[3].up", "gpu[5].down"]


def test_the_router_takes_many_pairs_at_once() -> None:
    """Routes of different lengths in one call are those of single calls."""
    cluster = join(switch(4, NEAR, "x"), 3, FAR)
    src, dst = np.divmod(np.arange(144), 12)
    away = src != dst
    ptr, link = cluster.router(src[away], dst[away])
    many = [tuple(link[ptr[i] : ptr[i + 1]].tolist()) for i in range(ptr.size - 1)]
    pairs = zip(src[away].tolist(), dst[away].tolist(), strict=True)
    assert many == [cluster.route(*pair) for pair in pairs]


def test_the_first_ranks_of_a_switch_run_like_a_smaller_switch() -> None:
    """Idle GPUs cost nothing."""
    schedule = build("all_reduce", "ring", 3)
    part = first_ranks(switch(8, NEAR, "x"), 3)
    whole = switch(3, NEAR, "x")
    assert simulate(schedule, part, 900).makespan == simulate(schedule, whole, 900).makespan


def test_the_first_ranks_leave_the_original_alone() -> None:
    """Taking all of them is the cluster itself; cuts keep the groups that are left."""
    cluster = join(switch(4, NEAR, "x"), 2, FAR)
    assert first_ranks(cluster, 8) is cluster
    part = first_ranks(cluster, 5)
    assert [cut.group.tolist() for cut in part.cuts] == [[0, 1, 2, 3, 4], [0, 0, 0, 0, 1]]
    assert cluster.ranks == cluster.node.size == 8
    assert one_port(3, NEAR, "x").ranks == 3
