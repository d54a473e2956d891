"""What `check` and `calibrate fit` say of clusters, profiles, files and standard input."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from collsim.cli.main import main

# Made up: two hosts with eight GPUs each.
HEAD = "# nThread 1 nGpus 1 minBytes 1024 maxBytes 1048576 step: 2(factor)\n"
TWO_NODES = HEAD + "".join(
    f"#  Rank {r:2d} Group  0 Pid {100 + r} on node-{r // 8} device {r % 8} [0000:1b:00] GPU\n"
    for r in range(16)
)
TWO_NODES += "1024 256 float sum -1 500.0 0.00 0.00 0 500.0 0.00 0.00 0\n"
TWO_NODES += "1048576 262144 float sum -1 900.0 1.17 2.18 0 900.0 1.17 2.18 0\n"


@pytest.fixture
def two_nodes(tmp_path: Path) -> str:
    """Return the path of a log of two nodes."""
    path = tmp_path / "two.txt"
    path.write_text(TWO_NODES, "utf-8")
    return str(path)


def test_several_nodes_are_simulated(run: Any, answer: Any, two_nodes: str) -> None:
    """And the answer names what was compared."""
    found = answer("check -c dgx-h100 --nodes 2 --collective all_reduce", two_nodes, code=1)
    keys = [found[key] for key in ("cluster", "profile", "algorithm", "ranks")]
    chosen = "NCCL's choice by its model (double_binary_tree)"
    assert keys == ["dgx-h100", None, chosen, 16]
    assert {row["model"] for row in found["rows"]} == {"event"}
    first = run("check -c dgx-h100 --nodes 2 --collective all_reduce", two_nodes)
    assert first.stdout.startswith(f"# predicted: {chosen} on dgx-h100 (2 nodes of 8 GPUs")
    ring = run("check -c dgx-h100 --nodes 2 --algorithm ring", two_nodes)
    assert ring.stdout.startswith("# predicted: ring on dgx-h100 (2 nodes of 8 GPUs")


def test_the_wrong_number_of_nodes_is_refused(fails: Any, two_nodes: str) -> None:
    """One line that names the option and both counts."""
    message = fails("check -c dgx-h100 --collective all_reduce", two_nodes, code=1)
    assert message.endswith(
        "two.txt:18: measured on 16 ranks of 2 nodes, but cluster dgx-h100 has 8 ranks of "
        "1 node; give --nodes 2"
    )


def test_the_default_is_named(run: Any, log: str) -> None:
    """In a note, as nobody chose it; a choice needs none."""
    note = (
        "note: compared with textbook-h100, an ideal 900GB/s network: give -c or --profile; "
        "Made-up GPU does not tell how the GPUs are joined"
    )
    assert note in run(f"check {log}").stderr.splitlines()
    assert "compared with" not in run(f"check {log} -c textbook-h100").stderr


@pytest.fixture
def of_h100(tmp_path: Path, log: str) -> str:
    """Return the path of the repository's log as if it were of eight H100."""
    path = tmp_path / "h100.txt"
    text = Path(log).read_text("utf-8")
    path.write_text(text.replace("Made-up GPU", "NVIDIA H100 80GB HBM3"), "utf-8")
    return str(path)


def test_the_gpu_s_name_tells_the_cluster(run: Any, of_h100: str) -> None:
    """As it does for a fit; the head line says so, and no note is needed."""
    result = run("check --where", "size >= 1G", of_h100)
    assert result.stdout.startswith(
        "# predicted: NCCL's choice by its model (nvls) on dgx-h100, by the log's "
        "NVIDIA H100 80GB HBM3 (one node, 8 GPUs on a switch); busbw in GB/s\n"
    )
    assert "compared with" not in result.stderr
    named = run("check -c dgx-h100 --where", "size >= 1G", of_h100)
    assert named.stdout.splitlines()[1:] == result.stdout.splitlines()[1:]


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("H100 80GB HBM3", "A800-SXM4-80GB", "no preset is of NVIDIA A800-SXM4-80GB"),
        ("node-a device  7", "node-b device  0", "rows of 2 nodes need the cluster (-c) that"),
    ],
)
def test_why_the_gpu_s_name_does_not_tell_the_cluster(
    run: Any, of_h100: str, old: str, new: str, why: str
) -> None:
    """Then the default one is taken, as before."""
    text = Path(of_h100).read_text("utf-8")
    assert old in text
    Path(of_h100).write_text(text.replace(old, new), "utf-8")
    (note,) = [x for x in run(f"check {of_h100}").stderr.splitlines() if "give -c or" in x]
    assert f"give -c or --profile; {why}" in note


@pytest.mark.parametrize(
    "line",
    [
        "check --profile h100-nvswitch-8 -c dgx-h100",
        "check --profile h100-nvswitch-8",
        "check",
        "calibrate fit -c dgx-h100",
        "calibrate fit",
    ],
)
def test_other_nodes_than_the_log_s_are_refused(fails: Any, of_h100: str, line: str) -> None:
    """With both numbers, by a profile, the GPU's name and a fit alike."""
    message = fails(f"{line} --nodes 4", of_h100, code=1)
    assert message == (
        f"{of_h100}: measured on 1 node, but --nodes 4; leave it out, or choose rows with "
        "--where 'nodes == 4'"
    )


def test_nodes_count_where_the_log_does_not_say(run: Any, tmp_path: Path, log: str) -> None:
    """As ranks do."""
    path, profile = tmp_path / "rows.csv", tmp_path / "mine.toml"
    rows = [(n, 1e-4 + n / 1e10) for n in (2**k for k in range(10, 31))]
    lines = [f"16,,,all_reduce,{n},{seconds!r}" for n, seconds in rows]
    path.write_text("\n".join(["nranks,algo,proto,collective,bytes,seconds", *lines, ""]))
    for nodes, said in (("--nodes 2", [2]), ("", [])):
        result = run(f"calibrate fit {path} {nodes} -o {profile}")
        assert result.exit_code == 0, result.output
        assert tomllib.loads(profile.read_text("utf-8")).get("nodes", []) == said
    shown = json.loads(run(f"check {path} --profile {profile} --nodes 2 --json").stdout)
    assert {row["nodes"] for row in shown["rows"]} == {2}


def test_a_profile_is_named(run: Any, answer: Any, log: str, tmp_path: Path) -> None:
    """In the head and in JSON; with -c it puts its numbers there."""
    path = str(tmp_path / "mine.toml")
    run(f"calibrate fit {log} --name mine -o", path)
    text = run(f"check {log} --profile", path).stdout.splitlines()[0]
    assert text == (
        "# predicted with profile mine: ring on ideal (ideal one-port network); busbw in GB/s"
    )
    found = answer(f"check {log} -c dgx-h100 --profile", path)
    assert (found["cluster"], found["profile"]) == ("dgx-h100", "mine")


def test_rows_have_bus_bandwidths(answer: Any, log: str) -> None:
    """By nccl-tests' factor, 1.75 for 8 ranks."""
    row = answer(f"check {log} --alpha 1.5us --bandwidth 370GB/s")["rows"][-1]
    for who in ("measured", "predicted"):
        bus = 1.75 * row["size"] / row[f"{who}_us"] / 1e3
        assert row[f"{who}_busbw"] == pytest.approx(bus)


def test_files_are_told_apart(run: Any, answer: Any, log: str, tmp_path: Path) -> None:
    """Grouped and summed up by file where there are several."""
    other = tmp_path / "other.txt"
    text = Path(log).read_text("utf-8")
    other.write_text(text.replace("   21.08", "   21.09", 1), "utf-8")
    line = f"check {log} --alpha 1.5us --bandwidth 370GB/s"
    found = answer(line, str(other))
    assert [row["file"] for row in found["rows"]] == [log] * 31 + [str(other)] * 31
    text = run(line, str(other)).stdout.splitlines()
    assert text[1].split()[0] == "file"
    assert text[2].split()[0] == "nccl_tests_all_reduce_8gpu.txt"
    sentence = "all_reduce on 8 ranks of 1 node: all 31 rows within 20% of the prediction."
    assert text[-2:] == [f"{Path(log).name}: {sentence}", f"other.txt: {sentence}"]
    assert run(line).stdout.splitlines()[1].split()[0] == "collective"


@pytest.mark.parametrize("words", ["check", "calibrate fit"])
def test_a_dash_reads_standard_input(words: str, log: str, run: Any) -> None:
    """The same answer as by file, but for the name."""
    line = [*words.split(), "--json"]
    piped = CliRunner().invoke(main, [*line, "-"], input=Path(log).read_text("utf-8"))
    named = run(f"{words} --json {log}")
    assert piped.stdout == named.stdout.replace(log, "stdin")
    empty = CliRunner().invoke(main, [*line, "-"], input="")
    assert empty.exit_code == 1
    assert empty.stderr.startswith("Error: stdin: no measurements in a known format")


@pytest.mark.parametrize(
    ("text", "code"), [("0.2", 0), ("20%", 0), ("0.1%", 1), ("0", 1), ("10", 0)]
)
def test_a_tolerance_is_a_share_or_percent(run: Any, log: str, text: str, code: int) -> None:
    """The log's noise is 1 %."""
    line = f"check {log} --alpha 1.5us --bandwidth 370.4GB/s --tolerance {text}"
    assert run(line).exit_code == code


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("20", "got '20', expected at most 10; did you mean 20%?"),
        ("1e9", "got '1e9', expected at most 10"),
        ("1100%", "got '1100%', expected at most 10"),
        ("-1", "got '-1', expected a share such as 0.2 or 20%"),
        ("x%", "got 'x%', expected a share such as 0.2 or 20%"),
        ("nan", "got 'nan', expected a share such as 0.2 or 20%"),
    ],
)
def test_a_tolerance_that_cannot_be_meant_is_refused(
    fails: Any, log: str, text: str, words: str
) -> None:
    """20 is probably 20 %."""
    message = fails(f"check {log} --tolerance {text}", code=2)
    assert message == f"Invalid value for '--tolerance': {words}"


def test_help_says_what_the_verdicts_mean(run: Any) -> None:
    """Each with its own line."""
    text = run("check --help").stdout
    for verdict in ("ok", "latency", "bandwidth", "both", "faster"):
        assert f"\n    {verdict:<10} " in text


def test_notes_come_once_and_name_the_file_shortly(run: Any, two_nodes: str) -> None:
    """One file needs no folder; the profile keeps the note."""
    path = Path(two_nodes)
    path.write_text("".join(path.read_text("utf-8").splitlines(keepends=True)[-2:]), "utf-8")
    result = run("calibrate fit --collective all_reduce --ranks 16", two_nodes)
    notes = [line for line in result.stderr.splitlines() if "two.txt" in line]
    assert len(notes) == len(set(notes))
    assert all(note.startswith("note: two.txt: ") for note in notes)
    assert all(str(path.parent) not in text for text in tomllib.loads(result.stdout)["notes"])


def test_a_fit_of_a_cluster_is_of_its_link(
    run: Any, answer: Any, log: str, tmp_path: Path
) -> None:
    """The profile brings the cluster along."""
    path = str(tmp_path / "mine.toml")
    run(f"calibrate fit {log} -c dgx-h100 --model line -o", path)
    profile = tomllib.loads(Path(path).read_text("utf-8"))
    assert profile["cluster"] == "dgx-h100"
    assert list(profile["parameters"]) == ["nvlink4.alpha", "nvlink4.beta", "launch"]
    found = answer("predict all_reduce -s 1G --profile", path)
    assert (found["cluster"], found["ranks"]) == ("dgx-h100", 8)
    checked = answer(f"check {log} --profile", path)
    assert checked["cluster"] == "dgx-h100"
    assert {row["verdict"] for row in checked["rows"]} == {"ok"}


def test_a_fit_of_several_link_classes_is_refused(fails: Any, log: str, two_nodes: str) -> None:
    """By what the log says."""
    line = "calibrate fit -c dgx-h100 --collective all_reduce --model line"
    message = fails(line, two_nodes, code=1)
    assert message.startswith("rows of 2 nodes: one line is of one class")


@pytest.mark.parametrize(
    ("chunks", "expected"), [("1", {1}), ("auto", {2**k for k in range(8)})]
)
def test_predict_takes_the_profiles_chunks(
    run: Any, answer: Any, tmp_path: Path, chunks: str, expected: set[int]
) -> None:
    """For its algorithm, unless the command line says otherwise."""
    log = tmp_path / "b.txt"
    log.write_text(
        HEAD + "1024 256 float none 0 20.0 0.05 0.05 0 20.0 0.05 0.05 0\n"
        "1073741824 268435456 float none 0 5000.0 214.7 214.7 0 5000.0 214.7 214.7 0\n",
        "utf-8",
    )
    path = str(tmp_path / "p.toml")
    words = ["--collective", "broadcast", "--ranks", "8", "--chunks", chunks, "-o", path]
    assert run("calibrate fit", str(log), *words).exit_code == 0
    line = "predict broadcast --algorithm ring -b 1K -e 1G --profile"
    assert {row["chunks"] for row in answer(line, path)["rows"]} == expected
    assert {row["chunks"] for row in answer(f"{line} {path} --chunks 2")["rows"]} == {2}
    assert answer("predict all_reduce -s 1G --algorithm ring --profile", path)["rows"]


def test_errors_of_a_fit_are_told_in_words(run: Any, log: str, tmp_path: Path) -> None:
    """How many rows were fitted, and how many tried."""
    text = run(f"calibrate fit {log} -o", str(tmp_path / "p.toml")).stdout.splitlines()
    assert text[-2].startswith("fitted to all 31 rows: off by 0.9% in the median, 1.5% at")
    assert text[-1].startswith("fitted to 16 and tried on the other 15: off by 0.9% in the")


def test_json_of_a_fit_has_free_chunks(run: Any, log: str) -> None:
    """The default, in the profile as well."""
    found = json.loads(run(f"calibrate fit {log} --json").stdout)
    assert found["profile"]["chunks"] == "auto"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("values : 0 OK", "values : 7 FAILED", "ended with 7 values out of bounds: FAILED"),
        ("# Avg bus", "node: Test NCCL failure common.cu:1012\n# Avg bus", "common.cu:1012"),
        (
            "0.00    0.00      0    21.53",
            "0.00    0.00      9    21.53",
            "9 elements are wrong",
        ),
    ],
)
def test_a_broken_run_fails_however_good_its_times(
    run: Any, log: str, tmp_path: Path, old: str, new: str, reason: str
) -> None:
    """The reason stands in the answer and in the last line."""
    text = Path(log).read_text("utf-8")
    assert old in text
    path = tmp_path / "a.txt"
    path.write_text(text.replace(old, new), "utf-8")
    result = run("check --alpha 1.5us --bandwidth 370GB/s", str(path))
    assert result.exit_code == 1
    assert "rows within 20% of the prediction" in result.stdout
    assert result.stdout.splitlines()[-1].endswith(reason)
    assert result.stderr.splitlines()[-1].endswith(reason)
    found = json.loads(run("check --json", str(path)).stdout)
    assert [one.endswith(reason) for one in found["failures"]] == [True]


@pytest.mark.parametrize("ranks", [4, 16])
def test_other_ranks_than_those_of_the_log_are_refused(
    fails: Any, log: str, ranks: int
) -> None:
    """As with -c; an ideal network would take any."""
    message = fails(f"check {log} --alpha 1us --bandwidth 1GB/s --ranks {ranks}", code=1)
    assert message == (
        f"{log}: measured on 8 ranks, but --ranks {ranks}; leave it out, or choose rows with "
        f"--where 'ranks == {ranks}'"
    )


def test_what_ran_is_what_is_predicted(run: Any, tmp_path: Path) -> None:
    """And the head names it."""
    path = tmp_path / "a.csv"
    rows = "".join(f"all_reduce,8,{n},2e-5,{a}\n" for n in (8, 64) for a in ("mst", "tree"))
    path.write_text("collective,ranks,size,seconds,algorithm\n" + rows, "utf-8")
    head, *_, first, last = run(
        "check --alpha 1us --bandwidth 1GB/s", str(path)
    ).stdout.splitlines()
    assert head.startswith("# predicted: double_binary_tree, mst on ideal (")
    assert first.startswith("all_reduce on 8 ranks by mst: ")
    assert last.startswith("all_reduce on 8 ranks by tree: ")


def test_rows_that_are_left_out_for_one_reason_are_one_line(run: Any) -> None:
    """77 messages between ranks, and the collectives that were measured in place."""
    path = "examples/gloo_4_ranks.jsonl"
    result = run(f"check {path} --alpha 42us --bandwidth 10GB/s")
    notes = [line for line in result.stderr.splitlines() if "left out" in line]
    assert len(notes) == 2
    assert "rows left out, no collective: " in notes[0]
    assert notes[1].endswith("measured in-place only: --columns in-place takes them")
