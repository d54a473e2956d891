"""Every row of every real file, against a counter that knows nothing of the importers."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from collsim.calibrate.importer import ReadOptions
from collsim.calibrate.importers import read_log
from collsim.errors import FileError

TAG = re.compile(r"\[\d+,\d+\]<std\w+>:|\[\d+\]")
START = re.compile(r"(?:^|[\s:])\d+ +\d+ +(?:u?int(?:8|32|64)|half|float|double|bfloat16)\b")
OSU_ROW = re.compile(r"\d+ +\d+\.\d+ ")
# Rows left out on purpose; everything else that looks like a row must be kept.
LEFT_OUT = {"049": 1, "162": 13, "236": 2}
# A failed run, tables in prose, and NCCL's own cost table: there is no timing row in them.
WITHOUT = {"096", "174", "177", "226"}
BOTH = 2  # an nccl-tests row is measured out of place and in place


def counted(path: Path) -> dict[int, int]:
    """Return how many measurements each line of a file should give, the dumb way."""
    lines = path.read_text("utf-8", errors="replace").splitlines()
    if lines[0].startswith(("op_name,", "nranks,")):
        return {number: 1 for number, line in enumerate(lines, 1) if line and number > 1}
    if any("OSU MPI" in line for line in lines[:5]):
        return {n: 1 for n, line in enumerate(lines, 1) if OSU_ROW.match(line)}
    starts = ((n, START.findall(TAG.sub(" ", line))) for n, line in enumerate(lines, 1))
    return {number: BOTH * len(found) for number, found in starts if found}


def files(folder: Path) -> list[Path]:
    """Return the files that hold measurements, or look as if they did."""
    return [*sorted(folder.glob("public/*.txt")), *sorted(folder.glob("ours/*.csv"))]


def test_every_row_is_read_or_named(shared_data: Path) -> None:
    """As many measurements, on the lines where the counter sees them."""
    total = 0
    for path in files(shared_data):
        expected = counted(path)
        key = path.name[:3]
        options = ReadOptions(ranks=8) if "osu" in path.name else None
        if key in WITHOUT:
            with pytest.raises(FileError):
                read_log(path, options)
            assert not expected, path.name
            continue
        found = read_log(path, options)
        lines = Counter(row.source.line for row in found)
        lines.update(left.line for left in found.left_out)
        if key == "236":  # a row whose left half was lost, and one cut before its type
            assert set(lines) - set(expected) == {1, 12}
            lines = Counter({line: n for line, n in lines.items() if line in expected})
        assert lines == expected, path.name
        assert len(found.left_out) == LEFT_OUT.get(key, 0), path.name
        total += len(found)
    assert total > 8000


def test_what_is_known_of_a_system_is_read(shared_data: Path) -> None:
    """One process for 8 GPUs and one per GPU are told apart; so are versions and graphs."""
    known = {
        "219": ("one process", "host", "NCCL 2.26.2"),
        "242": ("process per GPU", "host", "NCCL 2.26.2"),
        "203": ("one process", "host, CUDA graph", "NCCL 2.29.2"),
        "028": ("process per GPU", "host", "RCCL 2.21.5-HEAD:eef7b29"),
        "209": (None, "host", "NCCL 2.29.2"),
    }
    for key, expected in known.items():
        (path,) = (shared_data / "public").glob(f"{key}_*")
        source = read_log(path).rows[0].source
        assert (source.process_model, source.clock, source.version) == expected


@pytest.mark.parametrize("key", ["193", "195"])
def test_chosen_lines_name_what_ran(shared_data: Path, key: str) -> None:
    """All of both logs ran the ring with Simple."""
    (path,) = (shared_data / "public").glob(f"{key}_*")
    rows = read_log(path)
    assert {(row.algorithm, row.protocol) for row in rows} == {("ring", "simple")}
