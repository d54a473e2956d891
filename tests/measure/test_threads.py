"""Ranks that are threads of one process, as nccl4py's are; and times on a device's clock."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from collsim.core.measurements_file import read_rows
from collsim.errors import CollsimError, FileError, MeasureError
from collsim.measure import threads
from collsim.measure.backends import _gpu
from collsim.measure.job import Job
from collsim.measure.run import measure
from collsim.measure.sampling import How
from collsim.measure.watch import Watch


def job(path: Path, **more: Any) -> Job:
    """Return a small job of our own schedules."""
    given: dict[str, Any] = {"how": How(1, 5), "path": str(path), "timeout": 20.0, **more}
    return Job("nccl4py", ("ping_pong", "all_reduce"), (64,), ("ring", "mst"), **given)


def test_a_job_runs_in_threads(
    memory: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same code as in processes; rank 0 writes, and every result is checked."""
    world = memory.World(3)
    made = [lambda rank=rank: memory.Memory(world, rank) for rank in range(3)]
    monkeypatch.setattr(threads, "member", lambda *_: lambda *_: made)
    threads.in_threads(job(tmp_path / "m.jsonl"), 3, print)
    rows = read_rows(tmp_path / "m.jsonl")
    assert [(row["pattern"], row.get("algorithm")) for row in rows] == [
        ("ping_pong", "direct"),
        ("collective", "ring"),
        ("collective", "mst"),
    ]
    assert rows[1]["wrong"] == 0
    assert rows[1]["process_model"] == "one process"


def test_ranks_without_the_file_are_told(
    memory: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only rank 0 opens it; the others end with one line, and its own reason is shown."""
    path = tmp_path / "m.jsonl"
    path.write_text("notes")
    found: list[BaseException] = []

    def work(rank: Any) -> None:
        watch = Watch(60.0, print, lambda: None)
        try:
            measure(job(path, resume=True), rank, 3, watch)
        except CollsimError as error:
            found.append(error)
        watch.stop()

    memory.on_ranks(3, work)
    texts = sorted(str(error) for error in found)
    assert texts[0].endswith("is no file of measurements, expected collsim/measurements/1")
    assert texts[1:] == [f"start, rank {r}: rank 0 can't write {path}" for r in (1, 2)]
    world = memory.World(3)
    made = [lambda rank=rank: memory.Memory(world, rank) for rank in range(3)]
    monkeypatch.setattr(threads, "member", lambda *_: lambda *_: made)
    with pytest.raises(FileError, match="is no file of measurements"):
        threads.in_threads(job(path, resume=True), 3, print)
    assert path.read_text() == "notes"


def test_rows_of_another_library_are_named_and_measured_again(
    memory: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """What is there of this library is done already, what is of another stays."""
    path = tmp_path / "m.jsonl"
    monkeypatch.setattr(threads, "member", lambda *_: lambda *_: made)
    for library, rows in (("a", 3), ("a", 3), ("b", 6)):
        world = memory.World(2)
        made = [lambda rank=rank: memory.Memory(world, rank) for rank in range(2)]  # noqa: B023
        monkeypatch.setattr(memory.Memory, "library", library)
        threads.in_threads(job(path, resume=True), 2, print)
        assert len(read_rows(path)) == rows
    every = capsys.readouterr().err.splitlines()
    told = [text for text in every if "of another library, " in text]
    (text,) = told
    assert text.startswith(f"note: 3 of 3 rows in {path} are of another library, device")


def test_wrong_data_end_the_run(
    memory: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything of it was timed, and by the name of what ran."""
    world = memory.World(2)

    class Broken(memory.Memory):  # type: ignore[name-defined,misc]
        """Adds up wrongly."""

        def combine(self, op: str, into: Any, source: Any) -> None:
            """Lose what was there."""
            into[:] = source

    made = [lambda rank=rank: Broken(world, rank) for rank in range(2)]
    monkeypatch.setattr(threads, "member", lambda *_: lambda *_: made)
    with pytest.raises(
        MeasureError, match=r"all_reduce/ring, 64B: \d+ elements came out wrong"
    ):
        threads.in_threads(job(tmp_path / "m.jsonl"), 2, print)
    assert [row["pattern"] for row in read_rows(tmp_path / "m.jsonl")] == ["ping_pong"]


class Device:
    """A GPU on which every call takes 2 us, and a replay what its calls take."""

    def __init__(self) -> None:
        self.cuda, self.now, self.recording, self.calls = self, 0.0, 0, 0
        device = self

        class Event:
            def __init__(self, enable_timing: bool) -> None:
                assert enable_timing

            def record(self, stream: Any) -> None:
                self.at = device.now

            def synchronize(self) -> None:
                pass

            def elapsed_time(self, other: Any) -> float:
                return float(other.at - self.at) * 1e3

        class Graph:
            def replay(self) -> None:
                device.now += 2e-6 * device.calls

        self.Event, self.CUDAGraph = Event, Graph

    def call(self) -> None:
        """Run at once, or be captured."""
        if self.recording:
            self.calls += 1
        else:
            self.now += 2e-6

    def synchronize(self) -> None:
        """Do nothing."""

    def graph(self, captured: Any, stream: Any, capture_error_mode: str) -> Any:
        """Capture what is called inside."""
        assert capture_error_mode == "thread_local"
        device = self

        class Capture:
            def __enter__(self) -> None:
                device.recording = 1

            def __exit__(self, *_: object) -> None:
                device.recording = 0

        return Capture()


@pytest.mark.parametrize("graph", [False, True])
def test_a_sample_on_the_device_is_the_mean_of_calls_in_a_row(graph: bool) -> None:
    """Between two events; with a graph they are captured once, and replayed."""
    device = Device()
    made = _gpu.stamps_of(device, None, device.call, 3, graph)
    assert made.shape == (3, 2)
    assert np.allclose(made[:, 1] - made[:, 0], 2e-6)
    assert device.calls == (_gpu.CALLS if graph else 0)


def test_what_was_set_for_shared_gpus_stays() -> None:
    """Who sets NCCL_MAX_CTAS knows better."""
    environment = {"NCCL_MAX_CTAS": "4"}
    _gpu.share_gpus(4, environment)
    assert environment == {"NCCL_MAX_CTAS": "4", "NCCL_MULTI_RANK_GPU_ENABLE": "1"}
