"""What rows were taken to be of is said, and can be said by whoever knows it."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from collsim.calibrate.fit import fit
from collsim.calibrate.nccl_model import example_profile, fitted_of, system_of
from collsim.core.cluster import Cluster
from collsim.core.measurements import Measurement, Measurements, Source
from collsim.errors import UnknownNameError

CLUSTER = Cluster.load("dgx-h100", nodes=2)
TRUTH = fitted_of(example_profile(CLUSTER))
SIZES = tuple(2**k for k in range(12, 34))


def ring(nodes: int = 2, named: str | None = None, kind: str = "all_reduce") -> Measurements:
    """Return rows that a ring took."""
    source = Source("a.log", 7, device="NVIDIA H100", backend="nccl")
    ranks = 8 * nodes
    return Measurements(
        [
            Measurement(
                kind, ranks, n, TRUTH.seconds(kind, ranks, nodes, n, "ring"), nodes=nodes,
                algorithm=named, source=source,
            )
            for n in SIZES
        ]
    )  # fmt: skip


def assumed(notes: Iterable[str]) -> list[str]:
    """Return the notes on what ran."""
    return [note for note in notes if "what ran" in note or "taken to be of" in note]


def test_what_is_assumed_is_said() -> None:
    """NCCL's table has trees in a log that says nothing, though a ring ran."""
    (note,) = assumed(fit(ring(), system=system_of(CLUSTER)).profile.notes)
    assert note.startswith("the rows don't say what ran; ")
    assert "all_reduce as double_binary_tree" in note
    assert "say --model nccl --algorithm NAME" in note


def test_over_nodes_an_algorithm_is_what_ran() -> None:
    """NCCL_ALGO=Ring: the ring's own times come out, which the table's reading misses."""
    found = fit(ring(), "ring", system=system_of(CLUSTER))
    assert found.profile.model == "nccl"
    assert {row.algorithm for row in found.rows} == {"ring"}
    (note,) = assumed(found.profile.notes)
    assert "taken to be of ring, as was asked for" in note
    assert "--algorithm ring too" in note
    assert found.fitted is not None
    for size in (2**20, 2**30):
        expected = TRUTH.seconds("all_reduce", 16, 2, size, "ring")
        assert found.fitted.seconds("all_reduce", 16, 2, size, "ring") == pytest.approx(
            expected, rel=0.03
        )


def test_in_one_node_it_is_a_line_unless_nccl_is_asked_for() -> None:
    """As it was; with --model nccl what ran."""
    assert fit(ring(1), "ring").profile.model == "line"
    assert fit(ring(1), "ring", model="nccl").profile.model == "nccl"


def test_rows_that_say_it_are_believed() -> None:
    """No note then, and nothing is taken for something else."""
    found = fit(ring(named="ring"), system=system_of(CLUSTER))
    assert assumed(found.profile.notes) == []


def test_an_algorithm_that_nccl_lacks_is_refused() -> None:
    """With what it has."""
    with pytest.raises(UnknownNameError, match="algorithm of NCCL 'mst'"):
        fit(ring(), "mst", system=system_of(CLUSTER))
