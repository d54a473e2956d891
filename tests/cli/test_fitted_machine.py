"""Profiles of NCCL's pieces are of one machine."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest


@pytest.mark.parametrize("cluster", ["dgx-a100", "pcie-8", "gb200-nvl72"])
@pytest.mark.parametrize(
    "line", ["predict all_reduce -s 1M", "choose all_reduce --against nccl --nccl-tuner -"]
)
def test_another_machine_is_refused(fails: Any, line: str, cluster: str) -> None:
    """Both are named, and what to do."""
    message = fails(f"{line} --profile h100-nvswitch-8 -c {cluster}", code=1)
    assert message.startswith("profile h100-nvswitch-8: fitted on dgx-h100")
    assert f"cluster is {cluster}" in message
    assert "leave -c out" in message


def test_the_same_machine_is_taken(run: Any, tmp_path: Path) -> None:
    """Its own name, and a file of alike links; not one of others."""
    line = "predict all_reduce -s 1M --profile h100-nvswitch-8 -c"
    assert run(line, "dgx-h100").exit_code == 0
    path = tmp_path / "mine.toml"
    shutil.copy("configs/clusters/dgx-h100.toml", path)
    assert run(line, str(path)).exit_code == 0
    shutil.copy("configs/clusters/dgx-a100.toml", path)
    result = run(line, str(path))
    assert result.exit_code == 1
    assert "(architecture: ampere, not hopper)" in result.stderr


@pytest.mark.parametrize("cluster", ["dgx-h200", "p5-efa"])
def test_an_alike_node_is_taken_with_a_note(run: Any, fails: Any, cluster: str) -> None:
    """Eight Hopper GPUs on the same switches are one node to NCCL; over nodes they differ."""
    line = f"predict all_reduce -s 64M --json --profile h100-nvswitch-8 -c {cluster}"
    result = run(line)
    assert f"was fitted on dgx-h100: a node of {cluster} has the same links" in result.stderr
    own = run("predict all_reduce -s 64M --json --profile h100-nvswitch-8")
    (taken,), (there,) = (json.loads(one.stdout)["rows"] for one in (result, own))
    assert taken["time_us"] == there["time_us"]
    assert "only one node of it could be taken" in fails(f"{line} --nodes 2", code=1)
    assert "GPUs of a node: 4, not 8" in fails(f"{line} --gpus-per-node 4", code=1)


def test_a_profile_of_a_gpus_name_goes_by_its_kind(run: Any) -> None:
    """PCIe on PCIe is taken, NVLink is not."""
    line = "predict all_reduce -s 1M --profile l40s-pcie-8 -c"
    assert run(line, "pcie-8").exit_code == 0
    assert "fitted on NVIDIA L40S" in run(line, "dgx-a100").stderr


def test_check_refuses_it_too(fails: Any) -> None:
    """Before any row is compared."""
    log = "examples/nccl_tests_all_reduce_8gpu.txt"
    message = fails(f"check {log} --profile h100-nvswitch-8 -c dgx-a100", code=1)
    assert "the cluster is dgx-a100" in message


def test_errors_of_a_profile_name_its_file(fails: Any, tmp_path: Path) -> None:
    """Also those that only its use shows."""
    path = tmp_path / "mine.toml"
    text = Path("configs/profiles/h100-nvswitch-8.toml").read_text("utf-8")
    path.write_text(text.replace('"hopper"', '"hoper"'), "utf-8")
    message = fails("predict all_reduce -s 1M --profile", str(path), code=1)
    assert message.startswith(f"{path}: unknown architecture 'hoper'; did you mean 'hopper'?")


def test_nccls_tree_is_two(run: Any) -> None:
    """Its name is understood, and ours is told."""
    answer = json.loads(run("predict all_reduce -s 1M --algorithm tree --json").stdout)
    assert [row["algorithm"] for row in answer["rows"]] == ["double_binary_tree"]


def test_missing_folders_are_told_before_any_work(fails: Any) -> None:
    """Of the validation's logs, and of the profile that a fit is to write."""
    message = fails("calibrate report --data nowhere", code=1)
    assert message == "nowhere: is not there, expected a folder of logs"
    assert "README.md: is a file" in fails("calibrate report --data README.md", code=1)
    log = "examples/nccl_tests_all_reduce_8gpu.txt"
    message = fails(f"calibrate fit {log} -o nowhere/mine.toml", code=1)
    assert message == "nowhere/mine.toml: there is no folder nowhere"
