"""`collsim calibrate fit` and `collsim check`."""

from __future__ import annotations

import csv
import io
import tomllib
from pathlib import Path
from typing import Any

import pytest


def test_profile_goes_to_stdout(run: Any, log: str) -> None:
    """TOML and nothing else; what it cannot say is a note on stderr."""
    result = run(f"calibrate fit {log}")
    profile = tomllib.loads(result.stdout)
    assert profile["schema"] == "collsim/profile/1"
    assert profile["parameters"]["link.alpha"]["value"] == pytest.approx(1.5e-6, rel=0.01)
    assert profile["parameters"]["link.beta"]["value"] == pytest.approx(2.7e-12, rel=0.01)
    assert result.stderr.startswith("note: launch is 0: ")


def test_with_o_the_profile_goes_there_and_a_summary_is_printed(
    run: Any, log: str, tmp_path: Path
) -> None:
    """The file is the same TOML."""
    path = tmp_path / "mine.toml"
    result = run(f"calibrate fit {log} -o", str(path))
    assert path.read_text("utf-8") == run(f"calibrate fit {log}").stdout
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines] == [
        "parameter",
        "link.alpha",
        "link.beta",
        "launch",
        "fitted",
        "fitted",
    ]


def test_fit_json_conforms(answer: Any, conforms: Any, log: str) -> None:
    """Profile, parameters and errors beside the rows."""
    found = answer(f"calibrate fit {log}")
    conforms(found, "calibrate-fit")
    assert found["profile"]["algorithm"] == "ring"
    assert set(found["parameters"]) == {"link.alpha", "link.beta", "launch"}
    for parameter in found["parameters"].values():
        assert list(parameter) == ["value", "low", "high", "unit"]
    assert list(found["errors"]) == ["in_sample", "held_out"]
    assert list(found["errors"]["in_sample"]) == ["median", "p90", "n"]
    assert found["errors"]["held_out"]["kind"] == "sizes"
    assert (found["collective"], found["ranks"], len(found["rows"])) == ("all_reduce", 8, 31)


def test_fit_csv_has_a_row_for_each_parameter(run: Any, log: str) -> None:
    """With its interval."""
    rows = list(csv.DictReader(io.StringIO(run(f"calibrate fit {log} --csv").stdout)))
    assert [row["parameter"] for row in rows] == ["link.alpha", "link.beta", "launch"]


def test_where_chooses_rows(answer: Any, log: str) -> None:
    """Two conditions hold together."""
    words = ["--where", "size >= 1MiB", "--where", "size < 4MiB"]
    found = answer(f"calibrate fit {log}", *words)
    assert [row["size"] for row in found["rows"]] == [2**20, 2**21]


def test_check_against_the_fit_is_fine(run: Any, answer: Any, log: str, tmp_path: Path) -> None:
    """Every row within the tolerance, exit 0."""
    path = str(tmp_path / "mine.toml")
    run(f"calibrate fit {log} -o", path)
    found = answer(f"check {log} --profile", path)
    assert {row["verdict"] for row in found["rows"]} == {"ok"}
    last = run(f"check {log} --profile", path).stdout.splitlines()[-1]
    assert last == "all_reduce on 8 ranks of 1 node: all 31 rows within 20% of the prediction."


def test_check_prints_then_fails_past_the_tolerance(
    run: Any, answer: Any, conforms: Any, log: str
) -> None:
    """Half the alpha and double the bandwidth: every row takes twice as long."""
    line = f"check {log} --alpha 0.75us --bandwidth 740.8GB/s"
    result = run(line)
    assert result.exit_code == 1
    assert len(result.stdout.splitlines()) == 31 + 4 + 3
    assert "as if every call started 10.6us late" in result.stdout
    error = "Error: check: 31 of 31 rows take more than 1.2 times the predicted time"
    assert result.stderr.splitlines()[-1] == error
    found = answer(line, code=1)
    conforms(found, "check")
    assert run(f"{line} --tolerance 1.5").exit_code == 0
    assert found["rows"][0]["ratio"] == pytest.approx(2, rel=0.05)


@pytest.mark.parametrize("command", ["calibrate fit", "check"])
def test_no_log_is_wrong_usage_and_a_missing_one_a_failure(fails: Any, command: str) -> None:
    """Both are one line."""
    assert fails(command, code=2).startswith("Missing argument 'LOG...';")
    message = fails(f"{command} nowhere.txt", code=1)
    assert message == "nowhere.txt: No such file or directory"


@pytest.mark.parametrize("model", ["", "--model line"])
def test_a_mesh_is_no_line_and_the_way_out_is_named(fails: Any, log: str, model: str) -> None:
    """Its links are of one class and its node is one: neither is what is wrong."""
    assert fails(f"calibrate fit {log} -c mi300x {model}", code=1) == (
        "cluster mi300x: a GPU has several links of xgmi4 at once, and one line is of one; "
        "leave -c out, and the line is of an ideal network"
    )


def test_a_fit_that_its_own_log_fails_says_so(run: Any, fails: Any, tmp_path: Path) -> None:
    """One line through two protocols: times between them are half as long again."""
    rows = [(2**k, 20e-6 + (30e-6 if k > 15 else 0.0) + 2**k / 100e9) for k in range(10, 30)]
    log = tmp_path / "rows.csv"
    lines = [f"all_reduce,8,{n},{seconds!r}" for n, seconds in rows]
    log.write_text("\n".join(["collective,ranks,size,seconds", *lines, ""]), "utf-8")
    profile = tmp_path / "made.toml"
    said = run(f"calibrate fit {log} -o {profile}").stdout.splitlines()[-1]
    assert "times what the fit says, between " in said
    assert said.endswith("collsim check of this log with this profile fails")
    count = int(said.split()[0])
    message = fails(f"check {log} --profile {profile}", code=1)
    assert message.startswith(f"check: {count} of 20 rows take more than 1.2 times")
