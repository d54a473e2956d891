"""A rank that dies, hangs, or whose parent dies: no row lost, no process left, in time."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from collsim.core.measurements_file import RowFile


@pytest.fixture(scope="module")
def killing(by_path: Callable[[str], ModuleType]) -> ModuleType:
    """Return the module that starts, kills and looks."""
    return by_path("tests/measure/killing.py")


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_killed_rank_is_named_and_nothing_is_lost(
    torch: None, killing: ModuleType, tmp_path: Path, seed: int
) -> None:
    """At a random moment, be it while ranks start, meet or measure."""
    found = killing.kill_one(tmp_path, seed)
    assert found.code == 1
    assert found.last.startswith("Error: rank ")
    assert "was ended by SIGKILL" in found.last
    assert found.seconds < killing.TIMEOUT
    assert found.rows_after >= found.rows_before
    assert found.left == []
    if (tmp_path / "m.jsonl").exists():
        with RowFile(tmp_path / "m.jsonl", resume=True) as file:
            assert len(file.rows) == found.rows_after


@pytest.mark.slow
def test_a_hung_collective_names_itself_its_size_and_a_rank(
    torch: None, killing: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rank that is stopped lets the others wait; a time-out ends them all, and names it."""
    monkeypatch.setattr(killing, "TIMEOUT", 3.0)
    run = killing.start(tmp_path, "all_reduce", "-s", "4K", "-n", "1000000", ranks=2)
    try:
        victim = killing.rank_of(tmp_path, 1)
        until = time.monotonic() + 20
        while not (tmp_path / "m.jsonl").exists() and time.monotonic() < until:
            time.sleep(0.05)
        time.sleep(0.5)
        os.kill(victim, signal.SIGSTOP)
        _, text = run.communicate(timeout=killing.PATIENCE)
    finally:
        if run.poll() is None:
            run.kill()
            run.communicate()
    assert run.returncode == 1
    last = text.splitlines()[-1]
    assert last == (
        "Error: rank 1 is stopped (SIGSTOP, or a debugger); rank 0 was at "
        "all_reduce/library, 4KiB"
    )
    assert killing.gone(tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_ranks_end_with_the_one_who_started_them(
    torch: None, killing: ModuleType, tmp_path: Path, how: signal.Signals
) -> None:
    """Interrupted, ended or killed: the rows are there and the ranks are not."""
    run = killing.start(tmp_path, "broadcast", "-b", "8", "-e", "4M", "-n", "300", ranks=2)
    try:
        killing.rank_of(tmp_path, 1)
        until = time.monotonic() + 30
        while killing.rows_in(tmp_path) < 1 and time.monotonic() < until:
            time.sleep(0.02)
        before = killing.rows_in(tmp_path)
        run.send_signal(how)
        _, text = run.communicate(timeout=killing.PATIENCE)
    finally:
        if run.poll() is None:
            run.kill()
            run.communicate()
    assert killing.gone(tmp_path) == []
    assert killing.rows_in(tmp_path) >= before > 0
    if how != signal.SIGKILL:
        assert run.returncode == 130
        last = f"rows? in {tmp_path / 'm.jsonl'}; --resume goes on"
        assert re.fullmatch(rf"Error: interrupted: \d+ {last}", text.splitlines()[-1])
        assert [path.name for path in tmp_path.iterdir()] == ["m.jsonl"]
