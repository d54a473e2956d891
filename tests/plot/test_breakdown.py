"""The picture of where time goes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from collsim.core.cluster import Cluster
from collsim.errors import InputError
from collsim.plot.breakdown import PARTS, Breakdowns, plot_breakdown, time_breakdown

CLUSTER = Cluster.ideal(8, "10us", "1GB/s", gamma=5e-10, launch="20us")


@pytest.fixture(scope="module")
def found() -> Breakdowns:
    """Return an all_reduce of 100 kB, of three algorithms."""
    return time_breakdown("all_reduce", CLUSTER, 100_000, ["mst", "ring", "linear"])


def test_parts_are_those_of_the_prediction(found: Breakdowns) -> None:
    """The ring: 20 us, 14 alpha, 7/4 n beta and 7/8 n gamma; they sum to the time."""
    ring = [row.algorithm for row in found.rows].index("ring")
    assert found.parts(ring) == pytest.approx(
        {"launch": 20, "alpha": 140, "beta": 175, "gamma": 43.75}
    )
    for i, row in enumerate(found.rows):
        assert sum(found.parts(i).values()) == pytest.approx(row.time_us)


def test_the_fastest_is_on_top(found: Breakdowns) -> None:
    """And the axis begins with it."""
    times = [row.time_us for row in found.rows]
    assert times == sorted(times)
    low, high = plot_breakdown(found).axes[0].get_ylim()
    assert low > high


def test_bars_are_stacked_parts(found: Breakdowns) -> None:
    """Each begins where the last one ended, and the last ends at the time."""
    axes = plot_breakdown(found).axes[0]
    for y, row in enumerate(found.rows):
        mine = [p for p in axes.patches if p.get_y() == pytest.approx(y - 0.36)]  # type: ignore[attr-defined]
        assert len(mine) == len(found.parts(y))
        end = 0.0
        for patch in mine:
            assert patch.get_x() == pytest.approx(end)  # type: ignore[attr-defined]
            end += patch.get_width()  # type: ignore[attr-defined]
        assert end == pytest.approx(row.time_us * 1e-6)


def test_parts_differ_in_more_than_colour(found: Breakdowns) -> None:
    """In hatch, or in how light they are."""
    axes = plot_breakdown(found).axes[0]
    looks = set()
    for patch in axes.patches[: len(found.parts(0))]:
        red, green, blue, _ = patch.get_facecolor()
        looks.add((patch.get_hatch(), round(0.3 * red + 0.59 * green + 0.11 * blue, 1)))
    assert len(looks) == len(found.parts(0)) == len(PARTS) - 1


def test_svg_names_algorithms_parts_and_the_bound(
    found: Breakdowns, tmp_path: Path, texts: Any
) -> None:
    """With units, times and efficiencies."""
    plot_breakdown(found, tmp_path / "breakdown.svg")
    shown = texts(tmp_path / "breakdown.svg")
    assert "all_reduce of 97.66 KiB on 8 ranks of ideal: where the time goes" in shown
    assert {"mst", "ring", "linear", "time (ms)"} <= set(shown)
    assert {"launch, paid once", "α, start-ups", "β, bytes", "γ, reductions"} <= set(shown)
    assert "lower bound, 195 µs" in shown
    assert "378.8 µs, efficiency 51%" in shown


def test_only_the_fastest_of_all_are_kept(apart: Any) -> None:
    """The rest is named with its factor."""
    found = time_breakdown("all_reduce", CLUSTER, 1000, most=3)
    assert len(found.rows) == 3
    assert "linear" in found.left_out
    assert " times as long as " in found.left_out["linear"]
    assert apart(plot_breakdown(found)) > 8


def test_waiting_is_drawn(texts: Any, tmp_path: Path, apart: Any) -> None:
    """Where links are shared."""
    found = time_breakdown("all_gather", Cluster.load("pcie-8"), "4MiB")
    figure = plot_breakdown(found, tmp_path / "x.svg")
    assert "waiting for others" in texts(tmp_path / "x.svg")
    assert apart(figure) > 20


def test_no_time_is_nothing_to_draw() -> None:
    """One rank."""
    with pytest.raises(InputError, match=r"gather on one takes no time"):
        plot_breakdown(
            time_breakdown("gather", Cluster.ideal(1, "1us", "1GB/s", name="one"), 8)
        )


def test_what_cannot_run_is_left_out_or_refused() -> None:
    """Beside one that can, or alone."""
    found = time_breakdown("all_reduce", CLUSTER, 8, ["ring", "hierarchical"])
    assert "one node" in found.left_out["hierarchical"]
    with pytest.raises(InputError, match="one node"):
        time_breakdown("all_reduce", CLUSTER, 8, ["hierarchical"])


def test_long_names_take_no_room_from_bars(apart: Any) -> None:
    """The picture is wider, and what stands beside the longest bar is in it."""
    cluster = Cluster.load("dgx-h100", nodes=2)
    names = ["hierarchical:inside=bruck,across=recursive_doubling", "reduce_broadcast"]
    figure = plot_breakdown(time_breakdown("all_reduce", cluster, "64MiB", names))
    assert apart(figure) > 6
    axes = figure.axes[0]
    assert axes.get_position().width * figure.get_figwidth() > 5.5
    short = plot_breakdown(time_breakdown("all_reduce", cluster, "64MiB", ["ring", "mst"]))
    assert short.get_figwidth() == 9


def test_what_is_far_slower_is_left_out_and_named() -> None:
    """As 24 bars of the fastest would make that one a line; not where it is asked for."""
    cluster = Cluster.ideal(64, "10us", "900GB/s")
    found = time_breakdown("all_gather", cluster, "4MiB")
    assert found.left_out["linear"] == "24.1 times as long as bruck"
    assert max(row.time_us for row in found.rows) < 20 * found.rows[0].time_us
    assert len(time_breakdown("all_gather", cluster, "4MiB", ["bruck", "linear"]).rows) == 2


def test_a_small_efficiency_is_not_none(tmp_path: Path, texts: Any) -> None:
    """A thousand ranks in turn: 0.5 % of the bound."""
    cluster = Cluster.ideal(1024, "10us", "900GB/s")
    found = time_breakdown("all_gather", cluster, 1024, ["linear"])
    assert found.rows[0].efficiency == pytest.approx(0.005, rel=0.1)
    plot_breakdown(found, tmp_path / "x.svg")
    assert any(text.endswith("efficiency 0.5%") for text in texts(tmp_path / "x.svg"))
