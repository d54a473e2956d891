"""What is written as text reads back the same, for every algorithm."""

from __future__ import annotations

from typing import Any

import pytest

from collsim.algorithms import algorithm_names, build
from collsim.core.collective import COLLECTIVES
from collsim.core.same import difference
from collsim.errors import InputError
from collsim.interop.schedule_text.reader import read_text_schedule
from collsim.interop.schedule_text.writer import to_text

CASES = [(kind, name) for kind in COLLECTIVES for name in algorithm_names(kind)]
NAMES = [f"{kind}-{name}" for kind, name in CASES]


@pytest.mark.parametrize(("kind", "name"), CASES, ids=NAMES)
def test_reads_back_the_same(schedules: Any, kind: str, name: str) -> None:
    """On 1 to 16 ranks: operations, their order, rounds and waits."""
    for what, schedule in schedules(kind, name, range(1, 17)):
        again = read_text_schedule(what, to_text(schedule, name))
        assert again[0] == name
        assert difference(schedule, again[1]) is None, what


def test_a_small_one_by_hand() -> None:
    """Everybody sends all to all: the head, and scratch."""
    lines = to_text(build("all_reduce", "one_shot", 3), "mine").splitlines()
    assert lines[:7] == [
        "schema: collsim/schedule/1", "name: mine", "collective: all_reduce", "ranks: 3",
        "parts: 1", "scratch: 2", "",
    ]  # fmt: skip
    assert lines[7] == "0 -> 1: reduce chunk 0 into s0"


def test_switches_have_no_word() -> None:
    """In-switch algorithms are refused by name, with the reason."""
    with pytest.raises(InputError, match=r"^nvls: its messages go by way of a switch"):
        to_text(build("all_reduce", "nvls", 4, multicast=True), "nvls")
