"""What pictures say of jumps, of what is too much for them, and of what can't be drawn."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

import collsim
from collsim.choose.search import Jump
from collsim.errors import InputError
from collsim.plot.marks import mark_swaps

IDEAL = collsim.Cluster.ideal(8, alpha="10us", bandwidth="900GB/s")


@pytest.fixture
def swapped() -> Any:
    """Return the one swap of mst and ring, and an axes with room for it."""
    axes = Figure().subplots()
    axes.set(xlim=(1, 2**40), ylim=(1e-6, 10), xscale="log", yscale="log")
    return collsim.crossover("all_reduce", "mst", "ring", IDEAL), axes


def words(figure: Figure) -> list[str]:
    """Return all text of a picture."""
    return [text.get_text() for text in figure.findobj(Text)]


def test_a_jump_is_a_line_across_it(swapped: Any) -> None:
    """From the least of the four times at it to the largest."""
    found, axes = swapped
    (swap,) = found.rows
    jump = Jump(a_below_us=100, a_above_us=250, b_below_us=200, b_above_us=150)
    found = replace(found, rows=(replace(swap, jump=jump),))
    mark_swaps(axes, found, {"mst": "A", "ring": "B"})
    (across,) = [line for line in axes.lines if line.get_linewidth() == 1.4]
    assert list(across.get_ydata()) == pytest.approx([100e-6, 250e-6])
    assert any("(a jump)" in text.get_text() for text in axes.texts)


def test_many_swaps_are_listed_in_part(swapped: Any) -> None:
    """Six, and how many more; each has its number in the picture."""
    found, axes = swapped
    (swap,) = found.rows
    rows = tuple(replace(swap, size=10.0 ** (k + 2)) for k in range(8))
    mark_swaps(axes, replace(found, rows=rows), {"mst": "A", "ring": "B"})
    texts = [text.get_text() for text in axes.texts]
    assert {str(k) for k in range(1, 9)} <= set(texts)
    assert texts[-1].endswith("... and 2 more")


def test_nothing_to_draw_is_said() -> None:
    """The reason of every algorithm that was named, or that none was."""
    clusters = [collsim.Cluster.ideal(p, "1us", "1GB/s") for p in (3, 5)]
    with pytest.raises(InputError, match=r"all_reduce/nvls: .*; all_reduce/nvls_tree: "):
        collsim.plot.time_breakdown("all_reduce", IDEAL, 8, ["nvls", "nvls_tree"])
    with pytest.raises(InputError, match="algorithms: none given"):
        collsim.plot.time_breakdown("all_reduce", IDEAL, 8, [])
    with pytest.raises(InputError, match="algorithms: none given"):
        collsim.plot.scaling_curves("all_reduce", clusters, 8, [])
    found = collsim.plot.scaling_curves("broadcast", clusters, 8, ["mst"])
    with pytest.raises(InputError, match="value: got 'speed', expected time or busbw"):
        collsim.plot.plot_scaling(found, value="speed")  # type: ignore[arg-type]


def test_links_beyond_the_rows_are_counted() -> None:
    """The busiest are drawn; those that carry nothing are told apart."""
    cluster = collsim.Cluster.load("dgx-h100", nodes=2)
    timeline = collsim.simulate(collsim.build("broadcast", "mst", 16), cluster, 2**20)
    figure = collsim.plot.plot_links(timeline, cluster, most=2)
    said = " ".join(
        text.get_text() for text in figure.findobj(lambda a: hasattr(a, "get_text"))
    )
    assert "more, of less use, are not drawn" in said
    with pytest.raises(InputError, match="got 0 links at most"):
        collsim.plot.link_map(timeline, cluster, most=0)


def test_launch_of_many_ranks_is_one_area() -> None:
    """A run of more ranks than lanes has cells, and its launch is theirs together."""
    cluster = collsim.Cluster.ideal(80, "1us", "1GB/s", launch="20us")
    timeline = collsim.simulate(collsim.build("broadcast", "mst", 80), cluster, 2**20)
    assert "launch" in words(collsim.plot.plot_timeline(timeline, cluster))
    none = replace(cluster, launch=0.0)
    timeline = collsim.simulate(timeline.schedule, none, 2**20)
    assert "launch" not in words(collsim.plot.plot_timeline(timeline, none))


def test_measured_picture_is_saved(tmp_path: Path) -> None:
    """Where it is asked to be."""
    from collsim.core.measurements_file import read_rows

    rows = read_rows(Path(__file__).resolve().parents[2] / "examples" / "gloo_4_ranks.jsonl")
    collsim.plot.plot_measured("all_reduce", "mst", "ring", rows, tmp_path / "m.svg")
    assert (tmp_path / "m.svg").read_bytes().startswith(b"<?xml")
