"""The map of winners."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from collsim.choose.policy import choose
from collsim.core.cluster import Cluster
from collsim.errors import InputError
from collsim.plot.style import fill
from collsim.plot.winners import Winners, plot_winners, winners_map

RANKS = (2, 3, 4, 8)


@pytest.fixture(scope="module")
def found() -> Winners:
    """Choose a broadcast's algorithm on four ideal networks."""
    clusters = [Cluster.ideal(ranks, "10us", "900GB/s") for ranks in RANKS]
    return winners_map("broadcast", clusters)


def test_each_row_is_what_choose_says(found: Winners) -> None:
    """The same ranges, cluster by cluster."""
    for ranks, policy in zip(RANKS, found.policies, strict=True):
        alone = choose("broadcast", Cluster.ideal(ranks, "10us", "900GB/s"))
        assert policy.rows == alone.rows


def test_areas_are_the_ranges(found: Winners) -> None:
    """A rectangle for each, from its first byte to its last."""
    axes = plot_winners(found).axes[0]
    drawn = [(p.get_x(), p.get_x() + p.get_width(), p.get_y()) for p in axes.patches]  # type: ignore[attr-defined]
    wanted = [
        (row.min_bytes, row.max_bytes + 1, y - 0.42)
        for y, policy in enumerate(found.policies)
        for row in policy.rows
    ]
    assert drawn == [pytest.approx(one) for one in wanted]
    assert axes.get_xlim() == (8, 2**33 + 1)


def test_an_algorithm_looks_the_same_everywhere(found: Winners) -> None:
    """And differs from all others in its hatch, not in colour alone."""
    looks: dict[str, set[tuple[Any, str]]] = {}
    axes = plot_winners(found).axes[0]
    rows = [row for policy in found.policies for row in policy.rows]
    for patch, row in zip(axes.patches, rows, strict=True):
        looks.setdefault(row.algorithm, set()).add((patch.get_facecolor(), patch.get_hatch()))
    assert all(len(one) == 1 for one in looks.values())
    assert len({hatch for one in looks.values() for _, hatch in one}) == len(looks) > 2


def test_svg_names_rows_algorithms_and_cluster(
    found: Winners, tmp_path: Path, texts: Any
) -> None:
    """Rows by ranks, a letter for each algorithm, sizes in binary steps."""
    plot_winners(found, tmp_path / "winners.svg")
    shown = texts(tmp_path / "winners.svg")
    assert "broadcast on ideal: the fastest algorithm" in shown
    assert {f"{ranks} ranks" for ranks in RANKS} <= set(shown)
    assert {f"{'ABCD'[i]}  {name}" for i, name in enumerate(found.algorithms)} <= set(shown)
    assert {"32 B", "1 KiB", "1 GiB", "size n (bytes, binary steps)"} <= set(shown)


def test_rows_name_nodes_where_there_are_several() -> None:
    """With their ranks."""
    nodes = [Cluster.load("gh200-slingshot", nodes=k) for k in (1, 2)]
    found = winners_map("gather", nodes, algorithms=["mst", "ring"])
    assert found.labels == ("1 node, 4 ranks", "2 nodes, 8 ranks")


def test_nothing_lies_on_another(found: Winners, apart: Any) -> None:
    """Neither here nor with the long names of two nodes."""
    assert apart(plot_winners(found)) > 15
    two = [Cluster.load("dgx-h100", nodes=k) for k in (1, 2)]
    assert apart(plot_winners(winners_map("all_reduce", two))) > 20


def test_more_than_there_is_room_for_is_refused() -> None:
    """Or nothing at all."""
    with pytest.raises(InputError, match=r"no cluster, expected 1 to 24$"):
        winners_map("gather", [])
    with pytest.raises(InputError, match=r"more than 24 clusters, expected 1 to 24$"):
        winners_map("gather", (Cluster.ideal(2, "1us", "1GB/s") for _ in range(10**9)))


def test_nobody_wins_on_one_rank(apart: Any) -> None:
    """It has nothing to send; alone it is no picture."""
    one, two = (Cluster.ideal(ranks, "10us", "1GB/s") for ranks in (1, 2))
    found = winners_map("all_gather", [one, two])
    assert found.algorithms == tuple(
        dict.fromkeys(row.algorithm for row in found.policies[1].rows)
    )
    figure = plot_winners(found)
    assert "nothing to send" in [text.get_text() for text in figure.axes[0].texts]
    assert apart(figure) > 5
    with pytest.raises(InputError, match="one rank has nothing to send"):
        plot_winners(winners_map("all_gather", [one]))


def test_a_dozen_areas_have_a_dozen_colours() -> None:
    """A hatch alone is not enough beside a neighbour of the same colour."""
    fills = [fill(i) for i in range(60)]
    assert len({one["facecolor"] for one in fills[:12]}) == 12
    assert len({(one["facecolor"], one["hatch"]) for one in fills}) == 60
