"""What stands beside a verdict against a preset with nothing fitted."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from collsim.cli.measured.datasheets import OFF_BY
from collsim.config.presets import preset_names
from collsim.config.profile_file import load_profile
from collsim.config.shipped import shipped_profiles

PAGE = Path(__file__).parents[2] / "docs" / "validation.md"
HELD = f"held against datasheets, which are {OFF_BY} (docs/validation.md): before you call "


def test_the_numbers_are_those_of_the_page() -> None:
    """The line of all rows from 64 MiB on, in whole per cent."""
    section = PAGE.read_text("utf-8").partition("## Datasheets alone")[2].partition("\n## ")[0]
    pair = r"(\d+\.\d) / (\d+\.\d)"
    found = re.search(rf"^\| all \|[ \|\d]*\| {pair} \|  \| {pair} \|$", section, re.MULTILINE)
    assert found is not None
    median, p90, auto, auto_p90 = (f"{float(number):.0f} %" for number in found.groups())
    readme = " ".join((PAGE.parents[1] / "README.md").read_text("utf-8").split())
    assert f"by {median} in the median and {p90} at the 90th percentile" in readme
    assert f"by {auto} and {auto_p90}" in readme
    assert OFF_BY.startswith(f"off by {median} in the median and {p90} at the 90th percentile")


def test_a_datasheet_is_named_beside_its_verdict(run: Any, log: str) -> None:
    """Below what falls short, with the profile that ships for such rows."""
    shown = run(f"check {log} -c dgx-h100").stdout.splitlines()
    (line,) = [line for line in shown if line.startswith(HELD)]
    assert shown.index(line) > shown.index("")
    assert "it a fault, hold it against --profile h100-nvswitch-8 or a profile of your" in line
    assert line.endswith(", or allow --tolerance 30%.")
    wide = run(f"check {log} -c dgx-h100 --tolerance 30%").stdout
    assert HELD in wide
    assert "--tolerance" not in wide


def test_no_profile_is_named_that_was_fitted_to_other_rows(run: Any, log: str) -> None:
    """None that ships is of H200."""
    (line,) = [x for x in run(f"check {log} -c dgx-h200").stdout.splitlines() if HELD in x]
    assert "hold it against a profile of your own machine (collsim calibrate fit)" in line


def test_a_program_is_told_apart_from_its_rows(run: Any, log: str) -> None:
    """It is a note, in the JSON as on stderr."""
    result = run(f"check {log} -c dgx-h100 --json")
    assert sum(text.startswith(HELD) for text in json.loads(result.stdout)["notes"]) == 1
    assert f"note: {HELD}" in result.stderr


@pytest.mark.parametrize(
    "line",
    ["--profile h100-nvswitch-8", "--alpha 1.5us --bandwidth 200GB/s", "-c {cluster}"],
)
def test_ones_own_numbers_are_no_datasheet(
    run: Any, log: str, tmp_path: Path, line: str
) -> None:
    """A fit, an alpha, a cluster file."""
    text = (Path(__file__).parents[2] / "configs/clusters/dgx-h100.toml").read_text("utf-8")
    cluster = tmp_path / "mine.toml"
    cluster.write_text(text, "utf-8")
    result = run(f"check {log} {line.format(cluster=cluster)}")
    assert result.stdout.count("\n") > 5
    assert "held against" not in result.output


NOTE = "note: times are by datasheets; --profile {} has those of a measured machine"


@pytest.mark.parametrize(
    ("line", "profile"),
    [
        ("predict allreduce -c dgx-h100 -s 1G", "h100-nvswitch-8"),
        ("predict all_reduce -c DGX-H100 --nodes 4 -s 1G --algorithm ring", "h100-ndr"),
        ("choose all_gather -c dgx-a100 -b 1G -e 2G --algorithm ring", "a100-nvswitch-8"),
    ],
)
def test_times_of_a_datasheet_name_the_profile_that_ships(
    run: Any, line: str, profile: str
) -> None:
    """Once, on stderr; what programs read stays as it is."""
    shown = run(f"{line} --json")
    assert shown.stderr.splitlines().count(NOTE.format(profile)) == 1
    assert "datasheets" not in run(line).stdout


@pytest.mark.parametrize(
    "options",
    [
        "all_reduce -c dgx-h100 --profile h100-nvswitch-8",
        "all_reduce -c dgx-h100 --nodes 2 --set network.bandwidth=100GB/s",
        "all_reduce -c dgx-h100 --nodes 2 --fail nic[3]",
        "broadcast -c dgx-h100",
        "all_reduce -c dgx-h200",
        "all_reduce -c dgx-h100 --ranks 1",
        "all_reduce",
    ],
)
def test_no_profile_is_named_that_has_no_such_times(run: Any, options: str) -> None:
    """What is asked for is another machine, nothing that was measured, or a profile."""
    result = run(f"predict {options} -s 1G --algorithm ring")
    assert result.exit_code == 0
    assert "datasheets" not in result.stderr


def test_heads_of_profiles_say_what_whole_ones_do() -> None:
    """Only the keys before the first table are read."""
    heads = list(shipped_profiles())
    assert [one.name for one in heads] == list(preset_names("profiles"))
    for head in heads:
        profile = load_profile(head.name)
        for key in ("cluster", "collectives", "ranks", "nodes"):
            assert getattr(head, key) == getattr(profile, key)
