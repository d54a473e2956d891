"""Fits of NCCL's pieces from logs: when, how well, and what is refused or said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from collsim.calibrate.fit import fit
from collsim.calibrate.fit.nccl import refusal_of
from collsim.calibrate.nccl_model import System, example_profile, fitted_of
from collsim.core.cluster import Cluster
from collsim.core.measurements import Measurement, Measurements, Source
from collsim.errors import InputError, UnknownNameError

TRUTH = fitted_of(example_profile(Cluster.load("dgx-h100")))
SOURCE = Source("a.log", 7, "NCCL 2.29.2", "host", "process per GPU", "NVIDIA H100", "nccl")
SIZES = tuple(512 * 2**k for k in range(21))
RING = ("all_reduce", "all_gather", "reduce_scatter")


def rows(
    kinds: tuple[str, ...] = RING, ranks: tuple[int, ...] = (2, 8), noise: float = 0.01
) -> list[Measurement]:
    """Return what would be measured where all is as NCCL believes."""
    rng = np.random.default_rng(1)
    return [
        Measurement(
            kind, p, n, TRUTH.seconds(kind, p, 1, n) * float(np.exp(noise * rng.normal())),
            nodes=1, source=SOURCE,
        )
        for kind in kinds
        for p in ranks
        for n in SIZES
    ]  # fmt: skip


def told(made: list[Measurement], **source: str | None) -> Measurements:
    """Return rows whose log says something else."""
    return Measurements([replace(r, source=replace(r.source, **source)) for r in made])


def test_the_gpu_tells_the_system() -> None:
    """Auto fits NCCL's pieces, and its profile says of what it is."""
    found = fit(Measurements(rows()))
    profile = found.profile
    assert (profile.model, profile.nccl["architecture"]) == ("nccl", "hopper")
    assert (profile.library, profile.process_model) == ("NCCL 2.29.2", "process per GPU")
    assert (profile.ranks, profile.collectives) == ((2, 8), tuple(sorted(RING)))
    assert found.errors.held_out is not None
    assert found.errors.held_out.p90 < 0.05


@pytest.mark.parametrize(
    ("kind", "most"), [("sizes", 0.05), ("collectives", 0.2), ("ranks", 0.2)]
)
def test_errors_are_of_rows_that_a_fit_did_not_see(kind: str, most: float) -> None:
    """Each kind of extrapolation has its own."""
    held = fit(Measurements(rows()), hold_out=kind).errors.held_out
    assert held is not None
    assert (held.kind, held.n) == (kind, 60 if kind == "sizes" else 126)
    assert held.p90 < most


def test_node_counts_can_be_held_out() -> None:
    """One at a time, on a system with a network; a single count is refused as for a line."""
    cluster = Cluster.load("gh200-slingshot", nodes=8)
    truth = fitted_of(example_profile(cluster))
    made = [
        Measurement("all_reduce", 4 * k, n, truth.seconds("all_reduce", 4 * k, k, n), nodes=k)
        for k in (1, 2)
        for n in SIZES[::2]
    ]
    held = fit(Measurements(made), hold_out="nodes", system=truth.system).errors.held_out
    assert held is not None
    assert held.n == len(made)
    with pytest.raises(InputError, match="hold-out nodes: got one node count"):
        fit(Measurements(rows()), hold_out="nodes")


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (told(rows(), device=None), "the log does not name the GPU"),
        (told(rows(), device="Made-up"), "Made-up does not tell how the GPUs are joined"),
        (told(rows(), backend="rccl"), "the rows are of rccl, not of NCCL"),
    ],
)
def test_a_line_is_fitted_elsewhere_and_says_why(made: Measurements, reason: str) -> None:
    """A note of the profile; model nccl is refused for the same reason."""
    profile = fit(made).profile
    assert profile.model == "line"
    assert any(note.startswith(f"one line is fitted: {reason}") for note in profile.notes)
    with pytest.raises(InputError, match=f"model nccl: {reason}"):
        fit(made, model="nccl")


def test_an_algorithm_that_is_named_is_a_line() -> None:
    """As its formula is what was asked for."""
    found = fit(Measurements(rows(("all_gather",), (8,))), "ring")
    assert found.profile.model == "line"
    assert fit(Measurements(rows()), model="line").profile.model == "line"
    with pytest.raises(UnknownNameError, match="model"):
        fit(Measurements(rows()), model="lines")


def test_several_nodes_need_a_network() -> None:
    """A GPU's name does not tell what joins nodes."""
    row = replace(rows()[0], ranks=16, nodes=2)
    assert str(refusal_of([row], None)[1]).startswith("rows of 2 nodes need the cluster")


@pytest.mark.parametrize("field", ["process_model", "device", "clock"])
def test_rows_of_different_systems_are_refused(field: str) -> None:
    """With what differs."""
    mixed = told(rows()[:30]).rows + told(rows()[30:], **{field: "another"}).rows
    with pytest.raises(InputError, match="rows of different"):
        fit(Measurements(mixed), model="nccl")


def test_falling_times_are_refused() -> None:
    """They are no times of collectives that grow."""
    made = rows(("all_reduce",), (8,))
    times = [row.seconds for row in made][::-1]
    fallen = [replace(row, seconds=t) for row, t in zip(made, times, strict=True)]
    with pytest.raises(InputError, match=r"a\.log:7: .* more than 30%: times fall as sizes"):
        fit(Measurements(fallen))


def test_one_row_is_met_and_told_to_tell_little() -> None:
    """No held-out error, and a note."""
    found = fit(Measurements(rows(("all_reduce",), (8,))[:1]))
    assert found.errors.held_out is None
    assert found.errors.in_sample.median < 0.03
    assert any(note.startswith("1 row tells little") for note in found.profile.notes)
    kinds = [p.kind for p in found.parameters.values()]
    assert kinds.count("assumption") > kinds.count("fit")


def test_two_rows_and_equal_times_have_an_answer() -> None:
    """Two rows, and 21 of one time."""
    made = rows(("all_reduce",), (8,))
    two = fit(Measurements(made[:2]))
    assert two.errors.held_out is not None
    assert any(note.startswith("2 rows tell little") for note in two.profile.notes)
    same = fit(Measurements(replace(row, seconds=2e-5) for row in made))
    assert same.errors.in_sample.p90 < 0.1


def test_errors_are_told_with_and_without_rows_that_stand_out() -> None:
    """By the rule that looks at the data alone; the note names them."""
    made = rows(("all_reduce",), (8,))
    made[5] = replace(made[5], seconds=made[5].seconds * 3)
    found = fit(Measurements(made))
    held, without = found.errors.held_out, found.errors.without_outliers
    assert held is not None
    assert without is not None
    assert without.n == held.n - 1
    note = next(note for note in found.profile.notes if "stands out" in note)
    assert "all_reduce of 16384 B (a.log:7)" in note
    assert fit(Measurements(rows())).errors.without_outliers is None


def test_what_the_model_lacks_is_left_out() -> None:
    """With a note; alone, one line is fitted."""
    gather = [replace(row, collective="gather") for row in rows(("all_reduce",), (8,))]
    profile = fit(Measurements([*rows(), *gather])).profile
    assert any(note.startswith("left out gather") for note in profile.notes)
    assert "gather" not in profile.collectives
    assert fit(Measurements(gather)).profile.model == "line"


def test_forced_pieces_are_fitted_as_such() -> None:
    """Rows that name algorithm and protocol, ours or NCCL's, are of that piece."""
    system = System("hopper", 12, 360.0, nvls=True)
    made = [
        replace(
            row, algorithm=name, protocol=protocol,
            seconds=TRUTH.seconds("all_reduce", row.ranks, 1, row.nbytes, "tree", protocol),
        )
        for row, name in zip(rows(("all_reduce",)), ["tree", "double_binary_tree"] * 21,
                             strict=True)
        for protocol in ("ll", "simple")
    ]  # fmt: skip
    found = fit(Measurements(made), system=system)
    assert found.errors.in_sample.p90 < 0.05


def test_rows_that_no_formula_is_of_are_left_out() -> None:
    """A piece that the system lacks, and times that nothing takes, each with the reason."""
    made = rows(("all_reduce",), (8,))
    odd = [
        replace(made[0], algorithm="collnet_direct", protocol="simple"),
        replace(made[0], algorithm="nvls", protocol="ll"),
        replace(made[0], seconds=1e-20),
    ]
    found = fit(Measurements([*made, *odd]))
    assert found.errors.in_sample.n == len(made)
    notes = " ".join(found.profile.notes)
    assert "1 row left out: collnet_direct/simple ran" in notes
    assert "1 row left out: nvls/ll ran" in notes
    assert "1 row left out: a time of 1e-20 s" in notes
