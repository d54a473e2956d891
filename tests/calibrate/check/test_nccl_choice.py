"""What a log of NCCL is compared with where it does not say what ran."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from collsim.calibrate.check import CheckResult, check
from collsim.calibrate.check.nccl_choice import NcclChoice
from collsim.calibrate.predictor import predictor_of
from collsim.core.cluster import Cluster
from collsim.core.measurements import Measurement, Measurements, Source

SMALL, LARGE = 1024, 2**30


def rows(
    collective: str = "all_reduce",
    backend: str | None = "nccl",
    version: str | None = None,
    ran: str | None = None,
) -> list[Measurement]:
    """Return a small and a large row on 16 ranks of 2 nodes."""
    source = Source(backend=backend, version=version)
    return [
        Measurement(collective, 16, n, 1e-3, nodes=2, algorithm=ran, source=source)
        for n in (SMALL, LARGE)
    ]


def checked(some: Sequence[Measurement], cluster: str = "dgx-h100") -> CheckResult:
    """Return the check of rows on two nodes of a preset."""
    return check(Measurements(some), Cluster.load(cluster, nodes=2))


def test_what_nccl_chooses_is_predicted_at_each_size() -> None:
    """A tree at 1 KiB, an in-switch one at 1 GiB, as simulated."""
    found = checked(rows())
    assert found.chosen == ("double_binary_tree", "nvls_tree")
    assert found.notes == ()
    cluster = Cluster.load("dgx-h100", nodes=2)
    for row, name in zip(found.rows, found.chosen, strict=True):
        expected = predictor_of(cluster, name)("all_reduce", 16, row.size)
        assert row.predicted_us == pytest.approx(expected.seconds * 1e6)


def test_a_release_has_its_own_choice() -> None:
    """On 2 nodes of A100, 256 KiB are a tree's by 2.18's table and a ring's by 2.30's."""
    choose = NcclChoice(Cluster.load("dgx-a100", nodes=2))
    found = []
    for version in ("NCCL 2.18.5", "NCCL 2.30.7", None):
        source = Source(backend="nccl", version=version)
        found.append(choose(Measurement("all_reduce", 16, 2**18, 1e-3, source=source)))
    assert found == ["double_binary_tree", "ring", "ring"]


@pytest.mark.parametrize(
    ("collective", "backend", "ran"),
    [
        ("all_reduce", "rccl", None),
        ("all_to_all", "nccl", None),
        ("all_reduce", "nccl", "ring"),
    ],
)
def test_what_is_no_choice_of_nccls_is_as_before(
    collective: str, backend: str, ran: str | None
) -> None:
    """Another library, sends to peers, and rows that say what ran."""
    found = checked(rows(collective, backend, ran=ran))
    assert found.chosen == ()
    expected = predictor_of(Cluster.load("dgx-h100", nodes=2), "ring")(collective, 16, LARGE)
    assert found.rows[1].predicted_us == pytest.approx(expected.seconds * 1e6)


def test_a_cluster_that_nccl_does_not_run_on_is_compared_with_ring_and_says_why() -> None:
    """AMD's links; once, not for each row."""
    found = checked(rows(), "mi300x")
    assert found.chosen == ()
    (note,) = found.notes
    assert note == (
        "NCCL's choice is not known, and ring is compared: mi300x: its GPUs are joined by "
        "xgmi4, and NCCL runs on NVIDIA's"
    )


def test_an_old_release_is_compared_with_ring_and_says_why() -> None:
    """The table of 2.10 is not known."""
    found = checked(rows(version="NCCL 2.10.3"))
    assert found.chosen == ()
    (note,) = found.notes
    assert note.endswith("NCCL version '2.10.3': the cost model is known from 2.18 on")


def test_the_real_tree_of_two_nodes_of_a100(shared_data: Path) -> None:
    """Log 105: a ring's 420 us are 13 times what a small message takes; a tree's a third."""
    (log,) = (shared_data / "public").glob("105_*.txt")
    cluster = Cluster.load("dgx-a100", nodes=2)
    ours, ring = (check(str(log), cluster, algorithm=name).rows[0] for name in (None, "ring"))
    assert ring.predicted_us > 12 * ring.measured_us
    assert ours.predicted_us < 4 * ours.measured_us


@pytest.mark.parametrize(("dtype", "op"), [("float", "prod"), ("int8", "sum")])
def test_a_row_says_what_its_elements_are(dtype: str, op: str) -> None:
    """Switches don't multiply, so NCCL took none."""
    some = [replace(row, dtype=dtype, op=op) for row in rows()]
    choose = NcclChoice(Cluster.load("dgx-h100", nodes=2))
    assert not any(str(choose(row)).startswith("nvls") for row in some)
    assert not any(name.startswith("nvls") for name in checked(some).chosen)
