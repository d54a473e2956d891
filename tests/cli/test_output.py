"""-o: files are written whole or not at all, and what is no file is never replaced."""

from __future__ import annotations

import json
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


@pytest.mark.parametrize(
    "line",
    [
        "predict all_reduce --nodes 4 -s 8G --profile h100-ndr",
        "predict all_reduce -c dgx-h100 --nodes 2 --algorithm ring,nvls -s 1M",
        "choose all_reduce -c dgx-h100 --nodes 2 -e 1K --algorithm ring,nvls",
        "choose all_reduce --nodes 2 --profile h100-ndr --against nccl -b 1M -e 2M",
        "crossover all_reduce mst ring -c dgx-h100 --profile h100-nvswitch-8",
        "check examples/nccl_tests_all_reduce_8gpu.txt --profile h100-nvswitch-8",
    ],
)
def test_json_has_the_notes(run: Any, line: str) -> None:
    """All that stderr has, each once, also those that a reader sees below the answer."""
    result = run(f"{line} --json")
    notes = json.loads(result.stdout)["notes"]
    assert notes
    said = [x.removeprefix("note: ") for x in result.stderr.splitlines() if x[:6] == "note: "]
    assert notes == said
    plain = run(line).stderr.splitlines()
    assert sorted(f"note: {text}" for text in notes) == sorted(
        x for x in plain if x[:6] == "note: "
    )


def test_one_call_has_not_the_notes_of_another(run: Any) -> None:
    """Nothing to note is an empty list."""
    run("predict all_reduce --nodes 4 -s 8G --profile h100-ndr")
    found = json.loads(run("predict all_reduce --algorithm ring -s 1M --json").stdout)
    assert found["notes"] == []
