"""Real ranks for the tests: torch, and a machine that may be busy with other tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

TIMEOUT = 30.0


@pytest.fixture(scope="session")
def memory(by_path: Callable[[str], ModuleType]) -> ModuleType:
    """Return the module of ranks that are threads."""
    return by_path("tests/measure/memory.py")


@pytest.fixture
def measured(
    torch: None, tmp_path: Path, realtime: bool
) -> Callable[..., list[dict[str, Any]]]:
    """Return a function that measures a job on real ranks and returns the rows."""
    from collsim.core.measurements_file import read_rows
    from collsim.measure.job import Job
    from collsim.measure.launch import own_ranks
    from collsim.measure.sampling import How

    def run(what: tuple[str, ...], ranks: int, sizes: tuple[int, ...], **more: Any) -> Any:
        path = str(tmp_path / "m.jsonl")
        given = {"how": How(warmups=1, budget=0.1), "timeout": TIMEOUT, "path": path}
        job = Job("gloo", what, sizes, **{**given, "realtime": realtime, **more})
        own_ranks(job, ranks)
        return read_rows(job.path)

    return run
