"""`collsim choose`."""

from __future__ import annotations

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
    assert "note: left out linear: too slow" in result.stderr


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
