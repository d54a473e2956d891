"""The picture of a fit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from collsim.calibrate.fit import FitResult, fit
from collsim.calibrate.nccl_model import example_profile, fitted_of
from collsim.core.cluster import Cluster
from collsim.core.measurements import Measurement, Measurements, Source
from collsim.errors import InputError
from collsim.plot.fit import plot_fit

KINDS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all")


@pytest.fixture(scope="module")
def found() -> FitResult:
    """Fit a made-up log of four collectives."""
    truth = fitted_of(example_profile(Cluster.load("dgx-h100")))
    source = Source(device="NVIDIA H100", backend="nccl")
    rows = [
        Measurement(kind, p, 2**k, truth.seconds(kind, p, 1, 2**k), source=source)
        for kind in KINDS
        for p in (2, 8)
        for k in range(9, 30)
    ]
    # One row far off is drawn on the edge.
    rows[3] = Measurement("all_reduce", 2, 2**12, 1e-3, source=source)
    return fit(Measurements(rows))


def texts(path: Path) -> list[str]:
    """Return all text of an SVG file."""
    tree = ET.parse(path)
    return [
        "".join(node.itertext()).strip()
        for node in tree.iter("{http://www.w3.org/2000/svg}text")
    ]


def test_every_collective_has_times_and_residuals(found: FitResult, tmp_path: Path) -> None:
    """With its name; the legend has rank counts and the pieces that ran."""
    path = tmp_path / "fit.svg"
    figure = plot_fit(found, path)
    assert [axes.get_title(loc="left") for axes in figure.axes[::2]] == sorted(KINDS)
    shown = texts(path)
    for text in ("8 ranks, fitted", "measured, taken for ring ll", "residual"):
        assert text in shown
    assert any(text.startswith("NVIDIA H100: held-out sizes off by") for text in shown)


def test_nothing_is_drawn_outside_or_on_other_text(found: FitResult) -> None:
    """Titles, labels and legend keep apart."""
    figure = plot_fit(found)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    boxes = [figure.legends[0].get_window_extent(renderer)]
    assert figure._suptitle is not None  # type: ignore[attr-defined]
    boxes.append(figure._suptitle.get_window_extent(renderer))  # type: ignore[attr-defined]
    for axes in figure.axes:
        left = axes._left_title  # type: ignore[attr-defined]
        labels = (axes.yaxis.label, axes.xaxis.label, left)
        boxes += [t.get_window_extent(renderer) for t in labels if t.get_text()]
    for i, one in enumerate(boxes):
        assert one.x0 >= 0
        assert one.x1 <= figure.bbox.x1
        for other in boxes[i + 1 :]:
            assert not one.overlaps(other)


def test_only_what_rows_name_is_called_measured(found: FitResult, tmp_path: Path) -> None:
    """What NCCL's table has it for is taken for that."""
    many = [i for i, row in enumerate(found.rows) if row.collective == "all_gather"]
    rows = tuple(replace(found.rows[i], algorithm="ring", protocol="simple") for i in many)
    times = tuple(found.predicted[i] for i in many)
    plot_fit(replace(found, rows=rows, predicted=times), tmp_path / "a.svg")
    assert "measured, ring simple" in texts(tmp_path / "a.svg")
    plot_fit(found, tmp_path / "b.svg")
    assert "measured, taken for ring simple" in texts(tmp_path / "b.svg")


@pytest.mark.parametrize("name", ["W" * 70, "A made-up machine of whom nobody knows the GPU"])
def test_a_long_title_is_not_cut(found: FitResult, name: str) -> None:
    """Wide letters or many make it smaller."""
    figure = plot_fit(replace(found, profile=replace(found.profile, device=name)))
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    box = figure._suptitle.get_window_extent(canvas.get_renderer())  # type: ignore[attr-defined]
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.x1


def test_residuals_beyond_the_axis_lie_on_its_edge(found: FitResult) -> None:
    """No row is missing."""
    axes = plot_fit(found).axes[3]
    drawn = sum(len(line.get_xdata()) for line in axes.lines[:-1])  # type: ignore[arg-type]
    assert drawn == sum(row.collective == "all_reduce" for row in found.rows)
    most = max(abs(y) for line in axes.lines for y in line.get_ydata())  # type: ignore[union-attr]
    assert most <= axes.get_ylim()[1]


def test_residuals_beyond_the_axis_are_marked_and_told(found: FitResult) -> None:
    """One hollow mark on the edge, with how far off it is; other panels have none."""
    axes = plot_fit(found).axes[3]
    hollow = [line for line in axes.lines if line.get_markerfacecolor() == "white"]
    assert [len(line.get_xdata()) for line in hollow] == [1]  # type: ignore[arg-type]
    row = next(i for i, row in enumerate(found.rows) if row.seconds == 1e-3)
    beyond = found.rows[row].seconds / found.predicted[row] - 1
    assert beyond > 100
    (told,) = [text.get_text() for text in axes.texts]
    assert told == f"1 beyond the axis (hollow): {beyond:+.0%}"
    for other in plot_fit(found).axes[1::2]:
        assert bool(other.texts) == (other.get_ylim() == axes.get_ylim())


def test_fitted_lines_differ_in_dashes(found: FitResult) -> None:
    """Of 2 ranks and of 8."""
    lines = [line for line in plot_fit(found).axes[0].lines if line.get_marker() == "None"]
    assert [line.is_dashed() for line in lines] == [False, True]


def test_a_line_has_a_picture_too(tmp_path: Path, root: Path) -> None:
    """Without pieces; the same bytes each time."""
    fitted = fit(root / "examples" / "nccl_tests_all_reduce_8gpu.txt")
    paths = [tmp_path / "a.png", tmp_path / "b.png"]
    for path in paths:
        plot_fit(fitted, path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    with pytest.raises(InputError, match="expected a name that ends in"):
        plot_fit(fitted, tmp_path / "a.jpg")
