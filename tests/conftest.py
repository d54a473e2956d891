"""What the tests of every room share."""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent

# The same examples on every machine, and no deadline: a busy one is not a bug.
settings.register_profile("collsim", deadline=None, derandomize=True, database=None)
settings.load_profile("collsim")


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the folder of pyproject.toml."""
    return ROOT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of real measurements beside the checkout, or skip.

    It is too large to live in the repository. `COLLSIM_REQUIRE_SHARED=1`, which
    `.ci/run` sets where the folder exists, turns every such skip into a failure.
    """
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"needs real measurements in {folder}")
    return folder


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail what needs the shared data and skips, where skipping is not allowed."""
    report = yield
    required = os.environ.get("COLLSIM_REQUIRE_SHARED") == "1"
    needs_it = "shared_data" in getattr(item, "fixturenames", ())
    if required and needs_it and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"COLLSIM_REQUIRE_SHARED=1, but skipped: {call.excinfo}"
    return report
