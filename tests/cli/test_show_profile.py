"""``show profile``, and the same profile put into a cluster in Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import collsim

NAME = "h100-nvswitch-8"


def test_show_profile_says_what_it_rests_on(run: Any) -> None:
    """What was measured first, then every parameter, then how far off it is."""
    lines = run(f"show profile {NAME}").stdout.splitlines()
    assert lines[0] == f"{NAME}: times of NCCL's algorithms and protocols"
    assert "  sizes        512B to 512MiB" in lines
    shown = [line.partition(" ")[0] for line in lines[lines.index("") + 2 :]]
    profile = collsim.load_profile(NAME)
    assert shown[: len(profile.parameters)] == list(profile.parameters)
    assert lines[-4].startswith("fitted to 132 and tried on the other 120: off by")
    assert lines[-1].startswith("note: ")


def test_show_profile_as_json(run: Any) -> None:
    """A row for each parameter; all else under `profile`."""
    found = json.loads(run(f"show profile {NAME} --json").stdout)
    assert (found["schema"], found["cluster"]) == ("collsim/show-profile/1", "dgx-h100")
    assert found["profile"]["ranks"] == [2, 4, 8]
    assert [error["kind"] for error in found["profile"]["errors"]] == ["in_sample", "sizes"]
    launch = found["rows"][0]
    assert (launch["parameter"], launch["unit"], launch["kind"]) == ("launch", "s", "fit")
    assert launch["low"] < launch["value"] < launch["high"]


def test_show_profile_of_a_file(run: Any, tmp_path: Path) -> None:
    """One of lines: its cluster, algorithm and chunks too."""
    log = "examples/nccl_tests_all_reduce_8gpu.txt"
    run(f"calibrate fit {log} -o {tmp_path / 'my.toml'}")
    text = run(f"show profile {tmp_path / 'my.toml'}").stdout
    assert text.startswith("fitted: one latency and one bandwidth per class of links\n")
    assert "\n  algorithm      ring\n" in text
    assert "\nlink.alpha " in text
    assert "\nnote: launch is 0: " in text


def test_unknown_profile_names_the_nearest(run: Any) -> None:
    """And those that there are."""
    failed = run("show profile h100-nvswich-8")
    assert failed.exit_code == 1
    assert "unknown profile 'h100-nvswich-8'; did you mean 'h100-nvswitch-8'?" in failed.stderr


@pytest.mark.parametrize("given", [NAME, "profile"])
def test_python_predicts_as_the_command_does(run: Any, given: str) -> None:
    """A profile by its name or as it is: the same times of the same algorithms."""
    line = f"predict all_gather -c dgx-h100 --profile {NAME} -s 64K -s 1G --algorithm all"
    rows = json.loads(run(f"{line} --json").stdout)["rows"]
    profile = collsim.load_profile(NAME)
    cluster = collsim.with_profile(
        collsim.Cluster.load("dgx-h100"), profile if given == "profile" else given
    )
    fitted = collsim.fitted_times(profile)
    found = collsim.predict("all_gather", cluster, ["64K", "1G"], "all", fitted=fitted)
    assert [(r["algorithm"], r["time_us"]) for r in rows] == [
        (row.algorithm, row.time_us) for row in found.rows
    ]


def test_profile_of_lines_holds_no_fitted_times(tmp_path: Path) -> None:
    """It is all in the cluster; saved and read, it is the same profile."""
    profile = collsim.fit("examples/nccl_tests_all_reduce_8gpu.txt").profile
    assert collsim.fitted_times(profile) is None
    collsim.save_profile(profile, tmp_path / "my.toml")
    assert collsim.load_profile(tmp_path / "my.toml") == profile
    assert collsim.own_cluster(tmp_path / "my.toml").uniform == pytest.approx(
        profile.uniform[:2]
    )


def test_a_slow_machine_is_told_wherever_its_profile_is_met(run: Any) -> None:
    """Eight L40S reach a fourteenth of what two do: list, profile and prediction say so."""
    listed = {line.split()[0]: line for line in run("list profiles").stdout.splitlines()}
    assert "1.5GB/s" in listed["l40s-pcie-8"]
    told = (
        "more ranks span slower links: all_reduce of 512MiB was measured at 20.1GB/s of bus "
        "bandwidth on 2 ranks, 5.16GB/s on 4, 1.45GB/s on 8"
    )
    assert told in run("show profile l40s-pcie-8").stdout
    assert told in run("predict all_reduce --profile l40s-pcie-8 -s 1G").stderr
