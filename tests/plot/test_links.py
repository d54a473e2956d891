"""The heat map of links."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from collsim.algorithms import build
from collsim.core.cluster import Cluster
from collsim.core.timeline import Timeline
from collsim.engine.simulate import simulate
from collsim.engine.usage import usage
from collsim.errors import InputError
from collsim.plot.link_use import link_map
from collsim.plot.links import plot_links

FOUR = Cluster.ideal(4, 1.0, 2.0)
NODES = Cluster.load("gh200-slingshot", nodes=2)


def run(kind: str, name: str, cluster: Cluster, nbytes: float = 2**20) -> Timeline:
    """Simulate an algorithm on a cluster."""
    return simulate(build(kind, name, cluster.ranks, node=cluster.node), cluster, nbytes)


def test_use_is_what_the_engine_says() -> None:
    """Bytes, busy seconds and capacities, link by link."""
    timeline = run("all_reduce", "ring", NODES)
    found, used = link_map(timeline, NODES), usage(timeline, NODES)
    for i, members in enumerate(found.members):
        for name in members:
            k = used.names.index(name)
            assert found.nbytes[i] == pytest.approx(used.nbytes[k])
            assert found.busy[i] == pytest.approx(used.busy[k])
            assert found.capacity[i] == used.capacity[k]
    shown = sum(map(len, found.members))
    assert shown + found.idle == np.isfinite(used.capacity).sum()
    assert found.left_out == 0


def test_cells_carry_all_bytes() -> None:
    """Shares of capacity, times cells, are the bytes; no cell is over full."""
    for sharing in ("fifo", "fair"):
        cluster = Cluster.load("pcie-8", changes={"sharing": sharing})
        found = link_map(run("all_to_all", "direct", cluster), cluster)
        step = found.edges[1] - found.edges[0]
        carried = found.share.sum(axis=1) * step * found.capacity
        assert carried == pytest.approx(found.nbytes, rel=1e-6)
        assert found.share.max() <= 1.0
        assert found.use == pytest.approx(found.nbytes / found.capacity / found.edges[-1])


def test_ports_of_an_mst_broadcast() -> None:
    """4 bytes at 2 bytes/s: rank 0 sends twice, in 1-3 s and 4-6 s of 6."""
    found = link_map(run("broadcast", "mst", FOUR, 4), FOUR)
    assert found.names == ("egress[0]", "egress[2]", "ingress[1]", "ingress[2]")
    assert found.members[2] == ("ingress[1]", "ingress[3]")
    times = (found.edges[:-1] + found.edges[1:]) / 2
    full = ((times > 1) & (times < 3)) | ((times > 4) & (times < 6))
    assert found.share[0] == pytest.approx(full.astype(float), abs=1e-9)
    assert found.use == pytest.approx([4 / 6, 2 / 6, 2 / 6, 2 / 6])
    # egress[1], egress[3] and ingress[0].
    assert found.idle == 3


def test_the_most_used_come_first_and_the_rest_is_counted() -> None:
    """Of six rows two are kept."""
    timeline = run("all_reduce", "swing", NODES)
    whole, few = link_map(timeline, NODES), link_map(timeline, NODES, most=2)
    assert (np.diff(whole.use) <= 1e-9).all()
    assert few.names == whole.names[:2]
    assert few.left_out == sum(map(len, whole.members[2:])) > 0


def test_svg_names_links_and_their_numbers(tmp_path: Path, texts: Any) -> None:
    """Name, bandwidth, bytes and use of each row; what is not there is counted."""
    plot_links(run("broadcast", "mst", FOUR, 4), FOUR, tmp_path / "l.svg", algorithm="mst")
    shown = texts(tmp_path / "l.svg")
    assert "broadcast of 4 B on 4 ranks of ideal: mst, use of links" in shown
    assert {"egress[0]", "ingress[1] and 1 alike", "2 B/s", "8 B", "67%"} <= set(shown)
    assert "6 s, 3 carry nothing" in shown
    assert {"time (s)", "use of the bandwidth, mean of each moment"} <= set(shown)


def test_darker_is_more_in_grey_too() -> None:
    """Shades fall from empty to full."""
    (image,) = plot_links(run("broadcast", "mst", FOUR, 4), FOUR).axes[0].images
    assert image.get_clim() == (0.0, 1.0)
    lightness = image.cmap(np.linspace(0, 1, 20))[:, :3] @ (0.3, 0.59, 0.11)
    assert (np.diff(lightness) < 0).all()


@pytest.mark.parametrize("ranks", [2, 8, 16, 64, 256])
def test_nothing_lies_on_another(ranks: int, apart: Any) -> None:
    """With two rows or forty."""
    cluster = Cluster.ideal(ranks, "10us", "1GB/s")
    assert apart(plot_links(run("gather", "mst", cluster), cluster, algorithm="mst")) > 15


def test_nothing_to_draw_is_an_error() -> None:
    """One rank, or no bytes."""
    for cluster, nbytes in ((Cluster.ideal(1, "1us", "1GB/s"), 8), (FOUR, 0)):
        with pytest.raises(InputError, match="carries any bytes, so there is nothing to draw"):
            plot_links(run("broadcast", "mst", cluster, nbytes), cluster)
