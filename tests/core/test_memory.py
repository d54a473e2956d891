"""How much memory there is: of the machine, or less where a container says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from collsim.core.memory import allowed, limit_of


def test_a_container_may_have_less_than_the_machine(tmp_path: Path) -> None:
    """The least of all that is said counts."""
    limit = tmp_path / "memory.max"
    limit.write_text("1048576\n")
    assert limit_of((limit,)) == 2**20


def test_no_limit_and_no_file_say_nothing(tmp_path: Path) -> None:
    """A group without a limit says max."""
    limit = tmp_path / "memory.max"
    limit.write_text("max\n")
    assert limit_of((limit, tmp_path / "missing")) == limit_of(()) > 2**20


def test_four_fifths_of_it_may_be_used() -> None:
    """Of 1,000 bytes, 800: 12 things of 64."""
    assert allowed(64, limit=1000) == 12


def test_a_system_that_does_not_tell_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then a container's limit is all there is, or a number for the machine."""

    def untold(_name: str) -> int:
        raise ValueError("unrecognized configuration name")

    monkeypatch.setattr("os.sysconf", untold)
    assert limit_of(()) >= 2**30
