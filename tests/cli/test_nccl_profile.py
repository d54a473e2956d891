"""Profiles of NCCL's pieces on the command line."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from collsim.calibrate.nccl_model import example_profile, fitted_of
from collsim.config.profile_file import load_profile
from collsim.core.cluster import Cluster


def written(folder: Path, cluster: Cluster, name: str = "a.txt", slower: float = 1.0) -> str:
    """Write a log of a machine where all is as NCCL believes."""
    truth = fitted_of(example_profile(cluster))
    head = [
        "# nccl-tests version 2.17.6 nccl-headers=22902 nccl-library=22902",
        "# Collective test starting: all_reduce_perf",
        "# Using devices",
    ]
    gpus = cluster.ranks // cluster.nodes
    head += [
        f"#  Rank {rank:2d} Group  0 Pid {1000 + rank} on node-{rank // gpus} device "
        f"{rank % gpus} [0000:{16 + rank % gpus:02x}:00] NVIDIA GPU"
        for rank in range(cluster.ranks)
    ]
    times = "  time  algbw  busbw #wrong" * 2
    head += [
        "#              out-of-place                in-place",
        f"#  size  count  type  redop  root{times}",
        "#   (B)  (elements)  (us)  (GB/s)  (GB/s)  (us)  (GB/s)  (GB/s)",
    ]
    rows = []
    for k in range(9, 31):
        us = truth.seconds("all_reduce", cluster.ranks, cluster.nodes, 2**k) * 1e6 * slower
        bus = 2 * (cluster.ranks - 1) / cluster.ranks
        alg = 2**k / us / 1e3
        half = f"{us:>10.3f} {alg:>10.5f} {alg * bus:>10.5f} 0"
        rows.append(f"{2**k:>12} {2**k // 4:>12} float sum -1 {half} {half}")
    path = folder / name
    path.write_text("\n".join([*head, *rows]) + "\n", "utf-8")
    return str(path)


@pytest.fixture
def profile(run: Any, tmp_path: Path) -> str:
    """Return the path of a profile that was fitted to one node."""
    path = str(tmp_path / "mine.toml")
    log = written(tmp_path, Cluster.load("dgx-h100"))
    assert run(f"calibrate fit {log} -c dgx-h100 -o", path).exit_code == 0
    return path


def test_the_cluster_tells_the_system(profile: str) -> None:
    """The file says the model, the system, and which numbers are only believed."""
    found = tomllib.loads(Path(profile).read_text("utf-8"))
    assert (found["model"], found["cluster"]) == ("nccl", "dgx-h100")
    assert found["nccl"]["architecture"] == "hopper"
    kinds = {key: entry["kind"] for key, entry in found["parameters"].items()}
    assert kinds["inside.ll.alpha"] == "fit"
    assert kinds["p2p.simple.beta"] == "assumption"
    assert found["parameters"]["p2p.simple.beta"]["source"].startswith("the system's bandwidth")
    assert found["errors"]["held_out"]["p90"] < 0.05


def test_json_has_the_contracts_keys(answer: Any, tmp_path: Path) -> None:
    """Parameters with value, low, high and unit; errors in sample and held out."""
    log = written(tmp_path, Cluster.load("dgx-h100"))
    found = answer(f"calibrate fit {log} -c dgx-h100 -o", str(tmp_path / "p.toml"))
    assert found["profile"]["model"] == "nccl"
    assert set(found["parameters"]["nvls.simple.efficiency"]) == {
        "value",
        "low",
        "high",
        "unit",
    }
    assert set(found["errors"]) >= {"in_sample", "held_out"}
    assert len(found["rows"]) == 22


def test_predict_gives_nccls_choice(answer: Any, run: Any, profile: str) -> None:
    """With its protocol; what NCCL lacks is simulated, and said to be."""
    rows = answer("predict all_reduce -s 1K -s 1G --profile", profile)["rows"]
    assert [(r["algorithm"], r["protocol"], r["model"]) for r in rows] == [
        ("ring", "ll", "fit"),
        ("nvls", "simple", "fit"),
    ]
    said = run("predict all_reduce -s 1M --algorithm swing --profile", profile).stderr
    assert "swing: simulated with the alpha and beta of the best of NCCL's protocols" in said
    said = run("predict all_to_all -s 1M --profile", profile).stderr
    assert "direct simple: no row that profile fitted was fitted to shows it" in said


def test_a_changed_machine_is_simulated(answer: Any, run: Any, profile: str) -> None:
    """Fitted times are of the machine as it was."""
    line = "predict all_reduce -s 1G -c dgx-h100 --degrade gpu[0].up=0.5 --profile"
    assert {row["protocol"] for row in answer(line, profile)["rows"]} == {None}
    assert "was fitted to the machine as it was" in run(line, profile).stderr


def test_check_takes_fitted_times(answer: Any, run: Any, profile: str, tmp_path: Path) -> None:
    """Of the same machine ok; of one half as fast not."""
    same = written(tmp_path, Cluster.load("dgx-h100"), "same.txt")
    found = answer(f"check {same} --profile", profile)
    assert {row["verdict"] for row in found["rows"]} == {"ok"}
    assert found["algorithm"] == "NCCL's own choice"
    slow = written(tmp_path, Cluster.load("dgx-h100"), "slow.txt", slower=2.0)
    result = run(f"check {slow} --profile", profile)
    assert result.exit_code == 1
    assert "NCCL's own choice on dgx-h100 (fitted times)" in result.stdout


def test_choose_compares_fitted_times(answer: Any, run: Any, profile: str) -> None:
    """Each protocol apart; the file for NCCL's tuner is made of them."""
    found = answer("choose all_reduce --against nccl --profile", profile)
    assert all("best_protocol" in row for row in found["rows"])
    assert "ring/ll" in found["available"]["all_reduce"]
    written_ = run("choose all_reduce --nccl-tuner - --profile", profile)
    assert written_.exit_code == 0
    assert "allreduce,0," in written_.stdout
    assert "no candidate, because no row of the fit shows it: tree/ll" in written_.stderr
    assert run("choose all_reduce --nccl-env --profile", profile).exit_code == 0
    said = run("choose all_reduce -e 1M --algorithm ring --profile", profile).stderr
    assert "--against nccl compares fitted times" in said


def test_several_nodes_are_fitted_together(run: Any, answer: Any, tmp_path: Path) -> None:
    """Node counts can be held out; other counts follow."""
    logs = [
        written(tmp_path, Cluster.load("gh200-slingshot", nodes=n), f"{n}.txt") for n in (1, 2)
    ]
    path = str(tmp_path / "nodes.toml")
    line = "calibrate fit -c gh200-slingshot --hold-out nodes --json -o"
    result = run(line, path, *logs)
    assert result.exit_code == 0, result.output
    found = tomllib.loads(Path(path).read_text("utf-8"))
    assert found["errors"]["held_out"]["kind"] == "nodes"
    assert found["nodes"] == [1, 2]
    (row,) = answer("predict all_reduce -s 1G --nodes 8 --profile", path)["rows"]
    assert row["model"] == "fit"


def test_what_cannot_be_is_refused(fails: Any, tmp_path: Path) -> None:
    """Model nccl where nothing tells the system, and a picture of no known kind."""
    log = written(tmp_path, Cluster.load("dgx-h100"))
    message = fails(f"calibrate fit {log} --model nccl", code=1)
    assert message.startswith("model nccl: NVIDIA GPU does not tell how the GPUs are joined")
    message = fails(f"calibrate fit {log} -c mi300x --model nccl", code=1)
    assert "NCCL runs on NVIDIA's" in message
    assert "ends in .png" in fails(f"calibrate fit {log} --plot fit.gif", code=1)


def test_a_line_says_why(run: Any, tmp_path: Path) -> None:
    """On stderr and in the profile."""
    log = written(tmp_path, Cluster.load("dgx-h100"))
    result = run(f"calibrate fit {log}")
    assert (
        "one line is fitted: NVIDIA GPU does not tell how the GPUs are joined" in result.stderr
    )
    assert 'model = "nccl"' not in result.stdout


H100 = "--profile h100-nvswitch-8"


def test_predict_says_what_no_row_has_shown(run: Any) -> None:
    """Collectives, ranks and sizes, a line of each kind; nothing where all was measured."""
    said = run(f"predict broadcast --ranks 6 -s 8 -s 4G {H100}").stderr
    assert "broadcast: profile h100-nvswitch-8 was fitted to all_gather, all_reduce" in said
    assert "6 ranks: profile h100-nvswitch-8 was fitted to 2, 4, 8" in said
    assert "4GiB is extrapolated" in said
    assert "8B is extrapolated" in said
    said = run("predict all_reduce --nodes 64 -s 1G --profile h100-ndr").stderr
    assert "64 nodes: profile h100-ndr was fitted to 2, 8" in said
    assert run(f"predict all_reduce -s 1M --algorithm ring {H100}").stderr == ""


def test_choose_says_so_too(run: Any) -> None:
    """Where schedules are simulated with a profile's numbers."""
    said = run(f"choose broadcast -e 1M --algorithm ring {H100}").stderr
    assert "broadcast: profile h100-nvswitch-8 was fitted to" in said


def test_check_says_of_which_collectives_a_profile_is(run: Any, tmp_path: Path) -> None:
    """As of nodes."""
    path = tmp_path / "gather.toml"
    text = Path("configs/profiles/h100-nvswitch-8.toml").read_text("utf-8")
    path.write_text(text.replace('    "all_reduce",\n', ""), "utf-8")
    log = written(tmp_path, Cluster.load("dgx-h100"))
    said = run(f"check {log} --profile", str(path)).stderr
    assert "rows of all_reduce, but the profile was fitted to all_gather, all_to_all" in said


def test_nccl_is_not_overruled_where_nothing_was_shown(run: Any, answer: Any) -> None:
    """Collectives, node counts and sizes; the file says so, and its rules are NCCL's own."""
    result = run(f"choose all {H100} --nccl-tuner -")
    assert "broadcast, reduce: NCCL's own choice is kept: no row of the fit" in result.stderr
    assert "# broadcast: NCCL's own choice: no row of the fit" in result.stdout
    assert "NCCL's own choice is kept at sizes beyond 512B to 512MiB" in result.stdout
    line = "choose all_reduce --nodes 64 --profile h100-ndr --against nccl --min-gain 0"
    found = answer(line)
    assert not any(row["gained"] for row in found["rows"])
    rows = answer(f"choose all_reduce {H100} --against nccl --min-gain 0")["rows"]
    gained = [row for row in rows if row["gained"]]
    assert gained
    assert min(row["min_bytes"] for row in gained) >= 512
    assert max(row["max_bytes"] for row in gained) <= 2**29
    assert (rows[0]["min_bytes"], rows[-1]["max_bytes"]) == (8, 2**33)


def test_a_gain_counts_above_the_error_of_nine_rows_in_ten(run: Any, answer: Any) -> None:
    """Not above the median, which every second row exceeds; an explicit value wins."""
    line = f"choose all_reduce {H100} --against nccl"
    assert answer(line)["min_gain"] == pytest.approx(0.0736, abs=1e-4)
    assert "off by up to 7.4% on 90 % of its rows" in run(line).stderr
    assert answer(f"{line} --min-gain 1%")["min_gain"] == 0.01


def test_rows_of_another_gpu_are_told_after_a_fit(run: Any, tmp_path: Path) -> None:
    """On stderr and in the profile."""
    log = written(tmp_path, Cluster.load("dgx-h100"))
    path = Path(log)
    path.write_text(path.read_text("utf-8").replace("NVIDIA GPU", "NVIDIA A100"), "utf-8")
    result = run(f"calibrate fit {log} -c dgx-h100")
    assert "of NVIDIA A100, but cluster dgx-h100 is of hopper: is -c right?" in result.stderr
    assert "is -c right?" in result.stdout


def test_a_fit_prints_what_its_rows_tell_and_counts_the_rest(run: Any, tmp_path: Path) -> None:
    """With units; the JSON has them all."""
    log = written(tmp_path, Cluster.load("dgx-h100"))
    shown = run(f"calibrate fit {log} -c dgx-h100 -o", str(tmp_path / "p.toml")).stdout
    profile = tomllib.loads((tmp_path / "p.toml").read_text("utf-8"))
    every = profile["parameters"]
    rows = [line.split()[0] for line in shown.splitlines() if line.split()[0] in every]
    believed = {key for key, one in every.items() if one["kind"] == "assumption"}
    assert 0 < len(rows) < len(every)
    assert not believed & set(rows)
    rest = f"{len(every) - len(rows)} more, which these rows do not tell or hardly: -o FILE"
    assert rest in shown
    assert "believed" not in shown


def test_more_nodes_than_the_fit_take_no_less_than_their_cards(
    run: Any, tmp_path: Path
) -> None:
    """On 2 nodes a node sends n in a tree, on 4 twice that: 384 GB/s by NCCL's reckoning."""
    path = str(tmp_path / "two.toml")
    log = written(tmp_path, Cluster.load("dgx-h100", nodes=2), slower=0.5)
    assert run(f"calibrate fit {log} -c dgx-h100 -o", path).exit_code == 0
    profile = load_profile(path)
    for nodes, least in ((2, 0.0), (4, 2 * 2**30 / 384e9)):
        found = fitted_of(profile)
        seconds = found.seconds("all_reduce", 8 * nodes, nodes, 2**30, "nvls_tree", "simple")
        bare = replace(found, beyond=None)
        free = bare.seconds("all_reduce", 8 * nodes, nodes, 2**30, "nvls_tree", "simple")
        assert seconds == pytest.approx(max(free, least))
    assert free < least
    said = run(f"predict all_reduce -c dgx-h100 --nodes 4 -s 1G --profile {path}").stderr
    assert (
        "4 nodes: profile fitted was fitted to 2; its times there are extrapolated, and" in said
    )
    assert "network cards take by what NCCL reckons, 384GB/s" in said


def test_a_ring_over_nodes_is_shown_by_rows_over_nodes(run: Any) -> None:
    """On one node the latency of its steps is what was believed; over nodes it is fitted."""
    line = "predict all_reduce --profile h100-ndr --algorithm ring -s 64M"
    believed = "ring simple: no row that profile h100-ndr was fitted to shows it"
    assert believed not in run(f"{line} --nodes 2").stderr
    assert believed in run(f"{line} -c dgx-h100 --ranks 8").stderr


def test_a_piece_that_nccl_chose_for_no_row_is_named(run: Any) -> None:
    """All large rows of h100-efa are of NVLS with a tree; on 4 nodes a ring is faster."""
    said = run("predict all_reduce --profile h100-efa --nodes 4 -s 1G").stderr
    assert (
        "ring simple: it is the fastest for no row that profile h100-efa was fitted to, but "
        "double_binary_tree ll, nvls_tree simple; its time follows from theirs"
    ) in said
    said = run("predict all_reduce --profile h100-efa --nodes 2 -s 1G").stderr
    assert "NCCL chose it" not in said


def test_auto_is_said_to_be_nccls_choice(run: Any, profile: str) -> None:
    """Where times are fitted; not where an algorithm is named."""
    left = run("predict all_reduce -s 1M --profile", profile)
    assert "auto is what NCCL would choose" in left.stderr
    named = run("predict all_reduce -s 1M --algorithm ring --profile", profile)
    assert named.exit_code == 0
    assert "auto" not in named.stderr


def test_nothing_is_said_of_simulating_where_all_is_fitted(run: Any) -> None:
    """512 ranks take no time to look up; an algorithm that NCCL lacks does."""
    asked = "predict all_reduce -c gh200-slingshot --nodes 128 --profile gh200-slingshot -s 1M"
    fitted = run(f"{asked} --algorithm", "nccl").stderr
    assert "simulating" not in fitted
    assert "nccl is what NCCL would choose" in fitted
    assert "auto is" not in fitted
    other = run(f"{asked} --algorithm", "recursive_doubling").stderr
    assert "simulating message by message on 512 ranks" in other


def test_one_rank_is_one(run: Any) -> None:
    """In the note on what a profile was fitted to."""
    said = run(
        "predict all_reduce -c dgx-h100 --gpus-per-node 1 --profile h100-nvswitch-8 -s", "1M"
    ).stderr
    assert "1 rank: profile h100-nvswitch-8" in said


def test_help_says_what_nccl_means_with_a_profile(run: Any) -> None:
    """The fastest without one, its own choice with one; and which alpha_busy counts."""
    said = " ".join(run("predict", "--help").output.split())
    assert "nccl: the fastest of what NCCL has, or with a profile of NCCL its own" in said
    assert "on all links but those whose alpha_busy --set gives" in said
