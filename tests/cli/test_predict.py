"""`collsim predict`."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from collsim.algorithms import algorithm_names, refusal

TEXTBOOK = "--alpha 10us --bandwidth 900GB/s"


def test_table_has_the_shape_of_nccl_tests(run: Any) -> None:
    """Comment lines, then size, count, type, redop, root, time, algbw, busbw, and the rest."""
    lines = run(f"predict all_reduce {TEXTBOOK} --ranks 8 -s 1K").stdout.splitlines()
    assert [line[0] for line in lines] == ["#", "#", "#", "#", " "]
    titles = "size count type redop root time algbw busbw algorithm protocol chunks model"
    assert lines[2].split()[1:] == [*titles.split(), "efficiency"]
    assert lines[3].split()[1:] == ["(B)", "(elements)", "(us)", "(GB/s)", "(GB/s)"]
    # Recursive doubling: 3 rounds of 10 us + 1024 B / 900 GB/s = 30.0034 us; bound 3 alpha.
    cells = "1024 256 float sum -1 30.00 0.0341 0.0597 recursive_doubling - 1 formula 100.0%"
    assert lines[4].split() == cells.split()


def test_json_conforms(answer: Any, conforms: Any) -> None:
    """Every key of the contract, with its type, in its order."""
    found = answer("predict all-reduce -c dgx-h100 -s 0 -s 1 -s 1GiB --algorithm all")
    conforms(found, "predict")
    assert (found["cluster"], found["collective"], found["ranks"]) == (
        "dgx-h100",
        "all_reduce",
        8,
    )


def test_ring_of_eight_by_hand(answer: Any) -> None:
    """14 rounds of 1 us and 125 bytes at 1 GB/s each: 14 * (1 + 0.125) us."""
    line = "predict all_reduce --alpha 1us --bandwidth 1GB/s --ranks 8 -s 1000 --algorithm ring"
    (row,) = answer(line)["rows"]
    assert row["time_us"] == pytest.approx(15.75, rel=1e-12)
    assert (row["alpha_us"], row["beta_us"]) == pytest.approx((14, 1.75), rel=1e-12)
    assert row["algbw"] == pytest.approx(1000 / 15.75e-6 / 1e9, rel=1e-12)
    assert row["busbw"] == pytest.approx(row["algbw"] * 14 / 8, rel=1e-12)


def test_csv_has_the_keys_of_the_rows(run: Any, answer: Any) -> None:
    """The header is the row's keys; empty cells are null."""
    line = f"predict broadcast {TEXTBOOK} --ranks 5 -s 8 -s 16 --root 2"
    rows = list(csv.DictReader(io.StringIO(run(line, "--csv").stdout)))
    expected = answer(line)["rows"]
    assert [list(row) for row in rows] == [list(row) for row in expected]
    assert [row["time_us"] for row in rows] == [str(row["time_us"]) for row in expected]
    assert rows[0]["op"] == ""
    assert rows[0]["root"] == "2"


def test_default_sweep_is_that_of_nccl_tests(answer: Any) -> None:
    """8 B to 8 GiB by doubling, on 8 ranks of the textbook cluster."""
    found = answer("predict all_reduce")
    assert [row["size"] for row in found["rows"]] == [8 << k for k in range(31)]
    assert (found["cluster"], found["ranks"]) == ("textbook-h100", 8)


def test_nothing_moves_on_one_rank(answer: Any) -> None:
    """No time, no bandwidth, and 0/0 is null."""
    (row,) = answer(f"predict all_reduce {TEXTBOOK} --ranks 1 -s 1K")["rows"]
    assert (row["time_us"], row["algbw"], row["busbw"]) == (0, 0, 0)
    assert row["efficiency"] is None


def test_all_gives_each_algorithm(answer: Any) -> None:
    """A row per size and algorithm."""
    rows = answer(f"predict gather {TEXTBOOK} --ranks 4 -s 1 -s 2 --algorithm all")["rows"]
    assert [(row["size"], row["algorithm"]) for row in rows] == [
        (size, name)
        for size in (1, 2)
        for name in algorithm_names("gather")
        if refusal("gather", name, 4) is None
    ]


def test_all_says_why_an_algorithm_is_left_out(run: Any) -> None:
    """On stderr; the table holds what remains."""
    line = "predict broadcast -c dgx-h100 --nodes 2 -s 1K --algorithm all --root 16"
    result = run(line)
    assert result.exit_code == 1
    assert "root: got 16, expected a rank from 0 to 15" in result.stderr


def test_launch_gamma_and_busy_count(answer: Any) -> None:
    """Two ranks, 1000 B: launch 3 + alpha 1 + beta 1 + gamma 2, twice without gamma back."""
    line = "predict reduce --alpha 1us --bandwidth 1GB/s --gamma 2ns --launch 3us --ranks 2"
    (row,) = answer(f"{line} -s 1000 --algorithm mst")["rows"]
    assert row["time_us"] == pytest.approx(7, rel=1e-12)
    assert row["gamma_us"] == pytest.approx(2, rel=1e-12)
    (same,) = answer(f"{line.replace('2ns', '500MB/s')} -s 1000 --algorithm mst")["rows"]
    assert same == row


def test_profile_brings_its_own_cluster(run: Any, answer: Any, log: str, tmp_path: Any) -> None:
    """Its numbers and the rank count that was measured; with -c that cluster's name."""
    profile = str(tmp_path / "mine.toml")
    assert run(f"calibrate fit {log} -o", profile).exit_code == 0
    found = answer("predict all_reduce --algorithm ring -s 8GiB --profile", profile)
    assert (found["cluster"], found["ranks"]) == ("fitted", 8)
    assert found["rows"][0]["busbw"] == pytest.approx(370.4, rel=0.01)
    inside = answer("predict all_reduce -c dgx-h100 --ranks 4 -s 8GiB --profile", profile)
    assert (inside["cluster"], inside["ranks"]) == ("dgx-h100", 4)


def test_a_ring_uses_every_nic_of_a_node(run: Any, answer: Any) -> None:
    """In as many channels as a node has GPUs, in a column that is there only then."""
    line = "predict all_reduce --algorithm ring -s 8G -c dgx-h100"
    (row,) = answer(f"{line} --nodes 2")["rows"]
    assert row["channels"] == 8
    assert 390 < row["busbw"] < 400
    assert "chunks  channels  model" in run(f"{line} --nodes 2").stdout
    assert "channels" not in run(line).stdout


def test_an_algorithm_that_the_fit_never_saw_is_named(
    run: Any, log: str, tmp_path: Any
) -> None:
    """A profile fitted to ring says so when auto picks another, and is silent for ring."""
    profile = str(tmp_path / "mine.toml")
    assert run(f"calibrate fit {log} -o", profile).exit_code == 0
    small = run("predict all_reduce -s 1KiB --profile", profile)
    assert "fitted to ring" in small.stderr
    assert "carried over to recursive_doubling" in small.stderr
    ring = "predict all_reduce -s 8GiB --algorithm ring --profile"
    assert run(ring, profile).stderr == ""


@pytest.mark.parametrize("form", ["", "--json", "--csv"])
def test_same_answer_every_time(run: Any, form: str) -> None:
    """To the byte."""
    line = f"predict all_to_all -c dgx-a100 --nodes 2 --algorithm all -b 1 -e 1G -f 32 {form}"
    assert run(line).stdout == run(line).stdout


def test_several_algorithms_have_a_row_each_at_every_size(answer: Any, run: Any) -> None:
    """In the order in which they are named; what can't run is left out below the table."""
    line = "predict all_reduce -s 1K -s 1M --algorithm ring,nvls,mst"
    rows = answer(line)["rows"]
    assert [(row["size"], row["algorithm"]) for row in rows] == [
        (2**10, "ring"), (2**10, "mst"), (2**20, "ring"), (2**20, "mst"),
    ]  # fmt: skip
    assert "left out nvls: " in run(line).stderr


def test_auto_stands_alone(fails: Any) -> None:
    """Beside a name it would say nothing."""
    assert "or auto alone" in fails("predict all_reduce --algorithm ring,auto", code=2)


def test_an_algorithm_given_twice_is_not_dropped(answer: Any, fails: Any, run: Any) -> None:
    """Lists are joined; where one is expected, a second is refused."""
    line = "predict all_reduce -s 1K --algorithm ring --algorithm mst,ring"
    assert [row["algorithm"] for row in answer(line)["rows"]] == ["ring", "mst"]
    twice = "--algorithm ring --algorithm mst"
    assert "got ring and mst, expected one" in fails(f"simulate all_reduce {twice}", code=2)
    assert "or all alone" in fails(f"verify {twice} --algorithm all", code=2)
    assert run("simulate all_reduce -s 1K --algorithm ring").exit_code == 0
