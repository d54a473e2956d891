"""Lists of what there is: complete, plain data, and readable."""

from __future__ import annotations

import json

import pytest

from collsim.algorithms import algorithm_names, find
from collsim.config.presets import preset_names
from collsim.core.collective import COLLECTIVES
from collsim.errors import UnknownNameError
from collsim.report.inventory import (
    KINDS,
    algorithm_rows,
    cluster_rows,
    collective_rows,
    inventory,
    inventory_text,
    link_rows,
)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_json_without_nan(kind: str) -> None:
    """Every list is plain data, and the rows of one list have the same keys."""
    rows = inventory(kind)
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows
    assert len({tuple(row) for row in rows}) <= 1


@pytest.mark.parametrize("kind", KINDS)
def test_text_has_a_line_per_row(kind: str) -> None:
    """A head, then the rows; or a sentence where there are none."""
    rows = inventory(kind)
    lines = inventory_text(kind, rows).splitlines()
    assert len(lines) == 1 + len(rows)
    assert not any(line.endswith(" ") for line in lines)


def test_every_algorithm_is_listed_with_its_claims() -> None:
    """By collective, in the order of the catalogue."""
    rows = algorithm_rows()
    listed = [(row["collective"], row["algorithm"]) for row in rows]
    assert listed == [(c, a) for c in COLLECTIVES for a in algorithm_names(c)]
    ring = next(row for row in algorithm_rows("all-reduce") if row["algorithm"] == "ring")
    known = find("all_reduce", "ring")
    assert (ring["formula"], ring["paper"]) == (known.formula, known.paper)
    assert all(row["summary"] and row["paper"] and row["formula"] for row in rows)


def test_algorithms_of_an_unknown_collective() -> None:
    """The error names the nearest."""
    with pytest.raises(UnknownNameError, match="did you mean 'all_reduce'"):
        algorithm_rows("all_reduse")


def test_collectives_with_their_conventions() -> None:
    """Bus-bandwidth factor and size are nccl-tests'."""
    rows = {row["collective"]: row for row in collective_rows()}
    assert set(rows) == set(COLLECTIVES)
    assert rows["all_reduce"]["busbw_factor"] == "2(P-1)/P"
    assert rows["all_reduce"]["size"] == "one rank's array"
    assert rows["all_gather"]["busbw_factor"] == "(P-1)/P"
    assert rows["all_gather"]["size"] == "the data of all ranks together"
    assert rows["sendrecv"]["busbw_factor"] == "1"


def test_every_cluster_is_listed() -> None:
    """With its links and whether it takes `--nodes`."""
    rows = {row["cluster"]: row for row in cluster_rows()}
    assert tuple(rows) == preset_names("clusters")
    assert rows["dgx-h100"]["links"] == ["nvlink4", "ndr400"]
    assert rows["dgx-h100"]["more_nodes"] is True
    assert rows["textbook-h100"]["more_nodes"] is False


def test_links_are_a_ladder() -> None:
    """From memory outwards, in each kind the fastest first, and where each number is from."""
    rows = link_rows()
    ladder = ["HBM", "NVLink", "PCIe", "InfiniBand", "Ethernet"]
    steps = [(ladder.index(row["family"]), -row["bandwidth"]) for row in rows]
    assert steps == sorted(steps)
    assert {step for step, _ in steps} == set(range(5))
    nvlink = next(row for row in rows if row["link"] == "nvlink4")
    assert (nvlink["alpha_us"], nvlink["bandwidth"], nvlink["alpha_busy_us"]) == (3.4, 450, 3.4)
    assert nvlink["kind"] == "assumption"
    assert nvlink["sources"]["bandwidth"]["kind"] == "datasheet"
    assert "hwLat" in nvlink["sources"]["alpha"]["source"]


def test_links_as_text_have_units() -> None:
    """As they would be typed."""
    lines = inventory_text("links", link_rows()).splitlines()
    line = next(line for line in lines if " nvlink4 " in line)
    assert line.split()[2:6] == ["450GB/s", "3.4us", "3.4us", "assumption"]


def test_an_unknown_list_names_the_nearest() -> None:
    """`list link` means links."""
    with pytest.raises(UnknownNameError, match=r"unknown list 'link'; did you mean 'links'\?"):
        inventory("link")


def test_options_of_algorithms_are_listed() -> None:
    """With default and meaning; as they would be typed in the text."""
    rows = algorithm_rows("all_to_all")
    bruck = next(row for row in rows if row["algorithm"] == "bruck")
    assert bruck["options"]["radix"]["default"] == 4
    assert " radix=4 " in inventory_text("algorithms", rows)
