"""What ends a measurement before it begins, and what is said of how one ended."""

from __future__ import annotations

from typing import Any

import pytest

from collsim.algorithms import build
from collsim.errors import InputError, UsageError
from collsim.measure import launch
from collsim.measure.backends import gloo
from collsim.measure.cases import check_job
from collsim.measure.job import Job
from collsim.measure.place import Place
from collsim.measure.steps import plan


@pytest.mark.parametrize(
    ("codes", "said", "cause"),
    [
        ([3, 0], [{}, {}], "rank 0 ended with exit code 3"),
        ([None, 1], [{"at": "shift, 8B"}, {}], "rank 1 ended with exit code 1; rank 0 was at "),
        ([0, 0], [{}, {}], "a rank failed"),
        ([0, -200], [{}, {}], "rank 1 was ended by signal 200"),
        ([1, 1], [{"kind": "peer", "message": "b"}, {"kind": "data", "message": "a"}], "a"),
    ],
)
def test_the_first_cause_is_told(
    codes: list[int | None], said: list[dict[str, Any]], cause: str
) -> None:
    """Wrong data before what others say of it; an exit code where nobody says more."""
    assert launch._cause(codes, said).startswith(cause)


def test_a_process_that_is_gone_is_not_stopped() -> None:
    """Nothing can be read of it; no process has the largest number."""
    assert not launch._is_stopped(2**31 - 1)


@pytest.mark.parametrize(("graph", "share"), [(True, 1), (False, 2)])
def test_gloo_has_no_gpus(graph: bool, share: int) -> None:
    """So it captures no graph, and ranks share none."""
    place = Place(0, 1, 0, 1, "file:///nowhere", "collsim")
    with pytest.raises(UsageError, match="Gloo runs on CPUs, expected --backend nccl"):
        gloo.connect(place, 1.0, graph, share)


def test_nothing_to_measure_says_why() -> None:
    """No size holds an element of every rank."""
    job = Job("gloo", ("all_gather",), (4,), dtype="double")
    with pytest.raises(InputError, match=r"nothing to measure: .*too small for an element"):
        check_job(job, 2, 2)


def test_ranks_cannot_be_switches() -> None:
    """A schedule that adds up on the way is NVLS's own."""
    schedule = build("all_reduce", "nvls", 4, multicast=True)
    with pytest.raises(InputError, match="switches add up can't be carried out by ranks"):
        plan(schedule, 0, 16)
