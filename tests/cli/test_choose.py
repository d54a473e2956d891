"""`collsim choose`."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

IDEAL = "--alpha 10us --bandwidth 450GB/s --ranks 8"


def test_answer_conforms_and_covers_the_range(answer: Any, conforms: Any) -> None:
    """Contiguous inclusive ranges from -b to -e."""
    found = answer(f"choose all_reduce {IDEAL} -b 1K -e 1G")
    conforms(found, "choose")
    rows = found["rows"]
    assert (rows[0]["min_bytes"], rows[-1]["max_bytes"]) == (2**10, 2**30)
    assert rows[1]["min_bytes"] == rows[0]["max_bytes"] + 1
    assert found["left_out"]["linear"].startswith("too slow at every size")


def test_default_range_is_that_of_the_sweep(answer: Any, conforms: Any) -> None:
    """8 B to 8 GiB; one rank takes no time, so no gain."""
    found = answer("choose broadcast --ranks 1")
    conforms(found, "choose")
    (row,) = found["rows"]
    assert (row["min_bytes"], row["max_bytes"], row["gain"]) == (8, 2**33, None)


def test_table_has_a_line_per_range_and_notes_go_to_stderr(run: Any) -> None:
    """Sizes, algorithm, chunks, gain, efficiency."""
    result = run(f"choose all_reduce {IDEAL}")
    lines = result.stdout.splitlines()
    assert lines[0].startswith("all_reduce on 8 ranks of ideal, sharing fifo: the fastest ")
    assert lines[2].split()[4:5] == ["recursive_doubling"]
    assert (
        "note: left out as too slow at every size (at least so many times as long"
        in result.stderr
    )


def test_csv_has_the_keys_of_the_rows(run: Any) -> None:
    """In their order."""
    lines = run(f"choose sendrecv {IDEAL} --csv").stdout.splitlines()
    assert lines[0].startswith("min_bytes,max_bytes,algorithm,protocol,chunks,")
    assert len(lines) == 2


@pytest.mark.parametrize("words", ["-b 9 -e 8", "--json --csv"])
def test_contradictions_are_wrong_usage(fails: Any, words: str) -> None:
    """Exit 2."""
    assert fails(f"choose all_reduce {IDEAL} {words}", code=2)


def test_example_of_the_help_runs(run: Any) -> None:
    """The second one, whose options are the more."""
    line = "choose broadcast -c dgx-h100 --nodes 2 -b 1K -e 1G --json"
    assert f"collsim {line}" in run("choose --help").stdout
    assert run(line).exit_code == 0


TWO_NODES = "-c dgx-h100 --nodes 2 --gpus-per-node 2"


def test_all_has_the_rows_of_every_collective(answer: Any, conforms: Any) -> None:
    """Each row names its collective."""
    found = answer(f"choose all {IDEAL}")
    assert {row.pop("collective") for row in found["rows"]} >= {"all_reduce", "sendrecv"}
    conforms(found, "choose")
    assert found["collective"] is None


def test_only_some_algorithms_are_chosen_among(answer: Any) -> None:
    """Names may be listed or repeated; nothing else is tried."""
    found = answer(f"choose all_reduce {IDEAL} --algorithm ring,mst --algorithm linear")
    assert [row["algorithm"] for row in found["rows"]] == ["mst", "ring"]
    assert set(found["left_out"]) == {"linear"}


def test_name_that_there_is_not_is_an_error(fails: Any) -> None:
    """With the nearest one."""
    assert "did you mean 'ring'" in fails(f"choose all_reduce {IDEAL} --algorithm rong", code=1)


def test_sets_of_chunks_and_channels_are_stated(answer: Any, run: Any) -> None:
    """In JSON and below the table."""
    words = f"choose broadcast {TWO_NODES} --chunks 1,3,5-7 --channels 1-2"
    found = answer(words)
    assert (found["chunks"], found["channels"]) == ([1, 3, 5, 6, 7], [1, 2])
    assert "the best of 1, 3, 5-7 chunks and 1, 2 channels" in run(words).stdout


@pytest.mark.parametrize(
    "words", ["--chunks 5-3", "--chunks 1,,2", "--channels 0", "--chunks x"]
)
def test_list_that_is_none_is_wrong_usage(fails: Any, words: str) -> None:
    """Exit 2."""
    assert fails(f"choose broadcast {IDEAL} {words}", code=2)


def test_formula_is_confirmed_by_simulation(answer: Any) -> None:
    """The best number of chunks by the formula is the best of the simulated ones."""
    words = f"choose broadcast {IDEAL} --algorithm mst,ring -e 256M"
    rows = answer(words)["rows"]
    assert rows[-1]["chunks"] > 1
    assert {row["confirmed"] for row in rows} <= {True, None}
    assert rows[-1]["confirmed"] is True


def test_against_nccl_says_in_words_where_its_choice_loses(answer: Any, run: Any) -> None:
    """A paragraph, then ranges without a gap; JSON has the same."""
    words = f"choose all_reduce {TWO_NODES} --against nccl"
    found = answer(words)
    assert (found["against"], found["nccl_version"][:4]) == ("nccl", "2.30")
    assert set(found["available"]["all_reduce"]) <= {
        "double_binary_tree", "ring", "nvls", "nvls_tree",
    }  # fmt: skip
    rows = found["rows"]
    assert all(b["min_bytes"] == a["max_bytes"] + 1 for a, b in pairwise(rows))
    assert all(row["gain"] is None or row["gain"] >= 1 - 1e-9 for row in rows)
    assert found["summary"]["all_reduce"] in run(words).stdout
    assert found["summary"]["all_reduce"].startswith("NCCL's choice ")


def test_nccl_without_an_alternative_has_nothing_to_choose(answer: Any) -> None:
    """Of a broadcast it has the ring alone."""
    found = answer(f"choose broadcast {TWO_NODES} --against nccl")
    assert found["summary"]["broadcast"].startswith("NCCL has ring alone")


def test_tuner_file_covers_the_five_collectives(run: Any, tmp_path: Any) -> None:
    """And says what it was made by."""
    path = tmp_path / "tuner.csv"
    result = run(f"choose all {TWO_NODES} --nccl-tuner {path}")
    assert result.exit_code == 0
    lines = path.read_text(encoding="utf-8").splitlines()
    words = {line.split(",")[0] for line in lines if not line.startswith("#")}
    assert words == {"broadcast", "reduce", "allgather", "reducescatter", "allreduce"}
    assert "cluster dgx-h100, no profile" in lines[0]
    assert f"lines for NCCL's tuner plugin to {path}" in result.stderr


def test_tuner_file_goes_to_stdout_alone(run: Any) -> None:
    """For a pipe."""
    lines = run(f"choose all_gather {TWO_NODES} --nccl-tuner -").stdout.splitlines()
    assert all(line.startswith(("#", "allgather,")) for line in lines)


def test_tuner_file_that_cannot_be_written_leaves_nothing(fails: Any, tmp_path: Any) -> None:
    """One line that names it."""
    path = tmp_path / "missing" / "tuner.csv"
    assert str(path) in fails(f"choose all_gather {TWO_NODES} --nccl-tuner {path}", code=1)
    assert list(tmp_path.iterdir()) == []


def test_env_is_a_line_for_a_shell_and_says_what_it_cannot(run: Any) -> None:
    """One setting per function; sizes are beyond it."""
    result = run(f"choose all {TWO_NODES} --nccl-env --min-gain 0")
    (line,) = result.stdout.splitlines()
    assert line.startswith(("NCCL_ALGO=", "# NCCL_ALGO is best left unset"))
    assert "--nccl-tuner tells sizes apart" in result.stderr


@pytest.mark.parametrize(
    "words",
    [
        "--algorithm ring --against nccl",
        "--nccl-env --json",
        "--nccl-tuner - --csv",
        "--min-gain 0.1",
        "--nccl-version 2.30",
        "--against nccl --min-gain 5",
    ],
)
def test_contradictory_nccl_options_are_wrong_usage(fails: Any, words: str) -> None:
    """Exit 2."""
    assert fails(f"choose all_reduce {TWO_NODES} {words}", code=2)


def test_networks_without_gpus_are_nothing_for_nccl(fails: Any) -> None:
    """Its model needs links that it knows."""
    assert "ideal" in fails(f"choose all_reduce {IDEAL} --against nccl", code=1)
    assert "NCCL has no choice of algorithm" in fails(
        f"choose gather {TWO_NODES} --against nccl", code=1
    )


def test_gain_that_is_a_percentage_is_told_so(fails: Any) -> None:
    """5 is 500 %."""
    message = fails(f"choose all_reduce {TWO_NODES} --against nccl --min-gain 5", code=2)
    assert "'5', which is 500 %" in message
    assert "0.05 or 5%" in message


@pytest.mark.parametrize(
    ("words", "least", "said"),
    [("", 0.3, "only gains of 30 % or more count"), (" --min-gain 4%", 0.04, "count as asked")],
)
def test_without_a_profile_gains_of_datasheets_are_not_believed(
    answer: Any, run: Any, words: str, least: float, said: str
) -> None:
    """Unless less is asked for."""
    line = f"choose all_reduce {TWO_NODES} --against nccl{words}"
    assert answer(line)["min_gain"] == least
    assert said in run(line).stderr


@pytest.mark.parametrize(
    ("version", "said", "first"),
    [
        ("2.99", "the newest that is known here, 2.30.7", "# collsim"),
        ("2.26", "", "# NCCL 2.26"),
    ],
)
def test_releases_without_rules_or_reader_are_told(
    run: Any, version: str, said: str, first: str
) -> None:
    """In a note; and who reads no CSV is told so in the first line of it."""
    result = run(f"choose all_gather {TWO_NODES} --nccl-tuner - --nccl-version {version}")
    assert said in result.stderr
    assert result.stdout.startswith(first)
    assert ("has no tuner plugin that reads a CSV" in result.stdout) == (version == "2.26")


@pytest.mark.parametrize("version", ["", "99"])
def test_what_is_no_release_is_refused(fails: Any, version: str) -> None:
    """With the newest known, in one line."""
    line = f"choose all_gather {TWO_NODES} --nccl-tuner -"
    said = fails(line, "--nccl-version", version, code=1)
    assert f"NCCL version '{version}': expected one such as '2.30.7', the newest known" in said


def test_one_rank_has_one_line_a_collective(run: Any) -> None:
    """There is nothing to choose."""
    lines = run("choose all -c dgx-h100 --ranks 1 --nccl-tuner -").stdout.splitlines()
    rules = [line for line in lines if not line.startswith("#")]
    assert rules == [
        f"{name},0,{2**64 - 1},ring,simple,1,1,1,-1,-1"
        for name in ("broadcast", "reduce", "allgather", "reducescatter", "allreduce")
    ]


def test_env_says_why_it_sets_nothing(run: Any) -> None:
    """What the next best would take."""
    result = run(f"choose all_reduce {TWO_NODES} --nccl-env")
    assert result.stdout == "# NCCL_ALGO is best left unset\n"
    assert "NCCL's own choice is best left alone: " in result.stderr
    assert "geometric mean over all sizes" in result.stderr


def test_algorithms_of_all_are_for_the_collectives_that_have_them(
    answer: Any, run: Any
) -> None:
    """The others are left out with the reason, after the answer."""
    line = f"choose all {IDEAL} --algorithm mst,bruck:radix=8"
    found = answer(line)
    names = {(row["collective"], row["algorithm"]) for row in found["rows"]}
    assert ("broadcast", "mst") in names
    assert not {name for name, _ in names} & {"sendrecv"}
    assert found["left_out"]["sendrecv"] == {
        "mst": "there is no sendrecv/mst", "bruck:radix=8": "there is no sendrecv/bruck",
    }  # fmt: skip
    assert found["left_out"]["all_gather"]["bruck:radix=8"].startswith(
        "all_gather/bruck: takes"
    )
    assert "note: left out sendrecv: " in run(line).stderr


@pytest.mark.parametrize(
    ("name", "said"), [("rong", "'ring'"), ("bruck:rdix=8", "'radix'"), ("nvls", "all_reduce")]
)
def test_algorithms_that_no_collective_has_are_an_error(
    fails: Any, name: str, said: str
) -> None:
    """With the nearest, or the reason."""
    assert said in fails(f"choose all {IDEAL} --algorithm {name}", code=1)


def test_answer_comes_before_the_notes(run: Any) -> None:
    """And says at which size its times hold."""
    result = run(f"choose all_reduce {IDEAL} -b 1M -e 4M")
    lines = result.output.splitlines()
    assert lines[0].startswith("all_reduce on 8 ranks")
    assert lines[-1].startswith("note: left out")
    assert lines[1].split()[-5:] == ["at", "time", "(us)", "gain", "efficiency"]
    assert " 2MiB " in lines[2]


def test_what_takes_long_is_said_before(run: Any) -> None:
    """Fair shares of many ranks, at every size; not where links are passed one by one."""
    line = "choose all_reduce -c pcie-8 --nodes 2 --algorithm recursive_doubling"
    assert "takes long to simulate" in run(line).stderr
    assert "takes long to simulate" not in run(f"{line} --sharing fifo").stderr
