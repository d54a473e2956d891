"""Releases of NCCL, told apart to the bit by what their own sources fill in."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from collsim.errors import InputError
from collsim.nccl import (
    ALGORITHMS,
    COLLECTIVES,
    PROTOCOLS,
    Communicator,
    Graph,
    release,
    tuning,
)
from collsim.nccl.versions import RELEASES

TABLES = Path(__file__).resolve().parent / "data" / "tables_by_release.tsv"
NEAR = {"type_intra": "NVL", "type_inter": "PXB"}
ALONE = {"type_intra": "LOC", "type_inter": "PXN"}
COMMUNICATORS = {
    "hopper_2x8_collnet": Communicator(
        ranks=16,
        nodes=2,
        capability=90,
        graphs={
            "ring": Graph(8, 48, 48, 2.5, same_channels=False, pattern=4, **NEAR),
            "tree": Graph(8, 48, 24, 2.5, pattern=3, **NEAR),
            "nvls": Graph(8, 40, 48, pattern=5, **NEAR),
            "collnet_direct": Graph(8, 48, 40, pattern=6, **NEAR),
            "collnet_chain": Graph(8, 45, 40, pattern=3, **NEAR),
        },
        channels=16,
        nvls_channels=16,
        cpu_vendor="mixed",
        collnet=True,
        collnet_heads=8,
    ),
    "blackwell_4x1": Communicator(
        ranks=4,
        nodes=4,
        capability=100,
        graphs={
            "ring": Graph(2, 24, 24, pattern=4, **ALONE),
            "tree": Graph(2, 48, 24, pattern=3, **ALONE),
            "nvls": Graph(4, 90, 48, pattern=5, **NEAR),
        },
        channels=4,
        nvls_channels=24,
        cpu_vendor="amd",
    ),
    "blackwell_1x8": Communicator(
        ranks=8,
        nodes=1,
        capability=100,
        graphs={
            "ring": Graph(16, 45, 45, pattern=4, **NEAR),
            "tree": Graph(16, 50, 50, pattern=1, **NEAR),
            "nvls": Graph(8, 80, 90, pattern=5, **NEAR),
        },
        channels=32,
        nvls_channels=24,
    ),
}
Cells = dict[tuple[str, str, str], tuple[float, float]]


def recorded(name: str, number: tuple[int, int, int]) -> Cells:
    """Return what NCCL's sources of a release fill in."""
    cells: Cells = {}
    with open(TABLES, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            since = tuple(map(int, row["since"].split(".")))
            if row["communicator"] == name and since <= number:
                key = (row["collective"], row["algorithm"], row["protocol"])
                cells[key] = (float(row["latency_us"]), float(row["bandwidth"]))
    return cells


@pytest.mark.parametrize("number", [entry.number for entry in RELEASES], ids=str)
@pytest.mark.parametrize("name", COMMUNICATORS)
def test_tables_are_those_of_the_sources(name: str, number: tuple[int, int, int]) -> None:
    """Every latency and bandwidth, to the bit, of each release that changed any."""
    wanted = recorded(name, number)
    table = tuning(COMMUNICATORS[name], ".".join(map(str, number)))
    assert len(wanted) > 10
    for c in COLLECTIVES:
        for a in ALGORITHMS:
            for p in PROTOCOLS:
                got = (table.latency_us(c, a, p), table.bandwidth(c, a, p))
                assert got == wanted.get((c, a, p), (0.0, 0.0)), (c, a, p)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("2.30", "2.30.7"),
        ("2.30.3", "2.30.7"),
        ("2.31.1", "2.30.7"),
        ("2.29", "2.29.7"),
        ("2.29.2", "2.29.3"),
        ("2.28.3+cuda12.9", "2.28.3"),
        ("2.27.3", "2.27.3"),
        ("2.27.5", "2.27.7"),
        ("2.18.5", "2.18.6"),
        ("v2.18.1-1", "2.18.1"),
    ],
)
def test_a_version_is_taken_for_its_release(asked: str, found: str) -> None:
    """The releases that are the same share an entry, named by the last of them."""
    assert release(asked).name == found


@pytest.mark.parametrize(
    ("asked", "reason"), [("2.17.1", "from 2.18 on"), ("two", "expected one such as '2.30.7'")]
)
def test_other_versions_are_refused(asked: str, reason: str) -> None:
    """One line."""
    with pytest.raises(InputError, match=reason):
        release(asked)


def test_every_number_names_its_source() -> None:
    """A file of NCCL, with its release."""
    for entry in RELEASES:
        assert entry.constants.source.startswith(f"NCCL {entry.name} src/graph/tuning.cc")
