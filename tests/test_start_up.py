"""What starting loads: as little as the answer needs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"scipy", "numba", "matplotlib", "plotly"}


def loaded_by(code: list[str], folder: Path) -> set[str]:
    """Return every module that a run of Python imports, by its own account."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    command = [sys.executable, "-X", "importtime", *code]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False,
        timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return set(re.findall(r"^import time:.*\|\s*([\w.]+)$", done.stderr, re.MULTILINE))


def test_import_is_light(tmp_path: Path) -> None:
    """`import collsim` loads nothing that takes a second to load."""
    loaded = loaded_by(["-c", "import collsim"], tmp_path)
    assert "collsim" in loaded
    assert not loaded & HEAVY


@pytest.mark.parametrize(
    "command",
    [
        "--help",
        "--version",
        "predict --help",
        "predict all_reduce --ranks 8",
        "predict all_reduce --ranks 8 --algorithm all --json",
        "predict broadcast -c dgx-h100 --nodes 2 -s 1MiB --csv",
    ],
)
def test_predict_starts_light(tmp_path: Path, command: str) -> None:
    """A small prediction needs no compiler, no optimiser and no plots."""
    loaded = loaded_by(["-m", "collsim", *command.split()], tmp_path)
    assert "collsim.cli.main" in loaded
    assert not loaded & HEAVY


def packages(loaded: set[str]) -> set[str]:
    """Return the packages of some modules that are neither Python's nor of its start-up."""
    tops = {name.partition(".")[0] for name in loaded} - set(sys.stdlib_module_names)
    # What a virtual environment or an editable install may bring along; `org` is Java's name
    # that the standard library asks for, `_wmi` one of Windows.
    own = {"sitecustomize", "usercustomize", "_distutils_hack", "_virtualenv", "org", "_wmi"}
    return {name for name in tops - own if not name.startswith("__editable__")}


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("", {"collsim"}),
        ("--help", {"collsim", "click"}),
        ("--version", {"collsim", "click"}),
        ("sweep --help", {"collsim", "click"}),
        ("predict all_reduce --algorithm ring -s 64M", {"collsim", "click", "numpy"}),
        (
            "predict all_reduce -c dgx-h100 --nodes 8 --algorithm ring -s 64M",
            {"collsim", "click", "numpy"},
        ),
    ],
    ids=["import", "help", "version", "help of a command", "predict", "predict on 64"],
)
def test_what_is_loaded(tmp_path: Path, command: str, expected: set[str]) -> None:
    """One size and algorithm start with nothing but these packages: all others are heavy."""
    code = ["-m", "collsim", *command.split()] if command else ["-c", "import collsim"]
    assert packages(loaded_by(code, tmp_path)) == expected


def test_import_loads_one_module_of_the_package(tmp_path: Path) -> None:
    """The names are there, and what is behind them comes when it is used."""
    loaded = loaded_by(["-c", "import collsim; collsim.__all__"], tmp_path)
    assert {name for name in loaded if name.startswith("collsim")} == {"collsim"}


def test_help_loads_no_room_but_its_own(tmp_path: Path) -> None:
    """Beside the command line's, what checks and spells values."""
    loaded = loaded_by(["-m", "collsim", "--help"], tmp_path)
    rooms = {name.split(".")[1] for name in loaded if name.startswith("collsim.")}
    assert rooms == {"cli", "config", "errors", "files", "registry", "units"}


def test_help_does_not_even_load_numpy(tmp_path: Path) -> None:
    """Half of the time of an answer to `--help` would be numpy."""
    assert "numpy" not in loaded_by(["-m", "collsim", "--help"], tmp_path)
