"""Gloo on this machine: real processes, real data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from collsim.core.collective import COLLECTIVES

Rows = list[dict[str, Any]]
Measured = Callable[..., Rows]
EIGHT = tuple(name for name in COLLECTIVES if name != "sendrecv")


@pytest.mark.parametrize("ranks", [2, 4])
def test_mst_and_ring_of_all_collectives_give_the_right_data(
    measured: Measured, ranks: int
) -> None:
    """Checked element by element before they are timed, also where shares are unequal."""
    rows = measured(EIGHT, ranks, (44, 4000), algorithms=("mst", "ring"))
    assert {(row["collective"], row["algorithm"]) for row in rows} == {
        (name, algorithm) for name in EIGHT for algorithm in ("mst", "ring")
    }
    assert len(rows) == 32
    for row in rows:
        assert row["wrong"] == 0
        assert row["seconds"] > 0
        assert row["low"] <= row["seconds"] <= row["high"]


@pytest.mark.parametrize("ranks", [2, 4])
def test_messages_and_the_librarys_own_collectives(measured: Measured, ranks: int) -> None:
    """Every pattern that so many ranks can make, and all of torch's collectives."""
    patterns = ("ping_pong", "relay", "pairs", "exchange", "shift", "start", "self", "add")
    rows = measured((*patterns, *COLLECTIVES), ranks, (64,))
    found = {row["pattern"] for row in rows}
    assert found == {*patterns, "collective"} - ({"pairs"} if ranks < 4 else set())
    own = [row for row in rows if row["pattern"] == "collective"]
    assert {row["collective"] for row in own} == set(COLLECTIVES)
    assert all(row["runs"] == "library" and row["wrong"] == 0 for row in own)
    ping = next(row for row in rows if row["pattern"] == "ping_pong")
    assert (ping["collective"], ping["ranks"], ping["world"]) == ("sendrecv", 2, ranks)
    for row in rows:
        assert (row["backend"], row["clock"]) == ("gloo", "host")
        assert row["process_model"] == "process per rank"


def test_an_average_in_a_type_of_few_digits(measured: Measured) -> None:
    """Gloo has no average of its own; our schedules divide at the end."""
    rows = measured(("reduce",), 2, (34,), algorithms=("ring",), op="avg", dtype="half")
    assert (rows[0]["op"], rows[0]["dtype"], rows[0]["count"]) == ("avg", "half", 17)


def test_what_is_there_is_not_measured_again(measured: Measured) -> None:
    """With `resume` the file keeps its rows and gets those that it lacks."""
    first = measured(("ping_pong",), 2, (8,))
    both = measured(("ping_pong",), 2, (8, 64), resume=True)
    assert both[0] == first[0]
    assert [row["size"] for row in both] == [8, 64]
