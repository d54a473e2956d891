"""What contradicts that rows are of one system, and of the one that is named."""

from __future__ import annotations

from dataclasses import replace

from collsim.calibrate.fit.nccl_doubts import doubt_notes
from collsim.calibrate.nccl_model import Fitted, System, example_profile, fit_nccl, fitted_of
from collsim.core.cluster import Cluster
from collsim.core.measurements import Measurement, Source
from collsim.core.profile import ErrorSummary

FINE = ErrorSummary("sizes", 0.01, 0.05, 20)
TRUTH = fitted_of(example_profile(Cluster.load("dgx-h100")))
SHEET = ("nvlink4", 450e9)


def rows(
    device: str = "NVIDIA H100", slower: float = 1.0, file: str = "a"
) -> list[Measurement]:
    """Return what NCCL believes of a node."""
    source = Source(file, 7, "NCCL 2.29.2", "host", "process per GPU", device, "nccl")
    return [
        Measurement(
            "all_reduce", 8, n, slower * TRUTH.seconds("all_reduce", 8, 1, n), nodes=1,
            source=source,
        )
        for n in (2**k for k in range(10, 31, 2))
    ]  # fmt: skip


def test_nothing_is_said_where_all_fits() -> None:
    """In-switch reduction has a bus bandwidth above the link's."""
    assert doubt_notes(rows(), TRUTH, FINE, "dgx-h100", SHEET) == []
    assert doubt_notes(rows(), TRUTH, FINE, "ideal", SHEET) == []
    assert doubt_notes(rows("NVIDIA H200"), TRUTH, FINE, "p5-efa", SHEET) == []


def test_a_poor_fit_asks_for_the_system() -> None:
    """From 30 % at the 90th percentile on."""
    (note,) = doubt_notes(rows(), TRUTH, replace(FINE, p90=0.4), "dgx-h100", SHEET)
    assert note.startswith("the fit is off by 40% at the 90th percentile (sizes): are the rows")


def test_files_of_two_systems_are_told() -> None:
    """By the ratio of their times."""
    both = rows() + rows(slower=2.0, file="b")
    (note,) = doubt_notes(both, TRUTH, FINE, "dgx-h100", SHEET)
    assert note.startswith("a takes 0.5 times as long as b, median of the 11 that both have")


def test_another_gpu_than_the_clusters_is_told() -> None:
    """By its generation, or by its name."""
    (note,) = doubt_notes(rows("NVIDIA A100-SXM4-80GB"), TRUTH, FINE, "p5-efa", SHEET)
    assert note == (
        "the rows are of NVIDIA A100-SXM4-80GB, but cluster p5-efa is of hopper: is -c right?"
    )
    (note,) = doubt_notes(rows("NVIDIA H100"), TRUTH, FINE, "my/dgx-h200.toml", SHEET)
    assert "but the cluster is my/dgx-h200.toml" in note


def gathered(beta: float) -> tuple[list[Measurement], Fitted]:
    """Return rows of a line, and what is fitted to them."""
    made = [Measurement("all_gather", 8, 2**k, 15e-6 + 2**k * beta) for k in range(10, 31)]
    return made, fit_nccl(made, System("ampere", 12, 240.0))


def test_faster_than_the_links_is_told() -> None:
    """With both figures."""
    made, fitted = gathered(1e-12)
    (note,) = doubt_notes(made, fitted, FINE, "dgx-a100", ("nvlink3", 300e9))
    assert "bus bandwidth of 863GB/s, above the 300GB/s of nvlink3" in note


def test_times_that_do_not_grow_are_told() -> None:
    """They tell no bandwidth."""
    made = [replace(row, seconds=1e-3) for row in rows()[:9]]
    (note,) = doubt_notes(made, TRUTH, FINE, "dgx-h100", None)
    assert note == (
        "all_reduce on 8 ranks takes 1ms from 1KiB to 64MiB: times that do not grow tell no "
        "bandwidth"
    )
