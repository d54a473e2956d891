"""`collsim calibrate run`: files, notes and refusals, with rows that were not measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

RUN = "calibrate run --backend gloo --ranks 2 -o"


def test_run_says_how_to_predict_and_what_it_is_of(
    run: Any, rehearsed: Any, tmp_path: Path
) -> None:
    """With the cluster file where there is one, else with the profile; both work."""
    for times, option in ((2.0, "-c"), (1.0, "--profile")):
        rehearsed(1e-9, 0.31, times)
        path = tmp_path / f"desk{option}.toml"
        result = run(RUN, str(path))
        assert result.exit_code == 0, result.output
        (line,) = (text for text in result.stderr.splitlines() if "predict with it" in text)
        assert f" {option} " in line
        told = run(line.partition("it: collsim ")[2], "-s", "1K", "--algorithm", "ring")
        assert told.exit_code == 0, told.output
        carried = "was fitted to messages between pairs; its alpha and beta are carried over"
        assert (f"{carried} to ring, which" in told.stderr) == (option == "--profile")
        assert "need not wait" not in told.stderr
        # The profile alone is short of what messages wait where they do.
        other = run("predict all_reduce -s 1K --algorithm ring --profile", str(path))
        told_so = other.stderr.count("expected -c with the cluster file that `calibrate run`")
        assert told_so == (option == "-c")
        assert "note: fitted to messages between pairs, 3 relay rows, and to" in result.stderr
        assert (
            "note: 9 of 9 points missed --target 0.02 (worst 31.0%); raise --budget or try"
            in result.stderr
        )


def test_run_on_several_nodes_writes_their_cluster(
    run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Inside and between nodes apart; the file that the note names predicts schedules."""
    from collsim.core.measurements_file import RowFile

    monkeypatch.setattr("collsim.measure.launch.check_installed", lambda backend: None)

    def instead(job: Any, ranks: int) -> None:
        base = {"collective": "sendrecv", "dtype": "float", "world": 4, "ranks_per_node": 2,
                "low": 0.0, "high": 1.0, "repetitions": 9, "library": "Gloo", "ranks": 4,
                "clock": "host", "relative_error": 0.01, "device": "GPU"}  # fmt: skip
        cases = (
            ("ping_pong", [[0, 1]], 1, 2e-6, 1e-11), ("ping_pong", [[0, 2]], 2, 9e-6, 1e-10),
            ("shift", [[0, 2], [1, 3], [2, 0], [3, 1]], 2, 18e-6, 2e-10),
        )  # fmt: skip
        with RowFile(job.path, job.resume) as file:
            for pattern, pairs, nodes, alpha, beta in cases:
                for size in (64, 65536, 2**24):
                    file.append(base | {
                        "pattern": pattern, "at_once": len(pairs), "pairs": pairs,
                        "nodes": nodes, "size": size, "count": size // 4,
                        "seconds": alpha + size * beta,
                    })  # fmt: skip
            for algorithm in ("mst", "ring"):
                for size in (1024, 65536):
                    file.append(base | {
                        "pattern": "collective", "collective": "broadcast", "runs": "schedule",
                        "algorithm": algorithm, "nodes": 2, "size": size, "count": size // 4,
                        "root": 0, "seconds": 12e-6, "chunks": 1, "pairs": None,
                    })  # fmt: skip

    monkeypatch.setattr("collsim.measure.launch.own_ranks", instead)
    result = run("calibrate run --backend gloo --ranks 4 -o", str(tmp_path / "two.toml"))
    assert result.exit_code == 0, result.output
    between, inside = result.stdout.split("inside a node")
    assert "alpha 9us, 1/beta 10GB/s" in between
    assert "1 for 2 ranks, by how messages at once wait" in between
    assert "alpha 2us, 1/beta 100GB/s" in inside
    assert "broadcast   mst" in inside
    (line,) = (text for text in result.stderr.splitlines() if "predict with it" in text)
    told = run(line.partition("it: collsim ")[2], "-s", "1K", "--algorithm", "ring")
    assert told.exit_code == 0, told.output
    assert "4 ranks" in told.stdout
    picture, rows = tmp_path / "x.svg", str(tmp_path / "two.jsonl")
    drawn = run("plot crossover broadcast mst ring -o", str(picture), "--measured", rows)
    assert drawn.exit_code == 0, drawn.output
    assert "from messages alone, between nodes: α 9 µs" in picture.read_text("utf-8")


def test_run_says_what_helps_a_fit_that_fails(
    fails: Any, rehearsed: Any, tmp_path: Path
) -> None:
    """The rows are kept, and larger sizes tell beta."""
    rehearsed(-1e-10)
    message = fails(RUN, str(tmp_path / "x.toml"), code=1)
    assert message.startswith("relay: times do not grow up to 64KiB")
    assert message.endswith("x.jsonl, --resume -e with a larger size adds to them")


@pytest.mark.parametrize("name", ["x.toml", "x-cluster.toml"])
def test_run_overwrites_nothing(
    run: Any, fails: Any, rehearsed: Any, tmp_path: Path, name: str
) -> None:
    """It is refused before anything is measured, unless the run resumes; folders always."""
    rehearsed(1e-9)
    (tmp_path / name).write_text("mine")
    path = str(tmp_path / "x.toml")
    message = fails(RUN, path, code=1)
    assert message.startswith(f"{tmp_path / name}: exists; --resume goes on and writes it anew")
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [(name, "mine")]
    assert run(RUN, path, "--resume").exit_code == 0
    (tmp_path / "y.toml").mkdir()
    message = fails(RUN, str(tmp_path / "y.toml"), "--resume", code=1)
    assert message == f"{tmp_path / 'y.toml'}: is a directory"


def test_run_leaves_no_cluster_file_that_its_rows_contradict(
    run: Any, rehearsed: Any, tmp_path: Path
) -> None:
    """What an earlier run wrote is removed and named; what somebody else wrote stays."""
    path, cluster = tmp_path / "x.toml", tmp_path / "x-cluster.toml"
    rehearsed(1e-9, times=2.0)
    assert run(RUN, str(path)).exit_code == 0
    assert cluster.exists()
    (tmp_path / "x.jsonl").unlink()
    rehearsed(1e-9, times=1.0)
    result = run(RUN, str(path), "--resume")
    assert f"note: {cluster} removed: by all rows, messages do not wait" in result.stderr
    assert not cluster.exists()
    cluster.write_text("mine")
    result = run(RUN, str(path), "--resume")
    assert f"note: {cluster} is not by this run, and stays as it is" in result.stderr
    assert cluster.read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            "--output=",
            "-o '': the rows and a cluster file go beside the profile, expected its name",
        ),
        (
            "-o -",
            "-o '-': the rows and a cluster file go beside the profile, expected its name",
        ),
        (
            "-o k.jsonl",
            "-o k.jsonl: expected the name of the profile, such as k.toml; the rows",
        ),
        ("-s 8 -o no.toml", "one size can't tell alpha from beta, expected several"),
        ("-s 8 -s 9 -o no.toml", "one size can't tell alpha from beta, expected several"),
        ("--ranks 1 -o no.toml", "--ranks 1: messages go between ranks, expected 2 or more"),
    ],
)
def test_run_refuses_what_cannot_become_a_profile(
    fails: Any, rehearsed: Any, words: str, message: str
) -> None:
    """Before anything is measured."""
    rehearsed(1e-9)
    assert fails(f"calibrate run --backend gloo {words}", code=2).startswith(message)
