"""The picture of a timeline."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.image import AxesImage

from collsim.algorithms import build
from collsim.core.cluster import Cluster
from collsim.core.timeline import Timeline
from collsim.engine.simulate import simulate
from collsim.plot.timeline import plot_timeline
from collsim.topology import delay

EIGHT = Cluster.ideal(8, "10us", "1GB/s")


def run(kind: str, name: str, cluster: Cluster, nbytes: float = 2**20, **how: Any) -> Timeline:
    """Simulate an algorithm on a cluster."""
    multicast = cluster.setting.multicast
    built = build(kind, name, cluster.ranks, node=cluster.node, multicast=multicast, **how)
    return simulate(built, cluster, nbytes)


def polygons(figure: Any) -> list[PolyCollection]:
    """Return all groups of bars: the critical path is the last."""
    return [one for one in figure.axes[0].collections if isinstance(one, PolyCollection)]


def test_every_message_is_a_bar() -> None:
    """A group for each of the six rounds of MST, with as many bars as it has messages."""
    figure = plot_timeline(run("all_reduce", "mst", EIGHT), EIGHT)
    *rounds, path = polygons(figure)
    assert [len(one.get_paths()) for one in rounds] == [4, 2, 1, 1, 2, 4]
    assert len(path.get_paths()) == 6


def test_bars_have_the_times_of_messages() -> None:
    """Their corners lie at start and finish."""
    timeline = run("broadcast", "mst", EIGHT)
    *rounds, _ = polygons(plot_timeline(timeline, EIGHT))
    drawn = sorted(
        (float(path.vertices[:, 0].min()), float(path.vertices[:, 0].max()))
        for one in rounds
        for path in one.get_paths()
    )
    times = sorted(zip(timeline.start.tolist(), timeline.finish.tolist(), strict=True))
    assert np.array(drawn) == pytest.approx(np.array(times))


def test_rounds_differ_in_more_than_colour() -> None:
    """In hatches, up to eight; more are shades from light to dark."""
    *rounds, _ = polygons(plot_timeline(run("all_reduce", "mst", EIGHT), EIGHT))
    assert len({one.get_hatch() for one in rounds}) == 6
    figure = plot_timeline(run("all_reduce", "ring", EIGHT), EIGHT)
    shades, _ = polygons(figure)
    lightness = shades.to_rgba(np.arange(1, 15))[:, :3] @ (0.3, 0.59, 0.11)
    assert (np.diff(lightness) < 0).all()
    assert figure.axes[1].get_ylabel() == "round"


def test_svg_says_what_it_is(tmp_path: Path, texts: Any) -> None:
    """Collective, size, cluster, algorithm; the parts of the time; who sends to whom."""
    timeline = run("all_reduce", "mst", EIGHT)
    plot_timeline(timeline, EIGHT, tmp_path / "t.svg", algorithm="mst")
    shown = texts(tmp_path / "t.svg")
    assert "all_reduce of 1 MiB on 8 ranks of ideal: mst" in shown
    assert (
        "6.351 ms = α 60 µs + β 6.291 ms along the critical path; 6 rounds, 14 messages"
        in shown
    )
    assert {"time (ms)", "rank, sending", "critical path", "round 1", "round 6"} <= set(shown)
    assert [text for text in shown if text.startswith("→")].count("→0") == 3


def test_lanes_are_named(tmp_path: Path) -> None:
    """Ranks, or ports."""
    timeline = run("broadcast", "mst", EIGHT)
    for per, names in (
        ("rank", [str(rank) for rank in range(8)]),
        ("port", [f"{rank} {way}" for rank in range(8) for way in ("out", "in")]),
    ):
        axes = plot_timeline(timeline, EIGHT, per=per).axes[0]  # type: ignore[arg-type]
        assert [label.get_text() for label in axes.get_yticklabels()] == names


def test_the_critical_path_is_connected() -> None:
    """A line leads from the end of every step to the start of the next."""
    timeline = run("all_reduce", "mst", EIGHT)
    axes = plot_timeline(timeline, EIGHT).axes[0]
    lines = [line.get_xdata() for line in axes.lines]
    steps = timeline.critical_path
    assert lines == [pytest.approx([one.finish, other.start]) for one, other in pairwise(steps)]


def test_late_ranks_and_launches_are_drawn(tmp_path: Path, texts: Any) -> None:
    """A rank launches when it has come."""
    cluster = delay(Cluster.ideal(4, "1us", "1GB/s", launch="20us"), "rank[3]", "50us")
    figure = plot_timeline(run("all_reduce", "mst", cluster), cluster, tmp_path / "t.svg")
    bars = [(p.get_x(), p.get_width()) for p in figure.axes[0].patches]  # type: ignore[attr-defined]
    assert bars.count((0.0, 20e-6)) == 3
    assert (50e-6, 20e-6) in [pytest.approx(bar) for bar in bars]
    assert {"late", "launch"} <= set(texts(tmp_path / "t.svg"))


def test_groups_of_ranks_are_an_image_with_the_path_on_it() -> None:
    """256 ranks in 32 lanes, rounds on top."""
    cluster = Cluster.ideal(256, "10us", "1GB/s")
    timeline = run("broadcast", "mst", cluster)
    figure = plot_timeline(timeline, cluster, algorithm="mst")
    (image,) = [one for one in figure.axes[0].images if isinstance(one, AxesImage)]
    assert np.asarray(image.get_array()).shape == (32, 240)
    path = figure.axes[0].lines[-1]
    assert np.asarray(path.get_xdata())[-1] == pytest.approx(timeline.makespan)
    (above,) = figure.axes[0].child_axes
    assert [label.get_text() for label in above.get_xticklabels()] == list("12345678")


@pytest.mark.parametrize("ranks", [2, 8, 16, 64, 256])
@pytest.mark.parametrize("per", ["rank", "port"])
def test_nothing_lies_on_another(ranks: int, per: Any, apart: Any) -> None:
    """Whatever the number of lanes."""
    cluster = Cluster.ideal(ranks, "10us", "1GB/s")
    timeline = run("broadcast", "mst", cluster)
    assert apart(plot_timeline(timeline, cluster, algorithm="mst", per=per)) > 6


def test_nothing_lies_on_another_on_several_nodes(apart: Any) -> None:
    """Names of nodes are beside the lanes, and beside a scale of shades."""
    cluster = Cluster.load("gh200-slingshot", nodes=4)
    assert apart(plot_timeline(run("all_reduce", "ring", cluster), cluster)) > 20
    assert apart(plot_timeline(run("all_gather", "bruck", cluster), cluster)) > 20


def test_numbers_of_many_rounds_lie_side_by_side(apart: Any) -> None:
    """1,038 rounds, the last ones of four digits: only so many as there is room for."""
    cluster = Cluster.ideal(520, "10us", "1GB/s")
    figure = plot_timeline(run("all_gather", "ring", cluster), cluster)
    assert apart(figure) > 20
    cluster = Cluster.ideal(1200, "10us", "1GB/s")
    assert apart(plot_timeline(run("broadcast", "ring", cluster), cluster)) > 20
