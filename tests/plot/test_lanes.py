"""What a picture of a timeline shows."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from collsim.algorithms import build
from collsim.core.cluster import Cluster
from collsim.core.timeline import Timeline
from collsim.engine.simulate import simulate
from collsim.errors import InputError
from collsim.plot.lanes import MOST_BARS, Bars, Cells, timeline_lanes


def run(kind: str, name: str, cluster: Cluster, nbytes: float = 1000, **how: Any) -> Timeline:
    """Simulate an algorithm on a cluster."""
    multicast = cluster.setting.multicast
    built = build(kind, name, cluster.ranks, node=cluster.node, multicast=multicast, **how)
    return simulate(built, cluster, nbytes)


def bars(timeline: Timeline, cluster: Cluster, **how: Any) -> Bars:
    """Return the bars of a timeline that is small enough for them."""
    found = timeline_lanes(timeline, cluster, **how)
    assert isinstance(found, Bars)
    return found


FOUR = Cluster.ideal(4, 1.0, 1.0)


def test_a_bar_is_a_message_in_its_senders_lane() -> None:
    """MST on four: 0 to 2, then 0 to 1 and 2 to 3; 1 byte takes 1 + 1 seconds."""
    found = bars(run("broadcast", "mst", FOUR, 1), FOUR)
    assert found.names == ("0", "1", "2", "3")
    rows = zip(found.lane, found.peer, found.begin, found.end, found.value, strict=True)
    assert [(int(a), b, float(c), float(d), int(e)) for a, b, c, d, e in rows] == [
        (0, "→2", 0.0, 2.0, 1), (0, "→1", 2.0, 4.0, 2), (2, "→3", 2.0, 4.0, 2),
    ]  # fmt: skip


def test_ports_show_both_ends() -> None:
    """Every message twice: out of its sender and into its receiver."""
    found = bars(run("broadcast", "mst", FOUR, 1), FOUR, per="port")
    assert found.names[:3] == ("0 out", "0 in", "1 out")
    seen = [(found.names[i], text) for i, text in zip(found.lane, found.peer, strict=True)]
    assert sorted(seen) == [
        ("0 out", "→1"), ("0 out", "→2"), ("1 in", "←0"), ("2 in", "←0"), ("2 out", "→3"),
        ("3 in", "←2"),
    ]  # fmt: skip


def test_chunks_wander_around_the_ring() -> None:
    """Every chunk of a ring all_gather is sent by each rank but the last, once."""
    found = bars(run("all_gather", "ring", FOUR, 4), FOUR, by="chunk")
    for chunk in range(4):
        lanes = found.lane[found.value == chunk].tolist()
        assert len(lanes) == len(set(lanes)) == 3


def test_messages_at_once_lie_in_rows_of_their_lane() -> None:
    """No two bars of a row overlap, and a lane has no more rows than messages at once."""
    cluster = Cluster.load("pcie-8")
    found = bars(run("all_to_all", "direct", cluster, 2**20), cluster)
    assert found.rows.tolist() == [7] * 8
    for lane in range(8):
        for row in range(7):
            mine = np.flatnonzero((found.lane == lane) & (found.row == row))
            order = mine[np.argsort(found.begin[mine])]
            assert all(found.end[a] <= found.begin[b] for a, b in pairwise(order))


def test_messages_one_after_another_share_a_row() -> None:
    """Also where sums of floats put the next one a little before the end of the last."""
    cluster = Cluster.ideal(7, "3.3us", "7GB/s")
    found = bars(run("all_reduce", "ring", cluster, 12345), cluster)
    assert found.rows.tolist() == [1] * 7


def test_switches_that_send_have_lanes() -> None:
    """Below the ranks, on the node of their number."""
    cluster = Cluster.load("dgx-h100")
    found = bars(run("all_reduce", "nvls", cluster, 2**20), cluster)
    assert found.names == (*map(str, range(8)), "switch 0")
    assert "→switch 0" in found.peer
    assert (found.lane == 8).sum() == found.lane.size / 2


def test_lanes_have_the_nodes_of_their_ranks() -> None:
    """For the shades behind them."""
    cluster = Cluster.load("gh200-slingshot", nodes=2)
    found = bars(run("all_gather", "ring", cluster, 2**20), cluster, per="port")
    assert found.node.tolist() == [0] * 8 + [1] * 8


def test_up_to_64_ranks_are_drawn_one_by_one() -> None:
    """One more makes groups."""
    for ranks, kind in ((64, Bars), (65, Cells)):
        cluster = Cluster.ideal(ranks, "1us", "1GB/s")
        found = timeline_lanes(run("broadcast", "mst", cluster), cluster)
        assert isinstance(found, kind)


def test_too_many_messages_make_groups() -> None:
    """All ranks are sending all the time in a ring."""
    cluster = Cluster.ideal(64, "1us", "1GB/s")
    timeline = run("all_reduce", "ring", cluster)
    assert isinstance(timeline_lanes(timeline, cluster), Bars)
    found = timeline_lanes(timeline, cluster, per="port")
    assert 2 * timeline.operations > MOST_BARS
    assert isinstance(found, Cells)
    assert found.names[:2] == ("ranks 0-1", "ranks 2-3")
    assert found.share == pytest.approx(np.ones((32, 240)))


def test_cells_hold_the_time_in_which_ranks_send() -> None:
    """MST on 128: over all cells, as long as all messages together."""
    cluster = Cluster.ideal(128, "1us", "1GB/s")
    timeline = run("broadcast", "mst", cluster)
    found = timeline_lanes(timeline, cluster)
    assert isinstance(found, Cells)
    step = found.edges[1] - found.edges[0]
    seconds = found.share.sum() * step * 4
    assert seconds == pytest.approx((timeline.finish - timeline.start).sum())
    assert found.names == tuple(f"ranks {k}-{k + 3}" for k in range(0, 128, 4))
    # In the last round every second rank sends.
    assert found.share[:, -1] == pytest.approx(0.5)


def test_time_in_which_a_rank_sends_twice_counts_once() -> None:
    """A share is at most 1, however many messages are under way."""
    cluster = Cluster.load("dgx-h100", nodes=9)
    found = timeline_lanes(run("all_to_all", "direct", cluster, 2**20), cluster)
    assert isinstance(found, Cells)
    assert found.share.max() == pytest.approx(1.0)


def test_groups_are_nodes_where_there_are_several() -> None:
    """More than 64 of them are put together."""
    cluster = Cluster.load("dgx-h100", nodes=16)
    found = timeline_lanes(run("broadcast", "mst", cluster), cluster)
    assert isinstance(found, Cells)
    assert found.names == tuple(f"node {k}" for k in range(16))
    assert (found.group == cluster.node).all()
    many = Cluster.load("gh200-slingshot", nodes=65)
    found = timeline_lanes(run("broadcast", "mst", many), many)
    assert isinstance(found, Cells)
    assert found.names[0] == "nodes 0-2"
    assert found.names[-1] == "nodes 63-64"
    assert np.bincount(found.group).tolist() == [12] * 21 + [8]


def test_switches_have_a_lane_below_the_groups() -> None:
    """72 ranks on one switch, 10 nodes with one each."""
    for cluster, name, groups in (
        (Cluster.load("gb200-nvl72"), "switch 0", 24),
        (Cluster.load("dgx-h100", nodes=10), "switches 0-9", 10),
    ):
        kind = "nvls" if cluster.nodes == 1 else "nvls_tree"
        found = timeline_lanes(run("all_reduce", kind, cluster, 2**24), cluster)
        assert isinstance(found, Cells)
        assert (len(found.names), found.names[-1]) == (groups + 1, name)
        assert found.group.size == cluster.ranks + cluster.nodes
        assert found.share[-1].max() > 0.9


def test_wrong_questions_are_told() -> None:
    """In one line."""
    timeline = run("broadcast", "mst", FOUR)
    with pytest.raises(InputError, match="by: got 'size', expected round or chunk"):
        timeline_lanes(timeline, FOUR, by="size")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="per: got 'node', expected rank or port"):
        timeline_lanes(timeline, FOUR, per="node")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="timeline: 4 ranks, but the cluster has 5"):
        timeline_lanes(timeline, Cluster.ideal(5, "1us", "1GB/s"))
    alone = Cluster.ideal(1, "1us", "1GB/s")
    with pytest.raises(InputError, match="no message that takes time"):
        timeline_lanes(run("broadcast", "mst", alone), alone)
