"""The picture of two algorithms as measured and as predicted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from collsim.core.measurements_file import read_rows
from collsim.errors import InputError
from collsim.plot.measured import plot_measured

ROWS = read_rows(Path(__file__).resolve().parents[2] / "examples" / "gloo_4_ranks.jsonl")


def lines(figure: Any) -> dict[str, Any]:
    """Return what is drawn, by its name in the legend."""
    axes = figure.axes[0]
    return dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))


def test_measured_points_and_predicted_curves() -> None:
    """Two of each; the points are the medians of the rows."""
    drawn = lines(plot_measured("allreduce", "mst", "ring", ROWS))
    assert set(drawn) == {
        f"{name}, {kind}" for name in ("mst", "ring") for kind in ("predicted", "measured")
    }
    own = [r for r in ROWS if r.get("algorithm") == "ring" and r["collective"] == "all_reduce"]
    x, y = drawn["ring, measured"].lines[0].get_data()
    assert [*zip(x, y, strict=True)] == [(r["size"], r["seconds"]) for r in own]


def test_predictions_use_no_measured_schedule() -> None:
    """With all of them twice as slow the curves stay where they are."""
    slow = [{**r, "seconds": 2 * r["seconds"]} if r.get("runs") else r for r in ROWS]
    curves = [
        lines(plot_measured("broadcast", "mst", "ring", rows))["mst, predicted"].get_ydata()
        for rows in (ROWS, slow)
    ]
    assert list(curves[0]) == list(curves[1])


def test_it_names_what_was_not_measured() -> None:
    """With what was."""
    with pytest.raises(
        InputError, match=r"broadcast/linear, expected .* \(measured: mst, ring\)"
    ):
        plot_measured("broadcast", "mst", "linear", ROWS)


def test_rows_of_two_rank_counts_are_refused() -> None:
    """One picture is of one number of ranks."""
    more = [{**r, "ranks": 8} for r in ROWS if r.get("runs") == "schedule"]
    with pytest.raises(InputError, match="rows of 4, 8 ranks"):
        plot_measured("broadcast", "mst", "ring", [*ROWS, *more])


def test_rows_that_cannot_be_true_are_not_drawn() -> None:
    """Neither wrong results nor times of 0."""
    more = [
        {**r, "wrong": 9} if r["size"] == 64 else {**r, "seconds": 0.0}
        for r in ROWS
        if r.get("algorithm") == "ring" and r["size"] in (64, 1024)
    ]
    drawn = lines(plot_measured("allreduce", "mst", "ring", [*more, *ROWS]))
    plain = lines(plot_measured("allreduce", "mst", "ring", ROWS))
    for name in ("ring, measured", "mst, measured"):
        assert len(drawn[name].lines[0].get_xdata()) == len(plain[name].lines[0].get_xdata())


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [("dtype", "half", "element type float, half"), ("op", "max", "reduction max, sum")],
)
def test_rows_of_two_kinds_are_refused(key: str, value: str, said: str) -> None:
    """One curve does not join times of different work."""
    more = [{**r, key: value} for r in ROWS if r.get("runs") == "schedule"]
    with pytest.raises(InputError, match=f"rows of {said}, expected a file of one"):
        plot_measured("allreduce", "mst", "ring", [*ROWS, *more])
