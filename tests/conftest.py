"""What the tests of every room share."""

from __future__ import annotations

import functools
import importlib.util
import os
import signal
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent
ByPath = Callable[[str], ModuleType]

# The same examples on every machine, and no deadline: a busy one is not a bug.
settings.register_profile("collsim", deadline=None, derandomize=True, database=None)
settings.load_profile("collsim")


# Where tests run in the background of a shell Ctrl-C is ignored, also by what they start; some
# press it.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the folder of pyproject.toml."""
    return ROOT


@pytest.fixture(scope="session")
def by_path() -> ByPath:
    """Return a function that loads a module by its path in the repository, once."""

    def load(path: str) -> ModuleType:
        name = path.removesuffix(".py").replace("/", "_")
        if name not in sys.modules:
            spec = importlib.util.spec_from_file_location(name, ROOT / path)
            assert spec is not None
            assert spec.loader is not None
            # Data classes look their module up.
            sys.modules[name] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(sys.modules[name])
        return sys.modules[name]

    return load


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


@pytest.fixture(scope="session")
def torch() -> None:
    """Skip where torch, which only runs real ranks, is not installed.

    `COLLSIM_REQUIRE_TORCH=1`, which `.ci/run` sets, turns every such skip into a failure.
    """
    if importlib.util.find_spec("torch") is None:
        pytest.skip("needs torch: pip install 'collsim[measure]'")


@pytest.fixture(scope="session")
def browsing(by_path: ByPath) -> ModuleType:
    """Return the module that drives a browser."""
    return by_path("tests/browser.py")


@pytest.fixture(scope="session")
def browser(browsing: ModuleType) -> Iterator[Any]:
    """Start a headless Chromium, or skip where there is none.

    `COLLSIM_REQUIRE_CHROMIUM=1`, which `.ci/run` sets, turns every such skip into a failure.
    """
    if browsing.program() is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    started = browsing.Browser()
    yield started
    started.close()


@pytest.fixture(scope="session")
def perfetto(
    browsing: ModuleType, browser: Any, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Path], Any]:
    """Return a context manager: a trace that is open in Perfetto, to be asked in SQL."""
    return functools.partial(browsing.perfetto, browser, tmp_path_factory.mktemp("perfetto"))


# The variable that forbids to skip, the fixture that needs it, or how such a skip begins.
_REQUIRED = (
    ("COLLSIM_REQUIRE_SHARED", "shared_data", None),
    ("COLLSIM_REQUIRE_TORCH", None, "needs torch:"),
    ("COLLSIM_REQUIRE_DASK", None, "needs Dask:"),
    ("COLLSIM_REQUIRE_CHROMIUM", None, "needs Chromium:"),
)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail what needs shared data, torch or Chromium and skips, where that is not allowed."""
    report = yield
    skipped = report.skipped and not hasattr(report, "wasxfail")
    for variable, fixture, reason in _REQUIRED:
        meant = fixture in getattr(item, "fixturenames", ()) if fixture else False
        meant = meant or (reason is not None and reason in str(report.longrepr))
        if skipped and meant and os.environ.get(variable) == "1":
            report.outcome = "failed"
            report.longrepr = f"{variable}=1, but skipped: {call.excinfo}"
    return report


@pytest.fixture(scope="session")
def realtime() -> bool:
    """Return whether ranks may run before everything else, so that other tests don't show."""
    try:
        before = os.sched_getscheduler(0), os.sched_getparam(0)
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
        os.sched_setscheduler(0, *before)
    except (OSError, AttributeError):
        return False
    return True
