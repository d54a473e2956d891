"""What auto is with a profile of NCCL: one thing, in every command."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import collsim
from collsim.core.cluster import Cluster

H100 = "--profile h100-nvswitch-8"
NDR = "--profile h100-ndr"


def test_auto_is_one_thing_where_the_table_does_not_tell(
    run: Any, answer: Any, fails: Any, tmp_path: Path
) -> None:
    """Predict, check and choose take the fastest for NCCL's choice, and say so."""
    line = f"all_reduce --nodes 2 {NDR}"
    rows = answer(f"choose {line} --against nccl -b 64K -e 32M")["rows"]
    for row in rows:
        assert (row["gain"], row["gained"], row["doubtful"]) == (1.0, False, False)
        (one,) = answer(f"predict {line} -s {row['size']}")["rows"]
        assert (one["algorithm"], one["protocol"]) == (row["algorithm"], row["nccl_protocol"])
        assert one["time_us"] == pytest.approx(row["nccl_us"], rel=1e-12)
    said = run(f"choose {line} --against nccl -b 64K -e 32M").stdout
    assert "NCCL 2.30.7, the fastest by the fit" in said
    assert "What NCCL chooses is not known: its table does not tell what ran" in said
    assert "auto is the fastest that NCCL has" in run(f"predict {line} -s 1M").stderr
    row = {"collective": "all_reduce", "ranks": 16, "nodes": 2, "size": 2**20, "seconds": 1e-4}
    log = tmp_path / "rows.jsonl"
    log.write_text(f'{{"schema": "collsim/measurements/1"}}\n{json.dumps(row)}\n', "utf-8")
    result = run(f"check {log} {NDR}")
    assert f"with {NDR[2:]}: the fastest that NCCL has on dgx-h100" in result.stdout
    assert "is predicted: its table does not tell what ran" in result.stderr


def test_what_nccl_chooses_is_not_written_where_it_is_not_known(fails: Any, run: Any) -> None:
    """Whoever repeats a choice must know it; a variable is best left alone."""
    line = f"choose all_reduce --nodes 2 {NDR}"
    assert "h100-ndr does not tell what NCCL chooses" in fails(f"{line} --nccl-tuner -", code=1)
    assert run(f"{line} --nccl-env").stdout == "# NCCL_ALGO is best left unset\n"


def test_a_gain_at_sizes_that_no_row_is_of_is_told_and_does_not_count(
    run: Any, answer: Any, tmp_path: Path
) -> None:
    """Below 64 MiB, which this profile begins at, NCCL's choice is not said to be near."""
    path = tmp_path / "late.toml"
    text = Path("configs/profiles/gh200-slingshot.toml").read_text("utf-8")
    late, count = re.subn(r"min_bytes = \d+", "min_bytes = 67108864", text)
    assert count == 1
    path.write_text(late, "utf-8")
    line = f"choose all_reduce --nodes 2 --against nccl -b 8K -e 1G --profile {path}"
    found = answer(line)
    (row,) = [row for row in found["rows"] if row["doubtful"] and row["gain"] > 3]
    assert not row["gained"]
    assert not any(row["gained"] for row in found["rows"])
    text = found["summary"]["all_reduce"]
    assert "it may take up to 11.6 times as long as tree/simple from 86.6KiB" in text
    assert "Where it may, it does not count: no row of the fit is of such sizes." in text
    assert "% of the best that it has from 8KiB to 86.59KiB and from 1.035MiB" in text


def test_two_fitted_algorithms_swap_by_their_fit(answer: Any, run: Any, tmp_path: Path) -> None:
    """As predict says on both sides; the picture tells the same; else all are simulated."""
    line = f"all_reduce ring nvls {H100}"
    found = answer(f"crossover {line}")
    assert found["fitted"]
    assert found["rows"][0]["below"] == "ring"
    assert ", fitted times\n" in run(f"crossover {line}").stdout
    said = run(f"plot crossover {line} -b 1K -e 1G -o", str(tmp_path / "two.svg")).stderr
    assert "1GiB is extrapolated: profile h100-nvswitch-8 was fitted up to 512MiB" in said
    assert "are simulated" not in said
    other = run(f"crossover all_reduce ring mst {H100}")
    assert "fitted times" not in other.stdout
    for text in (
        other.stderr,
        run(f"plot crossover all_reduce ring mst {H100} -o", str(tmp_path / "one.svg")).stderr,
    ):
        assert "times are simulated with the alpha and beta of the best of NCCL's" in text


def test_a_change_of_nothing_changes_nothing(answer: Any, run: Any) -> None:
    """Both columns are of what NCCL has, and predict's own answer is told beside them."""
    line = "predict all_reduce --nodes 4 -s 1G --profile h100-ndr"
    (plain,) = answer(line)["rows"]
    line += " --degrade nic[3]=1.0"
    (row,) = answer(line)["rows"]
    assert (row["algorithm"], row["healthy_algorithm"], row["change"]) == ("ring", "ring", 1.0)
    assert row["healthy_us"] == row["time_us"]
    said = run(line).stderr
    assert (
        "time and healthy are both simulated with its alpha and beta, of what NCCL has" in said
    )
    assert (
        f"as it was takes {plain['time_us']:.1f} us at 1GiB (ring simple), as predict" in said
    )
    assert "simulated with the alpha and beta of the best of" not in said
    said = run(f"{line} --model event").stderr
    assert "of what NCCL has" not in said
    assert "simulated with the alpha and beta of the best of" in said


def test_python_says_the_same_of_a_changed_machine(answer: Any) -> None:
    """Fitted times of the machine as it was stand in neither column."""
    profile = collsim.load_profile("h100-ndr")
    cluster = collsim.with_profile(Cluster.load("dgx-h100", nodes=4), profile)
    slower = collsim.degrade(cluster, "nic[3]", 0.5)
    fitted = collsim.fitted_times(profile)
    found = collsim.predict("all_reduce", slower, "1GiB", healthy=cluster, fitted=fitted)
    line = "predict all_reduce --nodes 4 -s 1G --profile h100-ndr --degrade nic[3]=0.5"
    (row,) = answer(line)["rows"]
    (one,) = found.rows
    assert (one.model, one.algorithm, one.time_us, one.healthy_us) == (
        row["model"], row["algorithm"], row["time_us"], row["healthy_us"],
    )  # fmt: skip
    assert one.model == "event"
    assert one.healthy_us is not None
    assert one.time_us > 1.1 * one.healthy_us
