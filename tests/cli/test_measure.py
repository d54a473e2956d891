"""`collsim calibrate measure`, `calibrate run` and the picture of what they found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from collsim.calibrate.importers import read_log
from collsim.errors import MeasureError

SMALL = "-b 64 -e 4K -f 64 -n 5 -w 0 --ranks 2"


@pytest.mark.slow
def test_measure_prints_nccl_tests_tables(torch: None, run: Any, tmp_path: Path) -> None:
    """Which our own reader of nccl-tests takes; the rows are in the file."""
    path = tmp_path / "m.jsonl"
    line = "calibrate measure broadcast reduce_scatter ping_pong --algorithm ring"
    result = run(f"{line} {SMALL} -o", str(path))
    assert result.exit_code == 0, result.output
    table = tmp_path / "table.txt"
    table.write_text(result.stdout)
    found = read_log(table)
    assert {(row.collective, row.ranks, row.nbytes, row.in_place) for row in found} == {
        (name, 2, size, True) for name in ("broadcast", "reduce_scatter") for size in (64, 4096)
    }
    assert "ping_pong  0-1" in result.stdout
    assert len([row for row in path.read_text().splitlines() if "seconds" in row]) == 6


@pytest.mark.slow
def test_run_measures_fits_and_writes(
    torch: None, realtime: bool, run: Any, answer: Any, tmp_path: Path
) -> None:
    """One line to a profile that predicts, and the schedules that were asked for."""
    profile = str(tmp_path / "desk.toml")
    sizes = "-b 64 -e 4M -f 65536 -n 20 -w 2 --ranks 2" + " --realtime" * realtime
    found = answer(
        f"calibrate run all_reduce --algorithm mst --algorithm ring {sizes} -o", profile
    )
    assert found["schema"] == "collsim/calibrate-run/1"
    assert [row["algorithm"] for row in found["rows"]] == ["mst", "mst", "ring", "ring"]
    assert all(row["ratio"] > 0 for row in found["rows"])
    assert found["parameters"]["link.alpha"]["value"] > 0
    assert (tmp_path / "desk.jsonl").exists()
    assert run("predict all_reduce -s 1K --profile", profile).exit_code == 0
    picture = tmp_path / "x.svg"
    line = f"plot crossover all_reduce mst ring --measured {tmp_path / 'desk.jsonl'} -o"
    assert run(line, str(picture)).exit_code == 0
    assert "mst, measured" in picture.read_text()
    if len(found["files"]) > 2:
        assert run("predict all_reduce -s 1K -c", found["files"][2]).exit_code == 0


def test_without_torch_it_says_what_to_install(
    fails: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """In one line, and no file is left."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    message = fails("calibrate measure --ranks 2 -o", str(tmp_path / "m.jsonl"), code=1)
    assert message == (
        "needs torch, which is not installed; expected: pip install 'collsim[measure]'"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("-G 3 --backend gloo", "-G: Gloo runs on CPUs"),
        ("--ranks-per-gpu 2 --backend gloo", "--ranks-per-gpu: Gloo runs on CPUs"),
        ("--force ring/ll --backend gloo", "--force: only --backend nccl"),
        ("--json --csv", "--json and --csv"),
        ("-s 8 -b 8", "-s names sizes one by one"),
        ("--backend mpi", "Invalid value for '--backend'"),
    ],
)
def test_contradictions_are_wrong_usage(fails: Any, line: str, message: str) -> None:
    """Before anything is started."""
    assert fails(f"calibrate measure {line}", code=2).startswith(message)


def test_own_ranks_under_a_launcher_are_refused(
    torch: None, fails: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of torchrun's ranks would start its own."""
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    message = fails("calibrate measure --ranks 2 --backend gloo", code=2)
    assert message.startswith("--ranks: torchrun has started 2 ranks")


def test_a_file_that_exists_is_kept(torch: None, fails: Any, tmp_path: Path) -> None:
    """Whatever it is."""
    path = tmp_path / "m.jsonl"
    path.write_text("mine")
    message = fails(f"calibrate measure ping_pong {SMALL} -o", str(path), code=1)
    assert message == f"{path}: exists; --resume goes on with it, or name another file"
    assert path.read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("-o nope/m.jsonl", "nope/m.jsonl: there is no such folder"),
        ("-o /dev/full --resume", "/dev/full: is no regular file, and rows are to be kept"),
        ("-o tests --resume", "tests: is a directory"),
        ("-o README.md --resume", "README.md: is no file of measurements, expected"),
        ("-r 2 -o no.jsonl", "root: got 2, expected a rank below 2"),
        ("--algorithm rign -o no.jsonl", "unknown algorithm of broadcast 'rign'"),
        ("--ranks 60000 -o no.jsonl", "ranks: got 60000 on "),
        (
            "pingpong -o no.jsonl",
            "unknown collective or pattern 'pingpong'; did you mean 'ping_p",
        ),
        ("-s 2 -o no.jsonl", "nothing to measure: broadcast/library at 2B: no whole element"),
    ],
)
def test_what_cannot_work_is_said_before_a_rank_starts(
    fails: Any, monkeypatch: pytest.MonkeyPatch, words: str, message: str
) -> None:
    """And no file is left."""
    monkeypatch.setattr("collsim.measure.launch.check_installed", lambda backend: None)
    monkeypatch.setattr("subprocess.Popen", None)
    line = f"calibrate measure broadcast --backend gloo --ranks 2 {words}"
    assert fails(line, code=1).startswith(message)
    assert not Path("no.jsonl").exists()


@pytest.fixture
def rehearsed(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that lets `calibrate run` find rows instead of measuring them."""
    from collsim.core.measurements_file import RowFile

    monkeypatch.setattr("collsim.measure.launch.check_installed", lambda backend: None)

    def rehearse(beta: float, relative_error: float = 0.001, times: float = 1.0) -> None:
        def instead(job: Any, ranks: int) -> None:
            base = {"collective": "sendrecv", "dtype": "float", "world": ranks,
                    "low": 0.0, "high": 1.0, "repetitions": 9, "library": "Gloo",
                    "clock": "host", "relative_error": relative_error}  # fmt: skip
            with RowFile(job.path, job.resume) as file:
                for pattern, together in (("ping_pong", 1), ("relay", 1), ("exchange", 2)):
                    for size in (64, 4096, 65536):
                        seconds = (1e-5 + size * beta) * (times if together > 1 else 1.0)
                        file.append(base | {
                            "pattern": pattern, "at_once": together, "pairs": [[0, 1]],
                            "ranks": 2, "nodes": 1, "size": size, "count": size // 4,
                            "seconds": seconds,
                        })  # fmt: skip

        monkeypatch.setattr("collsim.measure.launch.own_ranks", instead)

    return rehearse


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


@pytest.mark.parametrize("name", ["", "-"])
def test_rows_need_a_file_of_a_name(fails: Any, rehearsed: Any, name: str) -> None:
    """They are kept."""
    rehearsed(1e-9)
    message = fails(f"calibrate measure --backend gloo --output={name}", code=2)
    assert message.endswith("rows are kept, expected the name of a file for them")


def test_notes_need_no_reader(
    run: Any, rehearsed: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    """With stderr closed the answer is printed all the same."""

    def closed(*_: object, **more: object) -> None:
        if more.get("err"):
            raise OSError(9, "Bad file descriptor")

    rehearsed(1e-9)
    monkeypatch.setattr("click.echo", closed)
    result = run("calibrate measure --backend gloo --ranks 2 -o", str(tmp_path / "m.jsonl"))
    assert result.exit_code == 0
    assert "ping_pong  0-1" in result.stdout


def test_no_empty_file_is_left_by_ranks_that_were_ended(
    fails: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Rank 0 made it and could not remove it again."""
    monkeypatch.setattr("collsim.measure.launch.check_installed", lambda backend: None)

    def ended(job: Any, ranks: int) -> None:
        Path(job.path).touch()
        raise MeasureError("rank 0 was ended by SIGKILL")

    monkeypatch.setattr("collsim.measure.launch.own_ranks", ended)
    line = "calibrate measure broadcast --backend gloo -o"
    assert "SIGKILL" in fails(line, str(tmp_path / "m.jsonl"), code=1)
    assert list(tmp_path.iterdir()) == []


def test_sweeps_are_what_the_help_says(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """From 8 bytes to 16 MiB by 4, and each end alone; steps and single sizes as given."""
    monkeypatch.setattr("collsim.measure.launch.check_installed", lambda backend: None)
    seen: list[tuple[int, ...]] = []

    def stopped(job: Any, ranks: int) -> None:
        seen.append(job.sizes)
        raise KeyboardInterrupt

    monkeypatch.setattr("collsim.measure.launch.own_ranks", stopped)
    for words in ("", "-b 1M", "-e 128", "-b 64M", "-f 1024", "-b 8 -e 24 -i 8", "-s 40"):
        run(f"calibrate measure broadcast --backend gloo -o no.jsonl {words}")
    whole = tuple(8 * 4**i for i in range(11))
    assert seen == [
        whole, (2**20, 2**22, 2**24), (8, 32, 128), (2**26,), (8, 8192, 2**23), (8, 16, 24),
        (40,),
    ]  # fmt: skip
    text = " ".join(run("calibrate measure --help").output.split())
    for said in ("16MiB with Gloo, else 1GiB]", "factor. [default: 4]", "GPU, at least 2]"):
        assert said in text


def test_a_launcher_of_one_task_is_a_shell(
    run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Ranks are started in it, as anywhere; whatever comes of them, no file without rows."""
    for name, value in (("STEP_ID", "0"), ("PROCID", "0"), ("NTASKS", "1")):
        monkeypatch.setenv(f"SLURM_{name}", value)
    started = []
    monkeypatch.setattr("collsim.measure.launch.check_installed", lambda backend: None)

    def stopped(job: Any, ranks: int) -> None:
        started.append(ranks)
        raise KeyboardInterrupt

    monkeypatch.setattr("collsim.measure.launch.own_ranks", stopped)
    path = tmp_path / "m.jsonl"
    result = run("calibrate measure broadcast --backend gloo --ranks 2 -o", str(path))
    assert result.exit_code == 130
    assert result.stderr == "Error: interrupted: no row was finished\n"
    assert (started, path.exists()) == ([2], False)


def test_a_picture_needs_what_it_shows(fails: Any, tmp_path: Path) -> None:
    """Rows of both algorithms, and no options about another network."""
    path = tmp_path / "m.jsonl"
    row = {"collective": "broadcast", "ranks": 2, "size": 8, "algorithm": "mst",
           "seconds": 1e-6, "detail": {"runs": "schedule"}}  # fmt: skip
    path.write_text('{"schema": "collsim/measurements/1"}\n' + json.dumps(row) + "\n")
    line = f"plot crossover broadcast mst ring --measured {path} -o {tmp_path / 'x.png'}"
    assert fails(line, code=1).startswith("no measured row of broadcast/ring, expected")
    assert fails(f"{line} --ranks 4", code=2).startswith("--measured: ranks, sizes")
