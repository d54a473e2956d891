"""A fit that does not describe its rows says so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from collsim.calibrate.fit import fit
from collsim.calibrate.formula import formula_of
from collsim.core.measurements import Measurement, Measurements

SIZES = tuple(8 * 4**k for k in range(14))


def rows(algorithm: str, factor: float = 1.0) -> Measurements:
    """Return rows of an algorithm; from 64 KiB on they take longer by a factor."""
    model = formula_of(2e-6, 1e-11, 0.0, algorithm)
    return Measurements(
        Measurement(
            "all_reduce",
            8,
            n,
            model("all_reduce", 8, n).seconds * (factor if 2**16 <= n < 2**24 else 1),
        )
        for n in SIZES
    )


def test_a_good_fit_has_no_note() -> None:
    """Only that launch is 0."""
    (note,) = fit(rows("ring"), fastest=("fast", 1e12)).profile.notes
    assert note.startswith("launch is 0")


def test_a_poor_fit_is_noted_in_the_profile() -> None:
    """With its errors, the probable cause, and what to do."""
    found = fit(rows("ring", 4.0))
    held = found.errors.held_out
    assert held is not None
    assert held.p90 > 0.25
    note = next(note for note in found.profile.notes if note.startswith("one alpha"))
    assert note == (
        f"one alpha and one beta of ring miss the times from 8B to 512MiB by "
        f"{held.median:.0%} in the median and {held.p90:.0%} at the 90th percentile: small "
        "and large sizes probably ran different algorithms or protocols; fit a range of "
        "sizes with --where"
    )


def test_another_formula_that_fits_clearly_better_is_named() -> None:
    """Several rank counts of a tree are no ring."""
    model = formula_of(2e-6, 1e-11, 0.0, "mst")
    trees = Measurements(
        Measurement("all_reduce", p, n, model("all_reduce", p, n).seconds)
        for p in (2, 8, 64)
        for n in SIZES
    )
    notes = fit(trees).profile.notes
    assert "the formula of mst fits these rows clearly better" in notes
    assert not [note for note in fit(trees, "mst").profile.notes if "better" in note]


def test_a_bandwidth_above_every_link_is_noted() -> None:
    """With the link's name and both figures; below it there is nothing to say."""
    notes = fit(rows("ring"), fastest=("slow", 5e10)).profile.notes
    assert notes[-1] == (
        "1/beta is 100GB/s, above the fastest link of the presets (slow, 50GB/s): "
        "the rows are probably not of ring"
    )


def test_a_real_broadcast_is_a_pipelined_ring(shared_data: Path) -> None:
    """A100, 8 GPUs: with free chunks 1/beta is what the link can do, 300 GB/s."""
    log = shared_data / "public" / "181_a100_1n_broadcast.txt"
    free, plain = (
        fit(log, chunks=chunks, fastest=("nvlink3", 300e9))  # type: ignore[arg-type]
        for chunks in ("auto", 1)
    )
    assert 250e9 < 1 / free.parameters["link.beta"].value < 300e9
    assert not [note for note in free.profile.notes if "fastest" in note]
    assert [note for note in plain.profile.notes if "1/beta is 1480GB/s" in note]
    assert free.errors.in_sample.median < plain.errors.in_sample.median / 2


def test_runs_that_contradict_each_other_are_told_apart_from_sizes() -> None:
    """The same sizes at three times the time: no choice of sizes mends that."""
    slow = Measurements(replace(row, seconds=3 * row.seconds) for row in rows("ring"))
    note = next(n for n in fit(rows("ring") + slow).profile.notes if n.startswith("one alpha"))
    assert note.endswith(
        "rows of the same size are 3 times apart in the median; are they of one system and one "
        "run?"
    )
