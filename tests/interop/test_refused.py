"""What cannot be written, or read, as a schedule or a trace; and very long traces."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import collsim
from collsim.errors import FileError, InputError, TooLargeError, UnknownNameError
from collsim.interop.chrome_trace import _counters
from collsim.interop.schedule_text import reader, writer

CLUSTER = collsim.Cluster.ideal(4, alpha="1us", bandwidth="1GB/s")


def test_what_is_no_simulation_is_no_trace(tmp_path: Path) -> None:
    """Nor is one of another number of ranks."""
    with pytest.raises(InputError, match="trace: got 'x', expected what simulate returned"):
        collsim.write_trace("x", CLUSTER, tmp_path / "t.json")  # type: ignore[arg-type]
    three = collsim.Cluster.ideal(3, alpha="1us", bandwidth="1GB/s")
    timeline = collsim.simulate(collsim.build("reduce", "mst", 3), three, 8)
    with pytest.raises(InputError, match="trace: of 3 ranks, but cluster 'ideal' has 4"):
        collsim.write_trace(timeline, CLUSTER, tmp_path / "t.json")
    assert list(tmp_path.iterdir()) == []


def test_counters_of_long_runs_are_means(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No more points than a viewer shows, and the same bytes in all."""
    made = []
    for most in (10**6, 4):
        monkeypatch.setattr(_counters, "_MOST", most)
        schedule = collsim.build("broadcast", "ring", 4, chunks=16)
        timeline = collsim.simulate(schedule, CLUSTER, 2**20)
        collsim.write_trace(timeline, CLUSTER, tmp_path / "t.json")
        events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
        made.append([event for event in events if event["ph"] == "C"])
    whole, few = made
    names = {event["name"] for event in whole}
    assert names == {event["name"] for event in few}
    assert all(sum(event["name"] == name for event in few) <= 2 * 4 + 1 for name in names)


def test_files_of_schedules_that_are_none(tmp_path: Path) -> None:
    """Of another format, of no text, and wrong."""
    schedule = collsim.build("reduce", "mst", 2)
    with pytest.raises(UnknownNameError, match="unknown format 'json'"):
        collsim.save_schedule(schedule, tmp_path / "a", "json")
    path = tmp_path / "bytes.txt"
    path.write_bytes(b"collective: reduce\nranks: 2\n\xff\n")
    with pytest.raises(FileError, match="line 3 is not UTF-8 text"):
        collsim.load_schedule(path)
    path = tmp_path / "wrong.txt"
    path.write_text("collective: reduce\nranks: 2\n0 -> 1: reduce chunk 0\n")
    with pytest.raises(FileError, match="is not a correct reduce: "):
        collsim.load_schedule(path)


def test_texts_of_too_many_messages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither written nor read."""
    schedule = collsim.build("reduce", "mst", 4)
    collsim.save_schedule(schedule, tmp_path / "a.txt")
    for module in (reader, writer):
        monkeypatch.setattr(module, "MOST_MESSAGES", 2)
    with pytest.raises(FileError, match="expected at most 2 messages"):
        collsim.load_schedule(tmp_path / "a.txt")
    with pytest.raises(TooLargeError, match="3 messages, expected at most 2"):
        collsim.save_schedule(schedule, tmp_path / "b.txt")
    assert not (tmp_path / "b.txt").exists()


def test_a_round_before_the_head(tmp_path: Path) -> None:
    """The head comes first."""
    (tmp_path / "a.txt").write_text("round 1\ncollective: reduce\n")
    with pytest.raises(FileError, match="line 1: got 'round 1', expected a head first"):
        collsim.load_schedule(tmp_path / "a.txt")
