"""nccl-tests' text output: rows and heads that contradict themselves."""

from __future__ import annotations

import pytest

from collsim.calibrate.importer import ReadOptions
from collsim.calibrate.importers.nccl_tests import IMPORTER
from collsim.core.measurements import Measurements
from collsim.errors import FileError

read = IMPORTER.read

HEAD = "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
UNITS = "#  (B)  (elements)  (us)  (GB/s)  (GB/s)  (us)  (GB/s)  (GB/s)\n"
START = "# Collective test starting: {}_perf\n"
HALF = "20.00  52.43  {}  0"


def devices(ranks: int) -> str:
    """Return the device lines of one host."""
    return "".join(
        f"#  Rank {r} Group 0 Pid {r + 7} on node-a device {r} [0x1b] GPU\n"
        for r in range(ranks)
    )


def row(size: object, count: object, busbw: str, dtype: str = "float") -> str:
    """Return a row of 20 us."""
    half = HALF.format(busbw)
    return f"  {size}  {count}  {dtype}  sum  -1  {half}  {half}\n"


def parse(text: str, **options: object) -> Measurements:
    """Read a log from memory."""
    return read("a.log", text.splitlines(), ReadOptions(**options))  # type: ignore[arg-type]


def test_a_count_that_is_not_of_the_size_is_left_out() -> None:
    """All of the size for all_reduce."""
    text = START.format("all_reduce") + devices(2) + HEAD
    text += row(1048576, 262144, "52.43") + row(1048576, 131072, "52.43")
    rows = parse(text)
    assert [r.source.line for r in rows] == [5, 5]
    assert [str(left) for left in rows.left_out] == [
        f"a.log:6: {place}: 131072 elements of float are 524288 bytes, expected 1048576"
        for place in ("out of place", "in place")
    ]


@pytest.mark.parametrize("name", ["all_gather", "reduce_scatter", "alltoall", "gather"])
def test_shares_are_counted_for_one_rank(name: str) -> None:
    """A third, or a little less where nccl-tests rounds to 16 bytes; the whole is not."""
    text = START.format(name) + devices(3) + HEAD
    text += row(1048572, 87380, "34.95")  # exactly a third
    text += row(1048572, 87378, "34.95")  # rounded down
    text += row(1048572, 262143, "34.95")
    text += row(1048572, 87372, "34.95")
    rows = parse(text)
    assert sorted({r.source.line for r in rows}) == [6, 7]
    assert rows.left_out[0].reason == (
        "out of place: 262143 elements of float are 1048572 bytes, expected 349524, "
        "one rank's part of 1048572"
    )


@pytest.mark.parametrize(("time", "good"), [("20.00", True), ("20.01", False), ("2e+01", True)])
def test_time_and_algbw_agree_to_their_digits(time: str, good: bool) -> None:
    """1 MiB in 20.01 us is 52.40 GB/s; what 2e+01 us stands for may well be 20.00."""
    half = f"{time}  52.43  52.43  0"
    text = START.format("all_reduce") + devices(2) + HEAD + row(1048576, 262144, "52.43")
    rows = parse(text + f"1048576 262144 float sum -1 {half} {half}\n")
    assert len(rows) == (4 if good else 2)
    if not good:
        assert rows.left_out[0].reason == (
            "out of place: algbw 52.43 does not follow from 1048576 bytes in 20.01 us"
        )


def test_counts_tell_the_rank_count_where_bandwidths_leave_it_open() -> None:
    """Nothing lists the devices; busbw / algbw allows hundreds of counts."""
    size, ranks = 4 * 16 * 500 * 100, 500
    text = START.format("all_gather") + HEAD
    half = "61.04  52.42  52.32  0"
    text += f"{size} {size // 4 // ranks} float none -1 {half} {half}\n"
    rows = parse(text)
    assert rows.values("ranks") == (500,)
    assert rows.notes == ("a.log: 500 ranks, by busbw / algbw",)


@pytest.mark.parametrize(
    ("ours", "unit"), [("(us)", "ms"), ("(us)", "s"), ("(GB/s)", "Gb/s"), ("(B)", "KB")]
)
def test_another_unit_is_refused_by_name(ours: str, unit: str) -> None:
    """Times in ms would be a thousandfold off."""
    head = UNITS.replace(ours, f"({unit})")
    with pytest.raises(FileError) as caught:
        parse(
            START.format("all_reduce")
            + devices(2)
            + HEAD
            + head
            + row(1048576, 262144, "52.43")
        )
    assert str(caught.value) == (
        f"a.log: line 5: a column in ({unit}), expected sizes in (B), times in (us) and "
        "bandwidths in (GB/s)"
    )


def test_the_usual_units_are_fine() -> None:
    """With those of statistics per iteration."""
    text = START.format("all_reduce") + devices(2) + HEAD
    text += UNITS.rstrip() + "  (us)  (%)\n" + row(1048576, 262144, "52.43")
    assert len(parse(text)) == 2


@pytest.mark.parametrize(
    ("size", "count", "reason"),
    [
        (-1024, 256, "a size of -1024"),
        (1024, -256, "a count of -256"),
        (10**19, 256, "a size of 10000000000000000000"),
        ("9" * 6000, 256, f"a size of {'9' * 24}..."),
        (2**63, 256, f"a size of {2**63}"),
    ],
)
def test_an_impossible_size_is_reported(size: object, count: object, reason: str) -> None:
    """And not dropped in silence."""
    text = START.format("all_reduce") + devices(2) + HEAD + row(1048576, 262144, "52.43")
    rows = parse(text + row(size, count, "52.43"))
    assert len(rows) == 2
    assert [str(left) for left in rows.left_out] == [
        f"a.log:6: {reason}, expected a whole number from 0 to {2**63 - 1}"
    ]


@pytest.mark.parametrize(
    "head", [START.format("foo"), "mpirun -np 2 ./build/foo_perf -b 8 -e 8G\n"]
)
def test_a_test_that_nobody_knows_is_not_guessed(head: str) -> None:
    """Its columns look like all_reduce's; the caller may say what it is."""
    # Five ranks, so that the numbers alone would tell.
    text = head + devices(5) + HEAD + row(1048576, 262144, "83.89")
    with pytest.raises(FileError) as caught:
        parse(text)
    assert str(caught.value) == (
        "a.log: line 8: rows of foo_perf, which is no test of nccl-tests; say with "
        "collective=, --collective, what it measures"
    )
    assert parse(text, collective="all_reduce").values("collective") == ("all_reduce",)
    nameless = parse(text.removeprefix(head))
    assert nameless.notes == ("a.log: all_reduce, by its columns",)
