"""Messages inside nodes and between them: what each costs, and the cluster that they make."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tomli_w

from collsim.algorithms import build
from collsim.calibrate.point_to_point.against import compare
from collsim.calibrate.point_to_point.nodes import Nodes, fit_nodes, of_rows, ranks_per_node
from collsim.calibrate.point_to_point.nodes_cluster import (
    cluster_of,
    nodes_cluster,
    nodes_document,
)
from collsim.config.cluster import load
from collsim.engine.simulate import simulate
from collsim.errors import InputError
from collsim.measure.patterns import pairs_of

SIZES = tuple(4**k for k in range(2, 13))
NEAR, FAR = (2e-6, 1e-11), (9e-6, 1e-10)


def rows(
    local: int = 4,
    nics: int = 4,
    nodes: int = 2,
    cores: int | None = None,
    fills: float = 1.0,
) -> list[dict[str, Any]]:
    """Return rows of nodes that are just like the model."""
    world = nodes * local
    made: list[dict[str, Any]] = []
    for pattern in ("ping_pong", "pairs", "exchange", "shift"):
        for pairs in pairs_of(pattern, world, local, every=False):
            crossing = [(a, b) for a, b in pairs if a // local != b // local]
            alpha, beta = FAR if crossing else NEAR
            both = 2 if pattern == "exchange" and not crossing else 1
            leaving = max(
                sum(a // local == node for a, _ in (crossing or pairs)) for node in range(nodes)
            )
            lanes = nics if crossing else cores or world
            waits = -(-leaving * both // lanes) - 1
            for n in SIZES:
                seconds = alpha + n * beta + waits * (alpha / 2 + n * beta * fills)
                made.append(
                    {"pattern": pattern, "at_once": len(pairs), "size": n, "ranks": world,
                     "seconds": seconds, "pairs": [list(p) for p in pairs], "world": world,
                     "ranks_per_node": local, "nodes": nodes}
                )  # fmt: skip
    return made


@pytest.mark.parametrize("nics", [1, 2, 4])
def test_nics_are_told_by_how_messages_wait(nics: int) -> None:
    """Four ranks of a node send at once; on fewer NICs some wait."""
    found = fit_nodes(rows(nics=nics))
    assert (found.nodes, found.ranks_per_node, found.nics) == (2, 4, nics)
    assert found.inside is not None
    inside, between = found.inside, found.between
    assert (inside.alpha.value, inside.beta.value) == pytest.approx(NEAR)
    assert (between.alpha.value, between.beta.value) == pytest.approx(FAR)
    if nics < 4:
        assert between.busy.value == pytest.approx(FAR[0] / 2, rel=1e-3)
    assert found.both_ways == pytest.approx(1.0)
    assert found.regular


def test_cores_and_nics_that_one_rank_does_not_fill_are_told() -> None:
    """Then a node on a switch tells too little."""
    assert not fit_nodes(rows(cores=1)).regular
    slow = fit_nodes(rows(nics=1, fills=0.5))
    assert slow.between.shared.value == pytest.approx(FAR[1] / 2, rel=1e-3)
    assert not slow.regular


CASES = {
    "regular": rows(nics=2),
    "cores": rows(cores=1, nics=2),
    "unfilled": rows(nics=1, fills=0.5),
    "one rank each": rows(local=1, nics=1, nodes=3),
}


@pytest.mark.parametrize("case", CASES)
def test_the_file_is_the_cluster(case: str, tmp_path: Path) -> None:
    """Read back it takes as long at everything, and messages take what was measured."""
    found, nodes = of_rows(CASES[case])
    assert nodes is not None
    ranks = nodes.nodes * nodes.ranks_per_node
    own = cluster_of(found, nodes, ranks, "mine")
    path = tmp_path / "mine.toml"
    path.write_text(tomli_w.dumps(nodes_document(nodes, "mine")))
    read = load(path)
    assert read.nodes == own.nodes == nodes.nodes
    for name in ("ring", "mst"):
        schedule = build("all_reduce", name, ranks)
        for n in (64, 2**20):
            ours, theirs = (simulate(schedule, c, n).makespan for c in (own, read))
            assert ours == pytest.approx(theirs, rel=1e-8)
    pairs = {0: NEAR} if nodes.ranks_per_node > 1 else {}
    for index, (alpha, beta) in {**pairs, 1: FAR}.items():
        peer = nodes.ranks_per_node if index else 1
        route = own.route(0, peer)
        assert own.links.alpha[list(route)].sum() == pytest.approx(alpha)
        assert own.links.beta[list(route)].max() == pytest.approx(beta, rel=1e-3)


def test_messages_that_meet_at_a_nic_take_what_was_measured() -> None:
    """All four ranks of a node send to the other node at once: an all_to_all's round."""
    for case in ("regular", "cores"):
        _, nodes = of_rows(CASES[case])
        assert nodes is not None
        cluster = nodes_cluster(nodes)
        shared = [
            set(cluster.route(a, a + 4)) & set(cluster.route(b, b + 4))
            for a, b in ((0, 1), (0, 2), (0, 3))
        ]
        assert any(shared)


def test_schedules_are_compared_on_their_nodes() -> None:
    """Algorithms that know of nodes are built for them."""
    _, nodes = of_rows(CASES["regular"])
    assert nodes is not None
    cluster = nodes_cluster(nodes)
    row = {"runs": "schedule", "collective": "all_reduce", "algorithm": "hierarchical",
           "ranks": 8, "size": 4096, "seconds": 1e-4}  # fmt: skip
    (pair,) = compare([row], cluster)
    expected = build("all_reduce", "hierarchical", 8, node=[0] * 4 + [1] * 4)
    assert pair.predicted == simulate(expected, cluster, 4096).makespan


def test_what_rows_do_not_tell_is_an_error() -> None:
    """No message between nodes; another number of ranks per node; none at all."""
    near = [row for row in rows() if row["pairs"] == [[0, 1]]]
    with pytest.raises(InputError, match="no ping_pong between nodes"):
        fit_nodes(near)
    with pytest.raises(InputError, match=r"ranks per node: got \[2, 4\]"):
        ranks_per_node([*rows(local=2), *rows()])
    with pytest.raises(InputError, match="no row tells how many ranks a node has"):
        ranks_per_node([{"pattern": "ping_pong", "ranks": 2}])


def test_one_machine_has_no_nodes() -> None:
    """Its rows are fitted as before."""
    alone = [{**row, "nodes": 1} for row in rows() if row["pairs"] == [[0, 1]]]
    found, nodes = of_rows(alone)
    assert nodes is None
    assert found.alpha.value == pytest.approx(NEAR[0])


def test_both_ways_are_compared_with_one() -> None:
    """At the largest size that both have."""
    made = rows()
    for row in made:
        if row["pattern"] == "exchange" and row["pairs"] == [[0, 4]]:
            row["seconds"] *= 1.9
    assert isinstance(fit_nodes(made), Nodes)
    assert fit_nodes(made).both_ways == pytest.approx(1.9)
