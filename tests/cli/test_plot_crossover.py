"""`collsim plot crossover`, and `collsim crossover --plot`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

LINE = "all_reduce mst ring --alpha 10us --bandwidth 900GB/s --ranks 8"


@pytest.mark.parametrize(
    ("name", "magic"), [("x.png", b"\x89PNG"), ("x.svg", b"<?xml"), ("x.pdf", b"%PDF")]
)
def test_kind_goes_by_the_ending(run: Any, tmp_path: Path, name: str, magic: bytes) -> None:
    """And nothing is printed."""
    result = run(f"plot crossover {LINE} -o", str(tmp_path / name))
    assert (result.exit_code, result.output) == (0, "")
    assert (tmp_path / name).read_bytes().startswith(magic)


def test_crossover_can_draw_too(run: Any, tmp_path: Path) -> None:
    """The same picture, beside the same answer."""
    both = run(f"crossover {LINE} --plot", str(tmp_path / "a.svg"))
    assert both.stdout == run(f"crossover {LINE}").stdout
    run(f"plot crossover {LINE} -o", str(tmp_path / "b.svg"))
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_no_file_is_wrong_usage_and_a_bad_one_a_failure(fails: Any, tmp_path: Path) -> None:
    """One line each; nothing is left behind."""
    message = fails(f"plot crossover {LINE}", code=2)
    assert message.startswith("Missing option '-o' / '--output';")
    message = fails(f"plot crossover {LINE} -o x.gif", code=1)
    assert message == "picture 'x.gif': expected a name that ends in .png, .svg, .pdf"
    assert fails(f"crossover {LINE} --plot -", code=1).startswith("picture '-': expected")
    path = tmp_path / "nowhere" / "x.png"
    message = fails(f"plot crossover {LINE} -o", str(path), code=1)
    assert message == f"{path}: the folder {path.parent} does not exist"
    assert list(tmp_path.iterdir()) == []


def test_no_time_is_nothing_to_draw(fails: Any, tmp_path: Path) -> None:
    """One rank."""
    line = "plot crossover all_reduce mst ring --ranks 1 -o"
    message = fails(line, str(tmp_path / "x.png"), code=1)
    assert message.startswith("plot: all_reduce on 1 ranks of textbook-h100 takes no time")
