"""The picture of growth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from collsim.core.cluster import Cluster
from collsim.errors import InputError
from collsim.plot.scaling import Scaling, plot_scaling, scaling_curves

RANKS = (2, 4, 8, 16)
CLUSTERS = [Cluster.ideal(ranks, "10us", "1GB/s") for ranks in RANKS]


@pytest.fixture(scope="module")
def found() -> Scaling:
    """Return an all_reduce of 1 MB, of two algorithms."""
    return scaling_curves("all_reduce", CLUSTERS, "1MB", ["mst", "ring"])


def test_lines_are_the_times(found: Scaling) -> None:
    """2 log P (alpha + n beta), and 2 (P-1) alpha + 2 (P-1)/P n beta; the bound below."""
    axes = plot_scaling(found).axes[0]
    lines = {line.get_label(): np.asarray(line.get_ydata()) for line in axes.lines}
    p, n = np.array(RANKS), 1e6
    assert lines["mst"] == pytest.approx(2 * np.log2(p) * (1e-5 + n * 1e-9))
    assert lines["ring"] == pytest.approx(2 * (p - 1) * 1e-5 + 2 * (p - 1) / p * n * 1e-9)
    assert axes.lines[-1].get_ydata() == pytest.approx(
        np.maximum(np.log2(p) * 1e-5, 2 * (p - 1) / p * n * 1e-9)
    )
    assert axes.lines[0].get_xdata() == pytest.approx(RANKS)


def test_bus_bandwidth_is_that_of_the_rows(found: Scaling) -> None:
    """In GB/s, below its bound."""
    axes = plot_scaling(found, value="busbw").axes[0]
    ring = next(line for line in axes.lines if line.get_label() == "ring")
    assert ring.get_ydata() == pytest.approx([row.busbw for row in found.lines["ring"] if row])
    assert axes.lines[-1].get_ydata() == pytest.approx([1.0] * 4)
    assert axes.get_ylabel() == "bus bandwidth (GB/s)"


def test_lines_differ_in_more_than_colour(found: Scaling) -> None:
    """In dashes and marks."""
    mst, ring = plot_scaling(found).axes[0].lines[:2]
    assert mst.get_marker() != ring.get_marker()
    assert mst.is_dashed() != ring.is_dashed()


def test_svg_names_what_is_drawn(found: Scaling, tmp_path: Path, texts: Any) -> None:
    """Curves at their ends, counts below, units on the left."""
    plot_scaling(found, tmp_path / "scaling.svg")
    shown = texts(tmp_path / "scaling.svg")
    assert "all_reduce of 976.6 KiB on ideal: time by ranks" in shown
    assert {"mst", "ring", "lower bound", "ranks", "2", "4", "8", "16"} <= set(shown)
    assert "1 ms" in shown


def test_an_algorithm_of_one_count_alone_is_named_beside_its_point(apart: Any) -> None:
    """NVLS runs on one node, and hierarchical on several."""
    nodes = [Cluster.load("dgx-h100", nodes=k) for k in (1, 2)]
    found = scaling_curves("all_reduce", nodes, "16MiB", ["nvls", "hierarchical"])
    assert [row is None for row in found.lines["nvls"]] == [False, True]
    assert [row is None for row in found.lines["hierarchical"]] == [True, False]
    figure = plot_scaling(found)
    (name,) = [t for t in figure.axes[0].texts if t.get_text() == "nvls"]
    assert name.xy[0] == 1  # type: ignore[attr-defined]
    apart(figure)


def test_of_all_the_nearest_are_kept_and_the_rest_named() -> None:
    """Each line has its algorithm's best options; what is slow has its factor."""
    found = scaling_curves("all_reduce", CLUSTERS, "1MB", most=3)
    assert len(found.lines) == 3
    assert found.left_out["linear"].startswith("at least ")
    assert found.left_out["linear"].endswith(" times as long as the fastest")
    assert not found.lines.keys() & found.left_out.keys()


def test_one_rank_tells_nothing_of_who_is_near() -> None:
    """All take no time there; and who is as fast as those that are drawn is told so."""
    clusters = [Cluster.ideal(1, "10us", "1GB/s"), *CLUSTERS]
    found = scaling_curves("all_reduce", clusters, "1MB", most=3)
    assert (
        found.lines.keys() == scaling_curves("all_reduce", CLUSTERS, "1MB", most=3).lines.keys()
    )
    few = scaling_curves("all_reduce", CLUSTERS, 0, most=1)
    words = "as fast as the fastest somewhere, but there are 1 others"
    assert words in few.left_out.values()


def test_nothing_lies_on_another(apart: Any) -> None:
    """With all styles in use, in time and in bus bandwidth."""
    found = scaling_curves("all_reduce", CLUSTERS, "1MB")
    assert len(found.lines) == 8
    assert apart(plot_scaling(found)) > 15
    assert apart(plot_scaling(found, value="busbw")) > 15


def test_counts_must_rise() -> None:
    """Two of them at least."""
    with pytest.raises(InputError, match=r"got ranks 4, expected 2 to 64 rising numbers"):
        scaling_curves("gather", [CLUSTERS[1]], 8)
    with pytest.raises(InputError, match=r"got ranks 4, 2, expected"):
        scaling_curves("gather", [CLUSTERS[1], CLUSTERS[0]], 8)
    with pytest.raises(InputError, match=r"got 9 algorithms, expected at most 8"):
        scaling_curves("gather", CLUSTERS, 8, ["mst"] * 9)


def test_nothing_to_draw_is_an_error() -> None:
    """Links without cost."""
    free = [Cluster.ideal(ranks, 0.0, "1GB/s") for ranks in RANKS]
    with pytest.raises(InputError, match="has no time above 0"):
        plot_scaling(scaling_curves("gather", free, 0, ["mst"]))
