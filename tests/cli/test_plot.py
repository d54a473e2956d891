"""`collsim plot winners|scaling|timeline|breakdown|links|fit`, and `simulate --plot`."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from PIL import Image
from pypdf import PdfReader

IDEAL = "--alpha 10us --bandwidth 1GB/s"
LINES = {
    "winners": f"plot winners gather {IDEAL} --ranks 2,4 -o",
    "scaling": f"plot scaling broadcast {IDEAL} --ranks 2,4 -s 1M --algorithm mst,ring -o",
    "timeline": f"plot timeline broadcast {IDEAL} --ranks 4 -s 1M --algorithm mst -o",
    "breakdown": f"plot breakdown broadcast {IDEAL} --ranks 4 -s 1M --algorithm mst,ring -o",
    "links": f"plot links broadcast {IDEAL} --ranks 4 -s 1M --algorithm mst -o",
    "fit": "plot fit examples/nccl_tests_all_reduce_8gpu.txt -o",
    "simulate": f"simulate broadcast {IDEAL} --ranks 4 -s 1M --algorithm mst --plot",
}
# What stands in each, and nowhere else.
WORDS = {
    "winners": "gather on ideal: the fastest algorithm",
    "scaling": "broadcast of 1 MiB on ideal: time by ranks",
    "timeline": "broadcast of 1 MiB on 4 ranks of ideal: mst",
    "breakdown": "broadcast of 1 MiB on 4 ranks of ideal: where the time goes",
    "links": "broadcast of 1 MiB on 4 ranks of ideal: mst, use of links",
    "fit": "Made-up GPU: held-out sizes off by 0.9% in the median, 2.0% at the 90th percentile",
    "simulate": "broadcast of 1 MiB on 4 ranks of ideal: mst",
}


@pytest.mark.parametrize("name", LINES)
def test_each_kind_of_file_opens_and_says_what_it_is(
    run: Any, tmp_path: Path, name: str
) -> None:
    """PNG by PIL, SVG as XML with its title as text, PDF of one page with the same text."""
    for ending in ("png", "svg", "pdf"):
        result = run(LINES[name], str(tmp_path / f"x.{ending}"))
        assert result.exit_code == 0, result.output
        assert bool(result.stdout) == (name == "simulate")
    with Image.open(tmp_path / "x.png") as image:
        image.load()
        assert image.format == "PNG"
        assert image.width >= 1100
        assert len(image.convert("L").getcolors(256) or []) > 16
    nodes = ET.parse(tmp_path / "x.svg").iter("{http://www.w3.org/2000/svg}text")
    assert WORDS[name] in ["".join(node.itertext()) for node in nodes]
    (page,) = PdfReader(tmp_path / "x.pdf").pages
    assert WORDS[name] in page.extract_text()


@pytest.mark.parametrize("name", LINES)
def test_what_cannot_be_written_is_told_before_anything_is_done(
    fails: Any, tmp_path: Path, name: str
) -> None:
    """Another ending, or no such folder; one line, and nothing is left behind."""
    message = fails(LINES[name], "x.gif", code=1)
    assert message == "picture 'x.gif': expected a name that ends in .png, .svg, .pdf"
    path = tmp_path / "nowhere" / "x.png"
    message = fails(LINES[name], str(path), code=1)
    assert message == f"{path}: the folder {path.parent} does not exist"
    assert list(tmp_path.iterdir()) == []


def test_a_protected_file_stays_what_it_was(
    fails: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user who protects a file means it."""
    path = tmp_path / "x.png"
    path.write_text("mine")
    path.chmod(0o444)
    # The administrator may write to what is protected.
    monkeypatch.setattr("os.access", lambda *_, **__: False)
    assert fails(LINES["timeline"], str(path), code=1) == f"{path}: is write-protected"
    assert path.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [path]


def test_simulate_draws_what_plot_timeline_draws(run: Any, tmp_path: Path) -> None:
    """The same bytes, beside the same answer."""
    answer = run(LINES["simulate"], str(tmp_path / "a.svg"))
    run(LINES["timeline"], str(tmp_path / "b.svg"))
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert answer.stdout == run(LINES["simulate"].removesuffix(" --plot")).stdout


@pytest.mark.parametrize("picture", ["timeline", "links"])
def test_a_schedule_from_a_file_is_drawn(run: Any, tmp_path: Path, picture: str) -> None:
    """With its own collective, ranks and name."""
    line = f"plot {picture} --schedule examples/schedule_all_reduce_4.txt -s 1MiB -o"
    result = run(line, str(tmp_path / "x.svg"))
    assert result.exit_code == 0, result.output
    text = (tmp_path / "x.svg").read_text("utf-8")
    assert "all_reduce of 1 MiB on 4 ranks of textbook-h100: " in text


def test_counts_are_nodes_with_a_cluster_and_ranks_without(run: Any, tmp_path: Path) -> None:
    """By default as many as make a picture."""
    path = tmp_path / "x.svg"
    for line, wanted in (
        ("-c gh200-slingshot", ["1", "2", "4", "8"]),
        ("", ["2", "4", "8", "16", "32", "64"]),
        ("-c dgx-h100 --ranks 2,8", ["2", "8"]),
    ):
        run(f"plot scaling gather -s 1M --algorithm mst {line} -o", str(path))
        nodes = ET.parse(path).iter("{http://www.w3.org/2000/svg}text")
        numbers = [text for node in nodes if (text := "".join(node.itertext())).isdigit()]
        assert numbers == wanted


def test_wrong_usage_is_told(fails: Any) -> None:
    """What contradicts itself, before any work."""
    path = "-o x.png"
    message = fails(f"plot winners gather --nodes 2 --ranks 2 -c dgx-h100 {path}", code=2)
    assert message == "--ranks takes GPUs of one node, so it can't be combined with --nodes"
    message = fails(f"plot winners gather --ranks 1-100 {path}", code=2)
    assert message == "--ranks: got 100 numbers, expected at most 64"
    message = fails(f"plot winners gather -b 8 -e 8 {path}", code=2)
    assert message == "-b 8 is not below -e 8, expected a range of sizes"
    message = fails(f"plot scaling gather -s 1 -s 2 {path}", code=2)
    assert message == "-s/--size: got 2 sizes, expected one"
    message = fails(f"plot breakdown gather -s 1 --algorithm mst,all {path}", code=2)
    assert message == "--algorithm mst,all: expected names, or all alone"
    assert fails("plot links gather -s 8", code=2).startswith(
        "Missing option '-o' / '--output';"
    )


def test_failures_are_told_in_one_line(fails: Any, tmp_path: Path) -> None:
    """Nothing to draw, too many rows, too few counts, no such algorithm."""
    path = str(tmp_path / "x.png")
    line = "plot timeline gather --algorithm mst -s 8 --ranks 1 -o"
    assert fails(line, path, code=1).endswith(
        "no message that takes time, so there is nothing to draw"
    )
    message = fails("plot winners gather --ranks 1-25 -o", path, code=1)
    assert message == "winners: got more than 24 clusters, expected 1 to 24"
    message = fails("plot scaling gather -s 8 --ranks 4 -o", path, code=1)
    assert message == "scaling: got ranks 4, expected 2 to 64 rising numbers"
    message = fails("plot breakdown gather -s 8 --algorithm rong -o", path, code=1)
    assert "did you mean 'ring'?" in message
    assert not Path(path).exists()


def test_notes_say_what_is_left_out_and_what_a_profile_has_not_shown(
    run: Any, tmp_path: Path
) -> None:
    """On stderr, as predict does."""
    line = "plot breakdown all_reduce -s 4M -c dgx-h100 --profile h100-nvswitch-8 -o"
    notes = run(line, str(tmp_path / "x.png")).stderr.splitlines()
    assert any("which no row of the fit has shown" in note for note in notes)
    assert any(note.startswith("note: left out hierarchical: ") for note in notes)
    nodes = run(line, str(tmp_path / "x.svg"))
    assert nodes.exit_code == 0
    assert "nvls simple" in (tmp_path / "x.svg").read_text("utf-8")
