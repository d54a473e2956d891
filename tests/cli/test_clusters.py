"""Which cluster the options mean."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from collsim.cli.clusters.choice import ClusterChoice
from collsim.config.profile import dumps
from collsim.core.profile import Parameter, Profile
from collsim.errors import UsageError

IDEAL = "--alpha and --bandwidth make an ideal network of --ranks, so they can't be"

NUMBERS = {
    "link.alpha": Parameter(1e-6, None, None, "s"),
    "link.beta": Parameter(1e-11, None, None, "s/B"),
    "launch": Parameter(3e-6, None, None, "s"),
}


@pytest.mark.parametrize(
    ("words", "name", "ranks"),
    [
        ("", "textbook-h100", 8),
        ("--ranks 5", "textbook-h100", 5),
        ("--ranks 1000", "textbook-h100", 1000),
        ("-c textbook-h100", "textbook-h100", 8),
        ("-c dgx-h100", "dgx-h100", 8),
        ("-c dgx-h100 --ranks 3", "dgx-h100", 3),
        ("-c dgx-h100 --nodes 4", "dgx-h100", 32),
        ("-c dgx-a100 --nodes 2 --gpus-per-node 4", "dgx-a100", 8),
        ("--cluster ./configs/clusters/dgx-a100.toml", "dgx-a100", 8),
        ("--alpha 1us --bandwidth 1GB/s", "ideal", 8),
        ("--alpha 0 --bandwidth 400Gb/s --ranks 3 --launch 5us --alpha-busy 0", "ideal", 3),
        ("-c dgx-h100 --sharing fifo", "dgx-h100", 8),
    ],
)
def test_cluster_and_ranks(answer: Any, words: str, name: str, ranks: int) -> None:
    """As the contract says."""
    found = answer(f"predict all_reduce -s 1K {words}")
    assert (found["cluster"], found["ranks"]) == (name, ranks)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--alpha 1us", "--alpha needs --bandwidth: both make an ideal network"),
        ("--bandwidth 1GB/s", "--bandwidth needs --alpha: both make an ideal network"),
        (
            "--alpha-busy 1us -c dgx-h100 --profile x.toml",
            "--alpha-busy with --profile, whose numbers hold: expected one of them",
        ),
        (
            "--ranks 4 --nodes 2 -c dgx-h100",
            "--ranks takes GPUs of one node, so it can't be combined with --nodes",
        ),
        *(
            (
                f"--alpha 1us --bandwidth 1GB/s {words}",
                f"{IDEAL} combined with {option}",
            )
            for words, option in (
                ("-c dgx-h100", "-c/--cluster"),
                ("--profile x.toml", "--profile"),
                ("--nodes 2", "--nodes"),
                ("--gpus-per-node 2", "--gpus-per-node"),
            )
        ),
    ],
)
def test_contradictions_are_wrong_usage(fails: Any, words: str, message: str) -> None:
    """Exit 2, and the last line says which options."""
    assert fails(f"predict all_reduce -s 1K {words}", code=2) == message


@pytest.mark.parametrize("words", ["", "-c dgx-h100", "-c dgx-h100 --nodes 2"])
def test_launch_and_gamma_go_with_any_cluster(answer: Any, words: str) -> None:
    """They replace what the cluster says: a launch of 5 us, and 4 ms per round to reduce."""
    line = f"predict all_reduce --algorithm mst -s 4MiB {words}"
    (plain,) = answer(line)["rows"]
    (given,) = answer(f"{line} --launch 5us --gamma 1ns")["rows"]
    assert given["launch_us"] == pytest.approx(5)
    assert plain["gamma_us"] == plain["launch_us"] == 0
    rounds = 4 if "--nodes" in words else 3
    assert given["gamma_us"] == pytest.approx(rounds * 4 * 2**20 * 1e-3)


def test_launch_replaces_that_of_a_profile(answer: Any, tmp_path: Path) -> None:
    """0 too; without the option it is the profile's."""
    path = tmp_path / "mine.toml"
    path.write_text(dumps(Profile("mine", NUMBERS, ranks=(8,))))
    line = "predict all_reduce -s 1K --profile"
    for words, launch in (((), 3), (("--launch", "0"), 0), (("--launch", "7us"), 7)):
        (row,) = answer(line, str(path), *words)["rows"]
        assert row["launch_us"] == pytest.approx(launch)


def test_help_says_what_the_options_are(run: Any) -> None:
    """What is paid, for what, and an example."""
    text = " ".join(run("predict --help").stdout.split())
    assert "Time per byte reduced, e.g. 0.01ns" in text
    assert "Time that every collective pays once, e.g. 5us" in text


@pytest.mark.parametrize("option", ["-c", "--profile"])
@pytest.mark.parametrize("file", ["mine.toml", "mine"])
def test_name_of_a_file_beside_is_understood(
    fails: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str, file: str
) -> None:
    """`-c mine` means a preset; the error says how to write the file."""
    line = f"predict all_reduce {option} mine"
    assert "did you mean" not in fails(line, code=1)
    monkeypatch.chdir(tmp_path)
    (tmp_path / file).write_text("")
    what = "cluster" if option == "-c" else "profile"
    assert fails(line, code=1).startswith(
        f"unknown {what} 'mine'; did you mean './{file}'? (known: "
    )


def test_more_ranks_than_a_node_names_the_cure(fails: Any) -> None:
    """`--nodes`."""
    assert fails("predict all_reduce -c dgx-h100 --ranks 9", code=1) == (
        "ranks: got 9, but one node of dgx-h100 has 8 GPUs; take more nodes with nodes, --nodes"
    )


def test_wrong_usage_shows_the_usage_first(run: Any) -> None:
    """Click's three lines, then the error."""
    lines = run("predict all_reduce --alpha 1us").stderr.splitlines()
    assert lines[0] == "Usage: collsim predict [OPTIONS] [COLLECTIVE]"
    assert lines[1] == "Try 'collsim predict --help' for help."
    assert lines[-1].startswith("Error: ")


def test_choice_by_itself() -> None:
    """Without a command line the rules are the same."""
    assert ClusterChoice(alpha=1e-6, bandwidth=1e9, ranks=2).load().uniform == (1e-6, 1e-9)
    with pytest.raises(UsageError, match="--nodes"):
        ClusterChoice(ranks=2, nodes=2).load()
