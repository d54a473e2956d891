"""What a check without a cluster takes by the name of a GPU, and what a change is of."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

H100, A100 = "NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-80GB"
LARGE = ("--where", "size == 8G")
Logged = Callable[..., str]


@pytest.fixture
def logged(tmp_path: Path, log: str) -> Logged:
    """Return a function that writes the repository's log as if of other GPUs, in turn."""

    def write(*gpus: str) -> str:
        text = Path(log).read_text("utf-8")
        for rank in range(8):
            text = text.replace("Made-up GPU", gpus[rank % len(gpus)], 1)
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.txt"
        path.write_text(text, "utf-8")
        return str(path)

    return write


def test_a_change_of_nothing_keeps_what_nccl_runs(
    answer: Any, run: Any, logged: Logged
) -> None:
    """With a profile of NCCL the fastest that NCCL has is simulated, as in predict."""
    log, words = logged(H100), ("--profile", "h100-nvswitch-8", "--degrade", "gpu[0]=1")
    size = ("--where", "size == 1G")
    result = run("check", log, *size, *words, "--json")
    found = json.loads(result.stdout)
    asked = answer("predict all_reduce -s 1G", *words)
    assert asked["rows"][0]["algorithm"] == "nvls"
    assert found["algorithm"] == "the fastest that NCCL has (nvls)"
    assert found["rows"][0]["predicted_us"] == asked["rows"][0]["time_us"]
    assert "with what is changed, the fastest that NCCL has is simulated" in result.stderr
    plain = answer("check", log, *size, *words[:2], code=1)
    verdicts = [row["verdict"] for row in found["rows"] + plain["rows"]]
    assert (result.exit_code, verdicts) == (1, ["bandwidth", "bandwidth"])
    fitted = plain["rows"][0]["predicted_us"]
    assert f"the machine as it was takes {fitted:.1f} us at 1GiB\n" in result.stderr


def test_shared_links_are_no_fitted_ones(answer: Any, logged: Logged) -> None:
    """Fair sharing beside a profile is simulated, as in predict."""
    words = ("--profile", "h100-nvswitch-8", "--sharing", "fair")
    check = ("--where", "size == 1M", "--tolerance", "10")
    (found,) = answer("check", logged(H100), *check, *words)["rows"]
    (asked,) = answer("predict all_reduce -s 1M", *words)["rows"]
    assert (found["model"], found["predicted_us"]) == ("event", asked["time_us"])


@pytest.mark.parametrize(
    "change",
    ["--launch 1ms", "--gamma 0.1ns", "--sharing fair", "--alpha-busy 0us",
     "--degrade gpu[0]=0.5", "--delay 0=1ms", "--set node.alpha=2us"],
)  # fmt: skip
def test_a_change_is_of_the_cluster_that_the_gpu_tells(
    answer: Any, logged: Logged, change: str
) -> None:
    """As if -c named it."""
    words = ("check", logged(H100), "--where", "size == 1M", "--tolerance", "10")
    found = answer(*words, *change.split())
    assert found["cluster"] == "dgx-h100"
    assert found["rows"] == answer(*words, *change.split(), "-c", "dgx-h100")["rows"]
    assert found["rows"] != answer(*words, "-c", "dgx-h100")["rows"]


def test_a_part_without_a_cluster_asks_for_one(fails: Any, log: str) -> None:
    """And says why the log tells none."""
    message = fails("check", log, "--degrade", "gpu[0]=0.5", code=1)
    why = "Made-up GPU does not tell how the GPUs are joined"
    assert message.startswith(f"degrade gpu[0]=0.5: needs a cluster, give -c; {why} (")


def test_logs_of_different_gpus_are_refused(fails: Any, run: Any, logged: Logged) -> None:
    """Without -c, in either order; of one GPU they are taken."""
    one, other = logged(H100), logged(A100)
    for first, second in ((one, other), (other, one)):
        message = fails("check", first, second, code=1)
        assert f"{first}:19 is of " in message
        assert f"{second}:19 of " in message
        assert message.endswith("check each on its own, or give -c")
    assert "give -c" not in run("check", one, other, "-c", "dgx-h100", *LARGE).stderr


@pytest.mark.parametrize("other", [A100, "NVIDIA H200"])
def test_a_log_of_several_gpus_tells_no_cluster(run: Any, logged: Logged, other: str) -> None:
    """Neither to a check nor to a fit, whose profile names both."""
    log = logged(H100, other)
    names = sorted([H100, other])
    why = f"its GPUs are of several kinds ({', '.join(names)})"
    result = run("check", log, *LARGE)
    assert "on textbook-h100 (" in result.stdout
    assert f"give -c or --profile; {why}\n" in result.stderr
    fit = run("calibrate fit", log)
    assert f"one line is fitted: {why}, and no cluster is given (-c)" in fit.stderr
    assert tomllib.loads(fit.stdout)["provenance"]["device"] == " + ".join(names)
    assert (
        f"the rows are of {other}, but the cluster is dgx-h100"
        in run("check", log, "-c", "dgx-h100").stderr
    )


def test_an_nvl_is_no_dgx(run: Any, logged: Logged) -> None:
    """It is a PCIe card with a bridge, for which there is no preset."""
    result = run("check", logged("NVIDIA H100 NVL"), *LARGE)
    assert "on textbook-h100 (" in result.stdout
    assert "NVIDIA H100 NVL does not tell how the GPUs are joined" in result.stderr
    assert "on pcie-8, by the log's" in run("check", logged("NVIDIA H100 PCIe"), *LARGE).stdout


def test_other_ranks_than_the_log_s_are_refused(fails: Any, run: Any, logged: Logged) -> None:
    """With both numbers."""
    log = logged(H100)
    message = fails("check", log, "--ranks", "4", code=1)
    assert message.startswith(f"{log}: measured on 8 ranks, but --ranks 4; leave it out")
    assert "dgx-h100" in run("check", log, "--ranks", "8", *LARGE).stdout


@pytest.mark.parametrize("name", ["nccl", "auto", "all"])
def test_what_stands_for_several_algorithms_is_refused(fails: Any, log: str, name: str) -> None:
    """It is what the check does without the option."""
    message = fails("check", log, "--algorithm", name, code=2)
    assert message.startswith(f"--algorithm {name}: check predicts what ran, or what NCCL")
    assert "leave it out" in message
