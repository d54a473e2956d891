"""What the tests of MSCCL files share."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from collsim.core.schedule import Schedule
from collsim.interop.msccl.blocks import to_program
from collsim.interop.msccl.writer import to_xml
from collsim.interop.schedule_file import ScheduleFile, read_schedule

ByPath = Callable[[str], ModuleType]
# What collsim adds for itself.
OWN = re.compile(r' (op|round|channel|adds|turn)="\d+"| scratch="\d+"|<scratch [^>]*/>')


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., ScheduleFile]:
    """Return a function that reads the text of a file."""

    def given(text: str, **options: Any) -> ScheduleFile:
        path = tmp_path / "given.xml"
        path.write_text(text, encoding="utf-8")
        return read_schedule(path, **options)

    return given


@pytest.fixture(scope="session")
def spelled(by_path: ByPath) -> Callable[..., str]:
    """Return the function that spells a file out of a few words."""
    found: Callable[..., str] = by_path("tests/interop/msccl/spelled.py").spelled
    return found


@pytest.fixture(scope="session")
def outcomes(by_path: ByPath) -> Callable[[str, int], set[str]]:
    """Return the function that runs a file on memory, in random orders."""
    found: Callable[[str, int], set[str]] = by_path("tests/interop/msccl/oracle.py").outcomes
    return found


@pytest.fixture(scope="session")
def depth(by_path: ByPath) -> Callable[[str], int]:
    """Return the function that counts how many messages of a file follow each other."""
    found: Callable[[str], int] = by_path("tests/interop/msccl/oracle.py").depth
    return found


@pytest.fixture(scope="session")
def plain() -> Callable[[Schedule], str]:
    """Return a function that writes a schedule as others do, without what collsim adds."""

    def written(schedule: Schedule) -> str:
        return OWN.sub("", to_xml(to_program(schedule, "plain")))

    return written
