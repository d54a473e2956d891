"""`collsim crossover`."""

from __future__ import annotations

from typing import Any

import pytest

IDEAL = "--alpha 10us --bandwidth 900GB/s --ranks 8"


def test_swap_by_hand(answer: Any, conforms: Any) -> None:
    """6 (a + nb) = 14 a + 14/8 nb, so n = 8/4.25 * 10 us * 900 GB/s."""
    found = answer(f"crossover all_reduce mst ring {IDEAL}")
    conforms(found, "crossover")
    (swap,) = found["rows"]
    assert swap["size"] == pytest.approx(8 / 4.25 * 9e6, rel=1e-9)
    assert swap["time_us"] == pytest.approx(60 + 6 * 8 / 4.25 * 10, rel=1e-9)
    assert (swap["below"], swap["above"], swap["jump"]) == ("mst", "ring", None)
    assert (found["a"], found["b"], found["identical"]) == ("mst", "ring", False)


def test_table_names_the_swap(run: Any) -> None:
    """Size in bytes and with a unit, time, and who is faster."""
    lines = run(f"crossover all_reduce mst ring {IDEAL}").stdout.splitlines()
    assert lines[0] == "all_reduce on 8 ranks of ideal, sharing fifo: mst and ring, 1B to 1TiB"
    assert lines[2].split() == ["16941176.5", "=", "16.16MiB", "172.9", "mst", "ring"]


def test_no_swap_is_a_sentence(run: Any, answer: Any) -> None:
    """Empty rows, exit 0, and who is faster."""
    line = f"crossover broadcast mst linear {IDEAL}"
    result = run(line)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1] == "no swap: mst is faster wherever they differ"
    found = answer(line)
    assert (found["rows"], found["faster"], found["identical"]) == ([], "mst", False)


def test_no_swap_is_a_csv_with_a_header(run: Any) -> None:
    """And nothing else."""
    line = f"crossover broadcast mst linear {IDEAL} --csv"
    assert run(line).stdout == "size,time_us,below,above,jump\n"


def test_identical_curves_are_said_so(run: Any, answer: Any) -> None:
    """Two ranks leave no choice: one message."""
    line = "crossover broadcast mst linear --alpha 1us --bandwidth 1GB/s --ranks 2"
    assert "identical: both take the same time at every size" in run(line).stdout
    assert answer(line)["identical"] is True


def test_range_is_respected(answer: Any, fails: Any) -> None:
    """Below the swap there is none; an empty range is wrong usage."""
    found = answer(f"crossover all_reduce mst ring {IDEAL} -b 1 -e 1M")
    assert (found["rows"], found["faster"], found["max_bytes"]) == ([], "mst", 2**20)
    message = "-b 8 is not below -e 8, expected a range of sizes"
    assert fails("crossover all_reduce mst ring -b 8 -e 8", code=2) == message
