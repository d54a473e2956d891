"""Rows of a file of live measurements that are fitted and drawn, and those that are not."""

from __future__ import annotations

from typing import Any

import pytest

from collsim.calibrate.point_to_point.fit import fit_point_to_point
from collsim.calibrate.usable import usable
from collsim.errors import InputError

ROW: dict[str, Any] = {
    "pattern": "ping_pong", "collective": "sendrecv", "ranks": 2, "size": 1024,
    "seconds": 1e-5, "library": "Gloo", "cores": 2, "pairs": [[0, 1]],
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"seconds": 0.0}, "a time of 0 cannot be true"),
        ({"seconds": 1e9}, "1e+09 s are more than a call can take"),
        ({"wrong": 5}, "5 elements are wrong"),
        ({"size": 2**40}, "1099511627776 bytes in 10 us are more than any memory moves"),
        ({"library": "Gloo 2"}, "of Gloo 2, and not of Gloo as the last one"),
        ({"cores": 64}, "of cores 64, and not of cores 2 as the last one"),
    ],
)
def test_what_cannot_be_true_or_is_of_another_machine_is_left_out(
    change: dict[str, Any], reason: str
) -> None:
    """And said, with how many rows it was."""
    kept, notes = usable([{**ROW, **change}, ROW, {**ROW, **change}, ROW])
    assert kept == [ROW, ROW]
    assert notes == [f"2 rows left out: {reason}"]


def test_schedules_on_a_library_are_of_the_same_machine() -> None:
    """Their rows name the library too, and rows of others may know less."""
    ours = {**ROW, "library": "collsim's schedules on Gloo"}
    rows = [ROW, {"collective": "reduce", "ranks": 2, "size": 8, "seconds": 1e-5}, ours]
    assert usable(rows) == (rows, [])


def test_a_fit_refuses_a_time_of_nothing() -> None:
    """In one line, where rows were not looked at before."""
    rows = [{**ROW, "size": n, "seconds": 0.0 if n == 8 else 1e-5} for n in (8, 1024, 65536)]
    with pytest.raises(InputError, match="seconds: got 0, expected times above 0"):
        fit_point_to_point(rows)
