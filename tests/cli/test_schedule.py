"""`--schedule FILE` on `verify`, `simulate` and `predict`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

BY_HAND = "examples/schedule_all_reduce_4.txt"
TREE = "examples/schedule_broadcast_4.txt"
WRONG = "examples/schedule_wrong.txt"
HANGS = "examples/msccl_wrong.xml"


@pytest.fixture
def ring(run: Any, tmp_path: Path) -> str:
    """Return the path of a ring of four ranks as MSCCL XML."""
    path = tmp_path / "ring.xml"
    line = "export all_reduce --algorithm ring --ranks 4 --format msccl -o"
    assert run(line, str(path)).exit_code == 0
    return str(path)


def test_verify_says_that_it_is_right(answer: Any, conforms: Any) -> None:
    """One row, with the collective, ranks and root of the file."""
    found = answer(f"verify --schedule {TREE}")
    conforms(found, "verify")
    assert (found["collective"], found["ranks"]) == ("broadcast", 4)
    (row,) = found["rows"]
    assert row == {
        "collective": "broadcast", "algorithm": "schedule_broadcast_4", "ranks": 4, "root": 0,
        "ok": True, "reason": "",
    }  # fmt: skip


def test_verify_says_why_it_is_wrong(answer: Any, fails: Any) -> None:
    """By line of a text, by rank, thread block and step of MSCCL XML; exit 1."""
    (row,) = answer(f"verify --schedule {WRONG}", code=1)["rows"]
    reason = "line 7 (1 → 0) counts the contribution of rank 0 twice in chunk 0 of rank 0"
    assert (row["ok"], row["reason"]) == (False, reason)
    assert fails(f"verify --schedule {WRONG}", code=1).endswith(reason)
    assert "rank 0, thread block 0, step 0 (r) waits for ever for a message from rank 1" in (
        fails(f"verify --schedule {HANGS}", code=1)
    )


@pytest.mark.parametrize("command", ["simulate -s 1K", "predict -s 1K"])
def test_what_is_wrong_has_no_time(fails: Any, command: str) -> None:
    """A time of it would mean nothing."""
    message = fails(f"{command} --schedule {WRONG}", code=1)
    assert message.startswith(f"{WRONG}: is not a correct all_reduce: line 7 (1 → 0) counts")


@pytest.mark.parametrize("command", ["verify", "simulate -s 1K", "predict -s 1K"])
def test_a_file_that_is_none(fails: Any, tmp_path: Path, command: str) -> None:
    """Missing, broken, of another collective, or of another tool."""
    missing = tmp_path / "none.txt"
    assert fails(command, "--schedule", str(missing), code=1) == (
        f"{missing}: No such file or directory"
    )
    missing.write_text("collective: reduce\nranks: 2\n0 to 1: chunk 0\n")
    assert "line 3: got '0 to 1: chunk 0', expected a message" in fails(
        command, "--schedule", str(missing), code=1
    )
    name, *rest = command.split()
    assert "is a schedule of broadcast, expected one of reduce" in fails(
        " ".join([name, "reduce", *rest, "--schedule", TREE]), code=1
    )
    missing.write_bytes(b'{"name": "plan"}')
    assert "is JSON, as execution plans of MSCCL++ are" in fails(
        command, "--schedule", str(missing), code=1
    )
    missing.write_bytes(b"\xff\xfe\x00\x01")
    assert "line 1 is not UTF-8 text" in fails(command, "--schedule", str(missing), code=1)


def test_simulate_runs_it(answer: Any, conforms: Any) -> None:
    """4 rounds of alpha, and 2 (P - 1) / P n beta: the schedule of `swing` by hand."""
    found = answer(f"simulate --schedule {BY_HAND} -s 1M --alpha 1us --bandwidth 1GB/s")
    conforms(found, "simulate")
    (row,) = found["rows"]
    assert (row["algorithm"], row["operations"], row["rounds"]) == ("by-hand", 16, 4)
    assert row["makespan_us"] == pytest.approx(4 + 1.5 * 2**20 / 1000)
    (ours,) = answer("simulate all_reduce --algorithm swing --ranks 4 -s 1M --alpha 1us "
                     "--bandwidth 1GB/s")["rows"]  # fmt: skip
    assert row["makespan_us"] == pytest.approx(ours["makespan_us"])


def test_simulate_writes_its_trace(run: Any, tmp_path: Path) -> None:
    """As for an algorithm."""
    path = tmp_path / "trace.json"
    assert run(f"simulate --schedule {TREE} -s 1K --trace", str(path)).exit_code == 0
    assert json.loads(path.read_text("utf-8"))


def test_predict_alone(answer: Any, conforms: Any) -> None:
    """One row for each size, on as many ranks as it has."""
    found = answer(f"predict --schedule {TREE} -s 1K -s 1M")
    conforms(found, "predict")
    assert found["ranks"] == 4
    assert [(row["algorithm"], row["model"], row["root"]) for row in found["rows"]] == [
        ("schedule_broadcast_4", "event", 0)
    ] * 2


def test_predict_beside_ours(answer: Any, ring: str) -> None:
    """At each size after our algorithms; a name that one of ours has is told apart."""
    found = answer(f"predict --algorithm ring,mst -s 1K -s 1M --schedule {ring}")
    names = ["ring", "mst", "all_reduce_ring"]
    assert [row["algorithm"] for row in found["rows"]] == names * 2
    ours, _, own = found["rows"][:3]
    assert own["time_us"] == pytest.approx(ours["time_us"], rel=1e-9)
    text = Path(ring).read_text("utf-8").replace("all_reduce_ring", "ring")
    Path(ring).write_text(text, "utf-8")
    found = answer(f"predict --algorithm ring -s 1K --schedule {ring}")
    assert [row["algorithm"] for row in found["rows"]] == ["ring", "ring-file"]


def test_predict_beside_all(answer: Any) -> None:
    """Also where nobody names one."""
    names = [row["algorithm"] for row in answer(f"predict --schedule {BY_HAND} --algorithm all "
                                                "-s 1K")["rows"]]  # fmt: skip
    assert names[-1] == "by-hand"
    assert {"ring", "mst", "swing"} <= set(names)


def test_predict_beside_a_healthy_cluster(answer: Any) -> None:
    """A schedule has its own time there."""
    rows = answer(f"predict --schedule {TREE} -s 1G -c dgx-h100 --ranks 4 --degrade gpu[2]=0.5")
    (row,) = rows["rows"]
    assert row["healthy_algorithm"] == "schedule_broadcast_4"
    assert row["change"] > 1.5


def test_a_cluster_of_its_own_size(answer: Any, fails: Any) -> None:
    """Of a preset with more GPUs, so many of one node; any other number is refused."""
    assert answer(f"predict --schedule {TREE} -s 1K -c dgx-h100")["ranks"] == 4
    assert fails(f"predict --schedule {TREE} -s 1K --ranks 5", code=1) == (
        "schedule_broadcast_4 is a schedule for 4 ranks, and cluster textbook-h100 has 5, "
        "expected as many"
    )


def test_notes(run: Any, ring: str) -> None:
    """Limits that are broken, sizes that it is not for, and start-ups that add up."""
    text = Path(ring).read_text("utf-8")
    text = text.replace('maxBytes="1099511627776"', 'maxBytes="1024"')
    Path(ring).write_text(text.replace('nchannels="1"', 'nchannels="99"'), "utf-8")
    notes = run(f"predict -s 512 -s 1K -s 1M --schedule {ring}").stderr.splitlines()
    limit = "channels: 99, and the runtime has at most 32"
    assert notes == [
        f"note: {ring} breaks a limit of MSCCL's runtime: {limit}",
        "note: all_reduce_ring is meant for 0 to 1023 bytes, and not for 1KiB, 1MiB",
    ]


def test_many_messages_in_a_round_are_told(run: Any, tmp_path: Path) -> None:
    """Where thread blocks would overlap what a port does one after the other."""
    path = tmp_path / "a2a.xml"
    assert run("export all_to_all --algorithm direct --ranks 4 --format msccl -o",
               str(path)).exit_code == 0  # fmt: skip
    path.write_text(path.read_text("utf-8").replace('round="1"', 'round="0"'), "utf-8")
    text = "every step of all_to_all_direct is a message"
    assert text in run(f"simulate -s 1K --schedule {path}").stderr
    assert text not in run(f"simulate -s 1K --sharing fair --schedule {path}").stderr


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            f"verify --schedule {TREE} --algorithm ring",
            "--algorithm says nothing of a --schedule",
        ),
        (f"verify --schedule {TREE} --ranks 4", "--ranks says nothing of a --schedule"),
        (
            f"simulate --schedule {TREE} -s 1K --chunks 2",
            "--chunks says nothing of a --schedule",
        ),
        (f"predict --schedule {TREE} -s 1K --model event", "--model says nothing of a --sched"),
        ("predict -s 1K", "Missing argument 'COLLECTIVE'; for example: "),
        ("simulate -s 1K", "Missing argument 'COLLECTIVE'; for example: "),
    ],
)
def test_wrong_usage(fails: Any, line: str, message: str) -> None:
    """Options that say something of algorithms, and nothing to run at all."""
    assert fails(line, code=2).startswith(message)
