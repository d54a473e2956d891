"""What is said of a file that is gone on with."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from collsim.core.measurements_file import read_rows
from collsim.measure import threads
from collsim.measure.job import Job
from collsim.measure.resumed import told
from collsim.measure.sampling import How

ROW: dict[str, Any] = {"library": "Gloo", "device": None, "cores": 2, "host": "a"}


def test_nothing_is_said_of_a_file_without_rows() -> None:
    """Nor where all that is there is of this machine and none of these points."""
    assert told("m", [], [ROW], 0) == told("m", [ROW], [ROW], 0) == []


@pytest.mark.parametrize("change", [{"cores": 64}, {"library": "MPI"}, {"device": "H100"}])
def test_rows_of_another_machine_are_counted(change: dict[str, Any]) -> None:
    """They are not taken for measured."""
    (text,) = told("m.jsonl", [{**ROW, **change}, ROW], [ROW], 0)
    assert text.startswith("1 of 2 rows in m.jsonl are of another library, device, cores or")


def test_rows_of_another_host_are_named() -> None:
    """Nodes of a cluster are alike, so their rows count; a desk is not, so it is said."""
    (text,) = told("m.jsonl", [{**ROW, "host": "b"}, ROW, {**ROW, "host": None}], [ROW], 0)
    assert text.startswith("rows in m.jsonl were measured on b, which is taken for a machine")


def test_options_that_do_nothing_for_points_that_are_there_are_told(
    memory: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """More repetitions of a point that is in the file are not measured."""
    path = tmp_path / "m.jsonl"
    monkeypatch.setattr(threads, "member", lambda *_: lambda *_: made)
    for how, sizes in ((How(0, 5), (64,)), (How(9, 50), (64, 128))):
        world = memory.World(2)
        made = [lambda rank=rank: memory.Memory(world, rank) for rank in range(2)]  # noqa: B023
        job = Job("nccl4py", ("ping_pong",), sizes, how=how, path=str(path), resume=True)
        threads.in_threads(job, 2, print)
    assert [row["repetitions"] for row in read_rows(path)] == [5, 50]
    assert f"note: 1 of 2 points is in {path} already" in capsys.readouterr().err
    assert all(row["host"] for row in read_rows(path))
