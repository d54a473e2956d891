"""`collsim estimate`: a step of training on the command line."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

Run = Callable[..., Result]
Answer = Callable[..., dict[str, Any]]
Fails = Callable[..., str]

HAND = "estimate examples/workloads/by_hand.toml"


def test_json_has_the_step_and_its_rows(answer: Answer) -> None:
    """The parts of the step add up, and the cluster is the file's."""
    found = answer(HAND)
    assert found["schema"] == "collsim/estimate/1"
    assert (found["cluster"], found["ranks"], found["collective"]) == ("dgx-h100", 16, None)
    parts = found["compute_us"] + found["bubble_us"] + found["exposed_us"]
    assert found["step_us"] == pytest.approx(parts)
    assert found["compute_us"] == pytest.approx(32 * 6000)
    assert [row["kind"] for row in found["rows"]] == ["tensor", "data"]
    assert found["changes"] == []
    assert "change" not in found


def test_csv_has_the_same_rows(run: Run, answer: Answer) -> None:
    """And the same keys."""
    rows = list(csv.DictReader(io.StringIO(run(f"{HAND} --csv").stdout)))
    assert [list(row) for row in rows] == [list(row) for row in answer(HAND)["rows"]]
    assert float(rows[0]["time_us"]) == answer(HAND)["rows"][0]["time_us"]


def test_text_says_what_it_is(run: Run) -> None:
    """Where, how ranks share the work, the parts, and a table."""
    lines = run(HAND).stdout.splitlines()
    assert lines[0].startswith("by-hand on 16 ranks of dgx-h100 (2 nodes of 8 GPUs")
    assert lines[0].endswith("tensor 8, data 2")
    assert lines[1].split()[0] == "step"
    assert lines[2].split() == ["computing", "192ms", "90.5", "%"]
    assert lines[6].split()[:4] == ["group", "of", "x", "collective"]
    assert lines[7].split()[:4] == ["tensor", "8", "2", "all_reduce"]


@pytest.mark.parametrize(
    ("options", "ranks", "name"),
    [
        ("--nodes 4", 32, "dgx-h100"),
        ("-c dgx-a100", 16, "dgx-a100"),
        ("-c dgx-a100 --ranks 8", 8, "dgx-a100"),
        ("-c dgx-a100 --gpus-per-node 8", 16, "dgx-a100"),
        ("--alpha 5us --bandwidth 50GB/s --ranks 16", 16, "ideal"),
        ("--ranks 8", 8, "dgx-h100"),
        ("--profile h100-ndr", 16, "dgx-h100"),
        ("--set network.nodes=4", 32, "dgx-h100"),
    ],
)
def test_options_name_another_cluster(
    answer: Answer, options: str, ranks: int, name: str
) -> None:
    """What they leave open is as the file says: its cluster, and two nodes."""
    found = answer(f"{HAND} {options}")
    assert (found["ranks"], found["cluster"]) == (ranks, name)


def test_a_cluster_without_nodes_is_said_to_be_one(run: Run) -> None:
    """The file's nodes are left out, not refused; a file of a cluster has its own size."""
    told = run(f"{HAND} -c textbook-h100")
    assert "not on the 2 nodes that the workload's file names: nodes: got 2" in told.stderr
    assert told.stdout.startswith("by-hand on 8 ranks of textbook-h100")
    mine = run(f"{HAND} -c configs/clusters/dgx-h100.toml")
    assert mine.stdout.startswith("by-hand on 8 ranks of dgx-h100")


def test_the_help_names_one_default(run: Run) -> None:
    """The workload's cluster; other commands keep theirs."""
    assert "[default: the workload's]" in run("estimate --help").stdout
    assert "textbook-h100" not in run("estimate --help").stdout
    assert "[default: textbook-h100, ideal" in run("predict --help").stdout


def test_what_if(answer: Answer, run: Run) -> None:
    """A slow NIC: the step beside the healthy one."""
    found = answer(f"{HAND} --degrade nic[3]=0.25")
    healthy = answer(HAND)
    assert found["healthy_step_us"] == healthy["step_us"]
    assert found["change"] == pytest.approx(found["step_us"] / healthy["step_us"])
    assert found["change"] > 1.5
    assert found["changes"] == ["degrade nic[3]=0.25"]
    assert "this one takes x1." in run(f"{HAND} --degrade nic[3]=0.25").stdout


def test_faster_network(answer: Answer) -> None:
    """Gradients wait for the network; twice as fast, half as much is exposed."""
    found = answer(f"{HAND} --set network.bandwidth=100GB/s")
    assert found["change"] < 1
    rows = {row["kind"]: row for row in found["rows"]}
    was = {row["kind"]: row for row in answer(HAND)["rows"]}
    assert rows["data"]["time_us"] < 0.6 * was["data"]["time_us"]
    assert rows["tensor"]["time_us"] == was["tensor"]["time_us"]


def test_the_trace_holds_the_step(run: Run, answer: Answer, tmp_path: Path) -> None:
    """A slice for each task, named threads, and nothing beyond the step's end."""
    path = tmp_path / "step.json"
    assert run(HAND, "--trace", str(path)).exit_code == 0
    events = json.loads(path.read_text("utf-8"))["traceEvents"]
    threads = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert sorted(threads.values()) == ["compute", "data", "tensor"]
    slices = [event for event in events if event["ph"] == "X"]
    assert all({"pid", "tid", "ts", "dur", "name", "cat", "args"} <= set(e) for e in slices)
    assert sum(e["cat"] == "all_reduce" for e in slices) == 64 + 32
    # Forward and backward of 32 layers; the optimizer takes no time here.
    assert sum(threads[e["tid"]] == "compute" for e in slices) == 64
    end = max(event["ts"] + event["dur"] for event in slices)
    assert end == pytest.approx(answer(HAND)["step_us"], abs=0.01)
    sends = [e["args"] for e in slices if threads[e["tid"]] == "data"]
    assert sends[0] == {"collective": "all_reduce", "bytes": 100 * 2**20}


def test_a_pipeline_has_a_process_per_stage(run: Run, tmp_path: Path) -> None:
    """And threads for what comes from both neighbours."""
    text = Path("examples/workloads/gpt_1b_ddp.toml").read_text("utf-8")
    text = text.replace("[parallel]", "[parallel]\npipeline = 2").replace(
        "micro_batch = 4", "micro_batch = 1\nmicro_batches = 4"
    )
    work, path = tmp_path / "two.toml", tmp_path / "step.json"
    work.write_text(text, "utf-8")
    result = run("estimate", str(work), "-c", "dgx-a100", "--ranks", "4", "--trace", str(path))
    assert "waiting for stages" in result.stdout
    assert "sendrecv" in result.stdout
    events = json.loads(path.read_text("utf-8"))["traceEvents"]
    assert {e["args"]["name"] for e in events if e["name"] == "process_name"} == {
        "stage 0", "stage 1",
    }  # fmt: skip
    names = {e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert names == {"compute", "data", "pipeline forward", "pipeline backward"}


def test_auto_is_of_what_nccl_has_with_a_profile_of_it(run: Run, tmp_path: Path) -> None:
    """As everywhere; what is named stays."""
    text = (Path("examples/workloads/gpt_1b_ddp.toml")).read_text("utf-8")
    path = tmp_path / "named.toml"
    line = f"estimate {path} -c dgx-h100 --nodes 2"
    for named, has, has_not in (
        ("auto", "nvls_tree", "hierarchical"),
        ("swing", "swing", "nvls"),
    ):
        path.write_text(f'{text}\n[algorithms]\ndata = "{named}"\n', "utf-8")
        result = run(f"{line} --profile h100-ndr")
        assert result.exit_code == 0
        assert "and auto is the fastest of what NCCL has" in result.stderr
        assert f" {has} " in result.stdout
        assert has_not not in result.stdout


def test_profiles_are_simulated_and_said_so(run: Run) -> None:
    """NCCL's fitted times are of whole machines, not of groups."""
    result = run(f"{HAND} -c dgx-h100 --profile h100-nvswitch-8")
    assert result.exit_code == 0
    assert "times are simulated with the alpha and beta" in result.stderr


@pytest.mark.parametrize(
    ("line", "words", "code"),
    [
        ("estimate nope.toml", "nope.toml: No such file", 1),
        ("estimate configs/clusters/dgx-h100.toml", "schema", 1),
        (f"{HAND} --ranks 4", "tensor 8 x pipeline 1 is 8, expected a divisor of the", 1),
        (f"{HAND} --delay rank[0]=1ms", "--delay", 2),
        (f"{HAND} --json --csv", "expected one of them", 2),
        (f"{HAND} --trace step.txt", "expected a name that ends in .json", 1),
        (f"{HAND} -c nope", "unknown cluster", 1),
        ("estimate", "FILE", 2),
    ],
)
def test_what_is_refused(fails: Fails, line: str, words: str, code: int) -> None:
    """In one line, that says what was got and what was expected."""
    assert words in fails(line, code=code)


def _work(tmp_path: Path, *changes: tuple[str, str]) -> str:
    """Return the path of a changed copy of the workload by hand."""
    text = Path("examples/workloads/by_hand.toml").read_text("utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    path = tmp_path / "work.toml"
    path.write_text(text, "utf-8")
    return str(path)


def test_what_has_no_effect_is_said(run: Run, tmp_path: Path) -> None:
    """Calls of groups of one rank, and algorithms of calls that the step does not have."""
    more = (
        '[algorithms]\ndata.broadcast = "ring"\nexpert = "ring"\ndata.all_reduce = "ring"\n'
        'data.all_gather = "auto"\n[compute]'
    )
    path = _work(tmp_path, ("tensor = 8", "tensor = 1"), ("[compute]", more))
    assert run("estimate", path).stderr.splitlines() == [
        "note: left out 64 all_reduce of activations: groups of tensor are of 1 rank here",
        "note: [algorithms] data.broadcast = ring: the step has no such call",
        "note: [algorithms] expert = ring: the step has no such call",
    ]
    assert run(HAND).stderr == ""


def test_an_algorithm_of_all_others_is_used_for_none(run: Run, tmp_path: Path) -> None:
    """Where every call of the group has one of its own."""
    both = '[algorithms.data]\nall_reduce = "ring"\n[compute]'
    assert run("estimate", _work(tmp_path, ("[compute]", both))).stderr == ""


def test_names_do_not_reach_the_terminal_raw(fails: Fails, tmp_path: Path) -> None:
    """One line says what is wrong with them."""
    path = _work(tmp_path, ('"by-hand"', '"x\\u001b[31m\\u0000\\ny"'))
    message = fails("estimate", path, code=1)
    assert message == (
        f"{path}: name: got 'x\\x1b[31m\\x00\\ny', expected text of one line, without control "
        "characters"
    )


def test_the_workload_is_not_written_over(fails: Fails, run: Run, tmp_path: Path) -> None:
    """By an answer or a trace, nor the one by the other."""
    path = _work(tmp_path)
    before = Path(path).read_bytes()
    assert "is read as FILE" in fails("estimate", path, "--json", "-o", path, code=2)
    named = tmp_path / "w.json"
    named.symlink_to(path)
    assert "is read as FILE" in fails("estimate", path, "--trace", str(named), code=2)
    assert Path(path).read_bytes() == before
    trace = str(tmp_path / "s.json")
    assert "expected two files" in fails(
        "estimate", path, "--trace", trace, "-o", trace, code=2
    )
    assert not Path(trace).exists()
    assert run("estimate", path, "-o", trace).exit_code == 0


def test_sizes_that_differ_look_different(run: Run) -> None:
    """The embedding of 32,000 x 4,096, and the head with a norm of 4,096 more, in 2 bytes."""
    text = run("estimate examples/workloads/mixtral_8x7b_ep.toml --nodes 2").stdout
    gathers = [line for line in text.splitlines() if "all_gather" in line and "MiB" in line]
    sizes = [next(w for w in line.split() if w.endswith("MiB")) for line in gathers]
    assert {"250MiB", "250.01MiB"} <= set(sizes)
    assert (
        len({(line.split()[0], size) for line, size in zip(gathers, sizes, strict=True)}) == 4
    )
