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


def test_a_picture_says_what_it_leaves_out_and_doubts(run: Any, tmp_path: Path) -> None:
    """Wrong results are not drawn; a point slower than a larger one is, and is named."""
    example = Path("examples/gloo_4_ranks.jsonl")
    head, *lines = example.read_text().splitlines()
    changed = []
    for line in lines:
        row = json.loads(line)
        if row.get("algorithm") == "ring" and row["collective"] == "broadcast":
            row |= {64: {"wrong": 9}, 1024: {"seconds": 1.0}}.get(row["size"], {})
        changed.append(json.dumps(row))
    path, picture = tmp_path / "m.jsonl", tmp_path / "x.svg"
    path.write_text("\n".join([head, *changed]) + "\n")
    result = run(f"plot crossover broadcast mst ring --measured {path} -o {picture}")
    assert result.exit_code == 0, result.output
    left_out, doubted = result.stderr.splitlines()
    assert left_out == "note: 1 row left out: 9 elements are wrong"
    assert "note: 1 point took more than twice as long" in doubted
    assert "broadcast/ring at 1KiB; measure it anew" in doubted
    assert picture.exists()
