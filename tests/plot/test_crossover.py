"""The crossover picture, opened with programs that are not ours."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image

from collsim.core.cluster import Cluster
from collsim.errors import FileError, InputError
from collsim.plot.crossover import plot_crossover
from collsim.plot.style import STYLES, time_label

EIGHT = Cluster.load("textbook-h100", ranks=8)


def texts(path: Path) -> list[str]:
    """Return all text of an SVG file."""
    tree = ET.parse(path)
    return [
        "".join(node.itertext()).strip()
        for node in tree.iter("{http://www.w3.org/2000/svg}text")
    ]


@pytest.fixture(scope="module")
def svg(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Draw the all_reduce of 8 ranks once."""
    path = tmp_path_factory.mktemp("plot") / "crossover.svg"
    plot_crossover("all_reduce", "mst", "ring", EIGHT, path)
    return path


def test_svg_names_cluster_and_collective(svg: Path) -> None:
    """The title says what is drawn, and where."""
    assert "all_reduce on 8 ranks of textbook-h100: mst and ring" in texts(svg)


def test_svg_marks_the_swap_with_size_and_time(svg: Path) -> None:
    """16,941,176 bytes are 16.16 MiB, and 172.9 us are taken there."""
    found = texts(svg)
    assert "16.16 MiB, 172.9 µs" in found
    assert "mst faster below, ring above" in found


def test_svg_has_units_on_its_axes(svg: Path) -> None:
    """Sizes in binary steps, times in powers of ten."""
    found = texts(svg)
    assert {"32 B", "1 KiB", "32 KiB", "1 MiB", "32 MiB", "1 GiB"} <= set(found)
    assert {"100 µs", "1 ms", "10 ms"} <= set(found)
    assert "size n (bytes, binary steps)" in found
    assert "time" in found


def test_svg_has_a_legend_and_the_regimes(svg: Path) -> None:
    """Both algorithms, the lower bound, and who rules where."""
    found = texts(svg)
    assert {"mst", "ring", "lower bound: no algorithm is faster"} <= set(found)
    assert {"mst: α rules (start-ups)", "ring: β rules (bytes)"} <= set(found)
    assert {
        "the faster one spends most on α (start-ups)",
        "the faster one spends most on β (bytes)",
    } <= set(found)


def test_svg_says_what_alpha_and_beta_are(svg: Path) -> None:
    """Below the title."""
    assert "ideal one-port network, α 10 µs, 1/β 900 GB/s" in texts(svg)


def test_subtitle_of_other_networks_has_no_alpha() -> None:
    """There is not one; launch and gamma are named where there are any."""
    two = Cluster.load("dgx-h100", nodes=2)
    words = [t.get_text() for t in plot_crossover("gather", "mst", "ring", two).axes[0].texts]
    assert "2 nodes of 8 GPUs on a switch, one NIC per GPU on rails" in words
    paid = Cluster.ideal(4, "1us", "1GB/s", gamma=5e-13, launch="5us")
    words = [t.get_text() for t in plot_crossover("gather", "mst", "ring", paid).axes[0].texts]
    assert "ideal one-port network, α 1 µs, 1/β 1 GB/s, launch 5 µs, 1/γ 2000 GB/s" in words


def test_nothing_is_cut_off() -> None:
    """With the longest names, title and legend lie within the picture."""
    names = "reduce_scatter_all_gather", "reduce_broadcast"
    figure = plot_crossover("all_reduce", *names, EIGHT)
    FigureCanvasAgg(figure).draw()
    (axes,) = figure.axes
    boxes = [t.get_window_extent() for t in (axes._left_title, *axes.texts)]  # type: ignore[attr-defined]
    for box in (*boxes, figure.legends[0].get_window_extent()):
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.x1


def test_bands_part_where_the_faster_one_changes() -> None:
    """Beta rules on both sides of the swap, of MST first and then of the ring."""
    two = Cluster.load("dgx-h100", nodes=2)
    words = [
        t.get_text() for t in plot_crossover("all_reduce", "mst", "ring", two).axes[0].texts
    ]
    bands = [word for word in words if "rules" in word]
    assert bands == ["mst: α rules (start-ups)", "mst: β rules", "ring: β rules"]


def left(patch: Any) -> float:
    """Return where a span begins: matplotlib 3.8 makes polygons of them, later ones boxes."""
    corners = patch.get_patch_transform().transform_path(patch.get_path())
    return float(corners.get_extents().x0)


def test_regimes_turn_where_alpha_and_beta_are_equal() -> None:
    """MST up to 9 MB alpha, then beta; after the swap the ring alpha up to 72 MB."""
    figure = plot_crossover("all_reduce", "mst", "ring", EIGHT)
    spans = [left(patch) for patch in figure.axes[0].patches]
    assert spans[1:] == pytest.approx([9e6, 8 / (6 - 7 / 4) * 9e6, 72e6], rel=1e-6)


def test_curves_are_the_times() -> None:
    """The lines hold 6 (alpha + n beta), 14 alpha + 7/4 n beta and the bound in seconds."""
    axes = plot_crossover("all_reduce", "mst", "ring", EIGHT).axes[0]
    mst, ring, bound = axes.lines[:3]
    n = np.asarray(mst.get_xdata())
    assert (n[0], n[-1]) == pytest.approx((8, 2**33))
    assert np.allclose(mst.get_ydata(), 6 * (10e-6 + n / 900e9), rtol=1e-9)
    assert np.allclose(ring.get_ydata(), 14 * 10e-6 + 1.75 * n / 900e9, rtol=1e-9)
    assert np.allclose(bound.get_ydata(), np.maximum(30e-6, 1.75 * n / 900e9), rtol=1e-9)


def test_lines_differ_in_more_than_colour() -> None:
    """In dashes and in marks, so that they are told apart in grey."""
    for key in ("linestyle", "marker", "color"):
        assert len({str(style[key]) for style in STYLES}) == len(STYLES)
    mst, ring = plot_crossover("all_reduce", "mst", "ring", EIGHT).axes[0].lines[:2]
    assert mst.get_marker() != ring.get_marker()
    assert mst.is_dashed() != ring.is_dashed()


@pytest.mark.parametrize(
    ("line", "cluster", "sizes"),
    [
        ("all_reduce mst ring", EIGHT, {}),
        (
            "broadcast mst ring",
            Cluster.load("dgx-h100", nodes=2),
            {"min_bytes": 2**14, "max_bytes": 2**30},
        ),
        ("gather mst ring", EIGHT, {}),
        ("all_reduce mst ring", EIGHT, {"min_bytes": 2**20, "max_bytes": 2**26}),
    ],
    ids=["usual", "nodes", "gather", "few sizes"],
)
def test_no_label_lies_on_another(
    line: str, cluster: Cluster, sizes: dict[str, int], apart: Any
) -> None:
    """Neither ticks nor names nor boxes overlap, on these four pictures."""
    assert apart(plot_crossover(*line.split(), cluster, **sizes)) > 15


def test_long_names_are_letters_that_the_legend_explains(apart: Any) -> None:
    """So that marks and regimes have room for them."""
    two = Cluster.load("gh200-slingshot", nodes=2)
    names = "hierarchical:inside=bruck,across=one_shot", "mst"
    figure = plot_crossover("all_reduce", *names, two, min_bytes=2**10, max_bytes=2**24)
    words = [text.get_text() for text in figure.axes[0].texts]
    assert "A" in words
    assert "B" in words
    assert not any("hierarchical" in word for word in words)
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend[:2] == [f"A: {names[0]}", "B: mst"]
    apart(figure)


def test_few_decades_have_steps_between_them() -> None:
    """From 20 us to 1 ms: 50, 100, 200, 500 us and 1 ms have names."""
    figure = plot_crossover(
        "all_reduce", "mst", "ring", EIGHT, min_bytes=2**20, max_bytes=2**26
    )
    axes = figure.axes[0]
    low, high = axes.get_ylim()
    inside = [round(float(tick) * 1e6) for tick in axes.get_yticks() if low <= tick <= high]
    assert inside == [50, 100, 200, 500, 1000]


def test_curves_have_their_names_at_their_ends(svg: Path) -> None:
    """Beside the legend, so that no colour is needed."""
    assert [text for text in texts(svg) if text in {"mst", "ring"}].count("ring") == 2


def test_png_is_a_picture(tmp_path: Path) -> None:
    """Of a size fit for print, with the colours of both lines in it."""
    path = tmp_path / "crossover.png"
    plot_crossover("broadcast", "mst", "ring", EIGHT, path)
    with Image.open(path) as image:
        image.load()
        assert image.format == "PNG"
        assert image.width >= 1200
        pixels = {pixel for _, pixel in image.convert("RGB").getcolors(2**24) or []}
    assert (0x00, 0x72, 0xB2) in pixels
    assert (0xD5, 0x5E, 0x00) in pixels


def test_pdf_has_one_page_with_text(tmp_path: Path) -> None:
    """Its one page shows text, not paths alone."""
    path = tmp_path / "crossover.pdf"
    plot_crossover("broadcast", "mst", "ring", EIGHT, path)
    data = path.read_bytes()
    assert data.startswith(b"%PDF-1.")
    assert data.rstrip().endswith(b"%%EOF")
    assert len(re.findall(rb"/Type\s*/Page\b", data)) == 1
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", data, re.DOTALL)
    shown = b"".join(zlib.decompress(s) for s in streams if s[:1] == b"x")
    assert shown.count(b"Tj") + shown.count(b"TJ") > 15


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_same_picture_gives_the_same_bytes(tmp_path: Path, ending: str) -> None:
    """Also in another process with another hash seed."""
    code = (
        "from collsim import Cluster, plot_crossover\n"
        "import sys\n"
        "plot_crossover('all_reduce', 'mst', 'ring', Cluster.load('textbook-h100', ranks=8), "
        "sys.argv[1])\n"
    )
    here, there = tmp_path / f"a.{ending}", tmp_path / f"b.{ending}"
    plot_crossover("all_reduce", "mst", "ring", EIGHT, here)
    subprocess.run(
        [sys.executable, "-c", code, there], check=True, timeout=120,
        env=os.environ | {"PYTHONHASHSEED": "7", "MPLBACKEND": "svg"},
    )  # fmt: skip
    assert here.read_bytes() == there.read_bytes()


@pytest.mark.parametrize("name", ["crossover.jpg", "crossover", ".png", "-"])
def test_other_endings_are_refused_in_one_line(tmp_path: Path, name: str) -> None:
    """Before anything is computed, and the error lists the endings."""
    with pytest.raises(InputError, match=r"expected a name that ends in \.png, \.svg, \.pdf"):
        plot_crossover("all_reduce", "mst", "ring", EIGHT, name)


def test_unwritable_file_leaves_nothing_behind(tmp_path: Path) -> None:
    """The folder does not exist; the error names it."""
    with pytest.raises(FileError, match="does not exist"):
        plot_crossover("all_reduce", "mst", "ring", EIGHT, tmp_path / "no" / "crossover.png")
    assert list(tmp_path.iterdir()) == []


def test_nothing_to_draw_is_an_error() -> None:
    """One rank takes no time, which has no place on a logarithmic axis."""
    with pytest.raises(InputError, match="takes no time"):
        plot_crossover("all_reduce", "mst", "ring", Cluster.ideal(1, "1us", "1GB/s"))


def test_several_swaps_are_numbered_and_listed(tmp_path: Path, apart: Any) -> None:
    """NVLS is faster for small messages and for large ones, and not between."""
    path = tmp_path / "several.svg"
    one = Cluster.load("dgx-h100")
    figure = plot_crossover("all_reduce", "nvls", "halving_doubling", one, path)
    listed = [text for text in texts(path) if "faster below" in text]
    assert [text[:2] for text in listed] == ["1 ", "2 "]
    marks = [t.get_text() for t in figure.axes[0].texts if t.get_text().isdigit()]
    assert marks == ["1", "2"]
    apart(figure)


def test_range_without_a_swap_is_drawn_too() -> None:
    """Below 1 MiB MST is faster throughout; nothing is marked."""
    axes = plot_crossover(
        "all_reduce", "mst", "ring", EIGHT, min_bytes=2**10, max_bytes=2**20
    ).axes[0]
    assert axes.get_xlim() == (2**10, 2**20)
    assert not any("faster below" in text.get_text() for text in axes.texts)


def test_swap_outside_the_usual_range_is_shown() -> None:
    """With 1 s of alpha the swap lies at 1.7 TB; the axis reaches beyond it."""
    slow = Cluster.ideal(8, alpha=0.5, bandwidth="900GB/s")
    axes = plot_crossover("all_reduce", "mst", "ring", slow).axes[0]
    assert axes.get_xlim()[1] > 8 / (6 - 7 / 4) * 0.5 * 900e9


def test_drawing_changes_no_setting_and_opens_no_window() -> None:
    """What a user set in matplotlib stays, and pyplot is not even loaded."""
    code = (
        "import matplotlib as mpl, sys\n"
        "mpl.rcParams['font.size'] = 23.0\n"
        "from collsim import Cluster, plot_crossover\n"
        "plot_crossover('gather', 'mst', 'linear', Cluster.ideal(4, '1us', '1GB/s'))\n"
        "assert mpl.rcParams['font.size'] == 23.0\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=120)


def test_times_on_the_axis_have_their_unit() -> None:
    """From nanoseconds to thousands of seconds."""
    assert [time_label(t) for t in (1e-9, 1e-6, 1e-3, 1.0, 1e4, 2.5e-5)] == [
        "1 ns", "1 µs", "1 ms", "1 s", "1e+04 s", "25 µs",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("hierarchical:across=ring", "hierarchical"),
        ("hierarchical:across=one_shot,inside=bruck", "hierarchical:inside=bruck,"),
        ("hierarchical:across=double_binary_tree", "hierarchical:across=double_binary_tree"),
    ],
)
def test_any_options_in_any_order_are_drawn(spec: str, name: str) -> None:
    """Also those that a search over all algorithms does not try."""
    figure = plot_crossover(
        "all_reduce", spec, "mst", Cluster.load("dgx-h100", nodes=2),
        min_bytes=2**20, max_bytes=2**22,
    )  # fmt: skip
    labels = [str(line.get_label()) for line in figure.axes[0].get_lines()]
    assert any(name in label for label in labels)


def test_one_algorithm_is_no_pair() -> None:
    """Two curves of one name would say nothing."""
    with pytest.raises(InputError, match="both algorithms are ring, expected two"):
        plot_crossover("all_reduce", "ring", "ring", EIGHT)
