"""`collsim export`."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from collsim.core.same import difference
from collsim.interop.schedule_file import load_schedule

FILE = "examples/schedule_all_reduce_4.txt"


def test_text_goes_to_stdout(run: Any) -> None:
    """As a person would write it."""
    result = run("export broadcast --algorithm ring --chunks 2 --ranks 3 --format text")
    assert result.stdout == (
        "schema: collsim/schedule/1\n"
        "name: broadcast_ring\ncollective: broadcast\nranks: 3\nroot: 0\nparts: 2\n\n"
        "0 -> 1: chunk 0\n\n0 -> 1: chunk 1\n1 -> 2: chunk 0\n\n1 -> 2: chunk 1\n"
    )
    assert result.stderr == ""


@pytest.mark.parametrize("form", ["text", "msccl"])
def test_what_is_written_verifies(run: Any, answer: Any, tmp_path: Path, form: str) -> None:
    """In two nodes, channels, and a root."""
    path = tmp_path / "out"
    result = run(
        f"export reduce --algorithm ring -c dgx-h100 --nodes 2 --gpus-per-node 2 --root 3 "
        f"--channels 2 --chunks 2 --format {form} -o {path}"
    )
    assert (result.exit_code, result.stdout) == (0, "")
    (row,) = answer(f"verify --schedule {path}")["rows"]
    assert (row["collective"], row["ranks"], row["root"], row["ok"]) == ("reduce", 4, 3, True)


def test_xml_is_what_other_readers_take(run: Any, tmp_path: Path) -> None:
    """An XML parser finds what MSCCL asks for."""
    path = tmp_path / "a.xml"
    assert (
        run(f"export all_gather --algorithm bruck --ranks 5 --format msccl -o {path}").exit_code
        == 0
    )
    algo = ET.parse(path).getroot()
    assert (algo.get("coll"), algo.get("ngpus"), algo.get("nchunksperloop")) == (
        "allgather", "5", "5",
    )  # fmt: skip
    assert [gpu.get("id") for gpu in algo] == list("01234")
    assert {step.get("type") for step in algo.iter("step")} == {"s", "r"}


def test_options_of_an_algorithm_are_in_its_name(run: Any) -> None:
    """And the schedule is that of the options."""
    text = run("export all_to_all --algorithm bruck:radix=3 --ranks 4 --format text").stdout
    assert text.splitlines()[1] == "name: all_to_all_bruck:radix=3"


def test_limits_are_told(run: Any) -> None:
    """The file is written all the same."""
    result = run("export broadcast --algorithm ring --chunks 300 --ranks 2 --format msccl")
    assert result.exit_code == 0
    assert result.stderr == (
        "note: breaks a limit of MSCCL's runtime: steps, at most 256 a thread block: gpu 0 "
        "thread block 0 has 300, gpu 1 thread block 0 has 300\n"
    )


@pytest.mark.parametrize("form", ["text", "msccl"])
def test_switches_are_refused(fails: Any, tmp_path: Path, form: str) -> None:
    """By name, with the reason, and nothing is written."""
    path = tmp_path / "a"
    line = f"export all_reduce --algorithm nvls -c dgx-h100 --format {form} -o {path}"
    message = fails(line, code=1)
    assert message.startswith(
        "all_reduce_nvls: its messages go by way of a switch that adds up and multicasts, for"
    )
    assert not path.exists()


def test_too_many_messages(fails: Any) -> None:
    """How many there are, and how many are written."""
    assert fails("export all_reduce --algorithm ring --ranks 100 --format msccl", code=1) == (
        "all_reduce_ring: 19,800 messages, expected at most 12,000"
    )


@pytest.mark.parametrize("name", ["auto", "all"])
def test_one_algorithm_is_named(fails: Any, name: str) -> None:
    """There is no size at which one would be the fastest."""
    message = fails(f"export reduce --algorithm {name} --format text", code=2)
    assert message == f"--algorithm {name}: expected one NAME, as there is no size here"


def test_a_root_that_is_none(fails: Any) -> None:
    """As everywhere."""
    line = "export reduce --algorithm mst --ranks 3 --root 3 --format text"
    assert fails(line, code=1) == "root: got 3, expected a rank from 0 to 2"


@pytest.mark.parametrize("form", ["text", "msccl"])
def test_a_file_in_the_other_form(run: Any, answer: Any, tmp_path: Path, form: str) -> None:
    """Of a file by hand, MSCCL XML; and back, text that says the same."""
    first, path = tmp_path / "first.xml", tmp_path / "out"
    assert run(f"export --schedule {FILE} --format msccl -o {first}").exit_code == 0
    assert run(f"export --schedule {first} --format {form} -o {path}").exit_code == 0
    assert load_schedule(path).ranks == 4
    assert difference(load_schedule(path), load_schedule(FILE)) is None
    (row,) = answer(f"verify --schedule {path}")["rows"]
    assert (row["algorithm"], row["ok"]) == ("by-hand", True)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (f"--schedule {FILE} --ranks 4", "--ranks says nothing of a --schedule"),
        (f"--schedule {FILE} --algorithm ring", "--algorithm says nothing of a --schedule"),
        ("all_reduce", "expected --algorithm or --schedule"),
    ],
)
def test_a_schedule_or_an_algorithm(run: Any, words: str, reason: str) -> None:
    """One of them."""
    result = run(f"export {words} --format text")
    assert (result.exit_code, result.stdout) == (2, "")
    assert reason in result.stderr


def test_a_wrong_schedule_is_not_written(run: Any) -> None:
    """It says what is wrong with it."""
    result = run("export --schedule examples/msccl_wrong.xml --format text")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "is not a correct all_gather" in result.stderr
