"""-o: files are written whole or not at all, and what is no file is never replaced."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

LINE = "predict all_reduce -s 1K"
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("form", ["", "--json", "--csv"])
def test_file_holds_what_would_be_printed(run: Any, tmp_path: Path, form: str) -> None:
    """And nothing is printed."""
    path = tmp_path / "answer"
    result = run(f"{LINE} {form} -o", str(path))
    assert (result.exit_code, result.output) == (0, "")
    assert path.read_text("utf-8") == run(f"{LINE} {form}").stdout
    assert list(tmp_path.iterdir()) == [path]


def test_hyphen_is_stdout(run: Any) -> None:
    """As without it."""
    assert run(f"{LINE} -o -").stdout == run(LINE).stdout


def test_dev_stdout_is_written_and_stays(tmp_path: Path) -> None:
    """Sent to a file, which is appended to by the shell, it is written in its place."""
    path = tmp_path / "all"
    program = f"{sys.executable} -m collsim {LINE} --csv -o /dev/stdout"
    command = f"(echo before; {program}; echo after) > {path}"
    subprocess.run(["bash", "-c", command], check=True, cwd=ROOT, timeout=60)
    lines = path.read_text("utf-8").splitlines()
    assert (lines[0], len(lines), lines[-1]) == ("before", 4, "after")
    assert Path("/dev/stdout").is_symlink()


def test_dev_null_stays_a_device(run: Any) -> None:
    """Replaced by a file it would break the machine."""
    assert run(f"{LINE} -o /dev/null").exit_code == 0
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_folder_is_refused(fails: Any, tmp_path: Path) -> None:
    """One line that names it."""
    message = fails(f"{LINE} -o", str(tmp_path), code=1)
    assert message == f"{tmp_path}: Is a directory"


def test_missing_folder_is_refused(fails: Any, tmp_path: Path) -> None:
    """One line that names it."""
    path = tmp_path / "nowhere" / "x.json"
    message = fails(f"{LINE} --json -o", str(path), code=1)
    assert message == f"{path}: the folder {path.parent} does not exist"


def test_failure_leaves_the_file_as_it_was(fails: Any, tmp_path: Path) -> None:
    """Nothing is written before the answer is there."""
    path = tmp_path / "kept"
    path.write_text("kept")
    fails("predict all_reduce --dtype no -s 1 -o", str(path), code=1)
    assert path.read_text() == "kept"


def test_json_and_csv_exclude_each_other(fails: Any) -> None:
    """Wrong usage."""
    message = fails(f"{LINE} --json --csv", code=2)
    assert message == "--json and --csv, expected one of them"


@pytest.mark.parametrize("target", ["-", "/dev/stdout"])
def test_profile_on_stdout_is_toml_alone(run: Any, log: str, target: str) -> None:
    """No summary behind it."""
    if target == "-":
        assert run(f"calibrate fit {log} -o -").stdout == run(f"calibrate fit {log}").stdout
        return
    command = [sys.executable, "-m", "collsim", "calibrate", "fit", log, "-o", target]
    done = subprocess.run(
        command, check=True, cwd=ROOT, timeout=60, capture_output=True, text=True
    )
    assert done.stdout == run(f"calibrate fit {log}").stdout
